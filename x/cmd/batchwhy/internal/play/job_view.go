package play

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// View describes the Job at this step.
func (p *Job) View(from int) View {
	w := p.world
	from = pageFrom(from, len(w.Pods))
	x := p.explanation(from)
	v := View{
		Kind: "Job", Clock: "after " + short(w.Now.Sub(world.Start)), Summary: x.Summary, State: x.State,
		Next: x.Next, Facts: x.Facts,
		Plans: p.plans, Status: statusText(&w.Job.Status), Head: jobHead, Table: p.table(),
		Items: p.items(x.Pods), From: from, Count: len(w.Pods),
		Ended:    w.Job.Status.Finished() != "",
		Suspend:  w.Job.Spec.Suspend != nil && *w.Job.Spec.Suspend,
		Parallel: *w.Job.Spec.Parallelism,
		Timeline: p.timeline(),
	}
	v.Events = lastEvents(w.Events)
	if at, what := p.next(); !at.IsZero() {
		v.Wake = fmt.Sprintf("in %s %s", short(at.Sub(w.Now)), what)
		v.Waited = p.wait.passed(w.Now)
	}
	return v
}

// lastEvents returns the latest events, as kubectl prints them.
func lastEvents(events []job.Event) []string {
	texts := []string{}
	for _, e := range events[max(0, len(events)-maxEvents):] {
		texts = append(texts, fmt.Sprintf("%s %s: %s", e.Type, e.Reason, e.Message))
	}
	return texts
}

// explanation explains the state in the words that batchwhy uses for a Job in a cluster.
func (p *Job) explanation(from int) explain.Explanation {
	w := p.world
	j := &read.Job{Object: w.Job}
	j.Namespace, j.Name, j.UID, j.CreationTimestamp = w.Job.Namespace, w.Job.Name, w.Job.UID, w.Job.CreationTimestamp
	objects := &read.Objects{Jobs: []*read.Job{j}}
	owners := []read.Owner{{Kind: "Job", Name: w.Job.Name, UID: w.Job.UID, Controller: true}}
	pods := make([]read.Pod, len(w.Pods))
	for i, pod := range w.Pods {
		p.object(&pods[i], pod)
		if pod.Owner <= jobpod.OwnedUnmatched {
			pods[i].Owners = owners
		}
		objects.Pods = append(objects.Pods, &pods[i])
	}
	return explain.All(objects, explain.Options{At: w.Now, PodsFrom: from, Pods: pageSize}).Objects[0]
}

// object fills in out with a pod as an API server would return it.
func (p *Job) object(out *read.Pod, pod *job.Pod) {
	out.Object = *pod
	out.Namespace, out.Name, out.UID = p.world.Job.Namespace, pod.Name, pod.UID
	if i, ok := p.at[pod.UID]; ok {
		out.CreationTimestamp, out.StartTime = p.pods[i].created, p.pods[i].started
	}
	if d := pod.Detail; d != nil {
		for _, c := range d.Containers {
			if c.State == jobpod.Terminated && c.ExitCode != 0 {
				out.Containers = append(out.Containers,
					read.Container{Name: c.Name, Ended: true, ExitCode: c.ExitCode, Since: c.FinishedAt})
			}
		}
	}
}

// items returns the pods of an explanation, with the actions that apply to each.
func (p *Job) items(pods []explain.Pod) []Item {
	items := make([]Item, len(pods))
	places := make(map[string]*Item, len(pods))
	for i, x := range pods {
		items[i] = Item{Name: x.Name, Index: x.Index, Phase: x.Phase, Text: x.Text, Actions: []string{}}
		places[x.Name] = &items[i]
	}
	for _, pod := range p.world.Pods {
		item := places[pod.Name]
		if item == nil {
			continue
		}
		for _, verb := range podVerbs {
			if podActions[verb].can(pod) && (verb != "succeed" || pod.Phase == job.PodRunning) {
				item.Actions = append(item.Actions, verb)
			}
		}
	}
	return items
}

// podVerbs are the actions in the order of their buttons.
var podVerbs = []string{"run", "succeed", "fail", "evict", "lose", "restart"}

var jobHead = []string{"NAME", "STATUS", "COMPLETIONS", "DURATION", "AGE"}

// table returns the columns of kubectl get job: status, completions, duration.
func (p *Job) table() []string {
	w := p.world
	status := &w.Job.Status
	state := "Running"
	switch {
	case status.Finished() != "":
		state = string(status.Finished())
	case !w.Job.DeletionTimestamp.IsZero():
		state = "Terminating"
	case status.Condition(job.ConditionSuspended).Status == job.ConditionTrue:
		state = "Suspended"
	case status.Condition(job.ConditionFailureTarget).Status == job.ConditionTrue:
		state = "FailureTarget"
	case status.Condition(job.ConditionSuccessCriteriaMet).Status == job.ConditionTrue:
		state = "SuccessCriteriaMet"
	}
	done := fmt.Sprintf("%d/1 of %d", status.Succeeded, *w.Job.Spec.Parallelism)
	if c := w.Job.Spec.Completions; c != nil {
		done = fmt.Sprintf("%d/%d", status.Succeeded, *c)
	}
	took := ""
	switch {
	case !status.CompletionTime.IsZero():
		took = short(status.CompletionTime.Sub(status.StartTime))
	case !status.StartTime.IsZero():
		took = short(w.Now.Sub(status.StartTime))
	}
	return []string{w.Job.Name, state, done, took, short(w.Now.Sub(w.Job.CreationTimestamp))}
}

func statusText(s *job.Status) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	number := func(name string, n int32) {
		if n != 0 {
			line("%s: %d", name, n)
		}
	}

	number("active", s.Active)
	if s.CompletedIndexes != "" {
		line("completedIndexes: %q", s.CompletedIndexes)
	}
	moment(line, "", "completionTime", s.CompletionTime)

	if len(s.Conditions) > 0 {
		line("conditions:")
	}
	for _, c := range s.Conditions {
		line("- type: %s", c.Type)
		line("  status: %q", c.Status)
		line("  reason: %s", c.Reason)
		line("  message: %s", c.Message)
		moment(line, "  ", "lastTransitionTime", c.LastTransitionTime)
	}

	number("failed", s.Failed)
	if s.FailedIndexes != nil {
		line("failedIndexes: %q", *s.FailedIndexes)
	}
	if s.Ready != nil {
		line("ready: %d", *s.Ready)
	}

	moment(line, "", "startTime", s.StartTime)
	number("succeeded", s.Succeeded)
	if s.Terminating != nil {
		line("terminating: %d", *s.Terminating)
	}

	if u := s.UncountedTerminatedPods; u != nil && len(u.Failed)+len(u.Succeeded) > 0 {
		line("uncountedTerminatedPods: {failed: %s, succeeded: %s}", value.Count(len(u.Failed), "UID"),
			value.Count(len(u.Succeeded), "UID"))
	}
	return b.String()
}

func moment(line func(string, ...any), indent, name string, t time.Time) {
	if !t.IsZero() {
		line("%s%s: %q", indent, name, t.UTC().Format(time.RFC3339))
	}
}

const maxLanes = 40

func (p *Job) timeline() *explain.Timeline {
	w := p.world
	t := &explain.Timeline{From: world.Start, Now: w.Now, To: w.Now}
	t.Lanes = append(t.Lanes, p.ownLane(t))
	if w.Job.Spec.CompletionMode == job.Indexed {
		p.indexLanes(t)
	} else {
		p.podLanes(t)
	}
	if t.To.Sub(t.From) < 30*time.Second {
		t.To = t.From.Add(30 * time.Second)
	}
	return t
}

// indexLanes draws a lane for each of the lowest indexes.
func (p *Job) indexLanes(t *explain.Timeline) {
	seen := make(map[int32]bool)
	for i := range p.pods {
		seen[p.pods[i].index] = true
	}
	order := slices.Sorted(maps.Keys(seen))
	if len(order) > maxLanes {
		t.More = len(order) - maxLanes
		order = order[:maxLanes]
	}
	for _, index := range order {
		t.Lanes = append(t.Lanes, explain.Lane{Label: fmt.Sprintf("index %d", index)})
	}
	for i := range p.pods {
		l := &p.pods[i]
		if n, ok := slices.BinarySearch(order, l.index); ok {
			lane := &t.Lanes[n+1]
			lane.Bars = l.bars(lane.Bars, t.Now)
		}
	}
}

// podLanes puts each pod into the first lane that is free when it is created.
func (p *Job) podLanes(t *explain.Timeline) {
	lanes := lanes{Timeline: t, label: "pods"}
	for i := range p.pods {
		l := &p.pods[i]
		lanes.add(l.created, l.ended, l.bars(nil, t.Now)...)
	}
}

// ownLane returns the lane of the Job. Its marks show the times until which the Job waits.
func (p *Job) ownLane(t *explain.Timeline) explain.Lane {
	w := p.world
	end, kind := w.Now, "job"
	switch {
	case !p.ended.IsZero():
		end, kind = p.ended, "failed"
		if w.Job.Status.Finished() == job.ConditionComplete {
			kind = "complete"
		}
	case w.Job.Spec.Suspend != nil && *w.Job.Spec.Suspend:
		kind = "suspended"
	}

	lane := explain.Lane{
		Label: "Job",
		Bars:  []explain.Bar{{From: world.Start, To: end, Kind: kind, Text: "the Job: " + kind}},
	}

	for _, wait := range p.plan.Waits {
		if wait.Until.IsZero() {
			continue
		}

		mark := explain.Mark{At: wait.Until, Kind: "retry", Text: wait.String()}
		if wait.Reason == jobreason.WaitDeadline {
			mark.Kind = "deadline"
		} else {
			lane.Bars = append(lane.Bars,
				explain.Bar{From: w.Now, To: wait.Until, Kind: "backoff", Text: wait.String()})
		}

		lane.Marks = append(lane.Marks, mark)
		if wait.Until.After(t.To) {
			t.To = wait.Until
		}
	}
	return lane
}

func (l *podLife) bars(bars []explain.Bar, now time.Time) []explain.Bar {
	add := func(from, to time.Time, kind string) {
		bars = append(bars,
			explain.Bar{From: from, To: to, Kind: kind, Text: l.name + ": " + kind + " for " + short(to.Sub(from))})
	}
	end, kind, from := l.ended, l.kind, l.created
	if end.IsZero() {
		end = now
	}
	if kind == "gone" {
		kind = "terminating"
	} else if l.started.After(l.created) {
		add(l.created, l.started, "pending")
		from = l.started
	}
	add(from, end, kind)
	return bars
}
