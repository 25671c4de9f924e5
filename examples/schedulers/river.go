package schedulers

import (
	"github.com/riverqueue/river"

	"github.com/batchplan/batchplan/schedule"
)

// A Schedule is a PeriodicSchedule of River.
var _ river.PeriodicSchedule = schedule.Schedule{}

// periodicJob returns a periodic job of River on a schedule of this library.
func periodicJob(spec, zone string, args river.PeriodicJobConstructor) (*river.PeriodicJob, error) {
	s, err := schedule.Parse(spec, schedule.WithTimeZone(zone))
	if err != nil {
		return nil, err
	}
	return river.NewPeriodicJob(s, args, nil), nil
}
