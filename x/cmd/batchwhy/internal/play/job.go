// Package play steps through the life of a Job or CronJob in memory. A user acts as kubelets, nodes
// and people, and the controller carries out its plans. The steps are a text of a few lines, so
// that a situation fits in a link.
package play

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/line"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
)

// maxRounds is the maximum number of rounds after one step.
const maxRounds = 100

// Job is the life of a Job.
type Job struct {
	world *world.Job
	// pods has the lives of all pods, in the order of their creation. at has the place of each UID
	// in pods.
	pods []podLife
	at   map[job.UID]int
	// looks counts the calls of observe.
	looks int
	// lost has the pods whose node does not answer.
	lost map[job.UID]bool
	// story writes the story of the life. It is nil if no story is wanted.
	story *teller
	// plans has the plans of the latest step that write something. It also has the first plan of
	// the step if that differs from the last plan of the step before.
	plans []string
	plan  job.Plan
	last  string
	// wait is the wait for what happens next by itself.
	wait wait
	// ended is the time at which the Job ended.
	ended time.Time
}

// podLife is the life of a pod. The drawing still shows it when the pod is gone.
type podLife struct {
	name                    string
	index                   int32
	created, started, ended time.Time
	kind                    string
	// looked is the value of Job.looks when the pod was last seen.
	looked int
}

// newJob starts the life of a Job with this spec.
func newJob(spec job.Spec, story *teller) (*Job, error) {
	if spec.Template.RestartPolicy == "" {
		spec.Template.RestartPolicy = job.RestartNever
	}
	if spec.Template.Containers == nil {
		spec.Template.Containers = []string{"main"}
	}
	spec.Selector, spec.ManagedBy = nil, nil
	job.Default(&spec)
	if err := job.Validate(spec); err != nil {
		return nil, err
	}
	if n := max(int64(*spec.Parallelism), 0); n > maxPods {
		return nil, fmt.Errorf("spec.parallelism: %d: at most %d pods can be played", n, maxPods)
	}
	p := &Job{world: world.NewJob(spec), at: make(map[job.UID]int), lost: make(map[job.UID]bool), story: story}
	p.world.Consistent = true
	p.story.tell("job", jsonText(spec), "")
	return p, p.settle()
}

// maxPods is the maximum number of pods that are active at the same time.
const maxPods = 5000

// Clone returns a copy of the life. The copy writes no story, and steps of one do not change the
// other.
func (p *Job) Clone() Life {
	q := *p
	q.world = p.world.Clone()
	q.pods, q.at, q.lost = slices.Clone(p.pods), maps.Clone(p.at), maps.Clone(p.lost)
	q.plans, q.story = nil, nil
	return &q
}

// Do takes one step:
//
//	run POD, succeed POD, fail POD [code=N], delete POD, evict POD, lose POD, restart POD [times=N]
//	tick DURATION, next
//	edit JSON, delete-job
//
// POD is a name or "all". A pod that is deleted or evicted ends after its grace period, except on a
// lost node. The controller has its rounds after each step, and while time passes.
func (p *Job) Do(step string) error {
	l, err := line.Parse(step)
	if err != nil {
		return err
	}
	if form, ok := jobForms[l.Name]; ok {
		if err := l.Check(form); err != nil {
			return err
		}
	}

	rest := l.Word(0)
	p.plans = nil
	switch l.Name {
	case "tick":
		d, err := time.ParseDuration(rest)
		if err != nil || d <= 0 || d > 366*24*time.Hour {
			return fmt.Errorf("tick: %q: must be a duration such as 10s", rest)
		}
		return p.passTime(p.world.Now.Add(d))
	case "next":
		next, _ := p.next()
		if next.IsZero() {
			return fmt.Errorf("next: nothing happens by itself any more")
		}
		return p.passTime(next)
	case "edit":
		if err := p.edit(l.Input); err != nil {
			return err
		}
	case "delete-job":
		p.world.DeleteJob()
		p.story.tell("delete-job", "", "")
	default:
		if err := p.podStep(&l); err != nil {
			return err
		}
	}
	return p.settle()
}

// next returns the next time at which something happens by itself, and what happens.
func (p *Job) next() (at time.Time, what string) {
	if again := p.world.Requeue; again.At.After(p.world.Now) {
		at, what = again.At, "the controller acts again"
	}
	for _, pod := range p.world.Pods {
		if due := p.killTime(pod); !due.IsZero() && (at.IsZero() || due.Before(at)) {
			at, what = due, pod.Name+" is killed: its time to stop is over"
		}
	}
	return at, what
}

// killTime returns the time at which the kubelet kills a pod that is being deleted. It is zero for
// other pods.
func (p *Job) killTime(pod *job.Pod) time.Time {
	if pod.Deletion == nil || pod.Phase != job.PodRunning || p.lost[pod.UID] {
		return time.Time{}
	}
	return pod.Deletion.Timestamp
}

// passTime advances the clock, and stops at each time at which something happens by itself.
func (p *Job) passTime(until time.Time) error {
	for range maxRounds {
		next, _ := p.next()
		if next.IsZero() || next.After(until) {
			next = until
		}

		if d := next.Sub(p.world.Now); d > 0 {
			p.world.Now = next
			p.story.tell("tick "+d.String(), "", next.Format("15:04:05")+"\n")
		}

		for _, pod := range slices.Clone(p.world.Pods) {
			if due := p.killTime(pod); !due.IsZero() && !due.After(p.world.Now) {
				p.world.Finish(pod, 137)
				p.story.tell("fail "+pod.Name+" code=137", "", "")
			}
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

func (p *Job) edit(text string) error {
	next, err := edited(p.world.Job.Spec, text, `{"parallelism": 3}`)
	if err != nil {
		return err
	}
	if err := job.Validate(next); err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	if int64(*next.Parallelism) > maxPods {
		return fmt.Errorf("edit: parallelism: %d: at most %d pods can be played", *next.Parallelism, maxPods)
	}

	p.world.Edit(func(s *job.Spec) { *s = next })
	p.story.tell("edit", text, "")
	return nil
}

// podStep applies a verb to one pod, or to all pods to which the verb applies.
func (p *Job) podStep(l *line.Line) error {
	verb, name := l.Name, l.Word(0)
	act, ok := podActions[verb]
	if !ok {
		return fmt.Errorf(
			"%q: must be run, succeed, fail, delete, evict, lose, restart, tick, next, edit or delete-job", verb)
	}
	number := map[string]string{"fail": "code", "restart": "times"}[verb]
	n, err := l.Int(number, 1)
	if err != nil || n < 1 || n > 255 {
		return fmt.Errorf("%s: %s: must be from 1 to 255", verb, number)
	}

	var pods []*job.Pod
	named := p.world.Pod(name)
	for _, pod := range p.world.Pods {
		if (name == "all" || pod == named) && act.can(pod) {
			pods = append(pods, pod)
		}
	}
	if len(pods) == 0 {
		return fmt.Errorf("%s: no pod %q that this can be done to", verb, name)
	}

	for _, pod := range pods {
		act.do(p, pod, int32(n))
	}
	return nil
}

// jobForms has the arguments of the steps.
var jobForms = map[string]string{
	"tick": "[TIME]", "next": "", "edit": "[JSON]", "delete-job": "",
	"run": "[POD]", "succeed": "[POD]", "delete": "[POD]", "evict": "[POD]", "lose": "[POD]",
	"fail":    "[POD] [code=CODE]",
	"restart": "[POD] [times=TIMES]",
}

// action is an action on a pod. can reports whether it applies to the pod. n is the number that the
// step may have: an exit code, or a number of repetitions.
type action struct {
	can func(*job.Pod) bool
	do  func(p *Job, pod *job.Pod, n int32)
}

var podActions = map[string]action{
	"run": {isPending, func(p *Job, pod *job.Pod, _ int32) {
		p.world.Run(pod)
		p.story.tell("run "+pod.Name, "", "")
	}},
	"succeed": {isOpen, func(p *Job, pod *job.Pod, _ int32) {
		p.world.Finish(pod, 0)
		p.story.tell("succeed "+pod.Name, "", "")
	}},
	"fail": {isOpen, func(p *Job, pod *job.Pod, code int32) {
		p.world.Finish(pod, code)
		p.story.tell(fmt.Sprintf("fail %s code=%d", pod.Name, code), "", "")
	}},
	"delete": {isActive, func(p *Job, pod *job.Pod, _ int32) {
		p.world.Delete(pod)
		p.story.tell("delete "+pod.Name, "", "")
	}},
	"evict": {isActive, func(p *Job, pod *job.Pod, _ int32) {
		p.world.Evict(pod)
		p.story.tell("evict "+pod.Name, "", "")
	}},
	"lose": {isActive, func(p *Job, pod *job.Pod, _ int32) {
		p.lost[pod.UID] = true
		p.world.Evict(pod)
		p.story.tell("evict "+pod.Name, "", "")
	}},
	"restart": {isRunning, func(p *Job, pod *job.Pod, times int32) {
		for range times {
			p.world.RestartContainer(pod)
		}
		p.story.tell(fmt.Sprintf("restart %s times=%d", pod.Name, times), "", "")
	}},
}

func isOpen(p *job.Pod) bool    { return p.Phase < job.PodSucceeded }
func isActive(p *job.Pod) bool  { return isOpen(p) && p.Deletion == nil }
func isPending(p *job.Pod) bool { return p.Phase == job.PodPending && p.Deletion == nil }
func isRunning(p *job.Pod) bool { return p.Phase == job.PodRunning && p.Deletion == nil }

// settle lets the controller have rounds until it has nothing left to write.
func (p *Job) settle() error {
	defer func() { until, _ := p.next(); p.wait = p.wait.next(until, p.world.Now) }()
	p.observe()

	for first, n := true, 0; n < maxRounds; first, n = false, n+1 {
		before := p.world.Writes
		plan, err := p.world.Round()
		if err != nil {
			return err
		}

		text, wrote := plan.String(), p.world.Writes > before
		if wrote {
			p.observe()
		}
		if wrote || first && text != p.last {
			p.plans = append(p.plans, text)
			if p.story != nil {
				p.story.tell("round", "", text+p.world.State())
			}
		}

		p.last = text
		p.keep(plan)
		if p.world.Job.Status.Finished() != "" && p.ended.IsZero() {
			p.ended = p.world.Now
		}

		if !wrote {
			break
		}
	}
	return p.world.Err()
}

// keep copies the parts of a plan that the view shows, since the next plan overwrites this one.
func (p *Job) keep(plan *job.Plan) {
	p.plan = job.Plan{
		Waits: slices.Clone(plan.Waits), Notes: slices.Clone(plan.Notes), Requeue: plan.Requeue, Verdict: plan.Verdict,
	}
}

// observe records the lives of the pods.
func (p *Job) observe() {
	now := p.world.Now
	p.looks++
	for _, pod := range p.world.Pods {
		i, ok := p.at[pod.UID]
		if !ok {
			i = len(p.pods)
			p.pods = append(p.pods, podLife{name: pod.Name, index: pod.Index.Int32(), created: now})
			p.at[pod.UID] = i
		}
		p.pods[i].looked = p.looks
		p.pods[i].observe(pod, now)
	}
	for i := range p.pods {
		if l := &p.pods[i]; l.looked != p.looks && l.ended.IsZero() {
			l.ended, l.kind = now, "gone"
		}
	}
}

func (l *podLife) observe(pod *job.Pod, now time.Time) {
	if l.started.IsZero() && pod.Phase >= job.PodRunning {
		l.started = now
	}
	switch {
	case pod.Phase == job.PodSucceeded:
		l.end(now, "succeeded")
	case pod.Phase == job.PodFailed:
		l.end(now, "failed")
	case pod.Deletion != nil:
		l.kind = "terminating"
	case pod.Phase == job.PodRunning:
		l.kind = "running"
	default:
		l.kind = "pending"
	}
}

func (l *podLife) end(now time.Time, kind string) {
	if l.ended.IsZero() {
		l.ended = now
	}
	l.kind = kind
}
