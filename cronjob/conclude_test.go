package cronjob

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// C2: with the quirk, failed deletions of the history are not retried. Failed deletions of replaced
// jobs are.
func TestC2_EagerDeletionsAreNotRepeated(t *testing.T) {
	for _, reason := range []cronjobreason.Delete{cronjobreason.DeleteSuccessful, cronjobreason.DeleteFailed, cronjobreason.DeleteReplaced} {
		for _, quirks := range []cronjobquirk.Set{{}, cronjobquirk.SetOf(cronjobquirk.EagerHistory)} {
			p := Plan{basis: basis{Quirks: quirks}, Delete: []Deletion{{Reason: reason}}}
			want := quirks.IsZero() || reason == cronjobreason.DeleteReplaced
			if got := p.Conclude(Outcome{Writes: Writes{Deleted: []Effect{{Result: cronjobreason.ResultUnsuccessful}}}}).Retry; got != want {
				t.Errorf("quirks %b, %v: again %t, want %t", quirks, reason, got, want)
			}
		}
	}
}

// C11: there is no JobAlreadyActive event if the round finds out that the job is gone and a run
// waits for it. Other events are reported in any case.
func TestC11_EventsThatHaveBecomeUntrue(t *testing.T) {
	none := cronjobquirk.SetOf()

	for _, tc := range []struct {
		blocked  bool
		verified cronjobreason.Result
		quirks   cronjobquirk.Set // EagerHistory: no event reports the end of a deleted job
		want     string
	}{
		{true, cronjobreason.ResultGone, none, "Planned SawCompletedJob"},
		{true, cronjobreason.ResultDone, none, "JobAlreadyActive Planned SawCompletedJob"},
		{false, cronjobreason.ResultGone, none, "JobAlreadyActive Planned SawCompletedJob MissSchedule"},
		{false, cronjobreason.ResultGone, cronjobquirk.SetOf(cronjobquirk.EagerHistory), "JobAlreadyActive Planned MissSchedule"},
	} {
		p := Plan{
			basis:  basis{hurry: hurry{Blocked: tc.blocked}, Quirks: tc.quirks},
			Verify: []Reference{{Name: "a", UID: "a"}},
			Missed: Missed{TooLate: true},
			Delete: []Deletion{{Reference: Reference{Name: "b", UID: "b"}, Reason: cronjobreason.DeleteFailed}},
			Events: []job.Event{{Reason: "JobAlreadyActive"}, {Reason: "Planned"}, {Reason: "SawCompletedJob", Message: "Saw completed job: b, condition: Failed"}},
		}

		if !tc.blocked { // a job was perhaps created, and does not exist
			run := time.Unix(1, 0)
			p.Verify, p.basis.Memory.Accounted = append(p.Verify, Reference{Name: "lost"}), run
			p.basis.Memory.Started = []startedJob{{Reference: p.Verify[1], ScheduledTime: run}}
		}

		var got []string
		for _, e := range p.Conclude(Outcome{Writes: Writes{Verified: []Reply{{Result: tc.verified}, {Result: tc.verified}}, Deleted: []Effect{{Result: cronjobreason.ResultGone}}}}).Events {
			got = append(got, e.Reason)
		}

		if strings.Join(got, " ") != tc.want {
			t.Errorf("blocked %t, %v: got %v, want %s", tc.blocked, tc.verified, got, tc.want)
		}
	}
}

// CI15: a status write that lists a started job with a known UID records that job. A deleted job is
// forgotten. Without the CronJob's UID no status is written, so its result is ignored.
func TestCI15_StartedUntilRecorded(t *testing.T) {
	for _, tc := range []struct {
		uid     job.UID
		settled cronjobreason.Result
		want    string
	}{
		{"cj-1", cronjobreason.ResultDone, "a true, b false, c true, e true"},
		{"cj-1", cronjobreason.ResultUnsuccessful, "a false, b false, c true, e false"},
		{"", cronjobreason.ResultUnsuccessful, "a true, b false, c true, e true"},
	} {
		var p Plan
		p.CronJobUID, p.basis.Status.LastScheduleTime = tc.uid, time.Unix(1, 0)

		for _, name := range []string{"a", "b", "c", "d", "e"} {
			s := startedJob{Reference: Reference{Name: name, UID: job.UID(name)}, Recorded: name == "c"}
			if name == "b" {
				s.UID = ""
			}
			p.basis.Status.Active = append(p.basis.Status.Active, s.Reference)
			p.basis.Memory.Started = append(p.basis.Memory.Started, s)
		}

		p.Delete = []Deletion{{Reference: Reference{Name: "d", UID: "d"}}, {Reference: Reference{Name: "e", UID: "e"}}}
		writes := Writes{Deleted: []Effect{{Result: cronjobreason.ResultDone}, {Result: cronjobreason.ResultUnsuccessful}}}

		var got []string
		for _, s := range p.Conclude(Outcome{Writes: writes, Settled: Reply{Result: tc.settled}}).Memory.kept.Started {
			got = append(got, fmt.Sprint(s.Name, " ", s.Recorded))
		}
		if strings.Join(got, ", ") != tc.want {
			t.Errorf("%q, %v: got %v, want %s", tc.uid, tc.settled, got, tc.want)
		}
	}
}

// CL2: a deleted job is remembered once, and Gone stays set.
func TestCL2_DeletedIsRememberedOnce(t *testing.T) {
	old := leavingJob{Reference: Reference{Name: "a", UID: "a"}, Gone: true}
	p := Plan{basis: basis{Memory: memory{Deleted: []leavingJob{old}}}}
	if got := p.Conclude(Outcome{}).Memory.kept.Deleted; len(got) != 1 || !got[0].Gone {
		t.Errorf("remembered %v", got)
	}
	p.Verify, p.Delete = []Reference{old.Reference}, []Deletion{{Reference: old.Reference, Reason: cronjobreason.DeleteReplaced}}
	p.basis.Status.Active = p.Verify
	w := Writes{Verified: []Reply{{Result: cronjobreason.ResultUnsuccessful}}, Deleted: []Effect{{Result: cronjobreason.ResultUnsuccessful}}}
	if got := p.Conclude(Outcome{Writes: w}).Memory.kept.Deleted; len(got) != 1 {
		t.Errorf("remembered %v", got)
	}
}

// C16: only jobs of scheduled runs have a creation skew.
func TestC16_SkewOfRunsAlone(t *testing.T) {
	run := time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC)

	for _, tc := range []struct {
		name     string
		creation Creation
		created  time.Time
		want     time.Duration
	}{
		{"a run", Creation{ScheduledTime: run}, run.Add(time.Second), time.Second},
		{"a run whose job has no time", Creation{ScheduledTime: run}, time.Time{}, 0},
		{"a trigger", Creation{Trigger: "a"}, run.Add(time.Second), 0},
		{"a backfill", Creation{ScheduledTime: run, Backfill: "b"}, run.Add(time.Second), 0},
	} {
		p := Plan{Create: []Creation{tc.creation}}
		f := p.Conclude(Outcome{Writes: Writes{Created: []Effect{{Result: cronjobreason.ResultDone, CreationTimestamp: tc.created}}}}).Metrics

		var want []time.Duration
		if tc.want > 0 {
			want = append(want, tc.want)
		}
		if !slices.Equal(f.CreationSkews, want) || f.Created != 1 {
			t.Errorf("%s: %+v, want a skew of %v", tc.name, f, tc.want)
		}

		failed := []Effect{{Result: cronjobreason.ResultUnsuccessful, CreationTimestamp: tc.created}}
		if f := p.Conclude(Outcome{Writes: Writes{Created: failed}}).Metrics; f.Created > 0 || len(f.CreationSkews) > 0 {
			t.Errorf("%s, which was not created: %+v", tc.name, f)
		}
	}
}

// TestCL4_RoomMadeByTheRound: if runs wait for active jobs, another round follows immediately after
// a round that has made room. A round makes room if it has replaced a job, or if the name of a new
// job was taken.
func TestCL4_RoomMadeByTheRound(t *testing.T) {
	deleted := func(r cronjobreason.Result) Writes { return Writes{Deleted: []Effect{{Result: r}}} }
	created := func(r cronjobreason.Result) Writes { return Writes{Created: []Effect{{Result: r}}} }

	for _, test := range []struct {
		name    string
		blocked bool
		writes  Writes
		settled cronjobreason.Result
		want    cronjobreason.Wait
	}{
		{"a job was replaced", true, deleted(cronjobreason.ResultDone), cronjobreason.ResultDone, cronjobreason.WaitActive},
		{"it was gone", true, deleted(cronjobreason.ResultGone), cronjobreason.ResultDone, cronjobreason.WaitActive},
		{"it could not be deleted", true, deleted(cronjobreason.ResultUnsuccessful), cronjobreason.ResultDone, cronjobreason.WaitNextRun},
		{"nothing waits", false, deleted(cronjobreason.ResultDone), cronjobreason.ResultDone, cronjobreason.WaitNextRun},
		{"the status is not written", true, deleted(cronjobreason.ResultDone), cronjobreason.ResultUnsuccessful, cronjobreason.WaitNextRun},
		{"the name is taken", true, created(cronjobreason.ResultNameTaken), cronjobreason.ResultDone, cronjobreason.WaitActive},
		{"the namespace refuses the job", true, created(cronjobreason.ResultRefused), cronjobreason.ResultDone, cronjobreason.WaitNextRun},
		{"the job is created", true, created(cronjobreason.ResultDone), cronjobreason.ResultDone, cronjobreason.WaitNextRun},
	} {
		t.Run(test.name, func(t *testing.T) {
			active := Status{Active: []Reference{{Name: "a", UID: "a"}}}
			p := Plan{
				CronJobUID: "c", basis: basis{hurry: hurry{Blocked: test.blocked}, Before: active, Status: active},
				Delete:  []Deletion{{Reference: active.Active[0], Reason: cronjobreason.DeleteReplaced}},
				Create:  []Creation{{Name: "b", Trigger: "b", Reason: cronjobreason.CreateTriggered}},
				Requeue: Requeue{Reason: cronjobreason.WaitNextRun},
			}
			if got := p.Conclude(Outcome{Writes: test.writes, Settled: Reply{Result: test.settled}}).Requeue.Reason; got != test.want {
				t.Errorf("again for reason %v, want %v", got, test.want)
			}
		})
	}

	// If there is no status to write, the next round is immediate only after a job was deleted with
	// its pods. The memory then shows the deletion.
	for _, foreground := range []bool{false, true} {
		p := Plan{basis: basis{hurry: hurry{Blocked: true}}, Delete: []Deletion{{Reason: cronjobreason.DeleteReplaced, Foreground: foreground}}}
		end := p.Conclude(Outcome{Writes: deleted(cronjobreason.ResultDone)})
		if got := end.Requeue.Reason == cronjobreason.WaitActive; got != foreground {
			t.Errorf("foreground %t, nothing to write: again %t", foreground, got)
		}
	}
}

// C14: a job of this CronJob that exists already is remembered like a new one. A job of another
// owner is not.
func TestC14_FoundInPlaceIsRemembered(t *testing.T) {
	none := cronjobquirk.SetOf()
	for _, tc := range []struct {
		quirks cronjobquirk.Set
		result cronjobreason.Result
		want   int
	}{
		{none, cronjobreason.ResultDone, 1}, {none, cronjobreason.ResultAlreadyExists, 1}, {none, cronjobreason.ResultNameTaken, 0},
		{cronjobquirk.SetOf(cronjobquirk.BlindCreate, cronjobquirk.NoNamespace), cronjobreason.ResultAlreadyExists, 0},
	} {
		p := Plan{basis: basis{Quirks: tc.quirks}, Create: []Creation{{Name: "report-1"}}}
		o := Outcome{Writes: Writes{Created: []Effect{{Result: tc.result, Job: Reference{UID: "u"}}}}, Settled: Reply{Result: cronjobreason.ResultUnsuccessful}}
		if got := p.Conclude(o).Memory.kept.Started; len(got) != tc.want || tc.want > 0 && got[0].UID != "u" {
			t.Errorf("quirks %b, %v: %+v, want %d", tc.quirks, tc.result, got, tc.want)
		}
	}
}

// CI15: only a job without a known UID was perhaps never created.
func TestLostNames(t *testing.T) {
	p := Plan{Verify: []Reference{{Name: "lost"}, {Name: "known", UID: "u"}}}
	gone := Reply{Result: cronjobreason.ResultGone}
	if got := p.lostNames(&Writes{Verified: []Reply{gone, gone}}, gone.Result); len(got) != 1 || !got["lost"] {
		t.Errorf("got %v", got)
	}
}

// CI15: a job whose status write failed is remembered, except with the quirk BlindCreate.
func TestNewStarts_Unrecorded(t *testing.T) {
	for quirks, want := range map[cronjobquirk.Set]int{{}: 1, cronjobquirk.SetOf(cronjobquirk.BlindCreate): 0} {
		p := Plan{Create: []Creation{{Name: "a"}}}
		p.basis.Quirks = quirks
		w := Writes{Created: []Effect{{Result: cronjobreason.ResultUnsuccessful}}}
		if got := p.newStarts(&w, false); len(got) != want {
			t.Errorf("quirks %v: got %v", quirks, got)
		}
	}
}
