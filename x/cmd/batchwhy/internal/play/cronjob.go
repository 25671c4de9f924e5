package play

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/line"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

// CronJob is the life of a CronJob. Its Jobs run until the user ends them.
type CronJob struct {
	world *world.CronJob
	// jobs has the lives of all Jobs, in the order of their creation.
	jobs []jobLife
	// events has the events of all rounds, and asked counts the Jobs that were requested by hand.
	events []job.Event
	asked  int
	story  *teller
	plans  []string
	plan   cronjob.Plan
	last   string
	// wait is the wait for what happens next by itself.
	wait wait
	// differs is a sentence if this step started a run that Kubernetes 1.37 would not have started.
	// Otherwise it is "".
	differs string
}

// jobLife is the life of a Job. The drawing still shows it when the Job is gone.
type jobLife struct {
	name           string
	run            time.Time
	created, ended time.Time
	kind           string
}

// maxJobs is the maximum number of Jobs that are active at the same time.
const maxJobs = 500

// newCronJob starts the life of a CronJob with this spec. The CronJob has the same name as in the
// stories of cronjob/testdata.
func newCronJob(spec cronjob.Spec, story *teller) (*CronJob, error) {
	cronjob.Default(&spec)
	c := cronjob.CronJob{Namespace: "default", Name: "report", UID: "cj-1", CreationTimestamp: world.Start, Spec: spec}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	p := &CronJob{world: world.NewCronJob(c, cronjob.Options{}), story: story}
	p.story.tell("cronjob", jsonText(spec), "")
	return p, p.settle()
}

// Clone returns a copy of the life. The copy writes no story, and steps of one do not change the
// other.
func (p *CronJob) Clone() Life {
	q := *p
	q.world = p.world.Clone()
	q.jobs, q.events = slices.Clone(p.jobs), slices.Clip(p.events)
	q.plans, q.story = nil, nil
	return &q
}

// Do takes one step:
//
//	complete JOB, fail JOB, delete JOB, trigger
//	tick DURATION, next, down DURATION, at TIME
//	edit JSON
//
// JOB is a name, a run or "all". "trigger" creates a Job outside of the schedule. The controller has its
// rounds after each step and while time passes, except during "down", which passes time without the
// controller. "at" sets the clock to another time, which may be earlier.
func (p *CronJob) Do(step string) error {
	l, err := line.Parse(step)
	if err != nil {
		return err
	}
	if form, ok := cronJobForms[l.Name]; ok {
		if err := l.Check(form); err != nil {
			return err
		}
	}

	rest := l.Word(0)
	p.plans, p.differs = nil, ""
	switch verb := l.Name; verb {
	case "complete", "fail", "delete":
		if err := p.jobStep(verb, rest); err != nil {
			return err
		}
	case "tick", "down":
		d, err := time.ParseDuration(rest)
		if err != nil || d <= 0 || d > 366*24*time.Hour {
			return fmt.Errorf("%s: %q: must be a duration such as 10m", verb, rest)
		}
		if verb == "tick" {
			return p.passTime(p.world.Now.Add(d))
		}
		p.setClock(p.world.Now.Add(d))
	case "next":
		next, _ := p.next()
		if next.IsZero() {
			return fmt.Errorf("next: nothing happens by itself any more")
		}
		return p.passTime(next)
	case "at":
		t, err := time.Parse(time.RFC3339, rest)
		if err != nil || t.Before(world.Start) || t.After(world.Start.AddDate(20, 0, 0)) {
			return fmt.Errorf("at: %q: must be a time such as 2026-01-31T18:00:00Z, at most 20 years from the "+
				"beginning", rest)
		}
		p.setClock(t)
	case "edit":
		if err := p.edit(l.Input); err != nil {
			return err
		}
	case "trigger":
		p.asked++
		id := strconv.Itoa(p.asked)
		p.world.Triggers = append(p.world.Triggers, cronjob.Trigger{ID: id})
		p.story.tell("trigger "+id, "", "")
	default:
		return fmt.Errorf("%q: must be complete, fail, delete, trigger, tick, next, down, at or edit", verb)
	}
	return p.settle()
}

// cronJobForms has the arguments of the steps.
var cronJobForms = map[string]string{
	"complete": "[JOB]", "fail": "[JOB]", "delete": "[JOB]", "trigger": "",
	"tick": "[TIME]", "next": "", "down": "[TIME]", "at": "[TIME]", "edit": "[JSON]",
}

func (p *CronJob) setClock(t time.Time) {
	p.world.Now = t.UTC()
	p.story.tell("at "+p.world.Now.Format(time.RFC3339), "", "")
}

// next returns the next time at which the controller acts by itself, and why.
func (p *CronJob) next() (at time.Time, what string) {
	for _, w := range p.plan.Waits {
		if !w.Until.After(p.world.Now) || !at.IsZero() && !w.Until.Before(at) {
			continue
		}
		switch w.Reason {
		case cronjobreason.WaitNextRun:
			at, what = w.Until, "the next run is due"
		case cronjobreason.WaitStartDeadline:
			// A run may still start exactly at its deadline.
			at, what = w.Until.Add(time.Second), "the deadline of the run that is held back has passed"
		default:
			at, what = w.Until, w.String()
		}
	}
	return at, what
}

// passTime advances the clock, and stops at each time at which the controller acts by itself.
func (p *CronJob) passTime(until time.Time) error {
	for range maxRounds {
		next, _ := p.next()
		if next.IsZero() || next.After(until) {
			next = until
		}
		if next.After(p.world.Now) {
			p.setClock(next)
		}
		if err := p.settle(); err != nil {
			return err
		}
		if !p.world.Now.Before(until) {
			return nil
		}
	}
	return nil // more happens than one step can show; the next step continues
}

func (p *CronJob) edit(text string) error {
	c := p.world.CronJob
	var err error
	if c.Spec, err = edited(c.Spec, text, `{"schedule": "@daily"}`); err != nil {
		return err
	}
	if err := c.Validate(); err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	p.world.CronJob, p.world.Schedule = c, cronjob.Compile(&c)
	p.story.tell("edit", text, "")
	return nil
}

// jobStep applies a verb to one Job, or to all Jobs to which the verb applies.
func (p *CronJob) jobStep(verb, name string) error {
	done := 0
	for _, c := range p.world.Children() {
		isNamed := name == "all" || c.Name == name || storyName(&c) == name
		if !isNamed || c.Finished != "" && verb != "delete" {
			continue
		}
		done++
		switch verb {
		case "complete":
			p.world.Finish(c.Name, job.ConditionComplete)
		case "fail":
			p.world.Finish(c.Name, job.ConditionFailed)
		case "delete":
			delete(p.world.Jobs, c.Name)
		}
		p.story.tell(verb+" "+storyName(&c), "", "")
	}
	if done == 0 {
		return fmt.Errorf("%s: no job %q that this can be done to", verb, name)
	}
	return nil
}

// storyName returns the name of a Job in a story: its run, or the ID of its trigger.
func storyName(c *cronjob.Child) string {
	if c.ScheduledTime.IsZero() {
		return strings.TrimPrefix(c.Name, cronjob.Naming{}.TriggerName("report", cronjob.Trigger{}))
	}
	return c.ScheduledTime.UTC().Format(time.RFC3339)
}

// settle lets the controller have rounds until it has nothing left to write.
func (p *CronJob) settle() error {
	defer func() { until, _ := p.next(); p.wait = p.wait.next(until, p.world.Now) }()
	p.observe()

	for first, n := true, 0; n < maxRounds; first, n = false, n+1 {
		before := p.world.Writes
		snapshot := p.world.Snapshot()
		plan, err := cronjob.Reconcile(snapshot)
		if err != nil {
			return err
		}

		p.compare(snapshot, &plan)
		end, err := p.world.CarryOut(context.Background(), &plan)
		if err != nil {
			return err
		}
		p.events = append(p.events, end.Events...)
		p.observe()

		text, wrote := plan.String(), p.world.Writes > before
		if wrote || first && text != p.last {
			p.plans = append(p.plans, text)
			if p.story != nil {
				p.story.tell("round", "", text+p.world.State())
			}
		}
		p.plan, p.last = plan, text
		if !wrote && !end.Retry {
			break
		}
	}

	if n := len(p.world.Running()); n > maxJobs {
		return fmt.Errorf("%d jobs are active: at most %d can be played", n, maxJobs)
	}
	return p.world.Err()
}

// compare notes if Kubernetes 1.37 would not start the run that the plan starts.
func (p *CronJob) compare(s cronjob.Snapshot, plan *cronjob.Plan) {
	if len(plan.Create) == 0 || plan.Create[0].ScheduledTime.IsZero() {
		return
	}
	s.Options, s.Schedule = cronjob.Kubernetes(release.Newest()), cronjob.Compile(&s.CronJob,
		schedule.Kubernetes(release.Newest()))
	if theirs, err := cronjob.Reconcile(s); err == nil && len(theirs.Create) == 0 {
		p.differs = fmt.Sprintf("Kubernetes 1.37 would not have started the run of %s: from the distance between "+
			"the first two missed runs it estimates when the latest was due, and finds none.",
			plan.Create[0].ScheduledTime.UTC().Format(time.DateTime))
	}
}

// observe records the lives of the Jobs.
func (p *CronJob) observe() {
	known := make(map[string]bool, len(p.jobs))
	for i := range p.jobs {
		l := &p.jobs[i]
		c, ok := p.world.Jobs[l.name]
		known[l.name] = true
		switch {
		case !l.ended.IsZero():
		case !ok:
			l.ended, l.kind = p.world.Now, "terminating"
		case c.Finished == job.ConditionComplete:
			l.ended, l.kind = p.world.Now, "succeeded"
		case c.Finished == job.ConditionFailed:
			l.ended, l.kind = p.world.Now, "failed"
		}
	}
	for _, c := range p.world.Children() {
		if !known[c.Name] {
			p.jobs = append(p.jobs, jobLife{name: c.Name, run: c.ScheduledTime, created: p.world.Now, kind: "running"})
		}
	}
}
