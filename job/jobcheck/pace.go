package jobcheck

// Pace counts rounds in a row that ask for another one immediately and get nothing done (L6, CL5).
// Each may have learned something, but not without end. The zero value has counted none.
type Pace struct{ idle int }

// maxIdle is how many such rounds may follow each other.
const maxIdle = 3

// Round counts a finished round. Argument again reports that it asks for another one immediately;
// done, that it changed something that can change finitely often: an object was created or deleted,
// a run recorded, a request settled. Status writes do not count, since they can go on without end.
// Argument more is the number of rounds that are allowed in addition.
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
