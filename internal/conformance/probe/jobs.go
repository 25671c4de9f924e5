package probe

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var jobCreate = []Probe{
	{"job create: defaults", func(s *script) {
		s.jobs.create(newJob("j"))
		s.jobs.try("of three completions", newJob("completions", func(o *batchv1.Job) { o.Spec.Completions = p(int32(3)) }))
		s.jobs.try("of two at a time, a queue", newJob("queue", func(o *batchv1.Job) { o.Spec.Parallelism = p(int32(2)) }))
		s.jobs.try("of none at a time", newJob("none", func(o *batchv1.Job) { o.Spec.Parallelism = p(int32(0)) }))
		s.jobs.try("indexed", newJob("indexed", indexed(2)))
		s.jobs.try("with a limit per index", newJob("per-index", indexed(2), limitPerIndex(1)))
		s.jobs.try("with a failure policy", newJob("policy", failurePolicy(rule(batchv1.PodFailurePolicyActionIgnore))))
		s.jobs.try("suspended", newJob("suspended", suspended))
	}},
	{"job create: defaults of a failure policy", func(s *script) {
		s.jobs.create(newJob("j", failurePolicy(onCondition("DisruptionTarget", ""), onCode(1, 2))))
	}},
	{"job create: what the server sets itself", func(s *script) {
		s.jobs.try("with a status", newJob("status", func(o *batchv1.Job) { o.Status.Active, o.Status.StartTime = 3, at(0) }))
		s.jobs.try("with a generation", newJob("generation", func(o *batchv1.Job) { o.Generation = 7 }))
		s.jobs.try("with a UID", newJob("uid", func(o *batchv1.Job) { o.UID = strange }))
		s.jobs.try("from a prefix", newJob("", func(o *batchv1.Job) { o.GenerateName = "from-" }))
		s.jobs.try("j", newJob("j"))
		s.jobs.try("j again", newJob("j"))
	}},
	{"job create: with a deletion time", func(s *script) {
		s.jobs.create(newJob("j", func(o *batchv1.Job) { o.DeletionTimestamp = at(0) }))
	}},
	{"job create: from a long prefix", func(s *script) {
		s.jobs.try("from a prefix of 70 letters", newJob("", func(o *batchv1.Job) { o.GenerateName = strings.Repeat("x", 70) }))
	}},
	{"job create: labels", func(s *script) {
		label := func(name string) func(*batchv1.Job) {
			return func(o *batchv1.Job) { o.Spec.Template.Labels = map[string]string{name: "mine"} }
		}
		s.jobs.try("labels of the template only", newJob("template", label("a")))
		s.jobs.try("labels of both", newJob("both", label("a"), func(o *batchv1.Job) { o.Labels = map[string]string{"b": "1"} }))
		for _, name := range []string{"job-name", "controller-uid", batchv1.JobNameLabel, batchv1.ControllerUidLabel} {
			s.jobs.try("template claims "+name, newJob("claims", label(name)))
		}
	}},
	{"job create: selector", func(s *script) {
		selector := func(manual *bool, match string) func(*batchv1.Job) {
			return func(o *batchv1.Job) {
				o.Spec.ManualSelector = manual
				o.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": match}}
				o.Spec.Template.Labels = map[string]string{"a": "1"}
			}
		}
		s.jobs.try("manual", newJob("manual", selector(p(true), "1")))
		s.jobs.try("manual, does not match", newJob("mismatch", selector(p(true), "2")))
		s.jobs.try("generated, though one is given", newJob("given", selector(nil, "1")))
		s.jobs.try("generated, though one is given that matches nothing", newJob("nothing", selector(p(false), "2")))
		s.jobs.try("manual without a selector", newJob("without", func(o *batchv1.Job) { o.Spec.ManualSelector = p(true) }))
	}},
	{"job create: names", func(s *script) {
		x := func(n int) string { return strings.Repeat("x", n) }
		s.jobs.refuses("63 letters", newJob(x(63)))
		s.jobs.refuses("64 letters", newJob(x(64)))
		s.jobs.refuses("61 letters, 10 indexes", newJob(x(61), indexed(10)))
		s.jobs.refuses("61 letters, 11 indexes", newJob(x(61), indexed(11)))
		s.jobs.refuses("62 letters, no indexes", newJob(x(62), indexed(0)))
		s.jobs.refuses("a dot", newJob("a.b"))
		s.jobs.refuses("a dot, indexed", newJob("a.c", indexed(1)))
		s.jobs.refuses("capitals", newJob("J"))
		s.jobs.refuses("none", newJob(""))
	}},
	{"job create: owned by a cronjob", func(s *script) {
		c := s.cronJobs.create(newCronJob("c"))
		owned := func() *batchv1.Job {
			return newJob("c-28000000", func(o *batchv1.Job) {
				o.OwnerReferences = []metav1.OwnerReference{controllerRef("CronJob", c)}
				o.Annotations = map[string]string{batchv1.CronJobScheduledTimestampAnnotation: "2026-01-02T03:04:00Z"}
			})
		}
		s.jobs.create(owned())
		s.jobs.create(owned())
		s.jobs.get("c-28000001")
	}},
	{"job list: order and selectors", func(s *script) {
		for _, name := range []string{"b", "a"} {
			s.jobs.create(newJob(name, func(o *batchv1.Job) { o.Labels = map[string]string{"n": name} }))
		}
		s.listJobs(metav1.ListOptions{})
		s.listJobs(metav1.ListOptions{LabelSelector: "n=b"})
		s.listJobs(metav1.ListOptions{LabelSelector: "n!=b"})
	}},
	{"job list: field selectors", func(s *script) {
		s.jobs.create(newJob("a"))
		s.jobs.create(newJob("b"))
		for _, selector := range []string{"metadata.name=a", "status.successful=0", "status.active=0"} {
			s.listJobs(metav1.ListOptions{FieldSelector: selector})
		}
	}},
}

func (s *script) listJobs(opts metav1.ListOptions) {
	list, err := s.client().BatchV1().Jobs(s.namespace).List(s.ctx, opts)
	what := strings.TrimSpace(fmt.Sprintf("list jobs %s%s", opts.LabelSelector, opts.FieldSelector))
	if err != nil {
		s.say("%s -> %s", what, s.rec.failure(err))
		return
	}
	names := []string{}
	for _, o := range list.Items {
		names = append(names, o.Name)
	}
	s.say("%s -> %v", what, names)
}

func limitPerIndex(n int32) func(*batchv1.Job) {
	return func(o *batchv1.Job) { o.Spec.BackoffLimitPerIndex = &n }
}

func failurePolicy(rules ...batchv1.PodFailurePolicyRule) func(*batchv1.Job) {
	return func(o *batchv1.Job) { o.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: rules} }
}

func successPolicy(rules ...batchv1.SuccessPolicyRule) func(*batchv1.Job) {
	return func(o *batchv1.Job) { o.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: rules} }
}

// rule applies to exit code 1.
func rule(action batchv1.PodFailurePolicyAction) batchv1.PodFailurePolicyRule {
	r := onCode(1)
	r.Action = action
	return r
}

func onCode(codes ...int32) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{
		Action:      batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes},
	}
}

func onCondition(t corev1.PodConditionType, status corev1.ConditionStatus) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: t, Status: status}},
	}
}

// spec changes the spec of a job.
func spec(how func(*batchv1.JobSpec)) func(*batchv1.Job) {
	return func(o *batchv1.Job) { how(&o.Spec) }
}

var jobInvalid = []Probe{
	{"job invalid: numbers", func(s *script) { s.refuseJobs(invalidNumbers) }},
	{"job invalid: modes and templates", func(s *script) { s.refuseJobs(invalidModes) }},
	{"job invalid: indexed", func(s *script) { s.refuseJobs(invalidIndexed) }},
	{"job invalid: failure policy", func(s *script) { s.refuseJobs(invalidFailurePolicies) }},
	{"job invalid: success policy", func(s *script) { s.refuseJobs(invalidSuccessPolicies) }},
}

// jobCase is one line of a table of jobs.
type jobCase struct {
	what string
	how  []func(*batchv1.Job)
}

func (s *script) refuseJobs(cases []jobCase) {
	s.deaf = true
	for i, c := range cases {
		s.jobs.refuses(c.what, newJob("j"+string(rune('a'+i)), c.how...))
	}
}

func jobWith(what string, how ...func(*batchv1.Job)) jobCase { return jobCase{what, how} }

var invalidNumbers = []jobCase{
	jobWith("parallelism -1", spec(func(o *batchv1.JobSpec) { o.Parallelism = p(int32(-1)) })),
	jobWith("completions -1", spec(func(o *batchv1.JobSpec) { o.Completions = p(int32(-1)) })),
	jobWith("completions 0", spec(func(o *batchv1.JobSpec) { o.Completions = p(int32(0)) })),
	jobWith("backoffLimit -1", spec(func(o *batchv1.JobSpec) { o.BackoffLimit = p(int32(-1)) })),
	jobWith("activeDeadlineSeconds -1", spec(func(o *batchv1.JobSpec) { o.ActiveDeadlineSeconds = p(int64(-1)) })),
	jobWith("activeDeadlineSeconds 0", spec(func(o *batchv1.JobSpec) { o.ActiveDeadlineSeconds = p(int64(0)) })),
	jobWith("ttlSecondsAfterFinished -1", spec(func(o *batchv1.JobSpec) { o.TTLSecondsAfterFinished = p(int32(-1)) })),
	jobWith("ttlSecondsAfterFinished 0", spec(func(o *batchv1.JobSpec) { o.TTLSecondsAfterFinished = p(int32(0)) })),
	jobWith("all of them", spec(func(o *batchv1.JobSpec) {
		o.Parallelism, o.Completions, o.BackoffLimit = p(int32(-1)), p(int32(-1)), p(int32(-1))
		o.ActiveDeadlineSeconds, o.TTLSecondsAfterFinished = p(int64(-1)), p(int32(-1))
	})),
}

var invalidModes = []jobCase{
	jobWith("unknown completion mode", spec(func(o *batchv1.JobSpec) { o.CompletionMode = p(batchv1.CompletionMode("Random")) })),
	jobWith("unknown replacement policy", spec(func(o *batchv1.JobSpec) { o.PodReplacementPolicy = p(batchv1.PodReplacementPolicy("Never")) })),
	jobWith("replacement while terminating, with a failure policy", failurePolicy(rule("Ignore")),
		spec(func(o *batchv1.JobSpec) { o.PodReplacementPolicy = p(batchv1.TerminatingOrFailed) })),
	jobWith("managedBy without a domain", spec(func(o *batchv1.JobSpec) { o.ManagedBy = p("me") })),
	jobWith("managedBy empty", spec(func(o *batchv1.JobSpec) { o.ManagedBy = p("") })),
	jobWith("managedBy of 64 letters", spec(func(o *batchv1.JobSpec) { o.ManagedBy = p("example.com/" + strings.Repeat("x", 52)) })),
	jobWith("managedBy of 63 letters", spec(func(o *batchv1.JobSpec) { o.ManagedBy = p("example.com/" + strings.Repeat("x", 51)) })),
	jobWith("restart policy Always", spec(func(o *batchv1.JobSpec) { o.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways })),
	jobWith("no restart policy", spec(func(o *batchv1.JobSpec) { o.Template.Spec.RestartPolicy = "" })),
	jobWith("unknown restart policy", spec(func(o *batchv1.JobSpec) { o.Template.Spec.RestartPolicy = "Sometimes" })),
	jobWith("no containers", spec(func(o *batchv1.JobSpec) { o.Template.Spec.Containers = nil })),
	jobWith("template with a finalizer", spec(func(o *batchv1.JobSpec) { o.Template.Finalizers = []string{other} })),
	jobWith("template with a node", spec(func(o *batchv1.JobSpec) { o.Template.Spec.NodeName = "node" })),
}

var invalidIndexed = []jobCase{
	jobWith("without completions", withoutCompletions),
	jobWith("without completions and parallelism", spec(func(o *batchv1.JobSpec) { o.CompletionMode = p(batchv1.IndexedCompletion) })),
	jobWith("100000 at a time", indexed(100_000)),
	jobWith("100001 at a time", indexed(100_001)),
	jobWith("limit per index -1", indexed(2), limitPerIndex(-1)),
	jobWith("limit per index, not indexed", limitPerIndex(1)),
	jobWith("maxFailedIndexes without limit per index", indexed(2), maxFailed(1)),
	jobWith("maxFailedIndexes, not indexed", limitPerIndex(1), maxFailed(1)),
	jobWith("maxFailedIndexes -1", indexed(2), limitPerIndex(1), maxFailed(-1)),
	jobWith("maxFailedIndexes above completions", indexed(2), limitPerIndex(1), maxFailed(3)),
	jobWith("100001 indexes with a limit each and no bound", manyIndexes, limitPerIndex(1)),
	jobWith("100001 indexes with a limit each, bound 10001", manyIndexes, limitPerIndex(1), maxFailed(10_001)),
	jobWith("100001 indexes with a limit each, bound 10000", manyIndexes, limitPerIndex(1), maxFailed(10_000)),
	jobWith("100001 indexes with a limit each, 10001 at a time", manyIndexes, limitPerIndex(1), maxFailed(10),
		spec(func(o *batchv1.JobSpec) { o.Parallelism = p(int32(10_001)) })),
}

// withoutCompletions makes it indexed, but does not say how many indexes there are.
func withoutCompletions(o *batchv1.Job) {
	o.Spec.CompletionMode, o.Spec.Parallelism = p(batchv1.IndexedCompletion), p(int32(1))
}

func maxFailed(n int32) func(*batchv1.Job) {
	return func(o *batchv1.Job) { o.Spec.MaxFailedIndexes = &n }
}

func manyIndexes(o *batchv1.Job) {
	indexed(100_001)(o)
	o.Spec.Parallelism = p(int32(1))
}

var invalidFailurePolicies = []jobCase{
	jobWith("no rules", failurePolicy()),
	jobWith("21 rules", failurePolicy(make21(rule("Ignore"))...)),
	jobWith("unknown action", failurePolicy(rule("Panic"))),
	jobWith("no action", failurePolicy(rule(""))),
	jobWith("neither codes nor conditions", failurePolicy(batchv1.PodFailurePolicyRule{Action: "Ignore"})),
	jobWith("codes and conditions", failurePolicy(batchv1.PodFailurePolicyRule{
		Action: "Ignore", OnExitCodes: onCode(1).OnExitCodes, OnPodConditions: onCondition("DisruptionTarget", "True").OnPodConditions,
	})),
	jobWith("no codes", failurePolicy(onCode())),
	jobWith("code 0 in", failurePolicy(onCode(0))),
	jobWith("codes unordered", failurePolicy(onCode(2, 1))),
	jobWith("code twice", failurePolicy(onCode(1, 1))),
	jobWith("unknown operator", failurePolicy(batchv1.PodFailurePolicyRule{
		Action: "Ignore", OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "Near", Values: []int32{1}},
	})),
	jobWith("unknown container", failurePolicy(batchv1.PodFailurePolicyRule{
		Action: "Ignore", OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: p("side"), Operator: "In", Values: []int32{1}},
	})),
	jobWith("unknown status", failurePolicy(onCondition("DisruptionTarget", "Maybe"))),
	jobWith("condition without a type", failurePolicy(onCondition("", "True"))),
	jobWith("FailIndex without limit per index", indexed(2), failurePolicy(rule(batchv1.PodFailurePolicyActionFailIndex))),
	jobWith("FailIndex", indexed(2), limitPerIndex(1), failurePolicy(rule(batchv1.PodFailurePolicyActionFailIndex))),
	jobWith("restart policy OnFailure", failurePolicy(rule("Ignore")),
		spec(func(o *batchv1.JobSpec) { o.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure })),
}

func make21(r batchv1.PodFailurePolicyRule) []batchv1.PodFailurePolicyRule {
	rules := make([]batchv1.PodFailurePolicyRule, 21)
	for i := range rules {
		rules[i] = r
	}
	return rules
}

var invalidSuccessPolicies = []jobCase{
	jobWith("not indexed", successPolicy(batchv1.SuccessPolicyRule{SucceededCount: p(int32(1))})),
	jobWith("no rules", indexed(3), successPolicy()),
	jobWith("21 rules", indexed(3), successPolicy(make([]batchv1.SuccessPolicyRule, 21)...)),
	jobWith("empty rule", indexed(3), successPolicy(batchv1.SuccessPolicyRule{})),
	jobWith("count 0", indexed(3), successPolicy(batchv1.SuccessPolicyRule{SucceededCount: p(int32(0))})),
	jobWith("count -1", indexed(3), successPolicy(batchv1.SuccessPolicyRule{SucceededCount: p(int32(-1))})),
	jobWith("count above completions", indexed(3), successPolicy(batchv1.SuccessPolicyRule{SucceededCount: p(int32(4))})),
	jobWith("count", indexed(3), successPolicy(batchv1.SuccessPolicyRule{SucceededCount: p(int32(3))})),
	jobWith("indexes", indexed(3), successPolicy(batchv1.SuccessPolicyRule{SucceededIndexes: p("0,2")})),
	jobWith("indexes empty", indexed(3), successPolicy(batchv1.SuccessPolicyRule{SucceededIndexes: p("")})),
	jobWith("indexes empty, count 0", indexed(3), successPolicy(batchv1.SuccessPolicyRule{SucceededIndexes: p(""), SucceededCount: p(int32(0))})),
	jobWith("indexes beyond completions", indexed(3), successPolicy(batchv1.SuccessPolicyRule{SucceededIndexes: p("0-3")})),
	jobWith("indexes unordered", indexed(3), successPolicy(batchv1.SuccessPolicyRule{SucceededIndexes: p("2,0")})),
	jobWith("indexes that are none", indexed(3), successPolicy(batchv1.SuccessPolicyRule{SucceededIndexes: p("a")})),
	jobWith("count above indexes", indexed(3), successPolicy(batchv1.SuccessPolicyRule{SucceededIndexes: p("0,1"), SucceededCount: p(int32(3))})),
	jobWith("count of a job without completions", successPolicy(batchv1.SuccessPolicyRule{SucceededCount: p(int32(1))}), withoutCompletions),
	jobWith("indexes of a job without completions", successPolicy(batchv1.SuccessPolicyRule{SucceededIndexes: p("0")}), withoutCompletions),
	jobWith("indexes of a job without indexes", indexed(0), successPolicy(batchv1.SuccessPolicyRule{SucceededIndexes: p("0")})),
}
