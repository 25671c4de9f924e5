package sim

import (
	"math/rand/v2"
	"strconv"
)

// purpose distinguishes the draws for one pod.
type purpose uint64

const (
	forSchedule purpose = 1 + iota
	forStart
	forStop
	forRun // and one for each restart
)

// chance makes random numbers from the seed and a few numbers. It has one generator, which is
// seeded again for each use.
type chance struct {
	seed   uint64
	source rand.PCG
	rand   *rand.Rand
}

func newChance(seed uint64) *chance {
	c := &chance{seed: seed}
	c.rand = rand.New(&c.source)
	return c
}

// of returns the random numbers for a purpose and a pod. They are valid until the next call.
func (c *chance) of(job uint64, pod int32, why purpose) *rand.Rand {
	h := mix(c.seed ^ mix(job))
	c.source.Seed(h, mix(h^uint64(uint32(pod))<<20^uint64(why)))
	return c.rand
}

// mix is the last step of SplitMix64: each bit of the result depends on all of x.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hashText mixes a text into a number.
func hashText(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return mix(h)
}

func itoa(n int) string { return strconv.Itoa(n) }
