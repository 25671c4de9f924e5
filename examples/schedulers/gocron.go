package schedulers

import (
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/batchplan/batchplan/schedule"
)

// exact is a schedule for gocron. gocron hands it the crontab and the location of its scheduler, and so
// each job needs one of its own.
type exact struct{ schedule.Schedule }

var _ gocron.Cron = (*exact)(nil)

// IsValid takes over the crontab. A schedule that never runs is refused.
func (e *exact) IsValid(crontab string, location *time.Location, _ time.Time) (err error) {
	if e.Schedule, err = schedule.Parse(crontab, schedule.WithLocation(location)); err != nil {
		return err
	}
	if e.Never() {
		return fmt.Errorf("schedule %q never runs", crontab)
	}
	return nil
}

// addToGocron lets gocron run a function by a schedule of this library, in the scheduler's location.
func addToGocron(s gocron.Scheduler, crontab string, run func()) (gocron.Job, error) {
	return s.NewJob(gocron.CronJob(crontab, false), gocron.NewTask(run), gocron.WithCronImplementation(&exact{}))
}
