package cronworlds

import "math/rand/v2"

// source gives the decisions of a world and keeps them. It repeats a list of decisions,
// and after it continues with dull ones, or by chance where it has a generator.
type source struct {
	random *rand.Rand
	given  []int
	made   []int
}

func newSource(seed, world uint64) *source {
	return &source{random: rand.New(rand.NewPCG(seed, world))}
}

func replay(decisions []int) *source { return &source{given: decisions} }

// n decides for a number below n. 0 is the dull choice.
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

// chance decides for true in so many of a hundred cases.
func (s *source) chance(percent int) bool { return s.n(100) >= 100-percent }

// seconds decides for a time from low up to high seconds.
func (s *source) seconds(low, high int) int { return low + s.n(high-low+1) }

// pick decides for one of a list; the first is the dull one.
func pick[T any](s *source, list ...T) T { return list[s.n(len(list))] }
