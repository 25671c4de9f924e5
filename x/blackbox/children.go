package blackbox

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The kinds of children that the kit knows.
var (
	JobKind = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	PodKind = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
)

// ChildKind describes how the children of one kind run and end.
type ChildKind struct {
	// Ready reports whether a child may run: a suspended one may not. Nil means that all may.
	Ready func(Object) bool
	// Begin makes a child run, and Stop stops a running child that is no longer ready.
	Begin, Stop func(Object)
	// Runs reports whether a child runs.
	Runs func(Object) bool
	// Ended reports whether a child has ended, and Succeeded whether it has succeeded.
	Ended, Succeeded func(Object) bool
	// End ends a child.
	End func(o Object, succeeded bool)
}

var childKinds = map[schema.GroupVersionKind]ChildKind{JobKind: Job, PodKind: Pod}

// Jobs is the resource of batch/v1 Jobs.
func Jobs() Resource {
	return Resource{
		GroupVersionKind: JobKind,
		Plural:           "jobs",
		Status:           true,
		Default:          defaultJob,
		Type:             func() any { return batchv1.Job{} },
	}
}

// Pods is the resource of pods.
func Pods() Resource {
	return Resource{
		GroupVersionKind: PodKind,
		Plural:           "pods",
		Status:           true,
		Default:          defaultPod,
		Type:             func() any { return corev1.Pod{} },
	}
}

// defaultJob fills in the defaults of a Job, its selector and the labels of its pods, as the API
// server does.
func defaultJob(o Object) {
	set := func(value any, path ...string) {
		if o.Get(path...) == nil {
			o.Set(value, path...)
		}
	}
	switch {
	case o.Get("spec", "completions") == nil && o.Get("spec", "parallelism") == nil:
		o.Set(1.0, "spec", "completions")
		o.Set(1.0, "spec", "parallelism")
	default:
		set(1.0, "spec", "parallelism")
	}
	set("NonIndexed", "spec", "completionMode")
	set("TerminatingOrFailed", "spec", "podReplacementPolicy")
	set(false, "spec", "suspend")
	set(6.0, "spec", "backoffLimit")
	if o.Get("spec", "selector") == nil && o.Get("spec", "manualSelector") != true {
		o.Set(o.UID(), "spec", "selector", "matchLabels", batchv1.ControllerUidLabel)
		labels := map[string]string{batchv1.ControllerUidLabel: o.UID(), batchv1.JobNameLabel: o.Name()}
		for label, value := range labels {
			o.Set(value, "spec", "template", "metadata", "labels", label)
		}
	}
}

func defaultPod(o Object) {
	if o.Text("status", "phase") == "" {
		o.Set("Pending", "status", "phase")
	}
	if o.Get("spec", "restartPolicy") == nil {
		o.Set("Always", "spec", "restartPolicy")
	}
}

// Job describes how Jobs run and end.
var Job = ChildKind{
	Ready: func(o Object) bool { return o.Get("spec", "suspend") != true },
	Begin: BeginJob, Stop: stopJob,
	Runs: func(o Object) bool {
		active, _ := o.Get("status", "active").(float64)
		return active > 0 && !JobEnded(o)
	},
	Ended: JobEnded,
	Succeeded: func(o Object) bool {
		return slices.ContainsFunc(o.List("status", "conditions"), func(c Object) bool {
			return c.Text("type") == "Complete" && c.Text("status") == "True"
		})
	},
	End: EndJob,
}

// Pod describes how pods run and end.
var Pod = ChildKind{
	Begin: BeginPod,
	Runs:  func(o Object) bool { return o.Text("status", "phase") == "Running" },
	Ended: PodEnded, Succeeded: func(o Object) bool { return o.Text("status", "phase") == "Succeeded" },
	End: EndPod,
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// JobEnded reports whether a Job has ended.
func JobEnded(o Object) bool {
	return slices.ContainsFunc(o.List("status", "conditions"), func(c Object) bool {
		return (c.Text("type") == "Complete" || c.Text("type") == "Failed") && c.Text("status") == "True"
	})
}

// BeginJob makes a Job run, with all its pods ready.
func BeginJob(o Object) {
	o.Set(now(), "status", "startTime")
	o.Set(o.Get("spec", "parallelism"), "status", "active")
	o.Set(o.Get("spec", "parallelism"), "status", "ready")
	setCondition(o, "Suspended", "False", "JobResumed")
}

// stopJob writes the status of a suspended Job, which has no pods.
func stopJob(o Object) {
	o.Unset("status", "startTime")
	o.Set(0.0, "status", "active")
	o.Set(0.0, "status", "ready")
	setCondition(o, "Suspended", "True", "JobSuspended")
}

// EndJob ends a Job, as the Job controller does.
func EndJob(o Object, succeeded bool) {
	end, before := "Failed", "FailureTarget"
	if succeeded {
		end, before = "Complete", "SuccessCriteriaMet"
		o.Set(now(), "status", "completionTime")
		o.Set(o.Get("spec", "completions"), "status", "succeeded")
	} else {
		o.Set(1.0, "status", "failed")
	}

	if o.Text("status", "startTime") == "" {
		o.Set(o.Text("metadata", "creationTimestamp"), "status", "startTime")
	}

	o.Unset("status", "active")
	o.Set(0.0, "status", "ready")
	setCondition(o, before, "True", "")
	setCondition(o, end, "True", "")
}

// setCondition sets a condition, unless it has this status already. A missing condition is added only if it is true.
func setCondition(o Object, kind, status, reason string) {
	list, _ := o.Get("status", "conditions").([]any)
	next := map[string]any{"type": kind, "status": status, "lastTransitionTime": now(), "lastProbeTime": now()}
	if reason != "" {
		next["reason"] = reason
	}

	for i, c := range list {
		c, _ := c.(map[string]any)
		if c["type"] != kind {
			continue
		}
		if c["status"] != status {
			list = slices.Clone(list)
			list[i] = next
			o.Set(list, "status", "conditions")
		}
		return
	}
	if status == "True" {
		o.Set(append(slices.Clone(list), next), "status", "conditions")
	}
}

// PodEnded reports whether a pod has ended.
func PodEnded(o Object) bool {
	return o.Text("status", "phase") == "Succeeded" || o.Text("status", "phase") == "Failed"
}

// node is the node of pods whose affinity names none.
const node = "node"

// BeginPod binds a pod and makes it run.
func BeginPod(o Object) {
	if o.Text("spec", "nodeName") == "" {
		o.Set(nodeOf(o), "spec", "nodeName")
	}
	o.Set("Running", "status", "phase")
	o.Set(now(), "status", "startTime")
	o.Set([]any{map[string]any{"type": "Ready", "status": "True", "lastTransitionTime": now()}}, "status", "conditions")
	setContainers(o, map[string]any{"running": map[string]any{"startedAt": now()}}, true)
}

// nodeOf returns the node that the affinity of a pod asks for.
func nodeOf(o Object) string {
	const affinity = "requiredDuringSchedulingIgnoredDuringExecution"
	for _, term := range o.List("spec", "affinity", "nodeAffinity", affinity, "nodeSelectorTerms") {
		for _, field := range term.List("matchFields") {
			if values, _ := field.Get("values").([]any); field.Text("key") == "metadata.name" && len(values) == 1 {
				name, _ := values[0].(string)
				return name
			}
		}
	}
	return node
}

// EndPod ends all containers of a pod.
func EndPod(o Object, succeeded bool) {
	phase, code := "Failed", 1.0
	if succeeded {
		phase, code = "Succeeded", 0
	}
	o.Set(phase, "status", "phase")
	o.Set([]any{map[string]any{
		"type": "Ready", "status": "False", "reason": "PodCompleted", "lastTransitionTime": now(),
	}}, "status", "conditions")
	setContainers(o, map[string]any{"terminated": map[string]any{
		"exitCode": code, "startedAt": o.Get("status", "startTime"), "finishedAt": now(),
	}}, false)
}

func setContainers(o Object, state map[string]any, ready bool) {
	var all []any
	for _, c := range o.List("spec", "containers") {
		all = append(all, map[string]any{
			"name":         c.Text("name"),
			"image":        c.Text("image"),
			"imageID":      "",
			"restartCount": 0.0,
			"ready":        ready,
			"state":        state,
		})
	}
	o.Set(all, "status", "containerStatuses")
}

// NewJob returns a Job with the settings.
func NewJob(s BatchSettings) any {
	mode := batchv1.NonIndexedCompletion
	if s.Indexed {
		mode = batchv1.IndexedCompletion
	}
	return &batchv1.Job{Spec: batchv1.JobSpec{
		Completions:    &s.Wanted,
		Parallelism:    &s.AtOnce,
		BackoffLimit:   &s.Retries,
		CompletionMode: &mode,
		Suspend:        &s.Suspend,
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "true"}},
		}},
	}}
}

// EditJob applies the settings to a Job.
func EditJob(o Object, s BatchSettings) {
	o.Set(float64(s.AtOnce), "spec", "parallelism")
	o.Set(s.Suspend, "spec", "suspend")
}

// JobTally reads the status of a Job.
func JobTally(o Object) Tally {
	succeeded, _ := o.Get("status", "succeeded").(float64)
	failed, _ := o.Get("status", "failed").(float64)
	return Tally{Succeeded: int32(succeeded), Failed: int32(failed), Ended: JobEnded(o), Success: Job.Succeeded(o)}
}

// PodIndex returns the completion index of a Job's pod.
func PodIndex(o Object) string {
	return o.Text("metadata", "annotations", batchv1.JobCompletionIndexAnnotation)
}
