package jobcheck

// Pace counts rounds in a row that ask for another one immediately and get nothing done (L6, CL5).
// A few such rounds are fine, since each may have learned something. The zero value has counted
// none.
type Pace struct{ idle int }

// maxIdle is the most such rounds in a row.
const maxIdle = 3

// Round counts a finished round. again is true if the round asks for another one immediately. done
// is true if it changed something that can change only finitely often: an object was created or
// deleted, a run recorded, a request settled. Status writes do not count, since they can go on
// without end. more is the number of rounds that are allowed in addition.
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
