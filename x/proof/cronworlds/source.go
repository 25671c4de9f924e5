package cronworlds

import "math/rand/v2"

// source makes the decisions of a world and records them. It first repeats the given ones. After
// that it chooses at random if it has a generator, and takes the dull choices otherwise.
type source struct {
	random *rand.Rand
	given  []int
	made   []int
}

func newSource(seed, world uint64) *source {
	return &source{random: rand.New(rand.NewPCG(seed, world))}
}

func replay(decisions []int) *source { return &source{given: decisions} }

// n chooses a number below n. 0 is the dull choice.
func (s *source) n(n int) int {
	v, at := 0, len(s.made)
	switch {
	case at < len(s.given):
		v = s.given[at] % n
	case s.random != nil:
		v = s.random.IntN(n)
	}
	s.made = append(s.made, v)
	return v
}

// chance returns true in the given percentage of cases.
func (s *source) chance(percent int) bool { return s.n(100) >= 100-percent }

// seconds chooses a number of seconds from low up to high.
func (s *source) seconds(low, high int) int { return low + s.n(high-low+1) }

// pick chooses an element of a list; the first is the dull choice.
func pick[T any](s *source, list ...T) T { return list[s.n(len(list))] }
