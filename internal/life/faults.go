package life

import (
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/world"
)

// DrawFaults makes at most one of the first writes of a round go wrong.
func DrawFaults(t *rapid.T, i *world.Injector, faults []world.Fault, writes int) {
	i.Fault = nil
	if len(faults) == 0 || rapid.IntRange(0, 2).Draw(t, "faulty") < 2 {
		return
	}

	fault := rapid.SampledFrom(faults).Draw(t, "fault")
	at, n := rapid.IntRange(0, writes-1).Draw(t, "at write"), 0
	i.Fault = func(world.Write) world.Fault {
		if n++; n-1 == at {
			return fault
		}
		return world.None
	}
}
