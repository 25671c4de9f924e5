package jobadmit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/internal/problems"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// ValidateTemplateUpdate reports what an API server of a release refuses when the pod template of a
// job changes. old is the stored job, with its status. oldTemplate and nextTemplate are the old and
// the new template: the JSON of a v1 PodTemplateSpec, with the defaults of the server. The error
// joins an [*job.InputError] for each field that must not change, or reports that a template cannot
// be read.
//
// Nothing may change, except for a suspended job:
//
//   - Scheduling directives, which are the labels and annotations of the template, its
//     nodeSelector, tolerations, schedulingGates and affinity.nodeAffinity. Before 1.35, and in
//     later releases without the gate MutableSchedulingDirectivesForSuspendedJobs, they may change
//     if the job has no startTime. In 1.35 with the gate, they may change if the condition
//     Suspended is True and no pod is active. From 1.36 on with the gate, they may change if no pod
//     is active, and the condition is True or there is no startTime.
//   - Resources of containers and init containers, with MutablePodResourcesForSuspendedJobs,
//     under the same conditions. Then metadata of the template may change as well.
//
// A field that is empty counts as absent, and quantities are compared as text.
func ValidateTemplateUpdate(old *job.Job, oldTemplate, nextTemplate []byte, r release.Release) error {
	var before, after any
	for _, t := range [...]struct {
		name string
		text []byte
		to   *any
	}{{"old", oldTemplate, &before}, {"new", nextTemplate, &after}} {
		if err := json.Unmarshal(t.text, t.to); err != nil {
			return problems.New[job.InputError]("spec.template", t.name, "cannot be read: "+err.Error())
		}
	}

	changed := differences("template", pruned(before), pruned(after))
	changed = slices.DeleteFunc(changed, func(path string) bool { return mayChange(path, old, r) })

	var found problems.List
	for _, path := range changed {
		found.Add(path, "changed", whyKept(old, r))
	}
	return problems.Join[job.InputError]("spec.", found)
}

// mayChange reports whether a path of the template may change.
func mayChange(path string, old *job.Job, r release.Release) bool {
	resources := r.Has(release.MutablePodResourcesForSuspendedJobs) && allowsTemplate(old, r)
	if resources && (isResources(path) || !isIn(path, "template.spec")) {
		return true
	}

	if !allowsScheduling(old, r) {
		return false
	}
	for _, field := range schedulingDirectives {
		if isIn(path, field) {
			return true
		}
	}
	return false
}

var schedulingDirectives = [...]string{
	"template.metadata.labels",
	"template.metadata.annotations",
	"template.spec.nodeSelector",
	"template.spec.tolerations",
	"template.spec.schedulingGates",
	"template.spec.affinity.nodeAffinity",
}

// isIn reports whether a path is a field or in it.
func isIn(path, field string) bool {
	rest, ok := strings.CutPrefix(path, field)
	inside := strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "[")
	return ok && (rest == "" || inside)
}

// isResources reports whether a path is in the resources of a container.
func isResources(path string) bool {
	for _, list := range [...]string{"template.spec.containers[", "template.spec.initContainers["} {
		if rest, ok := strings.CutPrefix(path, list); ok {
			_, rest, _ = strings.Cut(rest, "]")
			return isIn(rest, ".resources")
		}
	}
	return false
}

func allowsScheduling(old *job.Job, r release.Release) bool {
	if r.Has(release.MutableSchedulingDirectivesForSuspendedJobs) {
		return allowsTemplate(old, r)
	}
	return value.Of(old.Spec.Suspend) && old.Status.StartTime.IsZero()
}

// allowsTemplate reports whether the job is in a state in which the gates for suspended jobs allow
// changes of the template.
func allowsTemplate(old *job.Job, r release.Release) bool {
	suspended := old.Status.Condition(job.ConditionSuspended).Status == job.ConditionTrue ||
		old.Status.StartTime.IsZero() && !r.IsBefore(release.V136())
	return value.Of(old.Spec.Suspend) && suspended && old.Status.Active == 0
}

func whyKept(old *job.Job, r release.Release) string {
	switch {
	case !value.Of(old.Spec.Suspend):
		return "must not change, since the job is not suspended"
	case !allowsScheduling(old, r):
		return fmt.Sprintf("must not change in Kubernetes %s: the job has started or has active pods", r)
	}
	return "must not change, though scheduling directives may"
}

// differences returns the paths at which two trees differ. If only one of them has a field, it
// returns the paths below that field.
func differences(path string, a, b any) []string {
	x, isMap := a.(map[string]any)
	y, isAlso := b.(map[string]any)
	if isMap || isAlso {
		isMap, isAlso = isMap || a == nil, isAlso || b == nil // nil has no fields
		if isMap && isAlso {
			return differencesOfFields(path, x, y)
		}
		return []string{path}
	}

	p, isList := a.([]any)
	q, isAlso := b.([]any)
	switch {
	case isList && isAlso && len(p) == len(q):
		return differencesOfItems(path, p, q)
	case isList, isAlso, a != b:
		return []string{path}
	}
	return nil
}

func differencesOfFields(path string, x, y map[string]any) (out []string) {
	all := maps.Clone(x)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, y)
	for _, field := range slices.Sorted(maps.Keys(all)) {
		out = append(out, differences(path+"."+field, x[field], y[field])...)
	}
	return out
}

func differencesOfItems(path string, x, y []any) (out []string) {
	for i := range x {
		out = append(out, differences(fmt.Sprintf("%s[%d]", path, i), x[i], y[i])...)
	}
	return out
}

// pruned returns a tree without its empty parts, or nil if nothing is left.
func pruned(tree any) any {
	switch t := tree.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, field := range slices.Sorted(maps.Keys(t)) {
			if v := pruned(t[field]); v != nil {
				out[field] = v
			}
		}
		if len(out) > 0 {
			return out
		}
	case []any:
		out := make([]any, len(t))
		for i := range t {
			out[i] = pruned(t[i])
		}
		if len(out) > 0 {
			return out
		}
	case string:
		if t != "" {
			return t
		}
	case nil:
	default:
		return t
	}
	return nil
}
