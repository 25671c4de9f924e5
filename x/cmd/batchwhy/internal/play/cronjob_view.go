package play

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// View describes the CronJob at this step.
func (p *CronJob) View(from int) View {
	w := p.world
	x := p.explanation()
	children := p.children()
	from = pageFrom(from, len(children))

	v := View{
		Kind: "CronJob", Clock: w.Now.Format(time.DateTime) + " UTC, after " + short(w.Now.Sub(world.Start)),
		Summary: x.Summary, State: x.State, Next: x.Next, Facts: x.Facts, Findings: x.Findings,
		Plans: p.plans, Status: cronStatusText(&w.CronJob.Status), Head: cronHead, Table: p.table(),
		Items: []Item{}, From: from, Count: len(children), Events: lastEvents(p.events),
		Suspend:  p.isSuspended(),
		Timeline: p.timeline(),
	}

	if p.differs != "" {
		v.Findings = append(v.Findings,
			explain.Finding{Severity: explain.Warning, Code: "KubernetesDiffers", Text: p.differs})
	}
	for _, c := range children[from:min(from+pageSize, len(children))] {
		v.Items = append(v.Items, p.item(c))
	}

	if at, what := p.next(); !at.IsZero() {
		v.Wake = fmt.Sprintf("in %s %s", short(at.Sub(w.Now)), what)
		v.Waited = p.wait.passed(w.Now)
	}
	return v
}

func (p *CronJob) isSuspended() bool {
	return p.world.CronJob.Spec.Suspend != nil && *p.world.CronJob.Spec.Suspend
}

// children returns the Jobs, active ones first, and among these the newest first.
func (p *CronJob) children() []*cronjob.Child {
	children := pointers(p.world.Children())
	slices.SortFunc(children, func(a, b *cronjob.Child) int {
		if x, y := a.Finished == "", b.Finished == ""; x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp), cmp.Compare(b.Name, a.Name))
	})
	return children
}

// explanation explains the state in the words that batchwhy uses for a CronJob in a cluster.
func (p *CronJob) explanation() explain.Explanation {
	w := p.world
	c := &read.CronJob{Object: w.CronJob}
	c.Namespace, c.Name, c.UID, c.CreationTimestamp = w.CronJob.Namespace, w.CronJob.Name, w.CronJob.UID,
		w.CronJob.CreationTimestamp
	objects := &read.Objects{CronJobs: []*read.CronJob{c}}
	for _, child := range w.Children() {
		objects.Jobs = append(objects.Jobs, p.object(&child))
	}
	return explain.All(objects, explain.Options{At: w.Now, Names: []string{"cronjob/" + w.CronJob.Name}}).Objects[0]
}

// object returns a Job as an API server would return it.
func (p *CronJob) object(c *cronjob.Child) *read.Job {
	owner := &p.world.CronJob
	out := &read.Job{Object: job.Job{
		Namespace: owner.Namespace, Name: c.Name, UID: c.UID, CreationTimestamp: c.CreationTimestamp,
		Status: job.Status{StartTime: c.StartTime, CompletionTime: c.CompletionTime},
	}}
	if c.Finished != "" {
		out.Object.Status.Conditions = []job.Condition{
			{Type: c.Finished, Status: job.ConditionTrue, LastTransitionTime: c.FinishTime},
		}
	}
	out.Namespace, out.Name, out.UID, out.CreationTimestamp = owner.Namespace, c.Name, c.UID, c.CreationTimestamp
	out.Owners = []read.Owner{{Kind: "CronJob", Name: owner.Name, UID: owner.UID, Controller: true}}
	if !c.ScheduledTime.IsZero() {
		out.Annotations = map[string]string{
			"batch.kubernetes.io/cronjob-scheduled-timestamp": c.ScheduledTime.Format(time.RFC3339),
		}
	}
	return out
}

func (p *CronJob) item(c *cronjob.Child) Item {
	since := p.world.Now.Sub(c.CreationTimestamp)
	out := Item{
		Name:    c.Name,
		Phase:   "Active",
		Text:    "Active for " + short(since) + ".",
		Actions: []string{"complete", "fail", "delete"},
	}
	if c.Finished != "" {
		out.Phase, out.Actions = string(c.Finished), []string{"delete"}
		out.Text = fmt.Sprintf("Ended after %s.", short(c.FinishTime.Sub(c.CreationTimestamp)))
	}
	if c.ScheduledTime.IsZero() {
		out.Text = "Started by hand. " + out.Text
	} else {
		out.Text = "The run of " + c.ScheduledTime.UTC().Format(time.DateTime) + ". " + out.Text
	}
	return out
}

var cronHead = []string{"NAME", "SCHEDULE", "TIMEZONE", "SUSPEND", "ACTIVE", "LAST SCHEDULE", "AGE"}

// table returns the columns of kubectl get cronjob.
func (p *CronJob) table() []string {
	c := &p.world.CronJob
	zone, last, suspend := "<none>", "<none>", "False"
	if c.Spec.TimeZone != nil {
		zone = *c.Spec.TimeZone
	}
	if t := c.Status.LastScheduleTime; !t.IsZero() {
		last = short(p.world.Now.Sub(t))
	}
	if p.isSuspended() {
		suspend = "True"
	}
	return []string{
		c.Name,
		c.Spec.Schedule,
		zone,
		suspend,
		fmt.Sprint(len(c.Status.Active)),
		last,
		short(p.world.Now.Sub(c.CreationTimestamp)),
	}
}

func cronStatusText(s *cronjob.Status) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if len(s.Active) > 0 {
		line("active:")
	}
	for _, r := range s.Active {
		line("- kind: Job")
		line("  name: %s", r.Name)
		line("  uid: %s", r.UID)
	}
	moment(line, "", "lastScheduleTime", s.LastScheduleTime)
	moment(line, "", "lastSuccessfulTime", s.LastSuccessfulTime)
	return b.String()
}

// maxMarks is the maximum number of past runs in the drawing. It shows the latest ones.
const maxMarks = 100

// timeline draws the life so far and the next runs.
func (p *CronJob) timeline() *explain.Timeline {
	w := p.world
	t := &explain.Timeline{From: world.Start, Now: w.Now, To: w.Now}
	started := make(map[time.Time]bool)
	for i := range p.jobs {
		started[p.jobs[i].run.UTC()] = true
	}

	lane := explain.Lane{Label: "runs"}
	past := p.pastRuns()
	if len(past) == maxMarks {
		t.From = past[0]
	}

	for _, run := range past {
		lane.Marks = append(lane.Marks, p.runMark(run, started[run.UTC()]))
	}
	for run := range w.Schedule.Schedule.NextN(w.Now, 3) {
		lane.Marks = append(lane.Marks,
			explain.Mark{At: run.UTC(), Kind: "run", Text: "due in " + short(run.Sub(w.Now))})
		t.To = run.UTC()
	}

	t.Lanes = append(t.Lanes, lane)
	p.jobLanes(t)
	return t
}

// pastRuns returns the latest runs up to now, in order.
func (p *CronJob) pastRuns() (runs []time.Time) {
	s := p.world.Schedule.Schedule
	run, ok := s.Latest(world.Start, p.world.Now)
	for ok && len(runs) < maxMarks {
		runs = append(runs, run.UTC())
		run = s.Prev(run)
		ok = run.After(world.Start)
	}
	slices.Reverse(runs)
	return runs
}

// runMark returns the mark for a past run.
func (p *CronJob) runMark(run time.Time, started bool) explain.Mark {
	if started {
		return explain.Mark{At: run, Kind: "started", Text: "started"}
	}
	for _, w := range p.plan.Waits {
		if w.Run.Equal(run) && w.Reason == cronjobreason.WaitActive {
			return explain.Mark{At: run, Kind: "missed", Text: "held back: another job is active"}
		}
	}
	return explain.Mark{At: run, Kind: "missed", Text: "did not start"}
}

// jobLanes puts each job into the first lane that is free when it is created.
func (p *CronJob) jobLanes(t *explain.Timeline) {
	lanes := lanes{Timeline: t, label: "jobs"}
	for i := range p.jobs {
		l := &p.jobs[i]
		end := l.ended
		if end.IsZero() {
			end = t.Now
		}

		if end.Before(t.From) {
			continue
		}
		if end.Before(l.created) {
			end = l.created // the clock was put back
		}

		from := l.created
		if from.Before(t.From) {
			from = t.From
		}
		busy := end
		if l.ended.IsZero() {
			busy = time.Time{}
		}
		lanes.add(l.created, busy, explain.Bar{
			From: from,
			To:   end,
			Kind: l.kind,
			Text: l.name + ": " + l.kind + " for " + short(end.Sub(l.created)),
		})
	}
}

// pointers returns pointers to the elements of a list. The same code sorts pointers of all types,
// which keeps the page small.
func pointers[E any](list []E) []*E {
	all := make([]*E, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}
