package explore

import "fmt"

// rester checks that calm steps lead to rest. It walks no state twice: the ways from different
// states soon meet.
type rester[S any] struct {
	worker Worker[S]
	limit  int
	// known holds the states that were walked so far, each with its distance from rest.
	known  *table
	key    func(*S) Key
	walked []Key
}

// distance is the number of calm steps from a state to rest, and the end there: 16 bits of steps,
// then the bits of the end.
type distance uint64

func (d distance) steps() int  { return int(d & (1<<16 - 1)) }
func (d distance) end() uint64 { return uint64(d >> 16) }

// check checks that calm steps from s come to rest.
func (r *rester[S]) check(s S) error {
	if r.limit == 0 || r.worker.IsPassing(&s) {
		return nil
	}
	_, err := r.walk(s)
	return err
}

// checkEnds checks that calm steps from two states lead to the same end, if both have one.
func (r *rester[S]) checkEnds(sound, faulty S) error {
	ender, ok := r.worker.(Ender[S])
	if !ok || r.limit == 0 {
		return nil
	}
	a, err := r.walk(sound)
	if err != nil {
		return nil // the check of that state reports it
	}
	switch b, err := r.walk(faulty); {
	case err != nil:
		return err
	case a.end() == b.end() || a.end() == 0 || b.end() == 0:
		return nil
	}
	return fmt.Errorf("L8: a fault changes the end from %s to %s", ender.DescribeEnd(r.last(sound)),
		ender.DescribeEnd(r.last(faulty)))
}

// walk takes calm steps from s until a state rests or was met before.
func (r *rester[S]) walk(s S) (distance, error) {
	r.walked = r.walked[:0]
	for {
		next, rest, err := r.worker.Calm(&s)
		switch {
		case err != nil:
			return 0, err
		case len(r.walked) > r.limit:
			return 0, fmt.Errorf("no rest after %d calm steps", r.limit)
		case rest:
			return r.learn(r.endOf(&s))
		}
		s = next
		k := r.key(&s)
		if d, ok := r.known.get(k); ok {
			return r.learn(distance(d) + 1)
		}
		r.walked = append(r.walked, k)
	}
}

func (r *rester[S]) endOf(s *S) distance {
	if ender, ok := r.worker.(Ender[S]); ok {
		return distance(ender.End(s)) << 16
	}
	return 0
}

// learn notes the distances of the walked states; d is the distance of the last state. It returns
// the distance of the state from which the walk began.
func (r *rester[S]) learn(d distance) (distance, error) {
	for i := len(r.walked) - 1; i >= 0; i-- {
		r.known.add(r.walked[i], uint64(d))
		d++
	}
	if d.steps() > r.limit+1 {
		return d, fmt.Errorf("rest comes only after %d calm steps, the limit is %d", d.steps()-1, r.limit)
	}
	return d, nil
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

// last returns the state at rest to which calm steps lead from s.
func (r *rester[S]) last(s S) *S {
	if way := r.way(s); len(way) > 0 {
		return &way[len(way)-1]
	}
	return &s
}
