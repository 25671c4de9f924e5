package blackbox

import (
	"fmt"
	"testing"
	"time"
)

// The checks of schedules.
const (
	// OnSchedule: each child belongs to a run of the schedule after the creation of the parent, and is not started
	// before that run.
	OnSchedule Check = "OnSchedule"
	// NoRunTwice: no run has two children, also if the first is gone; unless a user has deleted it while it ran.
	NoRunTwice Check = "NoRunTwice"
	// Starts: once nothing goes wrong any more, each run that is due starts within a minute and twice the lag.
	Starts Check = "Starts"
	// Deadline: nothing starts later than startingDeadlineSeconds after its run.
	Deadline Check = "Deadline"
	// Forbids: with Forbid nothing starts while another child has not ended. While two replicas run, children that the
	// watches have not shown yet do not count, nor do they for Replaces.
	Forbids Check = "Forbids"
	// Replaces: with Replace the other children are deleted before one starts.
	Replaces Check = "Replaces"
	// Suspended: nothing starts while the parent is suspended, from a second and the lag after that.
	Suspended Check = "Suspended"
	// NotInRetrospect: a resume or an edit of the schedule starts no run from before it.
	NotInRetrospect Check = "NotInRetrospect"
	// Bursts: of the runs that are missed while the program is down, the parent is suspended or a child runs, at most
	// one starts that is not the latest.
	Bursts Check = "Bursts"
	// Retries: the failure of a write delays a run by at most three minutes and six times the lag, or three times the
	// Slack.
	Retries Check = "Retries"
	// KeepsRunning: the program stops no child that runs, except to replace it.
	KeepsRunning Check = "KeepsRunning"
	// History: as many children that have ended are kept as the limits say, the latest ones.
	History Check = "History"
	// ActiveList: the parent's list of active children is true once nothing goes wrong any more.
	ActiveList Check = "ActiveList"
	// ReportsPassed: a run whose place a later one takes is reported as skipped ([Cron.Skipped]).
	ReportsPassed Check = "ReportsPassed"
	// ReportsLate: a run whose startingDeadlineSeconds have passed is reported as skipped.
	ReportsLate Check = "ReportsLate"
	// ReportsOnce: only runs that were due and do not start are reported as skipped, and none twice.
	ReportsOnce Check = "ReportsOnce"
	// Bounded: the controller comes to rest, and makes at most 200 writes for a run.
	Bounded Check = "Bounded"
)

// CronSettings are what a parent is made of.
type CronSettings struct {
	Schedule string
	// Policy is Allow, Forbid or Replace.
	Policy                  string
	StartingDeadlineSeconds *int64
	// KeepSucceeded and KeepFailed are the history limits.
	KeepSucceeded, KeepFailed *int32
	Suspend                   bool
}

// Cron is a program that starts children at the times of a schedule.
type Cron struct {
	Program
	// New returns a parent with the settings. The kit sets its name and namespace. An edit replaces its spec.
	New func(CronSettings) any
	// Run returns the run of a child; nil means the latest run before its creation.
	Run func(child Object) time.Time
	// Slack is how late a run may start when nothing goes wrong; 0 means a minute.
	Slack time.Duration
	// Active are the UIDs in the parent's list of active children; nil if there is none.
	Active func(parent Object) []string
	// Skipped returns the runs that an event reports as skipped: the latest of them, the zero Time for
	// the latest that is due, and how many with those before it that have not started. A negative
	// number means all before it; 0 means that the event reports none. Nil means that no event does.
	// The checks of reports leave out the runs around a crash, a lost reply or a second replica, since
	// a report may be lost or repeated there.
	Skipped func(Event) (latest time.Time, runs int)
	// Schedules are those that parents get; nil means some of each minute, each hour and each day.
	Schedules []string
	// Policies are those that the parent has; nil means all three. NoDeadline and NoHistory mean that
	// it lacks these.
	Policies              []string
	NoDeadline, NoHistory bool
}

// Play plays a life. It is called outside of a bubble.
func (c *Cron) Play(t *testing.T, life CronLife) Result {
	t.Helper()
	return play(t, &c.Program, life, func(p *player, _ Program) script {
		return &cronScript{
			player:   p,
			cron:     c,
			settings: life.Settings,
		}
	})
}

// String describes the settings.
func (s CronSettings) String() string {
	text := fmt.Sprintf("%q, %s", s.Schedule, s.Policy)
	if s.StartingDeadlineSeconds != nil {
		text += fmt.Sprintf(", startingDeadlineSeconds %d", *s.StartingDeadlineSeconds)
	}
	if s.KeepSucceeded != nil {
		text += fmt.Sprintf(", keeps %d that succeeded", *s.KeepSucceeded)
	}
	if s.KeepFailed != nil {
		text += fmt.Sprintf(", keeps %d that failed", *s.KeepFailed)
	}
	if s.Suspend {
		text += ", suspended"
	}
	return text
}
