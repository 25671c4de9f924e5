package schedule_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/schedule"
)

// TestS3_FirstYearWestOfUTC: clocks west of UTC still show the last day of the year 0
// when the supported years begin. All methods agree about its runs.
func TestS3_FirstYearWestOfUTC(t *testing.T) {
	begin := time.Time{}
	for _, zone := range []string{"America/New_York", "Pacific/Honolulu", "Asia/Manila", "Europe/Berlin", "UTC"} {
		for _, spec := range []string{"30 20 31 12 *", "*/15 22,23 * 12 *", "59 23 * * *", "0 0 1 1 *", "0 12 29 2 *"} {
			for _, also := range [][]string{nil, {"45 23 31 12 *"}} {
				s := mustParse(t, spec, schedule.Also(also...), schedule.WithTimeZone(zone))
				until := begin.AddDate(0, 0, 2)
				want := clockOf(spec, also, nil).oracle(s.Location(), exact, begin.Unix(), until.Unix())
				if problem := compare(s, begin.Unix(), until.Unix(), want); problem != "" {
					t.Errorf("%q in %s: %s", s, zone, problem)
				}
			}
		}
	}
}
