package schedulers

import (
	"github.com/robfig/cron/v3"

	"github.com/batchplan/batchplan/schedule"
)

// A Schedule is a Schedule of robfig/cron.
var _ cron.Schedule = schedule.Schedule{}

// addToRobfig lets robfig/cron run a function on a schedule of this library.
func addToRobfig(c *cron.Cron, spec, zone string, run func()) (cron.EntryID, error) {
	s, err := schedule.Parse(spec, schedule.WithTimeZone(zone))
	if err != nil {
		return 0, err
	}
	return c.Schedule(s, cron.FuncJob(run)), nil
}
