package cronjobapply_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/job"
)

// TestC15_OrderOfWrites compares all calls of a round, one at a time.
func TestC15_OrderOfWrites(t *testing.T) {
	tests := []struct {
		name string
		snap cronjob.Snapshot
		fail map[string]error
		want []string
	}{
		{"look up, delete, create, status",
			snapshot(cronjob.Allow, active("lost"), finished(3)), nil,
			[]string{"look lost", "delete old-000", "delete old-001", "create " + due, "status"}},
		{"a run replaces what runs, and what is gone is not deleted",
			snapshot(cronjob.Replace, running("a"), active("lost")), nil,
			[]string{"look lost", "delete a", "create " + due, "status"}},
		{"a run replaces what may run",
			snapshot(cronjob.Replace, running("a"), active("lost")), map[string]error{"look": errDown},
			[]string{"look lost", "delete a", "delete lost", "create " + due, "status"}},
		{"a run that waits until the pods are gone",
			snapshot(cronjob.Replace, running("a"), func(s *cronjob.Snapshot) { s.Options.ReplaceWhenGone = true }), nil,
			[]string{"delete a, pods first", "status"}},
		{"the run comes before the triggers",
			snapshot(cronjob.Allow, triggers("2", "1")), nil,
			[]string{"create " + due, "create c-manual-1", "create c-manual-2", "status"}},
		{"nothing is due, nothing is written", snapshot(cronjob.Allow, early), nil, nil},
		{"C12: what could not be deleted is not replaced",
			snapshot(cronjob.Replace, running("a", "b")), map[string]error{"delete a": errDown},
			[]string{"delete a", "delete b", "status"}},
		{"a history that stays does not hold the run back",
			snapshot(cronjob.Replace, running("a"), finished(2)), map[string]error{"delete old-000": errDown},
			[]string{"delete a", "delete old-000", "create " + due, "status"}},
		{"a look-up that fails does not stop the round",
			snapshot(cronjob.Allow, active("lost")), map[string]error{"look": errDown},
			[]string{"look lost", "create " + due, "status"}},
		{"without a job there is no status",
			snapshot(cronjob.Allow), map[string]error{"create": errDown},
			[]string{"create " + due}},
		{"a creation that fails does not stop the others",
			snapshot(cronjob.Allow, triggers("1")), map[string]error{"create " + due: errDown},
			[]string{"create " + due, "create c-manual-1", "status"}},
		{"a status that cannot be written",
			snapshot(cronjob.Allow), map[string]error{"status": errDown},
			[]string{"create " + due, "status"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := plan(t, test.snap)
			f := &fake{fail: test.fail}
			end, err := cronjobapply.Executor{Parallel: 1}.Apply(t.Context(), f, p)
			if diff := cmp.Diff(test.want, f.calls); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, p)
			}
			if (err != nil) != (len(test.fail) > 0) || err != nil && !errors.Is(err, errDown) {
				t.Errorf("error %v", err)
			}
			if failed := err != nil; end.Retry != failed {
				t.Errorf("retry %v, error %v", end.Retry, err)
			}
		})
	}
}

// TestApply_ZeroPlan: it does nothing.
func TestApply_ZeroPlan(t *testing.T) {
	f := &fake{}
	end, err := cronjobapply.Executor{}.Apply(t.Context(), f, &cronjob.Plan{})
	if diff := cmp.Diff(cronjob.Conclusion{}, end); diff != "" || err != nil || len(f.calls) > 0 {
		t.Errorf("calls %v, error %v, conclusion (-want +got):\n%s", f.calls, err, diff)
	}
}

// TestC14_TheNameIsTheLock: what becomes of the creation of the run that is due.
func TestC14_TheNameIsTheLock(t *testing.T) {
	exists := fmt.Errorf("jobs: %w", cronjobapply.ErrExists)
	ours := cronjobapply.Job{Reference: cronjob.Reference{UID: "u"}, Controller: "cron-1", CreationTimestamp: at(9)}
	foreign := cronjobapply.Job{Reference: cronjob.Reference{UID: "u"}, Controller: "cron-2"}
	bare := cronjobapply.Job{Reference: cronjob.Reference{UID: "u"}}
	tests := []struct {
		name  string
		fail  map[string]error
		found *cronjobapply.Job
		made  *cronjobapply.Job
		want  cronjob.Result
		error string
		retry bool
		// last is the hour of lastScheduleTime after the round.
		last, active int
	}{
		{"created", nil, nil, &ours, cronjob.ResultDone, "", false, 9, 1},
		{"it exists and is ours", map[string]error{"create": exists}, &ours, nil, cronjob.ResultAlreadyExists, "", false, 9, 1},
		{"it exists and is another CronJob's", map[string]error{"create": exists}, &foreign, nil, cronjob.ResultNameTaken, "", false, 8, 0},
		{"it exists and is nobody's", map[string]error{"create": exists}, &bare, nil, cronjob.ResultNameTaken, "", false, 8, 0},
		{"it existed", map[string]error{"create": exists}, nil, nil, cronjob.ResultUnsuccessful,
			`create jobs: "` + due + `" existed, and is gone by now`, true, 8, 0},
		{"it exists and cannot be looked at", map[string]error{"create": exists, "look": errDown}, &ours, nil, cronjob.ResultUnsuccessful,
			"create jobs: the API server is down", true, 8, 0},
		{"it exists, and the backend does not say which", map[string]error{"create": exists}, &cronjobapply.Job{Controller: "cron-1"}, nil,
			cronjob.ResultUnsuccessful, `create jobs: the backend names no UID for "` + due + `"`, true, 8, 0},
		{"the reply is lost", map[string]error{"create": errDown}, nil, nil, cronjob.ResultUnsuccessful,
			"create jobs: the API server is down", true, 8, 0},
		{"the backend does not say what it has created", nil, nil, &cronjobapply.Job{}, cronjob.ResultUnsuccessful,
			`create jobs: the backend names no UID for "` + due + `"`, true, 8, 0},
		{"the namespace is going away", map[string]error{"create": fmt.Errorf("jobs: %w", cronjobapply.ErrNamespaceTerminating)}, nil, nil,
			cronjob.ResultRefused, "", false, 8, 0},
		{"the CronJob is gone, says a backend", map[string]error{"create": cronjobapply.ErrGone}, nil, nil, cronjob.ResultUnsuccessful,
			"create jobs: the job is gone", true, 8, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{fail: test.fail, jobs: map[string]cronjobapply.Job{}}
			if test.found != nil {
				f.jobs[due] = *test.found
			}
			if test.made != nil {
				f.made = func(cronjob.Creation) cronjobapply.Job { return *test.made }
			}
			snap := snapshot(cronjob.Allow)
			p := plan(t, snap)
			end, err := cronjobapply.Executor{}.Apply(t.Context(), f, p)
			o := end.Outcome
			if got := o.Created[0].Result; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if text := fmt.Sprint(err); err != nil && text != test.error || (err == nil) != (test.error == "") {
				t.Errorf("got error %v, want %q", err, test.error)
			}
			if got := end.Retry; got != test.retry {
				t.Errorf("retry %v, want %v", got, test.retry)
			}
			// A creation that has met another job has not failed.
			failed := slices.ContainsFunc(end.Events, func(e job.Event) bool { return e.Reason == "FailedCreate" })
			if want := test.want == cronjob.ResultUnsuccessful && !errors.Is(test.fail["create"], cronjobapply.ErrExists); failed != want {
				t.Errorf("a FailedCreate event: %v, want %v", failed, want)
			}
			status := p.Settle(o.Writes).Status
			if !status.LastScheduleTime.Equal(at(test.last)) || len(status.Active) != test.active {
				t.Errorf("status %s", status)
			}
			for _, ref := range status.Active {
				want := cronjob.Reference{Kind: "Job", APIVersion: "batch/v1", Namespace: "ns", Name: due, UID: "u"}
				if diff := cmp.Diff(want, ref); diff != "" {
					t.Errorf("reference (-want +got):\n%s", diff)
				}
			}
			if test.want == cronjob.ResultDone || test.want == cronjob.ResultAlreadyExists {
				if !o.Created[0].CreationTimestamp.Equal(at(9)) {
					t.Errorf("created at %s", o.Created[0].CreationTimestamp)
				}
			}
		})
	}
}

// TestApply_ReferenceOfTheBackend: what the backend says of a job is what the status holds.
func TestApply_ReferenceOfTheBackend(t *testing.T) {
	ref := cronjob.Reference{Kind: "Work", APIVersion: "example.com/v1", Namespace: "other", Name: "w", UID: "u", ResourceVersion: "7"}
	f := &fake{made: func(cronjob.Creation) cronjobapply.Job { return cronjobapply.Job{Reference: ref} }}
	if _, err := (cronjobapply.Executor{}).Apply(t.Context(), f, plan(t, snapshot(cronjob.Allow))); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]cronjob.Reference{ref}, f.status.Active); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestApply_NamespaceTerminating: what comes after the first refusal is not tried.
func TestApply_NamespaceTerminating(t *testing.T) {
	f := &fake{fail: map[string]error{"create c-manual-1": cronjobapply.ErrNamespaceTerminating}}
	p := plan(t, snapshot(cronjob.Allow, triggers("1", "2", "3")))
	end, err := cronjobapply.Executor{}.Apply(t.Context(), f, p)
	o := end.Outcome
	if got := results(o.Created); got != "done, refused, refused, refused" || err != nil || end.Retry {
		t.Errorf("created %s, error %v, retry %v", got, err, end.Retry)
	}
	if f.count("create") != 2 {
		t.Errorf("calls %v", f.calls)
	}
}

// TestC5_LookUp: only a job that is certainly gone leaves the active list.
func TestC5_LookUp(t *testing.T) {
	there := func(uid job.UID) *cronjobapply.Job {
		return &cronjobapply.Job{Reference: cronjob.Reference{UID: uid}}
	}
	tests := []struct {
		name   string
		found  *cronjobapply.Job
		fail   error
		want   string
		error  string
		active int
	}{
		{"it is there", there("uid-of-lost"), nil, "done", "", 1},
		{"it is gone", nil, nil, "gone", "", 0},
		{"a later job has its name", there("other"), nil, "gone", "", 0},
		{"it cannot be looked at", there("uid-of-lost"), errDown, "unsuccessful", "look up jobs: the API server is down", 1},
		{"the backend does not say which it is", there(""), nil, "unsuccessful", `look up jobs: the backend names no UID for "lost"`, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{jobs: map[string]cronjobapply.Job{}, fail: map[string]error{"look": test.fail}}
			if test.found != nil {
				f.jobs["lost"] = *test.found
			}
			p := plan(t, snapshot(cronjob.Forbid, active("lost")))
			end, err := cronjobapply.Executor{}.Apply(t.Context(), f, p)
			o := end.Outcome
			if got := verified(o); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if text := fmt.Sprint(err); err != nil && text != test.error || (err == nil) != (test.error == "") {
				t.Errorf("got error %v, want %q", err, test.error)
			}
			if got := len(p.Settle(o.Writes).Status.Active); got != test.active || f.count("status") != 1-test.active {
				t.Errorf("%d active, want %d; calls %v", got, test.active, f.calls)
			}
			if f.count("create") > 0 {
				t.Errorf("Forbid: calls %v", f.calls)
			}
		})
	}
}

// TestApply_Deletions: a failure does not stop the others, and gone is as good as deleted.
func TestApply_Deletions(t *testing.T) {
	gone := fmt.Errorf("jobs: %w", cronjobapply.ErrGone)
	tests := []struct {
		name  string
		fail  map[string]error
		want  string
		error string
	}{
		{"all work", nil, "done, done, done, done", ""},
		{"one is gone", map[string]error{"delete old-001": gone}, "done, gone, done, done", ""},
		{"one fails", map[string]error{"delete old-001": errDown}, "done, unsuccessful, done, done", "delete jobs: the API server is down"},
		{"all fail", map[string]error{"delete": errDown}, "unsuccessful, unsuccessful, unsuccessful, unsuccessful",
			"delete jobs: the API server is down (and 3 more of 4)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := plan(t, snapshot(cronjob.Allow, early, finished(5)))
			end, err := cronjobapply.Executor{}.Apply(t.Context(), &fake{fail: test.fail}, p)
			o := end.Outcome
			if got := results(o.Deleted); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if text := fmt.Sprint(err); err != nil && text != test.error || (err == nil) != (test.error == "") {
				t.Errorf("got error %v, want %q", err, test.error)
			}
			if got := end.Retry; got != (test.error != "") {
				t.Errorf("retry %v", got)
			}
		})
	}
}

// TestApply_JoinsErrors: each step says what went wrong in it.
func TestApply_JoinsErrors(t *testing.T) {
	f := &fake{fail: map[string]error{"look": errDown, "delete": errDown, "create": errDown, "status": errDown}}
	saw := func(s *cronjob.Snapshot) { // the status is to be written whatever happens
		running("done")(s)
		s.Children[0].Finished = "Complete"
	}
	_, err := cronjobapply.Executor{}.Apply(t.Context(), f, plan(t, snapshot(cronjob.Allow, saw, active("lost"), finished(2))))
	const want = `look up jobs: the API server is down
delete jobs: the API server is down
create jobs: the API server is down
write status: the API server is down`
	if fmt.Sprint(err) != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// TestApply_Bounded: never more concurrent calls than Parallel says, and never more than
// one creation or status.
func TestApply_Bounded(t *testing.T) {
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprint("n", i))
	}
	for _, parallel := range []int{-1, 0, 1, 3, 64} {
		for name, snap := range map[string]cronjob.Snapshot{
			"look-ups":  snapshot(cronjob.Allow, early, active(names...)),
			"deletions": snapshot(cronjob.Allow, early, finished(51)),
			"creations": snapshot(cronjob.Allow, triggers(names...)),
		} {
			inBubble(t, fmt.Sprintf("%s, %d at once", name, parallel), func(t *testing.T) {
				f := &fake{took: time.Second}
				if _, err := (cronjobapply.Executor{Parallel: parallel}).Apply(t.Context(), f, plan(t, snap)); err != nil {
					t.Fatal(err)
				}
				want := min(parallel, 50)
				if parallel <= 0 {
					want = 16
				}
				if name == "creations" {
					want = 1
				}
				if f.atOnce != want || len(f.calls) < 50 {
					t.Errorf("%d of %d at once, want %d", f.atOnce, len(f.calls), want)
				}
			})
		}
	}
}

// CI15: a run that does not start beside a job which only a look-up has found is incomplete, and
// the error says so.
func TestApply_IncompleteIsAnError(t *testing.T) {
	s := snapshot(cronjob.Forbid)
	first := plan(t, s)
	lost, err := cronjobapply.Executor{}.Apply(t.Context(), &fake{fail: map[string]error{"create": errDown}}, first)
	if err == nil {
		t.Fatal("the creation succeeds")
	}
	s.Memory, s.Now = lost.Memory, s.Now.Add(time.Hour)
	p := plan(t, s)
	f := &fake{jobs: map[string]cronjobapply.Job{p.Verify[0].Name: {Reference: cronjob.Reference{UID: "u"}, Controller: "cron-1"}}}
	end, err := cronjobapply.Executor{}.Apply(t.Context(), f, p)
	if len(p.Verify) != 1 || len(p.Create) != 1 || !end.Retry || !errors.Is(err, cronjobapply.ErrAgain) {
		t.Errorf("retry %t, error %v, calls %v:\n%s", end.Retry, err, f.calls, p)
	}
}
