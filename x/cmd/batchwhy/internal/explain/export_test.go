package explain

// NewRemedy returns a remedy with acts.
func NewRemedy(do, risk string, acts []*Act) *Remedy { return does(do, risk, acts...) }
