package jobapply_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/release"
)

// TestJ35_OrderOfWrites compares the calls of a round, which are made one at a time, with a list.
func TestJ35_OrderOfWrites(t *testing.T) {
	for _, test := range []struct {
		name string
		snap job.Snapshot
		fail map[string]error
		want []string
	}{
		{"claims, status, finalizers, status",
			snapshot(1, pod("a", 0, job.PodRunning), pod("s", 2, job.PodSucceeded), pod("f", 3, job.PodFailed),
				withOwner(pod("o", 4, job.PodPending), jobpod.Orphan),
				withOwner(pod("u", 5, job.PodRunning), jobpod.OwnedUnmatched)),
			nil,
			[]string{"adopt o", "release u", "status", "untrack s", "untrack f", "status"}},
		{"a claim, deletions, status, finalizers, status",
			snapshot(1, pod("a", 0, job.PodRunning), pod("b", 1, job.PodPending), pod("s", 2, job.PodSucceeded),
				pod("f", 3, job.PodFailed),
				withOwner(pod("u", 5, job.PodRunning), jobpod.OwnedUnmatched)),
			nil,
			[]string{"release u", "delete b, finalizer first", "status", "untrack s", "untrack f", "status"}},
		{"creations, status, finalizers, status",
			snapshot(2, pod("s", 2, job.PodSucceeded)), nil,
			[]string{"create 0", "create 1", "status", "untrack s"}}, // a completed index needs no second status
		{"nothing to do, nothing written", job.Snapshot{}, nil, nil},
		{"a deletion that fails does not stop the round",
			snapshot(0, pod("a", 0, job.PodRunning), pod("b", 1, job.PodRunning), pod("f", 3, job.PodFailed)),
			map[string]error{"delete a, finalizer first": errDown},
			[]string{"delete a, finalizer first", "delete b, finalizer first", "status", "untrack f", "status"}},
		{"the pods of a job that ends keep their finalizers until it is said how it ends",
			ending(pod("a", 0, job.PodRunning)), nil,
			[]string{"delete a", "status", "untrack a", "status"}},
		{"without the deletion the end is not declared",
			ending(pod("a", 0, job.PodRunning)),
			map[string]error{"delete a": errDown},
			[]string{"delete a", "status"}},
		{"without the first status no finalizer goes",
			snapshot(0, pod("f", 3, job.PodFailed)),
			map[string]error{"status": errDown},
			[]string{"status"}},
		{"a claim that fails stops the round, once the other claims are made",
			snapshot(0, pod("f", 3, job.PodFailed), withOwner(pod("o", 4, job.PodPending), jobpod.Orphan),
				withOwner(pod("u", 5, job.PodRunning), jobpod.OwnedUnmatched)),
			map[string]error{"adopt o": errDown},
			[]string{"adopt o", "release u"}},
		{"a release that fails also stops the round",
			snapshot(0, pod("a", 0, job.PodRunning), pod("f", 3, job.PodFailed),
				withOwner(pod("u", 5, job.PodRunning), jobpod.OwnedUnmatched)),
			map[string]error{"release u": errDown},
			[]string{"release u"}},
		{"a finalizer that stays does not keep others",
			snapshot(0, pod("f", 3, job.PodFailed), pod("g", 4, job.PodFailed)),
			map[string]error{"untrack f": errDown},
			[]string{"status", "untrack f", "untrack g", "status"}},
		{"J44: the workload and the group of a gang come before its pods", gang(snapshot(2)), nil,
			[]string{"group create Workload 2", "group create in new Workload PodGroup 2", "create 0 in new PodGroup",
				"create 1 in new PodGroup", "status"}},
		{"J44: without its workload a job gets nothing", gang(snapshot(2)), map[string]error{"group create Workload 2": errDown},
			[]string{"group create Workload 2"}},
		{"J44: without its group a job gets no pod", gang(snapshot(2)), map[string]error{"group create in new Workload PodGroup 2": errDown},
			[]string{"group create Workload 2", "group create in new Workload PodGroup 2"}},
		{"J45: a gang is resized before pods are created and finalizers go", resized(snapshot(2, pod("s", 2, job.PodSucceeded))), nil,
			[]string{"group resize Workload 2", "group resize PodGroup 2", "create 0 in g", "create 1 in g", "status",
				"untrack s"}},
		{"J45: a gang that cannot be resized keeps pods, status and finalizers", resized(snapshot(2, pod("f", 3, job.PodFailed))),
			map[string]error{"group resize Workload 2": errDown}, []string{"group resize Workload 2"}},
		{"J45: a gang that shrinks is resized before pods are deleted", resized(snapshot(1, actives(2)...)), nil,
			[]string{"group resize Workload 1", "group resize PodGroup 1", "delete p000, finalizer first", "status"}},
		{"J44: a claim comes before a group",
			gang(snapshot(1, withOwner(pod("u", 5, job.PodRunning), jobpod.OwnedUnmatched))),
			map[string]error{"release u": errDown}, []string{"release u"}},
	} {
		p := &job.Plan{}
		if test.snap.Job.UID != "" {
			p = plan(t, test.snap)
		}

		f := &fake{fail: test.fail}
		_, err := jobapply.Executor{Parallel: 1}.Apply(context.Background(), f, p)
		if diff := cmp.Diff(test.want, f.calls); diff != "" {
			t.Errorf("%s: (-want +got):\n%s\n%s", test.name, diff, p)
		}
		if (err != nil) != (len(test.fail) > 0) || err != nil && !errors.Is(err, errDown) {
			t.Errorf("%s: error %v", test.name, err)
		}
	}
}

// TestJ44_FailedGroup: if a write to a group fails, the round ends and is retried. Its events
// report what has happened.
func TestJ44_FailedGroup(t *testing.T) {
	for _, test := range []struct {
		fail, events string
	}{
		{"group create Workload 2", "FailedWorkloadCreate Failed to create Workload for Job j: the API server is down"},
		{"group create in new Workload PodGroup 2", "WorkloadCreated Created Workload j-746d6c8fd8 for Job j"},
	} {
		_, end, err := apply(t, gang(snapshot(2)), map[string]error{test.fail: errDown})
		var events []string
		for _, e := range end.Events {
			events = append(events, e.Reason+" "+e.Message)
		}
		if !errors.Is(err, errDown) || !end.Retry || strings.Join(events, "; ") != test.events ||
			len(end.Outcome.Created) > 0 || end.Metrics.Action != "reconciling" {
			t.Errorf("%s: %v, %+v, events %q", test.fail, err, end, events)
		}
	}
}

// TestJ6_Adopter: a plan that adopts or releases pods does nothing on a backend whose pods never
// change hands.
func TestJ6_Adopter(t *testing.T) {
	for _, owner := range []jobpod.Ownership{jobpod.Orphan, jobpod.OwnedUnmatched} {
		f := &fake{}
		p := plan(t, snapshot(2, withOwner(pod("o", 4, job.PodPending), owner)))
		end, err := jobapply.Executor{}.Apply(t.Context(), struct{ jobapply.Backend }{f}, p)
		isRefused := err != nil && err.Error() == "claim pods: struct { jobapply.Backend } is no Adopter"
		if !isRefused || !end.Retry || len(f.calls) > 0 {
			t.Errorf("%s: %v, retry %t, calls %q", owner, err, end.Retry, f.calls)
		}
	}
}

// TestGrouper: a plan that writes groups does nothing on a backend without groups, or after the
// context is cancelled.
func TestGrouper(t *testing.T) {
	f := &fake{}
	end, err := jobapply.Executor{}.Apply(t.Context(), struct{ jobapply.Backend }{f}, plan(t, gang(snapshot(2))))
	isRefused := err != nil && strings.HasPrefix(err.Error(), "write Workload: ") &&
		strings.Contains(err.Error(), "is no Grouper")
	if !isRefused || !end.Retry || len(f.calls) > 0 {
		t.Errorf("%v, retry %t, calls %q", err, end.Retry, f.calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.before = func(string) { cancel() } // after the write of the workload
	end, err = jobapply.Executor{}.Apply(ctx, f, plan(t, gang(snapshot(2))))
	if !errors.Is(err, context.Canceled) || !end.Retry || len(f.calls) != 1 || len(end.Outcome.Created) > 0 ||
		end.Outcome.Grouped[1].Result != jobreason.ResultNotTried {
		t.Errorf("%v, retry %t, calls %q, %+v", err, end.Retry, f.calls, end.Outcome)
	}
}

func TestJ34_SlowStart(t *testing.T) {
	for _, test := range []struct {
		creations, parallel int
		want                []int // numbers of creations that start at the same time
	}{
		{1, 0, []int{1}},
		{2, 0, []int{1, 1}},
		{20, 0, []int{1, 2, 4, 8, 5}},
		{20, 3, []int{1, 2, 3, 1, 3, 3, 2, 3, 2}},
		{5, 1, []int{1, 1, 1, 1, 1}},
	} {
		inBubble(t, fmt.Sprintf("%d creations, %d at once", test.creations, test.parallel), func(t *testing.T) {
			started := map[time.Duration]int{}
			begin := time.Now()
			f := &fake{took: time.Second}
			f.before = func(call string) {
				f.mu.Lock()
				defer f.mu.Unlock()
				if call != "status" {
					started[time.Since(begin)]++
				}
			}

			if _, err := (jobapply.Executor{Parallel: test.parallel}).Apply(t.Context(), f,
				plan(t, snapshot(int32(test.creations)))); err != nil {
				t.Fatal(err)
			}

			var got []int
			for at := time.Duration(0); started[at] > 0; at += time.Second {
				got = append(got, started[at])
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestJ34_AFailureStopsTheRest(t *testing.T) {
	for _, test := range []struct {
		name  string
		fails []int
		err   error
		want  string
		text  string
		retry bool
	}{
		{"none fails", nil, errDown, "done, done, done, done, done", "", false},
		{"the first fails", []int{0}, errDown, "unsuccessful, not tried, not tried, not tried, not tried", "create pods: the API server is down", true},
		{"one of the second batch fails", []int{1}, errDown, "done, unsuccessful, done, not tried, not tried", "create pods: the API server is down", true},
		{"both of the second batch fail", []int{1, 2}, errDown, "done, unsuccessful, unsuccessful, not tried, not tried",
			"create pods: the API server is down (and 1 more of 5)", true},
		{"the last fails", []int{4}, errDown, "done, done, done, done, unsuccessful", "create pods: the API server is down", true},
		{"the namespace is going away", []int{0}, jobapply.ErrNamespaceTerminating, "refused, refused, refused, refused, refused", "", false},
		{"the namespace goes away meanwhile", []int{2}, fmt.Errorf("create: %w", jobapply.ErrNamespaceTerminating), "done, done, refused, refused, refused", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{fail: map[string]error{}}
			for _, i := range test.fails {
				f.fail[fmt.Sprintf("create %d", i)] = test.err
			}

			p := plan(t, snapshot(5))
			end, err := jobapply.Executor{}.Apply(t.Context(), f, p)
			o := end.Outcome

			if got := results(o.Created); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if text := fmt.Sprint(err); err != nil && text != test.text || (err == nil) != (test.text == "") {
				t.Errorf("got error %v, want %q", err, test.text)
			}
			if got := end.Retry; got != test.retry {
				t.Errorf("retry %v, want %v", got, test.retry)
			}
			if len(test.fails) > 0 && o.Created[test.fails[0]].Error != test.err.Error() {
				t.Errorf("the effect says %q", o.Created[test.fails[0]].Error)
			}
			if f.count("status") != 1 {
				t.Errorf("the status is written %d times", f.count("status"))
			}
		})
	}
}

// TestApply_GoneIsDone: for a pod that no longer exists, a deletion, a release and a removal of the
// finalizer count as done.
func TestApply_GoneIsDone(t *testing.T) {
	gone := fmt.Errorf("pods: %w", jobapply.ErrGone)
	for _, test := range []struct {
		name  string
		snap  job.Snapshot
		fail  map[string]error
		check func(o job.Outcome) bool
	}{
		{"Delete", snapshot(0, pod("a", 0, job.PodRunning)), map[string]error{"delete": gone},
			func(o job.Outcome) bool { return o.Deleted[0].Result == jobreason.ResultGone }},
		{"Release", snapshot(0, withOwner(pod("u", 0, job.PodRunning), jobpod.OwnedUnmatched)), map[string]error{"release": gone},
			func(o job.Outcome) bool { return o.Claimed.Result == jobreason.ResultDone }},
		{"Untrack", snapshot(0, pod("f", 0, job.PodFailed)), map[string]error{"untrack": gone},
			func(o job.Outcome) bool {
				return o.Untracked[0].Result == jobreason.ResultGone && o.Settled.Result == jobreason.ResultDone
			}},
	} {
		_, end, err := apply(t, test.snap, test.fail)
		if err != nil || !test.check(end.Outcome) || end.Retry {
			t.Errorf("%s: outcome %+v, error %v, retry %v", test.name, end.Outcome, err, end.Retry)
		}
	}
}

// TestJ6_ResultOfTheClaims: the results of all claims (adoptions and releases) are combined into
// one result.
func TestJ6_ResultOfTheClaims(t *testing.T) {
	for err, want := range map[error]jobreason.Result{nil: jobreason.ResultDone, errDown: jobreason.ResultUnsuccessful,
		jobapply.ErrStillTracked: jobreason.ResultUnsuccessful, jobapply.ErrGone: jobreason.ResultDone} {
		s := snapshot(2, withOwner(pod("o", 0, job.PodPending), jobpod.Orphan),
			withOwner(pod("u", 1, job.PodRunning), jobpod.OwnedUnmatched))
		_, end, _ := apply(t, s, map[string]error{"release u": err})
		claimed := end.Outcome.Claimed
		if claimed.Result != want || want != jobreason.ResultDone && claimed.Error != err.Error() {
			t.Errorf("release: %v: claims are %+v, want %s", err, claimed, want)
		}
	}
}

// TestJ41_StillTracked: a pod whose finalizer could not be removed cannot be deleted yet, and no
// event reports this. An event reports only a deletion that has failed itself.
func TestJ41_StillTracked(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		want   jobreason.Result
		events int
	}{
		"the finalizer is there":  {fmt.Errorf("pods: %w", jobapply.ErrStillTracked), jobreason.ResultStillTracked, 0},
		"the deletion has failed": {errDown, jobreason.ResultUnsuccessful, 1},
	} {
		_, end, err := apply(t, snapshot(0, actives(1)...), map[string]error{"delete": c.err})
		if deleted := end.Outcome.Deleted[0]; deleted != (job.Effect{Result: c.want, Error: c.err.Error()}) ||
			!errors.Is(err, c.err) || !end.Retry || len(end.Events) != c.events {
			t.Errorf("%s: outcome %+v, error %v, retry %v, events %+v, want %d", name, end.Outcome, err, end.Retry,
				end.Events, c.events)
		}
	}
}

// TestApply_ErrorsOfTheOutcome: the outcome has the error of each write that failed.
func TestApply_ErrorsOfTheOutcome(t *testing.T) {
	for _, call := range []string{"untrack", "status"} {
		_, end, _ := apply(t, snapshot(0, pod("f", 0, job.PodFailed)), map[string]error{call: errDown})
		o := end.Outcome
		for _, r := range append(o.Untracked, o.Recorded, o.Settled) {
			if r.Result == jobreason.ResultUnsuccessful && r.Error != errDown.Error() {
				t.Errorf("%s: outcome %+v", call, o)
			}
		}
	}
}

// TestJ6_AdoptionOfAGonePod: the plan relied on the pod, so the round ends. This is not a failure:
// the next round, a second later, plans without the pod.
func TestJ6_AdoptionOfAGonePod(t *testing.T) {
	for name, options := range map[string]job.Options{"default": {}, "preset": job.Kubernetes(release.Newest())} {
		s := snapshot(2, withOwner(pod("o", 0, job.PodPending), jobpod.Orphan))
		s.Options = options
		f, end, err := apply(t, s, map[string]error{"adopt": jobapply.ErrGone})
		if !slices.Equal(f.calls, []string{"adopt o"}) || end.Outcome.Claimed.Result != jobreason.ResultGone ||
			end.Retry || err != nil || end.Metrics.SyncFailed {
			t.Errorf("%s: calls %q, outcome %+v, retry %v, error %v", name, f.calls, end.Outcome, end.Retry, err)
		}
		if want := (job.Requeue{At: at(1), Reason: jobreason.WaitNext}); end.Requeue != want {
			t.Errorf("%s: again %+v, want %+v", name, end.Requeue, want)
		}
	}
}

// TestApply_Bounded: at most Parallel calls run concurrently, and a status is written alone.
func TestApply_Bounded(t *testing.T) {
	for _, parallel := range []int{-1, 0, 1, 3, 64} {
		for name, snap := range map[string]job.Snapshot{
			"creations":  snapshot(100),
			"deletions":  snapshot(0, actives(100)...),
			"finalizers": snapshot(0, many(100, job.PodFailed)...),
		} {
			inBubble(t, fmt.Sprintf("%s, %d at once", name, parallel), func(t *testing.T) {
				f := &fake{took: time.Second}
				if _, err := (jobapply.Executor{Parallel: parallel}).Apply(t.Context(), f, plan(t, snap)); err != nil {
					t.Fatal(err)
				}

				want := parallel
				if parallel <= 0 {
					want = 16
				}
				if f.atOnce > want || name != "creations" && f.atOnce < want || f.together {
					t.Errorf("%d at once, want %d; a status among others: %v", f.atOnce, want, f.together)
				}
			})
		}
	}
}

// TestE2_Expectations: writes are expected before they are made. Those that did not take effect are
// subtracted immediately.
func TestE2_Expectations(t *testing.T) {
	for _, test := range []struct {
		name string
		snap job.Snapshot
		fail map[string]error
		want []string
	}{
		{"creations", snapshot(3), nil, []string{"expect 3 0", "create 0", "create 1", "create 2", "status"}},
		{"a creation fails, and one is skipped", snapshot(4), map[string]error{"create 1": errDown},
			[]string{"expect 4 0", "create 0", "create 1", "create 2", "lower 2 0", "status"}},
		{"creations are refused", snapshot(2), map[string]error{"create": jobapply.ErrNamespaceTerminating},
			[]string{"expect 2 0", "create 0", "lower 2 0", "status"}},
		{"deletions", snapshot(0, actives(2)...), nil,
			[]string{"expect 0 2", "untracking p000 p001", "delete p000, finalizer first",
				"delete p001, finalizer first", "status"}},
		{"a deletion fails", snapshot(0, actives(2)...), map[string]error{"delete p000, finalizer first": errDown},
			[]string{"expect 0 2", "untracking p000 p001", "delete p000, finalizer first",
				"delete p001, finalizer first", "lower 0 1", "tracked p000", "status"}},
		{"a pod that is gone sends no event", snapshot(0, actives(1)...), map[string]error{"delete": jobapply.ErrGone},
			[]string{"expect 0 1", "untracking p000", "delete p000, finalizer first", "lower 0 1", "status"}},
		{"the deletions that end a job make no record, and leave the older one alone (E3)", ending(actives(1)...), nil,
			[]string{"delete p000", "status", "untracking p000", "untrack p000", "status"}},
		{"nor does one of them that fails", ending(actives(2)...), map[string]error{"delete p000": errDown},
			[]string{"delete p000", "delete p001", "status"}},
		{"nothing is expected of a round without creations and deletions", snapshot(0, pod("f", 0, job.PodFailed)), nil,
			[]string{"status", "untracking f", "untrack f", "status"}},
		{"a finalizer that stays is not expected to go (E4)", snapshot(0, pod("f", 0, job.PodFailed)), map[string]error{"untrack": errDown},
			[]string{"status", "untracking f", "untrack f", "tracked f"}},
		{"a removal from a pod that is gone may still be seen (E4)", snapshot(0, pod("f", 0, job.PodFailed)), map[string]error{"untrack": jobapply.ErrGone},
			[]string{"status", "untracking f", "untrack f", "status"}},
	} {
		f := &fake{fail: test.fail}
		p := plan(t, test.snap)
		_, _ = jobapply.Executor{Parallel: 1}.Apply(t.Context(), expecting{f, f}, p)
		if diff := cmp.Diff(test.want, f.calls); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestE4_EarlierRemoval: an earlier round has removed the finalizer, but the cache still shows it.
// If a second removal fails, that tells nothing about the first one, so the first is still
// expected.
func TestE4_EarlierRemoval(t *testing.T) {
	for name, s := range map[string]job.Snapshot{
		"a deletion, finalizer first": snapshot(0, pod("a", 0, job.PodRunning)),
		"a finalizer":                 snapshot(0, pod("a", 0, job.PodFailed)),
	} {
		f := &fake{fail: map[string]error{"delete": errDown, "untrack": errDown}, earlier: []job.UID{"a"}}
		_, _ = jobapply.Executor{Parallel: 1}.Apply(t.Context(), expecting{f, f}, plan(t, s))
		if f.count("untracking") != 1 || f.count("tracked") != 0 {
			t.Errorf("%s: %q", name, f.calls)
		}
	}
}

// TestE4_ExpectedAfterARound: after a round, a tracker holds the pods that it held before and the
// pods that have lost their finalizer in the round.
func TestE4_ExpectedAfterARound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pods []job.Pod
		fails := make(map[string]error)
		var tracker expectations.Tracker[string]
		want := expectations.UIDs{}
		phase := rapid.SampledFrom([]job.PodPhase{job.PodRunning, job.PodFailed})

		for i := range rapid.IntRange(1, 6).Draw(t, "pods") {
			p := pod(fmt.Sprint("p", i), int32(i), phase.Draw(t, "phase"))
			pods = append(pods, p)
			result := rapid.SampledFrom(
				[]error{nil, errDown, jobapply.ErrGone, jobapply.ErrStillTracked}).Draw(t, "result")
			fails["delete "+p.Name+", finalizer first"], fails["untrack "+p.Name] = result, result
			if earlier := rapid.Bool().Draw(t, "earlier"); earlier {
				tracker.ExpectUntracked("j", p.UID)
			}
			if _, held := tracker.Snapshot("j"); held.Has(p.UID) || result == nil || result == jobapply.ErrGone {
				want = want.With(p.UID)
			}
		}

		p, err := job.Reconcile(snapshot(0, pods...))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = jobapply.Executor{}.Apply(t.Context(), expecting{&fake{fail: fails}, tracker.Of("j", at(0))}, &p)
		if _, got := tracker.Snapshot("j"); !got.Equal(want) {
			t.Fatalf("expected are %v, want %v", slices.Collect(got.All()), slices.Collect(want.All()))
		}
	})
}

// TestApply_CancelledBeforeTheFirstWrite: nothing is written, and the results show that.
func TestApply_CancelledBeforeTheFirstWrite(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	for name, snap := range map[string]job.Snapshot{
		"creations":  snapshot(5),
		"deletions":  snapshot(0, actives(5)...),
		"finalizers": snapshot(0, pod("f", 0, job.PodFailed)),
		"claims":     snapshot(1, withOwner(pod("o", 0, job.PodPending), jobpod.Orphan)),
	} {
		for _, parallel := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s, %d at once", name, parallel), func(t *testing.T) {
				f := &fake{}
				end, err := jobapply.Executor{Parallel: parallel}.Apply(ctx, f, plan(t, snap))
				o := end.Outcome

				if len(f.calls) > 0 || !errors.Is(err, context.Canceled) {
					t.Errorf("calls %v, error %v", f.calls, err)
				}
				for _, e := range append(o.Created, o.Deleted...) {
					if e.Result != jobreason.ResultNotTried {
						t.Errorf("outcome %+v", o)
					}
				}
				if o.Recorded.Result != jobreason.ResultNotTried || name == "claims" &&
					o.Claimed.Result != jobreason.ResultNotTried || !end.Retry {
					t.Errorf("outcome %+v", o)
				}
			})
		}
	}
}

// TestApply_CancelledMeanwhile: writes that have started run to their end, and no further one
// starts.
func TestApply_CancelledMeanwhile(t *testing.T) {
	inBubble(t, "three at once", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(1500*time.Millisecond, cancel)
		f := &fake{took: time.Second}
		end, err := jobapply.Executor{Parallel: 3}.Apply(ctx, f, plan(t, snapshot(0, many(20, job.PodFailed)...)))
		o := end.Outcome
		// The status takes the first second, three finalizers the next.
		if f.count("untrack") != 3 || f.count("status") != 1 || !errors.Is(err, context.Canceled) {
			t.Errorf("calls %v, error %v", f.calls, err)
		}
		failed := slices.DeleteFunc(slices.Clone(o.Untracked),
			func(r job.Reply) bool { return r.Result == jobreason.ResultDone })
		if len(o.Untracked)-len(failed) != 3 || o.Recorded.Result != jobreason.ResultDone ||
			o.Settled.Result != jobreason.ResultNotTried || !end.Retry {
			t.Errorf("outcome %+v", o)
		}
	})
}

// versioned is a backend in which the job has version 8 after a status write.
type versioned struct{ *fake }

func (v versioned) JobVersion() int64 { return 8 }

// TestE6_Written: the version of a status write is remembered until the next one. It never
// decreases, and a failed write has no version.
func TestE6_Written(t *testing.T) {
	idle := snapshot(0)
	idle.Job.Status = job.Status{StartTime: at(0), Ready: ptr[int32](0), Terminating: ptr[int32](0),
		UncountedTerminatedPods: &job.UncountedTerminatedPods{}}

	for _, test := range []struct {
		name   string
		snap   job.Snapshot
		known  int64 // in the memory
		fail   map[string]error
		silent bool // the backend does not know the version
		want   int64
	}{
		{name: "a status is written", snap: snapshot(0), known: 7, want: 8},
		{name: "two are written", snap: snapshot(0, pod("f", 3, job.PodFailed)), known: 7, want: 8},
		{name: "none is written", snap: idle, known: 7, want: 7},
		{name: "the write fails", snap: snapshot(0), known: 7, fail: map[string]error{"status": errDown}, want: 7},
		{name: "a later version is known", snap: snapshot(0), known: 9, want: 9},
		{name: "the backend knows none", snap: snapshot(0), known: 7, silent: true, want: 7},
	} {
		test.snap.Job.Version, test.snap.Memory = 9, job.Memory{JobUID: "job-1", Written: test.known}
		f := &fake{fail: test.fail}
		var b jobapply.Backend = versioned{f}
		if test.silent {
			b = f
		}

		end, _ := jobapply.Executor{}.Apply(t.Context(), b, plan(t, test.snap))
		if end.Memory.Written != test.want {
			t.Errorf("%s: got %d, want %d (calls %v)", test.name, end.Memory.Written, test.want, f.calls)
		}
		if failed := end.Outcome.Recorded.Result == jobreason.ResultUnsuccessful; failed != (test.fail != nil) {
			t.Errorf("%s: the status is %s", test.name, end.Outcome.Recorded.Result)
		}
	}
}

// observing is a backend that is given the results of the writes.
type observing struct {
	*fake
	writes []job.Writes
}

func (o *observing) Executed(w job.Writes) {
	o.writes = append(o.writes, w)
	_ = o.call("executed")
}

// TestObserver: an Observer gets the results of the writes before the first status exactly once,
// whether or not that status is written.
func TestObserver(t *testing.T) {
	for _, test := range []struct {
		name string
		snap job.Snapshot
		fail map[string]error
		want []string
	}{
		{"before both statuses", snapshot(1, pod("f", 3, job.PodFailed), withOwner(pod("u", 5, job.PodRunning), jobpod.OwnedUnmatched)), nil,
			[]string{"release u", "executed", "status", "untrack f", "status"}},
		{"a creation fails", snapshot(1), map[string]error{"create": errDown}, []string{"create 0", "executed", "status"}},
		{"a claim fails", snapshot(1, withOwner(pod("u", 5, job.PodRunning), jobpod.OwnedUnmatched)), map[string]error{"release": errDown},
			[]string{"release u", "executed"}},
	} {
		f := &observing{fake: &fake{fail: test.fail}}
		end, _ := jobapply.Executor{Parallel: 1}.Apply(t.Context(), f, plan(t, test.snap))

		if diff := cmp.Diff(test.want, f.calls); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff([]job.Writes{end.Outcome.Writes}, f.writes); diff != "" {
			t.Errorf("%s: (-outcome +executed):\n%s", test.name, diff)
		}
	}
}
