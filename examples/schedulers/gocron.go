package schedulers

import (
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/batchplan/batchplan/schedule"
)

// exact is a schedule for gocron. gocron passes the crontab and the location of its scheduler to
// it, so each job needs an exact of its own.
type exact struct {
	schedule.Schedule
	options []schedule.Option
}

// onceADay are the options of a schedule that runs at certain times of the day: a skipped time runs
// at the end of the gap, and a repeated time runs the first time. An hourly schedule needs none.
var onceADay = []schedule.Option{schedule.RunSkippedAtGapEnd(), schedule.RunRepeatedFirst()}

var _ gocron.Cron = (*exact)(nil)

// IsValid parses the crontab and keeps the schedule. It refuses a schedule that never runs.
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

// addToGocron lets gocron run a function on a schedule of this library, in the scheduler's
// location.
func addToGocron(s gocron.Scheduler, crontab string, run func(), options ...schedule.Option) (gocron.Job, error) {
	exactly := gocron.WithCronImplementation(&exact{options: options})
	return s.NewJob(gocron.CronJob(crontab, false), gocron.NewTask(run), exactly)
}
