package play

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/examples/explain/explain"
	"github.com/batchplan/batchplan/examples/explain/read"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/world"
)

// View is what a page shows of a Player.
type View struct {
	// Clock is the time since the beginning.
	Clock string `json:"clock"`
	// Summary is the state in a sentence, Next what happens next and why.
	Summary string         `json:"summary"`
	State   explain.State  `json:"state"`
	Next    []explain.Step `json:"next"`
	Facts   []explain.Fact `json:"facts"`
	// Plans are the plans of the step, with their reasons.
	Plans []string `json:"plans"`
	// Status is as Kubernetes would show it, Table the line of kubectl get job.
	Status string   `json:"status"`
	Table  []string `json:"table"`
	Pods   []Pod    `json:"pods"`
	// MorePods counts the pods beyond those.
	MorePods int      `json:"morePods,omitempty"`
	Events   []string `json:"events"`
	// Wake says when something happens by itself.
	Wake     string            `json:"wake,omitempty"`
	Ended    bool              `json:"ended"`
	Suspend  bool              `json:"suspend"`
	Parallel int32             `json:"parallelism"`
	Timeline *explain.Timeline `json:"timeline"`
}

// Pod is a pod with what can be done to it.
type Pod struct {
	Name    string   `json:"name"`
	Index   *int32   `json:"index,omitempty"`
	Phase   string   `json:"phase"`
	Text    string   `json:"text"`
	Actions []string `json:"actions"`
}

// View describes the Job at this step.
func (p *Player) View() View {
	w := p.world
	x := p.explanation()
	v := View{
		Clock: "T+" + short(w.Now.Sub(world.Start)), Summary: x.Summary, State: x.State, Next: x.Next, Facts: x.Facts,
		Plans: p.plans, Status: statusText(&w.Job.Status), Table: p.table(),
		Ended:    w.Job.Status.Finished() != "",
		Suspend:  w.Job.Spec.Suspend != nil && *w.Job.Spec.Suspend,
		Parallel: *w.Job.Spec.Parallelism,
		Timeline: p.timeline(),
	}
	for _, pod := range x.Pods {
		v.Pods = append(v.Pods, p.pod(&pod))
	}
	v.MorePods = x.MorePods
	from := max(0, len(w.Events)-50)
	for _, e := range w.Events[from:] {
		v.Events = append(v.Events, fmt.Sprintf("%s %s: %s", e.Type, e.Reason, e.Message))
	}
	if at, what := p.next(); !at.IsZero() {
		v.Wake = fmt.Sprintf("in %s %s", short(at.Sub(w.Now)), what)
	}
	return v
}

// explanation finds the words for the state, as for an object of a cluster.
func (p *Player) explanation() explain.Explanation {
	w := p.world
	j := &read.Job{Object: w.Job}
	j.Namespace, j.Name, j.UID, j.CreationTimestamp = w.Job.Namespace, w.Job.Name, w.Job.UID, w.Job.CreationTimestamp
	objects := &read.Objects{Jobs: []*read.Job{j}}
	for _, pod := range w.Pods {
		objects.Pods = append(objects.Pods, p.object(pod))
	}
	return explain.All(objects, explain.Options{At: w.Now}).Objects[0]
}

func (p *Player) object(pod *job.Pod) *read.Pod {
	out := &read.Pod{Object: *pod}
	out.Namespace, out.Name, out.UID = p.world.Job.Namespace, pod.Name, pod.UID
	if l := p.lives[pod.UID]; l != nil {
		out.CreationTimestamp, out.StartTime = l.created, l.started
	}
	if pod.Owner <= job.OwnedUnmatched {
		out.Owners = []read.Owner{{Kind: "Job", Name: p.world.Job.Name, UID: p.world.Job.UID, Controller: true}}
	}
	if d := pod.Detail; d != nil {
		for _, c := range d.Containers {
			if c.State == job.ContainerTerminated && c.ExitCode != 0 {
				out.Stuck = append(out.Stuck, read.ContainerReason{Container: c.Name, ExitCode: c.ExitCode})
			}
		}
	}
	return out
}

func (p *Player) pod(x *explain.Pod) Pod {
	out := Pod{Name: x.Name, Index: x.Index, Phase: x.Phase, Text: x.Text, Actions: []string{}}
	i := slices.IndexFunc(p.world.Pods, func(pod *job.Pod) bool { return pod.Name == x.Name })
	if i < 0 {
		return out
	}
	for _, verb := range []string{"run", "succeed", "fail", "evict", "lose", "restart"} {
		if podActions[verb].can(p.world.Pods[i]) && (verb != "succeed" || p.world.Pods[i].Phase == job.PodRunning) {
			out.Actions = append(out.Actions, verb)
		}
	}
	return out
}

// table is what kubectl get job prints: status, completions, duration.
func (p *Player) table() []string {
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

func short(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = text[:len(text)-2]
	}
	if strings.HasSuffix(text, "h0m") {
		text = text[:len(text)-2]
	}
	return text
}

// statusText is the status as YAML.
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
		line("uncountedTerminatedPods: {failed: %d UIDs, succeeded: %d UIDs}", len(u.Failed), len(u.Succeeded))
	}
	return b.String()
}

func moment(line func(string, ...any), indent, name string, t time.Time) {
	if !t.IsZero() {
		line("%s%s: %q", indent, name, t.UTC().Format(time.RFC3339))
	}
}

// maxLanes is how many rows the drawing has.
const maxLanes = 40

// timeline draws the life so far.
func (p *Player) timeline() *explain.Timeline {
	w := p.world
	t := &explain.Timeline{From: world.Start, Now: w.Now, To: w.Now}
	t.Lanes = append(t.Lanes, p.ownLane(t))
	indexed := w.Job.Spec.CompletionMode == job.Indexed
	lanes := make(map[int32]int)
	var free []time.Time
	for _, uid := range p.order {
		l := p.lives[uid]
		bars := l.bars(w.Now)
		n, ok := lanes[l.index]
		label := fmt.Sprintf("index %d", l.index)
		if !indexed {
			label = "pods"
			n = slices.IndexFunc(free, func(at time.Time) bool { return !at.After(l.created) })
			ok = n >= 0
		}
		if !ok {
			if len(free) >= maxLanes {
				t.More++
				continue
			}
			n = len(free)
			free = append(free, time.Time{})
			t.Lanes = append(t.Lanes, explain.Lane{Label: label})
			lanes[l.index] = n
		}
		t.Lanes[n+1].Bars = append(t.Lanes[n+1].Bars, bars...)
		free[n] = bars[len(bars)-1].To
		if l.ended.IsZero() {
			free[n] = w.Now.Add(time.Nanosecond)
		}
	}
	if indexed {
		slices.SortStableFunc(t.Lanes[1:], func(a, b explain.Lane) int {
			return strings.Compare(fmt.Sprintf("%20s", a.Label), fmt.Sprintf("%20s", b.Label))
		})
	}
	if t.To.Sub(t.From) < 30*time.Second {
		t.To = t.From.Add(30 * time.Second)
	}
	return t
}

// ownLane is the life of the Job, with what it waits for.
func (p *Player) ownLane(t *explain.Timeline) explain.Lane {
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
	lane := explain.Lane{Label: "Job", Bars: []explain.Bar{{From: world.Start, To: end, Kind: kind, Text: "the Job: " + kind}}}
	for _, wait := range p.plan.Waits {
		if wait.Until.IsZero() {
			continue
		}
		mark := explain.Mark{At: wait.Until, Kind: "retry", Text: wait.String()}
		if wait.Reason == job.WaitDeadline {
			mark.Kind = "deadline"
		} else {
			lane.Bars = append(lane.Bars, explain.Bar{From: w.Now, To: wait.Until, Kind: "backoff", Text: wait.String()})
		}
		lane.Marks = append(lane.Marks, mark)
		if wait.Until.After(t.To) {
			t.To = wait.Until
		}
	}
	return lane
}

func (l *life) bars(now time.Time) (bars []explain.Bar) {
	add := func(from, to time.Time, kind string) {
		bars = append(bars, explain.Bar{From: from, To: to, Kind: kind, Text: fmt.Sprintf("%s: %s for %s", l.name, kind, short(to.Sub(from)))})
	}
	end := l.ended
	if end.IsZero() {
		end = now
	}
	if l.kind == "gone" {
		add(l.created, end, "terminating")
		return bars
	}
	if !l.started.IsZero() && l.started.After(l.created) {
		add(l.created, l.started, "pending")
		add(l.started, end, l.kind)
		return bars
	}
	add(l.created, end, l.kind)
	return bars
}
