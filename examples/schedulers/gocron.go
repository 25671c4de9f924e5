package schedulers

import (
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/batchplan/batchplan/schedule"
)

// exact is a schedule for gocron. gocron hands it the crontab and the location of its scheduler, and so
// each job needs one of its own.
type exact struct {
	schedule.Schedule
	options []schedule.Option
}

// onceADay are the options of a schedule that runs at some times of the day: where the clocks skip such a time, it runs when
// they go on, and where they show it twice, the first time. A schedule that runs each hour or more often needs none.
var onceADay = []schedule.Option{schedule.RunSkippedAtGapEnd(), schedule.RunRepeatedFirst()}

var _ gocron.Cron = (*exact)(nil)

// IsValid takes over the crontab. A schedule that never runs is refused.
func (e *exact) IsValid(crontab string, location *time.Location, _ time.Time) (err error) {
	options := append([]schedule.Option{schedule.WithLocation(location)}, e.options...)
	if e.Schedule, err = schedule.Parse(crontab, options...); err != nil {
		return err
	}
	if e.Never() {
		return fmt.Errorf("schedule %q never runs", crontab)
	}
	return nil
}

// addToGocron lets gocron run a function by a schedule of this library, in the scheduler's location.
func addToGocron(s gocron.Scheduler, crontab string, run func(), options ...schedule.Option) (gocron.Job, error) {
	return s.NewJob(gocron.CronJob(crontab, false), gocron.NewTask(run), gocron.WithCronImplementation(&exact{options: options}))
}
