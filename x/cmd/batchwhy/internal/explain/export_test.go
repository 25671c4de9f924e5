package explain

// NewRemedy is a remedy that does something.
func NewRemedy(do, risk string, acts []*Act) *Remedy { return does(do, risk, acts...) }
