package explore

import "fmt"

// rester checks that calm steps lead to rest. What lies on the way from one state is not
// walked again from another: the ways soon meet.
type rester[S any] struct {
	worker Worker[S]
	limit  int
	// known holds the states on the ways so far, with the number of steps from each to
	// rest.
	known  *table
	buffer []byte
	walked []Key
}

// check walks from s until a state rests or was met before.
func (r *rester[S]) check(s S) error {
	if r.limit == 0 || r.worker.IsPassing(&s) {
		return nil
	}
	r.walked = r.walked[:0]
	left := uint64(0)
	for {
		next, rest, err := r.worker.Calm(&s)
		switch {
		case err != nil:
			return err
		case len(r.walked) > r.limit:
			return fmt.Errorf("no rest after %d calm steps", r.limit)
		case rest:
			return r.learn(left)
		}
		s = next
		r.buffer = r.worker.Append(r.buffer[:0], &s)
		k := KeyOf(r.buffer)
		if steps, ok := r.known.get(k); ok {
			left = steps
			return r.learn(left + 1)
		}
		r.walked = append(r.walked, k)
	}
}

// learn notes the distances of the states that were walked. The last of them is that many
// steps away from rest.
func (r *rester[S]) learn(steps uint64) error {
	for i := len(r.walked) - 1; i >= 0; i-- {
		r.known.lower(r.walked[i], steps)
		steps++
	}
	if steps > uint64(r.limit)+1 {
		return fmt.Errorf("rest comes only after %d calm steps, the limit is %d", steps-1, r.limit)
	}
	return nil
}

// way returns the states of the calm steps from s, up to the limit.
func (r *rester[S]) way(s S) (states []S) {
	for range r.limit + 1 {
		next, rest, err := r.worker.Calm(&s)
		if rest || err != nil {
			return states
		}
		states, s = append(states, next), next
	}
	return states
}
