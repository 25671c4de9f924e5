package upgrade

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobadmit"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/release"
)

// Parting is a point at which two releases do different things.
type Parting struct {
	// After is the time from the start of a life to the parting. Once is the last event of a life
	// before the parting, or the situation of a case. Both are empty for fields and statuses.
	After string `json:"after,omitempty"`
	Once  string `json:"once,omitempty"`
	// Before and Behind are what the old and the new release do.
	Before string `json:"before"`
	Behind string `json:"after_upgrade"`
}

const (
	// played is the number of random lives of a Job, and steps is the number of steps of each life.
	played = 60
	steps  = 40
	// mostPods is the maximum number of pods of a life. More pods would show nothing new.
	mostPods = 8
)

// lives plays lives of a Job in both releases. It returns a change for each kind of difference,
// with the first Parting of this kind.
func lives(spec job.Spec, from, to release.Release) (changes []Change) {
	seen := map[string]bool{}
	for seed := range uint64(played) {
		p := newPair(spec, from, to)
		if p == nil {
			return changes
		}
		kind, parting := p.play(rand.New(rand.NewPCG(24, seed)))
		if kind == "" || seen[kind] {
			continue
		}
		seen[kind] = true
		change := wordsOf(kind, from, to)
		change.Shown, change.FoundBy = &parting, foundLives
		changes = append(changes, change)
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return strings.Compare(a.Rule, b.Rule) })
	return changes
}

// pair is one Job in two worlds.
type pair struct {
	worlds [2]*world.Job
	last   string // what happened last
}

// newPair returns a pair, or nil if an API server refuses the spec. The pair's Jobs are not
// suspended at first, since the steps of a life suspend and resume them.
func newPair(spec job.Spec, from, to release.Release) *pair {
	p := &pair{last: "the Job was created"}
	for i, r := range [...]release.Release{from, to} {
		s := spec
		job.Default(&s)
		if job.Validate(s) != nil {
			return nil
		}
		parallelism, suspend := min(*s.Parallelism, mostPods), false
		s.Parallelism, s.Suspend = &parallelism, &suspend
		jobadmit.DropDisabled(nil, &s, r)
		w := world.NewJob(s)
		w.Options, w.Consistent = job.Kubernetes(r), true
		p.worlds[i] = w
	}
	return p
}

// play takes steps until the two worlds do different things. It returns the kind of the difference,
// and the [Parting] at which they differ. If they do not differ, kind is "".
func (p *pair) play(d *rand.Rand) (kind string, parting Parting) {
	for range steps {
		var plans [2]string
		for i, w := range p.worlds {
			plan, err := w.Round()
			if err != nil {
				return "", parting
			}
			plans[i] = doing(plan)
		}
		a, b := p.worlds[0], p.worlds[1]
		if kind, before, behind := part(a, b, plans); kind != "" {
			return kind, Parting{After: a.Now.Sub(world.Start).String(), Once: p.last, Before: before, Behind: behind}
		}
		if a.Job.Status.Finished() != "" {
			return "", parting
		}
		p.step(d)
	}
	return "", parting
}

// idle describes a plan without writes to pods.
const idle = "neither creates nor deletes pods"

// leaves begins the text for a Job that another controller manages.
const leaves = "leaves the Job to "

// doing describes what a plan does to pods.
func doing(plan *job.Plan) string {
	var out []string
	for _, d := range plan.Delete {
		out = append(out, fmt.Sprintf("deletes %s", d.Name))
	}
	if n := len(plan.Create); n > 0 {
		out = append(out, fmt.Sprintf("creates %d", n))
	}
	if len(plan.Waits) > 0 && plan.Waits[0].Reason == jobreason.WaitManagedBy {
		out = append(out, leaves+plan.Waits[0].Name)
	}
	if len(out) == 0 {
		return idle
	}
	return strings.Join(out, ", ")
}

// part finds how the worlds differ. It compares what the plans do to pods, and then the fields of
// the status up to the first that differs.
func part(a, b *world.Job, plans [2]string) (kind, before, behind string) {
	switch {
	case plans[0] == plans[1]:
	case strings.HasPrefix(plans[0], leaves) || strings.HasPrefix(plans[1], leaves):
		return "managedBy", plans[0], plans[1]
	default:
		return "pods", plans[0], plans[1]
	}
	x, y := fieldsOf(&a.Job.Status), fieldsOf(&b.Job.Status)
	for _, field := range [...]string{"conditions", "startTime", "active", "terminating", "failed", "succeeded",
		"failedIndexes", "uncountedTerminatedPods", "ready", "completionTime"} {
		if !reflect.DeepEqual(x[field], y[field]) {
			return field, "status." + field + " is " + shown(field,
				x[field]), "status." + field + " is " + shown(field, y[field])
		}
	}
	return "", "", ""
}

func fieldsOf(s *job.Status) map[string]any {
	data, err := json.Marshal(s)
	if err != nil {
		return nil // unreachable
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		return nil // unreachable
	}
	return out
}

func shown(field string, v any) string {
	isTime := strings.HasSuffix(field, "Time")
	switch v := v.(type) {
	case nil:
		if field == "active" || field == "failed" || field == "succeeded" {
			return "0"
		}
		return "absent"
	case string:
		if isTime {
			return "set" // which time it is does not matter to a reader
		}
	case []any:
		var types []string
		for _, c := range v {
			if m, ok := c.(map[string]any); ok {
				types = append(types, strings.TrimSpace(fmt.Sprint(m["type"], " ", m["status"], " ", m["reason"])))
			}
		}
		return strings.Join(types, ", ")
	}
	return fmt.Sprint(v)
}

// step lets time pass, and then does the same thing in both worlds.
func (p *pair) step(d *rand.Rand) {
	wait := time.Duration(1+d.IntN(12)) * time.Second
	if d.IntN(5) == 0 {
		wait = time.Duration(d.IntN(200)) * time.Second
	}
	choice, which, code := d.IntN(10), d.IntN(1000), int32(d.IntN(3))
	for i, w := range p.worlds {
		w.Now = w.Now.Add(wait)
		if len(w.Pods) == 0 && choice < 8 {
			continue
		}
		did := happen(w, choice, which, code)
		if i == 0 && did != "" {
			p.last = did
		}
	}
}

// happen does something to a pod, or suspends or resumes the Job, and returns a description of it.
func happen(w *world.Job, choice, which int, code int32) string {
	if choice >= 8 {
		on := !(w.Job.Spec.Suspend != nil && *w.Job.Spec.Suspend)
		w.Edit(func(s *job.Spec) { s.Suspend = &on })
		if on {
			return "the Job was suspended"
		}
		return "the Job was resumed"
	}
	pod := w.Pods[which%len(w.Pods)]
	switch {
	case choice < 3:
		w.Run(pod)
		return "pod " + pod.Name + " was running"
	case choice < 7:
		w.Run(pod)
		w.Finish(pod, code)
		return fmt.Sprintf("pod %s had ended with exit code %d", pod.Name, code)
	}
	w.Delete(pod)
	return "pod " + pod.Name + " was deleted"
}

// wordsOf returns the [Change] that describes a kind of difference, as play returns it.
func wordsOf(kind string, from, to release.Release) Change {
	gate := release.MutableSchedulingDirectivesForSuspendedJobs
	switch {
	case kind == "startTime" && from.Has(gate) != to.Has(gate):
		clears, keeps := from, to
		if to.Has(gate) {
			clears, keeps = to, from
		}
		return Change{Rule: "J39", See: "KEP-5440", What: fmt.Sprintf(
			"Suspending clears startTime in %s, so that activeDeadlineSeconds counts from the resumption. It keeps "+
				"startTime in %s, where a Job whose deadline has passed meanwhile fails when it is resumed.",
			clears, keeps)}
	case kind == "managedBy":
		leaving, running := from, to
		if to.Has(release.JobManagedBy) {
			leaving, running = to, from
		}
		return Change{Rule: "J3", See: "KEP-4368", What: fmt.Sprintf("The Job controller of %s leaves the Job to "+
			"the controller that spec.managedBy names; the one of %s runs it.", leaving, running)}
	case kind == "active":
		return Change{Rule: "J31", See: "kubernetes#139457", What: "While a backoff holds missing pods, " +
			"status.active is 0 before 1.34.10, 1.35.8 and 1.36, although other pods run. From 1.32 on the API " +
			"server refuses that status if a pod is ready, and nothing is counted until the backoff is over."}
	case kind == "terminating":
		return Change{Rule: "J11", See: "KEP-3939", What: "status.terminating is written by one of the releases " +
			"only, or counts other pods."}
	case kind == "pods":
		return Change{Rule: "J28 to J33", What: "Pods are created or deleted differently."}
	case kind == "conditions":
		return Change{Rule: "J19 to J39", What: "The conditions differ."}
	}
	return Change{Rule: "J35", What: "status." + kind + " differs."}
}
