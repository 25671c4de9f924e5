package job

import "time"

// noteList collects the notes of a plan.
type noteList []Note

func (n *noteList) add(field, value, message string) {
	*n = append(*n, Note{Field: field, Value: value, Message: message})
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
