package cronjob_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

// TestQuiet_AsTheWholeRound changes one thing at a time in a round that has nothing to do. It
// checks which rounds planQuiet still plans, and that a full round makes the same plan.
func TestQuiet_AsTheWholeRound(t *testing.T) {
	// remembers changes the memory of a round.
	remembers := func(change func(s *cronjob.Snapshot, m *cronjob.Remembered)) func(*cronjob.Snapshot) {
		return func(s *cronjob.Snapshot) {
			remember(t, s)
			change(s, s.Memory.Kept())
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*cronjob.Snapshot)
		quiet  bool
	}{
		{"a job runs", func(*cronjob.Snapshot) {}, true},
		{"no job is left", func(s *cronjob.Snapshot) { s.Children, s.CronJob.Status.Active = nil, nil }, true},
		{"nothing has run yet", func(s *cronjob.Snapshot) {
			s.Children, s.CronJob.Status, s.CronJob.CreationTimestamp = nil, cronjob.Status{}, s.Now
		}, true},
		{"the memory of the last round", func(s *cronjob.Snapshot) { remember(t, s) }, true},
		{"a memory about an earlier CronJob", remembers(func(s *cronjob.Snapshot, _ *cronjob.Remembered) { s.CronJob.UID = "cj-2" }), true},
		{"Replace", func(s *cronjob.Snapshot) { s.CronJob.Spec.ConcurrencyPolicy = cronjob.Replace }, true},
		{"the job that runs is being deleted", func(s *cronjob.Snapshot) { s.Children[3].DeletionTimestamp = s.Now }, true},
		{"another kind", func(s *cronjob.Snapshot) { s.Options.ChildKind = works.ChildKind }, true},
		{"another owner's job of a later run", func(s *cronjob.Snapshot) { s.Children[3], s.CronJob.Status.Active = foreign(child(s.Now)), nil }, true},
		{"no limits of the history", func(s *cronjob.Snapshot) {
			s.CronJob.Spec.SuccessfulJobsHistoryLimit, s.CronJob.Spec.FailedJobsHistoryLimit = nil, nil
		}, true},
		{"failures that a pause counts", func(s *cronjob.Snapshot) {
			s.Children[1].Finished, s.Children[2].Finished, s.Options.PauseAfterFailures = cronjob.Failed, cronjob.Failed, 3
		}, true},

		{"the next run is due", func(s *cronjob.Snapshot) { s.Now = s.Schedule.Schedule.Next(s.Now) }, false},
		{"the next run waits for its jitter", func(s *cronjob.Snapshot) {
			s.Options.Jitter, s.Now = 10*time.Minute, s.Schedule.Schedule.Next(s.Now)
		}, false},
		{"suspended", func(s *cronjob.Snapshot) { s.CronJob.Spec.Suspend = ptr(true) }, false},
		{"being deleted", func(s *cronjob.Snapshot) { s.CronJob.DeletionTimestamp = s.Now }, false},
		{"a zone in the schedule", func(s *cronjob.Snapshot) {
			s.CronJob.Spec.Schedule = "TZ=UTC */15 * * * *"
			s.Schedule = cronjob.Compile(&s.CronJob)
		}, false},
		{"a deadline of nothing", func(s *cronjob.Snapshot) { s.CronJob.Spec.StartingDeadlineSeconds = ptr[int64](0) }, false},
		{"the last run lies in the future", func(s *cronjob.Snapshot) { s.CronJob.Status.LastScheduleTime = s.Now.Add(time.Hour) }, false},
		{"the job that runs has ended", func(s *cronjob.Snapshot) { s.Children[3] = finished(s.Children[3], job.ConditionComplete, s.Now) }, false},
		{"the job that runs is missing", func(s *cronjob.Snapshot) { s.Children = s.Children[:3] }, false},
		{"a job runs that is not recorded", func(s *cronjob.Snapshot) { s.CronJob.Status.Active = nil }, false},
		{"two jobs of one UID run", func(s *cronjob.Snapshot) {
			s.Children[2] = s.Children[3]
			s.Children[2].Name = "report-again"
		}, false},
		{"a later run has started", func(s *cronjob.Snapshot) {
			s.Children[0] = child(s.Schedule.Schedule.Next(s.Now))
			s.Children[0].Finished = cronjob.Failed
		}, false},
		{"a success is not recorded", func(s *cronjob.Snapshot) { s.Children[0].CompletionTime = s.Now }, false},
		{"a limit of the history", func(s *cronjob.Snapshot) { s.CronJob.Spec.SuccessfulJobsHistoryLimit = ptr[int32](2) }, false},
		{"a limit for failed jobs", func(s *cronjob.Snapshot) {
			s.Children[0].Finished, s.CronJob.Spec.FailedJobsHistoryLimit = cronjob.Failed, ptr[int32](0)
		}, false},
		{"jobs are kept for a time", func(s *cronjob.Snapshot) { s.Options.KeepSuccessful = time.Hour }, false},
		{"failed jobs are kept for a time", func(s *cronjob.Snapshot) { s.Children[0].Finished, s.Options.KeepFailed = cronjob.Failed, time.Hour }, false},
		{"a trigger", func(s *cronjob.Snapshot) { s.Triggers = []cronjob.Trigger{{ID: "t"}} }, false},
		{"a backfill", func(s *cronjob.Snapshot) {
			s.Backfills = []cronjob.Backfill{{ID: "b", After: s.Now.Add(-24 * time.Hour), Until: s.Now.Add(-12 * time.Hour), Overlap: cronjob.Forbid}}
		}, false},
		{"the memory cannot be read", func(s *cronjob.Snapshot) { must.OK(t, s.Memory.UnmarshalJSON([]byte(`{"version":99}`))) }, false},
		{"a status write has failed", remembers(func(s *cronjob.Snapshot, m *cronjob.Remembered) {
			m.Unrecorded = s.CronJob.Status.LastScheduleTime.Add(-time.Hour)
		}), false},
		{"the snapshot is older than the last write", remembers(func(s *cronjob.Snapshot, m *cronjob.Remembered) {
			m.Recorded = s.CronJob.Status.LastScheduleTime.Add(time.Hour)
		}), false},
		{"snapshots have been late", remembers(func(s *cronjob.Snapshot, m *cronjob.Remembered) { m.Behind = s.Now }), false},
		{"runs were set aside", remembers(func(s *cronjob.Snapshot, m *cronjob.Remembered) { m.Since = s.Now }), false},
		{"a run is not accounted for", remembers(func(s *cronjob.Snapshot, m *cronjob.Remembered) {
			m.Accounted = s.CronJob.Status.LastScheduleTime.Add(-time.Hour)
		}), false},
		{"a started job is not shown", remembers(func(s *cronjob.Snapshot, m *cronjob.Remembered) {
			m.Started = []cronjob.StartedJob{{Reference: ref(child(s.Now)), Recorded: true}}
		}), false},
		{"a deleted job is still named", remembers(func(s *cronjob.Snapshot, m *cronjob.Remembered) {
			m.Deleted = []cronjob.LeavingJob{{Reference: s.CronJob.Status.Active[0]}}
		}), false},
		{"resumed", remembers(func(s *cronjob.Snapshot, m *cronjob.Remembered) { s.Options.SkipOnResume, m.Suspended = true, true }), false},
		{"edited", remembers(func(s *cronjob.Snapshot, m *cronjob.Remembered) { s.Options.SkipOnEdit, m.Schedule = true, "0 0 * * *" }), false},
		{"no list of active jobs is stored", func(s *cronjob.Snapshot) { s.Options.ActiveFromChildren, s.CronJob.Status.Active = true, nil }, false},
		{"no last success is stored", func(s *cronjob.Snapshot) { s.Options.SuccessFromChildren = true }, false},
		{"as the reference", func(s *cronjob.Snapshot) { *s = kubernetes(*s) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, consistent := range []bool{false, true} {
				s := steady("*/15 * * * *", nil)
				s.Consistent = consistent
				tt.change(&s)
				if got := cronjob.IsQuiet(s); got != tt.quiet {
					t.Errorf("quiet %t, want %t", got, tt.quiet)
				}
				plan := reconcile(t, s)
				checkQuiet(t, s, &plan)
			}
		})
	}
}
