package job_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/release"
)

func newWorld(t *testing.T, spec job.Spec, o job.Options) *world.Job {
	t.Helper()
	if spec.Template.RestartPolicy == "" {
		spec.Template.RestartPolicy = job.RestartNever
	}
	w := world.NewJob(spec)
	w.Options = o
	return w
}

func mustRound(t rapid.TB, w *world.Job) *job.Plan {
	t.Helper()
	return jobgen.MustRound(t, w)
}

func TestOptions_BackoffPolicy(t *testing.T) {
	w := newWorld(t, job.Spec{},
		job.Options{Backoff: backoff.Policy{Base: time.Minute, Factor: 3, Max: 5 * time.Minute}})
	for n, want := range []time.Duration{time.Minute, 3 * time.Minute, 5 * time.Minute} {
		mustRound(t, w)
		w.Finish(w.Pods[len(w.Pods)-1], 1)
		plan := mustRound(t, w)
		if got := plan.Requeue.At.Sub(w.Now); got != want {
			t.Errorf("after failure %d the backoff is %v, want %v", n+1, got, want)
		}
		w.Now = w.Now.Add(want)
	}
}

func TestOptions_PendingTimeout(t *testing.T) {
	for _, policy := range []job.PodReplacementPolicy{job.ReplaceFailed, job.ReplaceTerminatingOrFailed} {
		w := newWorld(t, job.Spec{PodReplacementPolicy: policy}, job.Options{PendingTimeout: time.Hour})
		mustRound(t, w)
		first := w.Pods[0]

		plan := mustRound(t, w)
		if want := world.Start.Add(time.Hour); !plan.Requeue.At.Equal(want) {
			t.Fatalf("%s: requeue at %v, want %v", policy, plan.Requeue.At, want)
		}

		w.Now = w.Now.Add(time.Hour)
		plan = mustRound(t, w)
		if len(plan.Delete) != 1 || plan.Delete[0].Reason != jobreason.DeletePending || plan.Delete[0].UntrackFirst {
			t.Fatalf("%s: %v", policy, plan)
		}

		mustRound(t, w)
		if s := w.Job.Status; s.Failed != 1 {
			t.Fatalf("%s: the pod does not count as failed: %v", policy, s)
		}

		w.Now = w.Now.Add(10 * time.Second)
		mustRound(t, w)
		if i := slices.IndexFunc(w.Pods, func(p *job.Pod) bool { return p.UID != first.UID }); i < 0 {
			t.Fatalf("%s: the pod is not replaced\n%s", policy, w.State())
		}
	}
}

func TestOptions_PendingTimeoutSparesPodsThatRun(t *testing.T) {
	w := newWorld(t, job.Spec{}, job.Options{PendingTimeout: time.Hour})
	mustRound(t, w)
	w.Run(w.Pods[0])
	w.Now = w.Now.Add(100 * time.Hour)
	if plan := mustRound(t, w); len(plan.Delete) > 0 || !plan.Requeue.At.IsZero() {
		t.Errorf("a running pod is given up:\n%v", plan)
	}
}

func TestOptions_TerminatingTimeout(t *testing.T) {
	w := newWorld(t, job.Spec{PodReplacementPolicy: job.ReplaceFailed}, job.Options{TerminatingTimeout: time.Minute})
	mustRound(t, w)
	lost := w.Pods[0]
	w.Run(lost)
	w.Delete(lost) // its node is gone, so it never ends

	plan := mustRound(t, w)
	due := lost.Deletion.Timestamp.Add(time.Minute)
	if len(plan.Create) > 0 || !plan.Requeue.At.Equal(due) {
		t.Fatalf("before the timeout:\n%v", plan)
	}

	w.Now = due
	mustRound(t, w)
	if s := w.Job.Status; s.Failed != 1 || *s.Terminating != 0 {
		t.Fatalf("the pod does not count as failed: %v", s)
	}
	if len(w.Pods) != 2 {
		t.Fatalf("the pod is not replaced:\n%s", w.State())
	}

	w.Finish(w.Pods[len(w.Pods)-1], 0)
	mustRound(t, w)
	if w.Job.Status.Finished() != job.ConditionComplete {
		t.Fatalf("the lost pod holds up the end: %v", w.Job.Status)
	}
}

func TestOptions_SuccessBeatsDeadline(t *testing.T) {
	for _, c := range []struct {
		wins, succeeded bool
		want            job.ConditionType
	}{
		{false, true, job.ConditionFailed},
		{true, true, job.ConditionComplete},
		{true, false, job.ConditionFailed}, // without enough successes the deadline decides
	} {
		w := newWorld(t, job.Spec{ActiveDeadlineSeconds: ptr[int64](60)}, job.Options{SuccessBeatsDeadline: c.wins})
		mustRound(t, w)
		if w.Run(w.Pods[0]); c.succeeded {
			w.Finish(w.Pods[0], 0)
		}

		w.Now = w.Now.Add(time.Minute)
		for range 2 {
			mustRound(t, w)
			kubelet(w) // ends the pods that are being deleted
		}
		if got := w.Job.Status; got.Finished() != c.want || c.want == job.ConditionFailed &&
			got.Condition(c.want).Reason != "DeadlineExceeded" {
			t.Errorf("SuccessBeatsDeadline %v, enough successes %v: %v, want %s", c.wins, c.succeeded, got, c.want)
		}
	}
}

func TestOptions_MaxIgnoredFailures(t *testing.T) {
	ignoreAll := &job.PodFailurePolicy{Rules: []job.PodFailurePolicyRule{
		{Action: job.IgnoreFailure, OnExitCodes: &job.OnExitCodes{Operator: job.ExitCodeIn, Values: []int32{42}}},
	}}

	for _, perIndex := range []bool{false, true} {
		spec := job.Spec{BackoffLimit: ptr[int32](100), PodFailurePolicy: ignoreAll}
		if perIndex {
			spec.CompletionMode, spec.Completions, spec.BackoffLimitPerIndex = job.Indexed, ptr[int32](1),
				ptr[int32](50)
		}

		w := newWorld(t, spec, job.Options{MaxIgnoredFailures: 2})
		for range 4 {
			mustRound(t, w)
			w.Finish(w.Pods[len(w.Pods)-1], 42)
			mustRound(t, w)
			w.Now = w.Now.Add(time.Hour)
		}

		mustRound(t, w)
		mustRound(t, w)
		if s := w.Job.Status; s.Failed != 2 {
			t.Errorf("per index %v: of four failures two are ignored: %v", perIndex, s)
		}
	}
}

func TestOptions_TTLByOutcome(t *testing.T) {
	ended := func(c job.ConditionType) job.Job {
		return job.Job{
			Spec: job.Spec{TTLSecondsAfterFinished: ptr[int32](10)},
			Status: job.Status{Conditions: []job.Condition{
				{Type: c, Status: job.ConditionTrue, LastTransitionTime: world.Start},
			}},
		}
	}
	o := job.Options{TTLSecondsAfterComplete: ptr[int32](0), TTLSecondsAfterFailed: ptr[int32](3600)}
	if expired, _, _ := job.Expire(value.To(ended(job.ConditionComplete)), o, world.Start); !expired {
		t.Error("a complete job is to be deleted immediately")
	}
	expired, at, _ := job.Expire(value.To(ended(job.ConditionFailed)), o, world.Start.Add(time.Minute))
	if want := world.Start.Add(time.Hour); expired || !at.Equal(want) {
		t.Errorf("a failed job stays for an hour: %v, again at %v", expired, at)
	}
	if _, at, _ := job.Expire(value.To(ended(job.ConditionFailed)), job.Options{},
		world.Start); !at.Equal(world.Start.Add(10 * time.Second)) {
		t.Errorf("without the option the spec decides: again at %v", at)
	}
}

func TestOptions_Refused(t *testing.T) {
	for field, o := range map[string]job.Options{
		"options.pendingTimeout":          {PendingTimeout: -1},
		"options.terminatingTimeout":      {TerminatingTimeout: -1},
		"options.maxIgnoredFailures":      {MaxIgnoredFailures: -1},
		"options.maxPodWrites":            {MaxPodWrites: -1},
		"options.maxUncounted":            {MaxUncounted: -1},
		"options.ttlSecondsAfterComplete": {TTLSecondsAfterComplete: ptr[int32](-1)},
		"options.ttlSecondsAfterFailed":   {TTLSecondsAfterFailed: ptr[int32](-1)},
		"options.backoff.base":            {Backoff: backoff.Policy{Base: -1}},
		"options.backoff.factor":          {Backoff: backoff.Policy{Factor: -1}},
		"options.backoff.max":             {Backoff: backoff.Policy{Max: -1}},
	} {
		s := world.NewJob(job.Spec{}).Snapshot()
		s.Options = o
		_, err := job.Reconcile(s)
		if !hasInputError(err) || !containsField(err, field) {
			t.Errorf("%s: %v", field, err)
		}
		if err := o.Validate(); !containsField(err, field) {
			t.Errorf("%s: Validate: %v", field, err)
		}
	}

	short := job.Options{Backoff: backoff.Policy{Base: time.Hour, Max: time.Minute}}.Validate()
	if !containsField(short, "options.backoff.max") {
		t.Errorf("a maximum below the base: %v", short)
	}

	err := job.Options{Backoff: backoff.Policy{Base: -1, Max: -1}}.Validate()
	if own := (*backoff.InputError)(nil); len(job.InputErrors(err)) != 2 || !errors.As(err, &own) || own.Field != "base" {
		t.Errorf("two problems of the backoff: %v", err)
	}

	both := job.Options{PendingTimeout: -1, MaxUncounted: -1}
	want := "options.pendingTimeout: -1: must not be negative\noptions.maxUncounted: -1: must not be negative"
	if err := both.Validate(); err == nil || err.Error() != want {
		t.Errorf("two problems: %v", err)
	}

	for _, r := range release.All() {
		if o := job.Kubernetes(r); o.Validate() != nil {
			t.Errorf("%v: %v", r, o.Validate())
		}
	}
}

// TestM7_ActiveInBackoff: a status with more ready than active pods is refused.
func TestM7_ActiveInBackoff(t *testing.T) {
	w := world.NewJob(job.Spec{Parallelism: ptr[int32](2), Completions: ptr[int32](2)})
	mustRound(t, w)
	for _, o := range []job.Options{{}, job.Kubernetes(release.Newest())} {
		s := w.Snapshot()
		s.Options = o
		s.Pods[0].Phase, s.Pods[1].Phase = job.PodFailed, job.PodRunning
		plan := job.PlanOf(t, s)
		if got := plan.Record(job.Writes{}).Status.Active; got != 1 {
			t.Errorf("quirks %v: active %d, want 1", o.Quirks, got)
		}
	}
}

// TestQuirks: with a quirk the planner decides as Kubernetes does. Without the quirk it does not.
func TestQuirks(t *testing.T) {
	for _, test := range []struct {
		name         string
		quirk        jobquirk.Quirk
		ours, theirs any
		decides      func(t *testing.T, w *world.Job) any // w is in the middle of a job with one pod
	}{
		{"ready falls with a deletion that failed", jobquirk.DeleteCounts, "ready 1, active 1", "ready 0, active 1", func(t *testing.T, w *world.Job) any {
			w.Run(w.Pods[0])
			w.Edit(func(s *job.Spec) { s.Suspend = ptr(true) })
			plan := job.PlanOf(t, w.Snapshot())
			status := plan.Record(job.Writes{Deleted: []job.Effect{{Result: jobreason.ResultUnsuccessful}}}).Status
			return fmt.Sprintf("ready %d, active %d", *status.Ready, status.Active)
		}},
		{"JI9: the finalizer goes without a condition", jobquirk.UncheckedUntrack, "1", "", func(t *testing.T, w *world.Job) any {
			w.Edit(func(s *job.Spec) { s.Suspend = ptr(true) })
			return mustRound(t, w).Delete[0].ResourceVersion
		}},
		{"J31: looks again after a whole second", jobquirk.CoarseRequeue, 100 * time.Millisecond, time.Second, func(t *testing.T, w *world.Job) any {
			w.Finish(w.Pods[0], 1)
			mustRound(t, w)
			w.Now = w.Now.Add(9900 * time.Millisecond)
			after, _ := mustRound(t, w).Requeue.After(w.Now)
			return after
		}},
		{"E1: looks again when expectations time out", jobquirk.CoarseRequeue, true, false, func(t *testing.T, w *world.Job) any {
			return !pendingCreation(t, w).Requeue.At.IsZero()
		}},
		{"JI8: completes before own writes are seen", jobquirk.UnseenCompletion, job.ConditionStatus(""), job.ConditionTrue, func(t *testing.T, w *world.Job) any {
			return pendingCreation(t, w).Record(job.Writes{}).Status.Condition(job.ConditionSuccessCriteriaMet).Status
		}},
		{"J35: a full round leaves the end to the next", jobquirk.FullRound, job.ConditionComplete, job.ConditionType(""), func(t *testing.T, w *world.Job) any {
			w.Edit(func(s *job.Spec) { s.Parallelism, s.Completions = ptr[int32](500), ptr[int32](500) })
			mustRound(t, w)
			for _, p := range slices.Clone(w.Pods) {
				w.Finish(p, 0)
			}
			mustRound(t, w)
			return w.Job.Status.Finished()
		}},
	} {
		for quirks, want := range map[jobquirk.Set]any{{}: test.ours, jobquirk.SetOf(test.quirk): test.theirs} {
			w := newWorld(t, job.Spec{}, job.Options{Quirks: quirks})
			mustRound(t, w)
			if got := test.decides(t, w); got != want {
				t.Errorf("%s, quirks %v: got %v, want %v", test.name, quirks, got, want)
			}
		}
	}
}

// pendingCreation plans a job whose only pod has succeeded, while a creation is in flight.
func pendingCreation(t *testing.T, w *world.Job) *job.Plan {
	t.Helper()
	w.Finish(w.Pods[0], 0)
	s := w.Snapshot()
	s.Memory.Expectations = expectations.Counts{Creations: 1, At: w.Now}
	return job.PlanOf(t, s)
}

// TestLivesWithOptions is TestLivesFresh with the options that change how pods count.
func TestLivesWithOptions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world.NewJob(drawSpec(t))
		w.Options = job.Options{
			PendingTimeout: rapid.SampledFrom(
				[]time.Duration{0, time.Second, time.Minute}).Draw(t, "pending timeout"),
			TerminatingTimeout: rapid.SampledFrom(
				[]time.Duration{0, time.Second, time.Minute}).Draw(t, "terminating timeout"),
			SuccessBeatsDeadline: rapid.Bool().Draw(t, "success beats deadline"),
			MaxIgnoredFailures:   rapid.Int32Range(0, 2).Draw(t, "max ignored failures"),
		}
		liveToTheEnd(t, w)
	})
}
