package e2e

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// feature is a job and how it must end.
type feature struct {
	name   string // the rules that it shows
	exits  string
	change func(*batchv1.JobSpec)
	before func(p *place, name string) // what exists before the job
	during func(p *place, name string) // what happens before the end

	end               batchv1.JobConditionType
	reason            string
	succeeded, failed int32
	completed         string
	failedIndexes     string
	perhapsFailed     string // the failedIndexes, if a pod that the end deletes fails before the end is written
}

const (
	complete = batchv1.JobComplete
	failed   = batchv1.JobFailed
)

func indexed(n int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) {
		s.Completions, s.Parallelism, s.CompletionMode = &n, &n, pointTo(batchv1.IndexedCompletion)
	}
}

func with(changes ...func(*batchv1.JobSpec)) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) {
		for _, change := range changes {
			change(s)
		}
	}
}

func limit(n int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.BackoffLimit = &n }
}

func perIndex(n int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = &n }
}

func podFailurePolicy(action batchv1.PodFailurePolicyAction, code int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) {
		s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action:      action,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code}},
		}}}
	}
}

func ignoreDisruptions(s *batchv1.JobSpec) {
	s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
	}}}
}

func running(n int32) func(*batchv1.Job) bool {
	return func(j *batchv1.Job) bool { return j.Status.Ready != nil && *j.Status.Ready == n }
}

// features show each rule of docs/rules.md that a server can show.
var features = []feature{
	{name: "one pod (J1, J26)", exits: "0", end: complete, reason: "CompletionsReached", succeeded: 1},
	{name: "completions (J26, J29)", exits: "0", change: func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = pointTo(int32(5)), pointTo(int32(2)) },
		end: complete, reason: "CompletionsReached", succeeded: 5},
	{name: "no completions (J26)", exits: "0", change: func(s *batchv1.JobSpec) { s.Completions = pointTo(int32(0)) }, end: complete, reason: "CompletionsReached"},
	{name: "work queue (J26)", exits: "0", change: func(s *batchv1.JobSpec) { s.Parallelism = pointTo(int32(3)) }, end: complete, reason: "CompletionsReached", succeeded: 3},
	{name: "retry (J31)", exits: "1100", end: complete, reason: "CompletionsReached", succeeded: 1, failed: 2},
	{name: "backoff limit (J22)", exits: "1", change: limit(1), end: failed, reason: "BackoffLimitExceeded", failed: 2},
	{name: "restarts of containers (J22)", exits: "s", change: with(limit(0), func(s *batchv1.JobSpec) { s.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure }),
		end: failed, reason: "BackoffLimitExceeded", failed: 1},
	{name: "deadline (J23)", exits: "r", change: func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = pointTo(int64(2)) }, end: failed, reason: "DeadlineExceeded", failed: 1},
	{name: "indexes (J14, J33)", exits: "0", change: indexed(4), end: complete, reason: "CompletionsReached", succeeded: 4, completed: "0-3"},
	{name: "indexes that fail (J14, J31)", exits: "0,10,0", change: indexed(3), end: complete, reason: "CompletionsReached", succeeded: 3, failed: 1, completed: "0-2"},
	{name: "limit per index (J16, J24)", exits: "0,1,0", change: with(indexed(3), perIndex(1)), end: failed, reason: "FailedIndexes",
		succeeded: 2, failed: 2, completed: "0,2", failedIndexes: "1"},
	{name: "failed indexes (J24)", exits: "1,1,r", change: with(indexed(3), perIndex(0), func(s *batchv1.JobSpec) { s.MaxFailedIndexes = pointTo(int32(1)) }),
		end: failed, reason: "MaxFailedIndexesExceeded", failed: 3, failedIndexes: "0,1", perhapsFailed: "0-2"},
	{name: "fail the index (J16, J21)", exits: "0,3", change: with(indexed(2), perIndex(5), podFailurePolicy(batchv1.PodFailurePolicyActionFailIndex, 3)),
		end: failed, reason: "FailedIndexes", succeeded: 1, failed: 1, completed: "0", failedIndexes: "1"},
	{name: "fail the job (J21)", exits: "3,r", change: with(indexed(2), podFailurePolicy(batchv1.PodFailurePolicyActionFailJob, 3)),
		end: failed, reason: "PodFailurePolicy", failed: 2},
	{name: "count (J21)", exits: "30", change: podFailurePolicy(batchv1.PodFailurePolicyActionCount, 3), end: complete, reason: "CompletionsReached", succeeded: 1, failed: 1},
	{name: "ignore (J10, J21)", exits: "3330", change: with(limit(0), podFailurePolicy(batchv1.PodFailurePolicyActionIgnore, 3)),
		end: complete, reason: "CompletionsReached", succeeded: 1},
	{name: "disruptions (J21)", exits: "d0", change: with(limit(0), ignoreDisruptions), end: complete, reason: "CompletionsReached", succeeded: 1},
	{name: "success policy (J25)", exits: "0,r,r", change: with(indexed(3), func(s *batchv1.JobSpec) {
		s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: pointTo("0")}}}
	}), end: complete, reason: "SuccessPolicy", succeeded: 1, completed: "0"},
	{name: "success policy by count (J25)", exits: "0,0,r", change: with(indexed(3), func(s *batchv1.JobSpec) {
		s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: pointTo(int32(2))}}}
	}), end: complete, reason: "SuccessPolicy", succeeded: 2, completed: "0,1"},
	{name: "born suspended (J28, J39)", exits: "0", change: func(s *batchv1.JobSpec) { s.Suspend = pointTo(true) },
		during: func(p *place, name string) {
			j := p.await(name, "Suspended", func(j *batchv1.Job) bool { return len(j.Status.Conditions) > 0 })
			if j.Status.StartTime != nil || len(p.pods("job-name="+name)) > 0 {
				p.Errorf("a suspended job has started: %+v", j.Status)
			}
			p.change(name, `{"spec":{"suspend":false}}`)
		}, end: complete, reason: "CompletionsReached", succeeded: 1},
	{name: "suspended and resumed (J28, J39)", exits: "r0", change: limit(0),
		during: func(p *place, name string) {
			p.await(name, "a running pod", running(1))
			p.change(name, `{"spec":{"suspend":true}}`)
			p.await(name, "no pod", func(j *batchv1.Job) bool { return j.Status.Active == 0 && len(j.Status.Conditions) > 0 })
			p.change(name, `{"spec":{"suspend":false}}`)
		}, end: complete, reason: "CompletionsReached", succeeded: 1},
	{name: "scaled down and up (J29)", exits: "rrr0000", change: func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = pointTo(int32(3)), pointTo(int32(3)) },
		during: func(p *place, name string) {
			p.await(name, "three pods", running(3))
			p.change(name, `{"spec":{"parallelism":0}}`)
			p.await(name, "no pod", func(j *batchv1.Job) bool { return j.Status.Active == 0 })
			p.change(name, `{"spec":{"parallelism":2}}`)
		}, end: complete, reason: "CompletionsReached", succeeded: 3},
	{name: "elastic (J15)", exits: "0,0,r,r", change: indexed(4),
		during: func(p *place, name string) {
			p.await(name, "two successes", func(j *batchv1.Job) bool { return j.Status.Succeeded == 2 })
			p.change(name, `{"spec":{"parallelism":2,"completions":2}}`)
		}, end: complete, reason: "CompletionsReached", succeeded: 2, completed: "0,1"},
	{name: "a pod is deleted (J7)", exits: "r0",
		during: func(p *place, name string) {
			p.await(name, "a running pod", running(1))
			p.deletePods("job-name=" + name)
		}, end: complete, reason: "CompletionsReached", succeeded: 1, failed: 1},
	{name: "only failed pods are replaced (J30)", exits: "r0", change: func(s *batchv1.JobSpec) { s.PodReplacementPolicy = pointTo(batchv1.Failed) },
		during: func(p *place, name string) {
			p.await(name, "a running pod", running(1))
			p.deletePods("job-name=" + name)
		}, end: complete, reason: "CompletionsReached", succeeded: 1, failed: 1},
	{name: "released (J6)", exits: "r0",
		during: func(p *place, name string) {
			p.await(name, "a running pod", running(1))
			pod := p.pods("job-name=" + name)[0]
			p.patchPod(pod.Name, `{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":"another"}}}`)
			p.until("released", func() bool {
				pod := p.pod(pod.Name)
				return len(pod.OwnerReferences) == 0 && len(pod.Finalizers) == 0
			})
		}, end: complete, reason: "CompletionsReached", succeeded: 1},
	{name: "adopted (J6)", exits: "r", change: func(s *batchv1.JobSpec) {
		s.ManualSelector = pointTo(true)
		s.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"mine": "stray"}}
		s.Template.Labels = s.Selector.MatchLabels
	}, before: func(p *place, name string) {
		pod := jobOf(name, "0", nil).Spec.Template
		p.createPod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"mine": "stray"}}, Spec: pod.Spec}, name+"-stray")
	}, end: complete, reason: "CompletionsReached", succeeded: 1},
	{name: "stuck finalizer of another (J38)", exits: "0", change: func(s *batchv1.JobSpec) { s.Template.Finalizers = []string{"example.com/mine", job.Finalizer} },
		end: complete, reason: "CompletionsReached", succeeded: 1},
}

func testFeatures(t *testing.T, c *cluster) {
	for preset, options := range map[string]job.Options{"recommended": {}, "preset": job.Kubernetes(release.Newest())} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			p := c.newPlace(t)
			config := p.config()
			config.Planners = quick(options)
			p.start(config)
			// The replica runs until the last feature has ended.
			t.Run("all", func(t *testing.T) {
				for i, f := range features {
					t.Run(f.name, func(t *testing.T) {
						t.Parallel()
						f.test(&place{t, c, p.namespace}, fmt.Sprintf("feature-%d", i))
					})
				}
			})
		})
	}
}

func (f *feature) test(p *place, name string) {
	if f.before != nil {
		f.before(p, name)
	}
	p.create(jobOf(name, f.exits, f.change))
	if f.during != nil {
		f.during(p, name)
	}

	j := p.awaitEnd(name)
	end, s := ended(j), j.Status
	if end.Type != f.end || end.Reason != f.reason {
		p.Errorf("it ended with %s %s (%s), want %s %s", end.Type, end.Reason, end.Message, f.end, f.reason)
	}

	if s.Succeeded != f.succeeded || s.Failed != f.failed {
		p.Errorf("%d succeeded and %d failed, want %d and %d", s.Succeeded, s.Failed, f.succeeded, f.failed)
	}

	got := ""
	if s.FailedIndexes != nil {
		got = *s.FailedIndexes
	}
	if s.CompletedIndexes != f.completed || got != f.failedIndexes && (got == "" || got != f.perhapsFailed) {
		p.Errorf("completed indexes %q, failed %q; want %q and %q", s.CompletedIndexes, got, f.completed, f.failedIndexes)
	}

	if s.Active != 0 || s.UncountedTerminatedPods != nil && len(s.UncountedTerminatedPods.Succeeded)+len(s.UncountedTerminatedPods.Failed) > 0 {
		p.Errorf("something is left: %+v", s)
	}
}
