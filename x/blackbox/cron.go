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
	// NoRunTwice: no run gets a second child, even if the first is gone, unless a user deleted the
	// first while it ran.
	NoRunTwice Check = "NoRunTwice"
	// Starts: once there are no more faults, each run that is due starts within the Slack plus twice the lag.
	Starts Check = "Starts"
	// Deadline: no child starts later than startingDeadlineSeconds, plus the Jitter, after its run.
	Deadline Check = "Deadline"
	// Forbids: with Forbid no child starts while another one has not ended. While two replicas run,
	// children that the watches have not shown yet do not count, here and in Replaces.
	Forbids Check = "Forbids"
	// Replaces: with Replace the other children are deleted before a new one starts.
	Replaces Check = "Replaces"
	// Suspended: no child starts while the parent is suspended, except in the first second of the
	// suspension plus the lag.
	Suspended Check = "Suspended"
	// NotInRetrospect: a resume or an edit of the schedule starts no run that was due before it.
	NotInRetrospect Check = "NotInRetrospect"
	// Bursts: of the runs that are missed while the program is down, the parent is suspended or a
	// child runs, at most one starts besides the latest.
	Bursts Check = "Bursts"
	// Retries: a failed write delays a run by at most three times the Slack plus six times the lag.
	Retries Check = "Retries"
	// KeepsRunning: the program stops no running child, except to replace it.
	KeepsRunning Check = "KeepsRunning"
	// History: as many ended children are kept as the limits allow, and they are the latest ones.
	History Check = "History"
	// ActiveList: the parent's list of active children is correct once there are no more faults.
	ActiveList Check = "ActiveList"
	// KeepsTimes: the times in the status neither go back nor vanish (Cron.Times).
	KeepsTimes Check = "KeepsTimes"
	// ReportsPassed: a run is reported as skipped if a later run takes its place (Cron.Skipped).
	ReportsPassed Check = "ReportsPassed"
	// ReportsLate: a run is reported as skipped once its startingDeadlineSeconds have passed.
	ReportsLate Check = "ReportsLate"
	// ReportsOnce: only runs that were due and do not start are reported as skipped, each once.
	ReportsOnce Check = "ReportsOnce"
	// Bounded: the controller comes to rest, and makes at most 200 writes for a run.
	Bounded Check = "Bounded"
)

// CronSettings are the settings of a parent.
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
	// New returns a parent with the settings. The kit sets its name and namespace. An edit replaces
	// the spec of the parent with the spec of a new one.
	New func(CronSettings) any
	// Run returns the scheduled time of a child. Nil means the latest run before its creation.
	Run func(child Object) time.Time
	// Slack is how late a run may start if there are no faults; 0 means a minute.
	Slack time.Duration
	// Jitter is how long the program delays runs on purpose, at most. It is added to the Slack and to
	// startingDeadlineSeconds.
	Jitter time.Duration
	// Active returns the UIDs in the parent's list of active children. It is nil if there is no such list.
	Active func(parent Object) []string
	// Times returns the times in the status of a parent that never go back, such as that of the last run. It is nil
	// if there are none. The number of times is always the same.
	Times func(parent Object) []time.Time
	// Skipped returns the runs that an event reports as skipped: the time of the latest one, and
	// how many they are. The zero Time means the latest run that is due. The other runs are the
	// last ones before it, without those that have started. A negative number means all runs back
	// to one that was started or already reported, and 0 means that the event reports no run. A nil
	// Skipped means that no event reports runs. A report may be lost or repeated around a crash, a
	// lost reply or a second replica, so the checks of reports leave out the runs of that time.
	Skipped func(Event) (latest time.Time, runs int)
	// Schedules are the schedules of the parents; nil means some that run each minute, each hour or each day.
	Schedules []string
	// Policies are the concurrency policies that the parent supports; nil means all three.
	// NoDeadline means that it has no starting deadline. NoHistory means that it has no history
	// limits.
	Policies              []string
	NoDeadline, NoHistory bool
	// Known are the findings that are known.
	Known []Known[CronSettings]
}

// Play plays a life. The caller must not be in a synctest bubble.
func (c *Cron) Play(t *testing.T, life CronLife) Result {
	t.Helper()
	return play(t, &c.Program, life, func(f *family, s CronSettings) script {
		return &cronScript{
			family:   f,
			cron:     c,
			settings: s,
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
