package job

// noteList collects the notes of a plan.
type noteList []Note

func (n *noteList) add(field, value, message string) {
	*n = append(*n, Note{Field: field, Value: value, Message: message})
}
