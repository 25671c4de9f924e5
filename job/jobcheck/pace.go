package jobcheck

// Pace counts the rounds in a row that ask for another one immediately and get nothing done (L6, CL5): each
// may have learned something, but not without end. The zero value has counted none.
type Pace struct{ idle int }

// maxIdle is how many such rounds may follow each other.
const maxIdle = 3

// Round counts a round that is over. Again says that it asks for another one immediately; done, that what can change
// finitely often has changed: an object was created or deleted, a run recorded, a request settled. A status can be
// written without end, and does not count. There may be so many more rounds than usual.
func (p *Pace) Round(rule string, again, done bool, more int) []Violation {
	var f found
	if p.idle++; !again || done {
		p.idle = 0
	}
	if p.idle > maxIdle+more {
		f.add(rule, "each round asks for another one immediately, and %d in a row get nothing done", p.idle)
	}
	return f
}
