package job_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/world"
)

func ptr[T any](v T) *T { return &v }

// maybe draws a pointer, nil half of the time.
func maybe[T any](t *rapid.T, label string, g *rapid.Generator[T]) *T {
	if rapid.Bool().Draw(t, label+"?") {
		return nil
	}
	return ptr(g.Draw(t, label))
}

// drawSpec draws a spec that Validate accepts. Only what decides something varies.
func drawSpec(t *rapid.T) job.Spec {
	s := job.Spec{
		Parallelism:           ptr(rapid.Int32Range(0, 4).Draw(t, "parallelism")),
		Completions:           maybe(t, "completions", rapid.Int32Range(0, 5)),
		BackoffLimit:          maybe(t, "backoffLimit", rapid.Int32Range(0, 3)),
		ActiveDeadlineSeconds: maybe(t, "activeDeadlineSeconds", rapid.SampledFrom([]int64{0, 5, 60, 1 << 62})),
		Suspend:               ptr(rapid.IntRange(0, 7).Draw(t, "suspend") == 0),
		Template: job.Template{
			RestartPolicy: rapid.SampledFrom([]job.RestartPolicy{job.RestartNever, job.RestartOnFailure}).Draw(t, "restartPolicy"),
			Containers:    []string{"main"},
		},
	}
	if rapid.Bool().Draw(t, "indexed") {
		drawIndexed(t, &s)
	}
	if s.Template.RestartPolicy == job.RestartNever && rapid.IntRange(0, 2).Draw(t, "failure policy") == 0 {
		s.PodFailurePolicy = drawFailurePolicy(t, s.BackoffLimitPerIndex != nil)
	}
	if s.PodFailurePolicy == nil && rapid.Bool().Draw(t, "replace failed") {
		s.PodReplacementPolicy = job.ReplaceFailed
	}
	job.Default(&s)
	if err := job.Validate(s); err != nil {
		t.Fatalf("the generator made an invalid spec: %v", err)
	}
	return s
}

func drawIndexed(t *rapid.T, s *job.Spec) {
	s.CompletionMode = job.Indexed
	if s.Completions == nil {
		s.Completions = ptr[int32](3)
	}
	if rapid.Bool().Draw(t, "per index") {
		s.BackoffLimitPerIndex = ptr(rapid.Int32Range(0, 2).Draw(t, "backoffLimitPerIndex"))
		s.MaxFailedIndexes = maybe(t, "maxFailedIndexes", rapid.Int32Range(0, *s.Completions))
	}
	if n := *s.Completions; n > 0 && rapid.IntRange(0, 3).Draw(t, "success policy") == 0 {
		s.SuccessPolicy = &job.SuccessPolicy{Rules: []job.SuccessPolicyRule{
			{SucceededCount: ptr(rapid.Int32Range(1, n).Draw(t, "succeededCount"))},
			{SucceededIndexes: ptr("0")},
		}}
	}
}

func drawFailurePolicy(t *rapid.T, perIndex bool) *job.PodFailurePolicy {
	actions := []job.FailureAction{job.FailJob, job.IgnoreFailure, job.CountFailure}
	if perIndex {
		actions = append(actions, job.FailIndex)
	}
	return &job.PodFailurePolicy{Rules: []job.PodFailurePolicyRule{
		{
			Action:      rapid.SampledFrom(actions).Draw(t, "action for 42"),
			OnExitCodes: &job.OnExitCodes{Operator: job.ExitCodeIn, Values: []int32{42}},
		},
		{
			Action:          rapid.SampledFrom(actions).Draw(t, "action for disruption"),
			OnPodConditions: []job.PodCondition{{Type: "DisruptionTarget"}},
		},
	}}
}

// drawPod picks a live pod that the test allows, or nil.
func drawPod(t *rapid.T, w *world.Job, allows func(*job.Pod) bool) *job.Pod {
	var pods []*job.Pod
	for _, p := range w.Pods {
		if allows(p) {
			pods = append(pods, p)
		}
	}
	if len(pods) == 0 {
		return nil
	}
	return pods[rapid.IntRange(0, len(pods)-1).Draw(t, "pod")]
}

func unfinished(p *job.Pod) bool { return p.Phase < job.PodSucceeded }

// drawFaults makes at most one write of the round go wrong.
func drawFaults(t *rapid.T, w *world.Job, faults []world.Fault) {
	w.Fault = nil
	if len(faults) == 0 || rapid.IntRange(0, 2).Draw(t, "faulty") > 0 {
		return
	}
	fault := rapid.SampledFrom(faults).Draw(t, "fault")
	at, n := rapid.IntRange(0, 6).Draw(t, "at write"), 0
	w.Fault = func(world.Write) world.Fault {
		if n++; n-1 == at {
			return fault
		}
		return world.None
	}
}

// live lets the environment act once. Clocks jump forwards and back (F8).
func live(t *rapid.T, w *world.Job) {
	switch rapid.SampledFrom([]string{"run", "run", "succeed", "fail", "fail", "kubelet", "tick", "tick", "evict", "disrupt", "restart container", "clock back"}).Draw(t, "act") {
	case "run":
		if p := drawPod(t, w, func(p *job.Pod) bool { return p.Phase == job.PodPending }); p != nil {
			w.Run(p)
		}
	case "succeed":
		if p := drawPod(t, w, unfinished); p != nil {
			w.Finish(p, 0)
		}
	case "fail":
		if p := drawPod(t, w, unfinished); p != nil {
			w.Finish(p, rapid.SampledFrom([]int32{1, 42}).Draw(t, "exit code"))
		}
	case "kubelet":
		kubelet(w)
	case "clock back":
		w.Now = w.Now.Add(-rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour}).Draw(t, "back"))
	case "tick":
		w.Now = w.Now.Add(rapid.SampledFrom([]time.Duration{time.Second, 11 * time.Second, time.Minute, 20 * time.Minute}).Draw(t, "tick"))
	case "evict":
		if p := drawPod(t, w, unfinished); p != nil {
			w.Evict(p)
		}
	case "disrupt":
		if p := drawPod(t, w, unfinished); p != nil {
			w.Disrupt(p)
		}
	case "restart container":
		if p := drawPod(t, w, func(p *job.Pod) bool { return p.Phase == job.PodRunning }); p != nil {
			w.RestartContainer(p)
		}
	}
}

// kubelet ends the pods that are being deleted.
func kubelet(w *world.Job) {
	for _, p := range append([]*job.Pod(nil), w.Pods...) {
		if p.Deletion != nil {
			w.Finish(p, 137)
		}
	}
}

// meddle lets somebody change the job or its pods from outside (F6, F7).
func meddle(t *rapid.T, w *world.Job) {
	switch rapid.SampledFrom([]string{"suspend", "parallelism", "elastic", "delete", "orphan", "unlabel", "strip"}).Draw(t, "meddle") {
	case "suspend":
		w.Edit(func(s *job.Spec) { s.Suspend = ptr(!*s.Suspend) })
	case "parallelism":
		w.Edit(func(s *job.Spec) { s.Parallelism = ptr(rapid.Int32Range(0, 5).Draw(t, "new parallelism")) })
	case "elastic":
		if w.Job.Spec.CompletionMode == job.Indexed && w.Job.Spec.SuccessPolicy == nil && w.Job.Spec.MaxFailedIndexes == nil {
			n := rapid.Int32Range(1, 5).Draw(t, "new completions")
			w.Edit(func(s *job.Spec) { s.Completions, s.Parallelism = ptr(n), ptr(n) })
		}
	case "delete":
		if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
			w.DeleteJob()
		}
	case "orphan":
		w.AddPod(job.Pod{Owner: job.Orphan, Index: job.IndexAt(rapid.Int32Range(-1, 6).Draw(t, "index")), Untracked: true})
	case "unlabel":
		if p := drawPod(t, w, func(p *job.Pod) bool { return p.Owner == job.Owned }); p != nil {
			p.Owner = job.OwnedUnmatched
		}
	case "strip":
		if p := drawPod(t, w, unfinished); p != nil {
			p.Untracked = true
		}
	}
}
