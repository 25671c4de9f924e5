package probe

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var jobUpdate = []Probe{
	{"job update: what may change", func(s *script) {
		s.jobs.create(newJob("j", spec(func(o *batchv1.JobSpec) { o.Completions = p(int32(3)) })))
		s.jobs.change("j", "nothing", func(*batchv1.Job) {})
		s.jobs.change("j", "labels", func(o *batchv1.Job) { o.Labels = map[string]string{"a": "1"} })
		s.jobs.change("j", "finalizer", func(o *batchv1.Job) { o.Finalizers = []string{other} })
		s.jobs.change("j", "parallelism", spec(func(o *batchv1.JobSpec) { o.Parallelism = p(int32(5)) }))
		s.jobs.change("j", "parallelism 0", spec(func(o *batchv1.JobSpec) { o.Parallelism = p(int32(0)) }))
		s.jobs.change("j", "parallelism and labels", func(o *batchv1.Job) { o.Spec.Parallelism, o.Labels = p(int32(2)), nil })
		s.jobs.change("j", "backoffLimit", spec(func(o *batchv1.JobSpec) { o.BackoffLimit = p(int32(1)) }))
		s.jobs.change("j", "deadline", spec(func(o *batchv1.JobSpec) { o.ActiveDeadlineSeconds = p(int64(60)) }))
		s.jobs.change("j", "no deadline", spec(func(o *batchv1.JobSpec) { o.ActiveDeadlineSeconds = nil }))
		s.jobs.change("j", "TTL", spec(func(o *batchv1.JobSpec) { o.TTLSecondsAfterFinished = p(int32(60)) }))
		s.jobs.change("j", "replacement policy", spec(func(o *batchv1.JobSpec) { o.PodReplacementPolicy = p(batchv1.Failed) }))
		s.jobs.change("j", "parallelism gone", spec(func(o *batchv1.JobSpec) { o.Parallelism = nil }))
		s.jobs.change("j", "generation", func(o *batchv1.Job) { o.Generation = 99 })
	}},
	{"job update: what may not", func(s *script) {
		s.jobs.create(newJob("j", indexed(3), limitPerIndex(1), spec(func(o *batchv1.JobSpec) { o.Parallelism = p(int32(2)) })))
		for _, c := range immutable {
			s.jobs.change("j", c.what, c.how[0])
		}
	}},
	{"job update: what may not, of a plain job", func(s *script) {
		s.jobs.create(newJob("j"))
		for _, c := range immutable {
			s.jobs.change("j", c.what, c.how[0])
		}
	}},
	{"job update: elastic", func(s *script) {
		s.jobs.create(newJob("j", indexed(3)))
		both := func(completions, parallelism int32) func(*batchv1.Job) {
			return spec(func(o *batchv1.JobSpec) { o.Completions, o.Parallelism = &completions, &parallelism })
		}
		s.jobs.change("j", "5 of 5", both(5, 5))
		s.jobs.change("j", "2 of 2", both(2, 2))
		s.jobs.change("j", "3 of 2", both(3, 2))
		s.jobs.change("j", "0 of 0", both(0, 0))
		s.jobs.change("j", "1 at a time", both(0, 1))
		s.jobs.change("j", "2 of 2 from 0 of 1", both(2, 2))
		s.jobs.create(newJob("queue", spec(func(o *batchv1.JobSpec) { o.Parallelism = p(int32(3)) })))
		s.jobs.change("queue", "completions", both(3, 3))
	}},
	{"job update: versions", func(s *script) {
		first := s.jobs.create(newJob("j"))
		s.jobs.change("j", "parallelism", spec(func(o *batchv1.JobSpec) { o.Parallelism = p(int32(5)) }))
		first.Spec.Parallelism = p(int32(6))
		s.jobs.update("from a stale version", first)
		first.ResourceVersion = ""
		s.jobs.update("without a version", first)
		first.UID = strange
		s.jobs.update("without a version, another UID", first)
		first.Name = "missing"
		s.jobs.update("missing", first)
	}},
	{"job update: spec and status keep apart", func(s *script) {
		s.jobs.create(newJob("j"))
		s.jobs.change("j", "spec and status", func(o *batchv1.Job) { o.Spec.Parallelism, o.Status.Active = p(int32(5)), 5 })
		s.jobs.report("j", "status and spec", func(o *batchv1.Job) { o.Spec.Parallelism, o.Status.Active = p(int32(7)), 3 })
		s.jobs.report("j", "status and labels", func(o *batchv1.Job) { o.Labels, o.Status.Active = map[string]string{"a": "1"}, 4 })
		s.jobs.report("j", "status and finalizers", func(o *batchv1.Job) { o.Finalizers, o.Status.Active = []string{other}, 5 })
		s.jobs.change("j", "spec alone", spec(func(o *batchv1.JobSpec) { o.Parallelism = p(int32(2)) }))
		s.jobs.report("j", "nothing", func(*batchv1.Job) {})
		s.jobs.report("j", "generation", func(o *batchv1.Job) { o.Generation = 99 })
	}},
	{"job update: by patch", func(s *script) {
		s.jobs.create(newJob("j"))
		s.jobs.strategic("j", "suspend", `{"spec":{"suspend":true}}`)
		s.jobs.strategic("j", "annotation", `{"metadata":{"annotations":{"a":"1"}}}`)
		s.jobs.strategic("j", "nothing new", `{"spec":{"suspend":true}}`)
		s.jobs.strategic("j", "completions", `{"spec":{"completions":4}}`)
		s.jobs.patch("j", "status", types.StrategicMergePatchType, `{"status":{"active":2}}`, "status")
	}},
	{"job update: by a merge patch", func(s *script) {
		s.jobs.create(newJob("j"))
		s.jobs.patch("j", "parallelism", types.MergePatchType, `{"spec":{"parallelism":4}}`)
		s.jobs.patch("j", "status", types.MergePatchType, `{"status":{"active":2}}`, "status")
	}},
	{"job update: nothing, on a new one", func(s *script) {
		s.jobs.create(newJob("a"))
		s.jobs.change("a", "nothing", func(*batchv1.Job) {})
		s.jobs.change("a", "nothing again", func(*batchv1.Job) {})
		s.jobs.create(newJob("b"))
		s.jobs.report("b", "nothing", func(*batchv1.Job) {})
		s.jobs.create(newJob("c"))
		s.jobs.strategic("c", "nothing", "{}")
		s.jobs.create(newJob("labelled", func(o *batchv1.Job) { o.Labels = map[string]string{"a": "1"} }))
		s.jobs.report("labelled", "nothing", func(*batchv1.Job) {})
	}},
}

var immutable = []jobCase{
	jobWith("completions", spec(func(o *batchv1.JobSpec) { o.Completions = p(int32(4)) })),
	jobWith("completions gone", spec(func(o *batchv1.JobSpec) { o.Completions = nil })),
	jobWith("completion mode", spec(func(o *batchv1.JobSpec) {
		if *o.CompletionMode == batchv1.IndexedCompletion {
			o.CompletionMode = p(batchv1.NonIndexedCompletion)
		} else {
			o.CompletionMode = p(batchv1.IndexedCompletion)
		}
	})),
	jobWith("selector", spec(func(o *batchv1.JobSpec) { o.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "1"}} })),
	jobWith("selector gone", spec(func(o *batchv1.JobSpec) { o.Selector = nil })),
	jobWith("manualSelector", spec(func(o *batchv1.JobSpec) { o.ManualSelector = p(true) })),
	jobWith("image", spec(func(o *batchv1.JobSpec) { o.Template.Spec.Containers[0].Image = "example.com/next" })),
	jobWith("template labels", spec(func(o *batchv1.JobSpec) { o.Template.Labels["a"] = "1" })),
	jobWith("node selector", nodeSelector),
	jobWith("resources", resources),
	jobWith("failure policy", failurePolicy(rule("Ignore"))),
	jobWith("success policy", successPolicy(batchv1.SuccessPolicyRule{SucceededCount: p(int32(1))})),
	jobWith("limit per index", limitPerIndex(2)),
	jobWith("maxFailedIndexes", maxFailed(2)),
	jobWith("managedBy", spec(func(o *batchv1.JobSpec) { o.ManagedBy = p("example.com/me") })),
	jobWith("label that is none", func(o *batchv1.Job) { o.Labels = map[string]string{"not a name": ""} }),
	jobWith("creation time", func(o *batchv1.Job) { o.CreationTimestamp = *at(0) }),
}

func nodeSelector(o *batchv1.Job) {
	o.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "fast"}
}

func resources(o *batchv1.Job) {
	o.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1")}
}

func resume(o *batchv1.Job) { o.Spec.Suspend = p(false) }

var jobSuspend = []Probe{
	{"job suspend: toggle", func(s *script) {
		s.jobs.create(newJob("j"))
		s.jobs.change("j", "suspend", suspended)
		s.jobs.change("j", "suspend again", suspended)
		s.jobs.change("j", "resume", resume)
		s.jobs.change("j", "suspend unset", spec(func(o *batchv1.JobSpec) { o.Suspend = nil }))
	}},
	{"job suspend: template before the start", func(s *script) {
		s.jobs.create(newJob("j", suspended))
		s.changeTemplate()
		s.jobs.change("j", "resume with another node selector", func(o *batchv1.Job) {
			resume(o)
			o.Spec.Template.Spec.NodeSelector = nil
		})
		s.changeTemplate()
	}},
	{"job suspend: template after the start", func(s *script) {
		s.jobs.create(newJob("j"))
		s.jobs.report("j", "started", func(o *batchv1.Job) { o.Status.StartTime, o.Status.Active = at(0), 1 })
		s.jobs.change("j", "suspend", suspended)
		s.changeTemplate()
		s.jobs.report("j", "suspended, a pod still runs", condition(batchv1.JobSuspended, "True"))
		s.changeTemplate()
		s.jobs.report("j", "suspended", func(o *batchv1.Job) { o.Status.Active, o.Status.StartTime = 0, nil })
		s.changeTemplate()
	}},
	{"job suspend: template, suspended but with its start time", func(s *script) {
		s.jobs.create(newJob("j"))
		s.jobs.report("j", "started", func(o *batchv1.Job) { o.Status.StartTime = at(0) })
		s.jobs.change("j", "suspend", suspended)
		s.changeTemplate()
		s.jobs.report("j", "suspended", condition(batchv1.JobSuspended, "True"))
		s.changeTemplate()
	}},
	{"job suspend: start time", func(s *script) {
		s.jobs.create(newJob("j"))
		s.jobs.report("j", "started", func(o *batchv1.Job) { o.Status.StartTime = at(0) })
		s.jobs.report("j", "another start", func(o *batchv1.Job) { o.Status.StartTime = at(60) })
		s.jobs.report("j", "no start", func(o *batchv1.Job) { o.Status.StartTime = nil })
		s.jobs.change("j", "suspend", suspended)
		s.jobs.report("j", "suspended", func(o *batchv1.Job) {
			condition(batchv1.JobSuspended, "True")(o)
			o.Status.StartTime = nil
		})
		s.jobs.change("j", "resume", resume)
		s.jobs.report("j", "resumed", func(o *batchv1.Job) {
			o.Status.Conditions[0].Status = corev1.ConditionFalse
			o.Status.StartTime = at(120)
		})
		s.jobs.report("j", "another start", func(o *batchv1.Job) { o.Status.StartTime = at(180) })
	}},
	{"job suspend: start time moves as it resumes", func(s *script) {
		s.jobs.create(newJob("j", suspended))
		s.jobs.report("j", "suspended, with a start", func(o *batchv1.Job) {
			condition(batchv1.JobSuspended, "True")(o)
			o.Status.StartTime = at(0)
		})
		s.jobs.change("j", "resume", resume)
		s.jobs.report("j", "another start, still suspended", func(o *batchv1.Job) { o.Status.StartTime = at(60) })
		s.jobs.report("j", "resumed at another time", func(o *batchv1.Job) {
			o.Status.Conditions[0].Status, o.Status.StartTime = corev1.ConditionFalse, at(60)
		})
	}},
}

// changeTemplate tries what a suspended job may change. It uses values that differ each time.
func (s *script) changeTemplate() {
	n := fmt.Sprintf("n%d", len(s.lines))
	s.jobs.change("j", "image", spec(func(o *batchv1.JobSpec) { o.Template.Spec.Containers[0].Image = "example.com/" + n }))
	s.jobs.change("j", "resources", func(o *batchv1.Job) {
		o.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": *resource.NewQuantity(int64(len(s.lines)), resource.DecimalSI)}
	})
	s.jobs.change("j", "node selector", func(o *batchv1.Job) { o.Spec.Template.Spec.NodeSelector = map[string]string{"n": n} })
	s.jobs.change("j", "tolerations", func(o *batchv1.Job) {
		o.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: n, Operator: corev1.TolerationOpExists}}
	})
	s.jobs.change("j", "template labels", func(o *batchv1.Job) { o.Spec.Template.Labels["n"] = n })
	s.jobs.change("j", "template annotations", func(o *batchv1.Job) { o.Spec.Template.Annotations = map[string]string{"n": n} })
	s.jobs.change("j", "scheduling gates", func(o *batchv1.Job) {
		o.Spec.Template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/" + n}}
	})
}
