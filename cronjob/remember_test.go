package cronjob

import (
	"testing"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
)

// C14: a job that is found instead of a new one is remembered like a new one, and
// one whose name belongs to another owner is not.
func TestC14_FoundInPlaceIsRemembered(t *testing.T) {
	for _, tc := range []struct {
		quirks cronjobquirk.Set
		result Result
		want   int
	}{
		{0, ResultDone, 1}, {0, ResultAlreadyExists, 1}, {0, ResultNameTaken, 0}, {cronjobquirk.BlindCreate, ResultAlreadyExists, 0},
	} {
		p := Plan{basis: basis{Quirks: tc.quirks}, Create: []Creation{{Name: "report-1"}}}
		o := Outcome{Writes: Writes{Created: []Effect{{Result: tc.result, Job: Reference{UID: "u"}}}}, Settled: ResultUnsuccessful}
		if got := p.Conclude(o).Memory.kept.Started; len(got) != tc.want || tc.want > 0 && got[0].UID != "u" {
			t.Errorf("quirks %b, %v: %+v, want %d", tc.quirks, tc.result, got, tc.want)
		}
	}
}
