package cronjob

import (
	"testing"

	"github.com/batchplan/batchplan/job"
)

// C7: the delay of a CronJob is the same each time, also after an update of the program.
func TestJitter_SpreadIsTheSameEachTime(t *testing.T) {
	for uid, want := range map[job.UID]uint64{
		"":                                     0,
		"a":                                    0x5a0978a740144ade,
		"4f0c2f52-6a0e-4d3c-9a55-0b5b3a3a7f10": 0x890d5839757ec0b0,
	} {
		if got := spread(uid); got != want {
			t.Errorf("%q: got %#x, want %#x", uid, got, want)
		}
	}
}
