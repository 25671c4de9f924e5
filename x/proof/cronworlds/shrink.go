package cronworlds

import "slices"

// shrink returns shorter and duller decisions that break the same law. It plays at most as many
// worlds as the argument tries.
func shrink(decisions []int, law string, t tamper, tries int) []int {
	breaks := func(try []int) bool {
		tries--
		v := play(replay(try), t, law, nil)
		return v != nil && v.law == law
	}

	for {
		before := slices.Clone(decisions)
		for size := len(decisions) / 2; size > 0; size /= 2 {
			for at := 0; at+size <= len(decisions) && tries > 0; {
				if try := slices.Delete(slices.Clone(decisions), at, at+size); breaks(try) {
					decisions = try
				} else {
					at += size
				}
			}
		}

		for at := range decisions {
			for _, v := range []int{0, decisions[at] / 2, decisions[at] - 1} {
				if v < decisions[at] && v >= 0 && tries > 0 {
					try := slices.Clone(decisions)
					if try[at] = v; breaks(try) {
						decisions = try
					}
				}
			}
		}

		if tries <= 0 || slices.Equal(before, decisions) {
			return decisions
		}
	}
}
