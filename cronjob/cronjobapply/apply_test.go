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
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
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
			if test.fail["status"] != nil && end.Outcome.Settled.Result != cronjobreason.ResultUnsuccessful {
				t.Errorf("the status is %s", end.Outcome.Settled)
			}
			if failed := err != nil; end.Retry != failed {
				t.Errorf("retry %v, error %v", end.Retry, err)
			}
		})
	}
}

// TestApply_ZeroPlan: the zero plan does nothing.
func TestApply_ZeroPlan(t *testing.T) {
	f := &fake{}
	end, err := cronjobapply.Executor{}.Apply(t.Context(), f, &cronjob.Plan{})
	if diff := cmp.Diff(cronjob.Conclusion{}, end); diff != "" || err != nil || len(f.calls) > 0 {
		t.Errorf("calls %v, error %v, conclusion (-want +got):\n%s", f.calls, err, diff)
	}
}

// TestC14_TheNameIsTheLock tries each result of creating the due run's job.
func TestC14_TheNameIsTheLock(t *testing.T) {
	exists := fmt.Errorf("jobs: %w", cronjobapply.ErrExists)
	ours := cronjobapply.Job{Reference: cronjob.Reference{UID: "u"}, Controller: "cron-1", CreationTimestamp: at(9)}
	foreign := cronjobapply.Job{Reference: cronjob.Reference{UID: "u"}, Controller: "cron-2"}
	bare := cronjobapply.Job{Reference: cronjob.Reference{UID: "u"}}
	const noUID = `create jobs: the backend names no UID for "`

	for _, test := range []struct {
		name         string
		create, look error
		found, made  *cronjobapply.Job
		want         cronjobreason.Result
		error        string
	}{
		{"created", nil, nil, nil, &ours, cronjobreason.ResultDone, ""},
		{"it exists and is ours", exists, nil, &ours, nil, cronjobreason.ResultAlreadyExists, ""},
		{"it exists and is another CronJob's", exists, nil, &foreign, nil, cronjobreason.ResultNameTaken, ""},
		{"it exists and is nobody's", exists, nil, &bare, nil, cronjobreason.ResultNameTaken, ""},
		{"it existed", exists, nil, nil, nil, cronjobreason.ResultUnsuccessful, `create jobs: "` + due + `" existed, and is gone by now`},
		{"it exists and cannot be looked at", exists, errDown, &ours, nil, cronjobreason.ResultUnsuccessful, "create jobs: the API server is down"},
		{"it exists, and the backend does not say which", exists, nil, &cronjobapply.Job{Controller: "cron-1"}, nil, cronjobreason.ResultUnsuccessful, noUID + due + `"`},
		{"the reply is lost", errDown, nil, nil, nil, cronjobreason.ResultUnsuccessful, "create jobs: the API server is down"},
		{"the backend does not say what it has created", nil, nil, nil, &cronjobapply.Job{}, cronjobreason.ResultUnsuccessful, noUID + due + `"`},
		{"the namespace is going away", fmt.Errorf("jobs: %w", cronjobapply.ErrNamespaceTerminating), nil, nil, nil, cronjobreason.ResultRefused, ""},
		{"the CronJob is gone, says a backend", cronjobapply.ErrGone, nil, nil, nil, cronjobreason.ResultUnsuccessful, "create jobs: the job is gone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{fail: map[string]error{"create": test.create, "look": test.look}, jobs: map[string]cronjobapply.Job{}}

			if test.found != nil {
				f.jobs[due] = *test.found
			}
			if test.made != nil {
				f.made = func(cronjob.Creation) cronjobapply.Job { return *test.made }
			}

			p, end, err := apply(t, f, snapshot(cronjob.Allow))
			checkError(t, err, test.error)

			made := end.Outcome.Created[0]
			if made.Result != test.want || end.Retry != (test.error != "") {
				t.Errorf("got %s, retry %v, want %s", made.Result, end.Retry, test.want)
			}
			// A creation that found an existing job has not failed.
			failed := slices.ContainsFunc(end.Events, func(e job.Event) bool { return e.Reason == "FailedCreate" })
			if want := test.want == cronjobreason.ResultUnsuccessful && !errors.Is(test.create, cronjobapply.ErrExists); failed != want {
				t.Errorf("a FailedCreate event: %v, want %v", failed, want)
			}

			last, active := at(8), []cronjob.Reference(nil)
			if started := test.want == cronjobreason.ResultDone || test.want == cronjobreason.ResultAlreadyExists; started {
				last, active = at(9), []cronjob.Reference{{Kind: "Job", APIVersion: "batch/v1", Namespace: "ns", Name: due, UID: "u"}}
				if !made.CreationTimestamp.Equal(at(9)) {
					t.Errorf("created at %s", made.CreationTimestamp)
				}
			}

			if status := p.Settle(end.Outcome.Writes).Status; !status.LastScheduleTime.Equal(last) || !slices.Equal(status.Active, active) {
				t.Errorf("status %+v, want the run of %s and %v", status, last, active)
			}
		})
	}
}

// TestApply_ReferenceOfTheBackend: the status holds the reference that the backend returned.
func TestApply_ReferenceOfTheBackend(t *testing.T) {
	ref := cronjob.Reference{Kind: "Work", APIVersion: "example.com/v1", Namespace: "other", Name: "w", UID: "u", ResourceVersion: "7"}
	f := &fake{made: func(cronjob.Creation) cronjobapply.Job { return cronjobapply.Job{Reference: ref} }}
	_, _, err := apply(t, f, snapshot(cronjob.Allow))
	checkError(t, err, "")
	if diff := cmp.Diff([]cronjob.Reference{ref}, f.status.Active); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestApply_NamespaceTerminating: creations after the first refusal are not tried.
func TestApply_NamespaceTerminating(t *testing.T) {
	f := &fake{fail: map[string]error{"create c-manual-1": cronjobapply.ErrNamespaceTerminating}}
	_, end, err := apply(t, f, snapshot(cronjob.Allow, triggers("1", "2", "3")))
	if got := results(end.Outcome.Created); got != "done, refused, refused, refused" || err != nil || end.Retry {
		t.Errorf("created %s, error %v, retry %v", got, err, end.Retry)
	}
	if refused := end.Outcome.Created[1].Error; refused != cronjobapply.ErrNamespaceTerminating.Error() {
		t.Errorf("the effect says %q", refused)
	}
	if f.count("create") != 2 {
		t.Errorf("calls %v", f.calls)
	}
}

// TestC5_LookUp: only a job that is certainly gone leaves the active list.
func TestC5_LookUp(t *testing.T) {
	for _, test := range []struct {
		name   string
		found  job.UID
		fail   error
		want   cronjobreason.Result
		error  string
		active int
	}{
		{"it is there", "uid-of-lost", nil, cronjobreason.ResultDone, "", 1},
		{"it is gone", "", fmt.Errorf("jobs: %w", cronjobapply.ErrGone), cronjobreason.ResultGone, "", 0},
		{"a later job has its name", "other", nil, cronjobreason.ResultGone, "", 0},
		{"it cannot be looked at", "uid-of-lost", errDown, cronjobreason.ResultUnsuccessful, "look up jobs: the API server is down", 1},
		{"the backend does not say which it is", "", nil, cronjobreason.ResultUnsuccessful, `look up jobs: the backend names no UID for "lost"`, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{jobs: map[string]cronjobapply.Job{"lost": {Reference: cronjob.Reference{UID: test.found}}}, fail: map[string]error{"look": test.fail}}
			p, end, err := apply(t, f, snapshot(cronjob.Forbid, active("lost")))

			if got := end.Outcome.Verified; len(got) != 1 || got[0].Result != test.want {
				t.Errorf("got %v, want %s", got, test.want)
			}
			checkError(t, err, test.error)
			if got := len(p.Settle(end.Outcome.Writes).Status.Active); got != test.active || f.count("status") != 1-test.active {
				t.Errorf("%d active, want %d; calls %v", got, test.active, f.calls)
			}
			if f.count("create") > 0 {
				t.Errorf("Forbid: calls %v", f.calls)
			}
		})
	}
}

// TestApply_Deletions: a failed deletion does not stop the others, and a job that is gone counts as
// deleted.
func TestApply_Deletions(t *testing.T) {
	for _, test := range []struct {
		name  string
		fail  map[string]error
		want  string
		error string
	}{
		{"all work", nil, "done, done, done, done", ""},
		{"one is gone", map[string]error{"delete old-001": fmt.Errorf("jobs: %w", cronjobapply.ErrGone)}, "done, gone, done, done", ""},
		{"one fails", map[string]error{"delete old-001": errDown}, "done, unsuccessful, done, done", "delete jobs: the API server is down"},
		{"all fail", map[string]error{"delete": errDown}, "unsuccessful, unsuccessful, unsuccessful, unsuccessful",
			"delete jobs: the API server is down (and 3 more of 4)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, end, err := apply(t, &fake{fail: test.fail}, snapshot(cronjob.Allow, early, finished(5)))
			if got := results(end.Outcome.Deleted); got != test.want || end.Retry != (test.error != "") {
				t.Errorf("got %s, retry %v, want %s", got, end.Retry, test.want)
			}
			checkError(t, err, test.error)
		})
	}
}

// TestApply_JoinsErrors: the error has a line for each step that failed.
func TestApply_JoinsErrors(t *testing.T) {
	f := &fake{fail: map[string]error{"look": errDown, "delete": errDown, "create": errDown, "status": errDown}}
	saw := func(s *cronjob.Snapshot) { s.Children[0].Finished = "Complete" } // the status must be written
	_, end, err := apply(t, f, snapshot(cronjob.Allow, running("done"), saw, active("lost"), finished(2)))
	checkError(t, err, `look up jobs: the API server is down
delete jobs: the API server is down
create jobs: the API server is down
write status: the API server is down`)
	o := end.Outcome
	for _, said := range []string{o.Verified[0].Error, o.Deleted[0].Error, o.Created[0].Error, o.Settled.Error} {
		if said != errDown.Error() {
			t.Errorf("an outcome says %q", said)
		}
	}
}

// TestApply_Bounded: there are at most Parallel concurrent calls, and creations and status writes
// are made one by one.
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

// TestApply_IncompleteIsAnError: a look-up finds an active job that the snapshot does not show. The
// due run does not start, and the error is ErrAgain (CI15).
func TestApply_IncompleteIsAnError(t *testing.T) {
	s := snapshot(cronjob.Forbid)
	_, lost, err := apply(t, &fake{fail: map[string]error{"create": errDown}}, s)
	if err == nil {
		t.Fatal("the creation succeeds")
	}
	s.Memory, s.Now = lost.Memory, s.Now.Add(time.Hour)
	f := &fake{jobs: map[string]cronjobapply.Job{due: {Reference: cronjob.Reference{UID: "u"}, Controller: "cron-1"}}}
	p, end, err := apply(t, f, s)
	if len(p.Verify) != 1 || len(p.Create) != 1 || !end.Retry || !errors.Is(err, cronjobapply.ErrAgain) {
		t.Errorf("retry %t, error %v, calls %v:\n%s", end.Retry, err, f.calls, p)
	}
}

// observing is a backend that records the results of the writes.
type observing struct {
	*fake
	writes []cronjob.Writes
}

func (o *observing) Executed(w cronjob.Writes) {
	o.writes = append(o.writes, w)
	_ = o.call("executed")
}

// TestObserver: an Observer gets the results of the reads and writes once in a round. It gets them
// before the status write, and also if the round writes no status.
func TestObserver(t *testing.T) {
	for _, test := range []struct {
		name string
		snap cronjob.Snapshot
		fail map[string]error
		want []string
	}{
		{"all is written", snapshot(cronjob.Replace, running("a")), nil, []string{"delete a", "create " + due, "executed", "status"}},
		{"nothing is", snapshot(cronjob.Allow, early), nil, []string{"executed"}},
		{"a creation fails", snapshot(cronjob.Allow), map[string]error{"create": errDown}, []string{"create " + due, "executed"}},
	} {
		f := &observing{fake: &fake{fail: test.fail}}
		end, _ := cronjobapply.Executor{Parallel: 1}.Apply(t.Context(), f, plan(t, test.snap))
		if diff := cmp.Diff(test.want, f.calls); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff([]cronjob.Writes{end.Outcome.Writes}, f.writes); diff != "" {
			t.Errorf("%s: (-outcome +executed):\n%s", test.name, diff)
		}
	}
}
