package explain

func NewRemedy(do, risk string, acts []*Act) *Remedy { return does(do, risk, acts...) }
