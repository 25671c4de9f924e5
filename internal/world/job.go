package world

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// Grace is how long a running pod may take to end when it is deleted.
const Grace = 30 * time.Second

// Job is a job with its pods and its controller. It checks the invariants with package
// job/jobcheck.
type Job struct {
	Injector

	Now time.Time
	Job job.Job
	// Pods are the pods that exist. Change them with the methods of the world. Only their fields
	// Owner and Untracked may be set directly.
	Pods []*job.Pod
	// Groups holds the workloads and pod groups. To change them, assign new lists: snapshots and
	// clones of the world share the old ones.
	Groups  jobgroup.Groups
	Options job.Options
	// Memory is the controller's memory.
	Memory job.Memory
	// Stale makes the controller see View instead of the live state.
	Stale bool
	View  View
	// Consistent is copied into the snapshots, unless Stale is set. It means that the snapshots
	// contain the controller's own writes.
	Consistent bool
	// Seen, if not nil, changes each snapshot of the controller. It stands for an adapter that
	// drops details. Seen must replace what pods point to, and must not write through the pointers.
	Seen func(*job.Snapshot)
	// Versions tells the controller the versions of its own writes (E6).
	Versions bool
	// Events holds the events that the controller has reported.
	Events []job.Event
	// Requeue and Retry come from the last conclusion. After a crash, Retry is true.
	Requeue job.Requeue
	Retry   bool
	// Metrics holds the metrics of the rounds so far.
	Metrics []job.Metrics
	// Failed are the violations so far.
	Failed []error
	// Planner is shared with the clones of the world. Worlds that different goroutines use need a
	// Planner each.
	Planner *job.Planner

	plan     *job.Plan // the plan of the round
	version  int       // the version of the job
	readAt   int       // the version in the round's snapshot
	nextUID  int
	groups   int   // how many workloads and pod groups were created
	revision int   // the latest version of a pod
	wrote    int   // how many writes there were before the round
	shown    int   // how often something was delivered to a late controller
	active   int64 // the number of active pods, -1 if it is not known
	pods     index
	history  jobcheck.History
	tally    tally
}

// View is an older state: what was delivered to the controller so far.
type View struct {
	Job     job.Job
	Version int
	Pods    []job.Pod
	Groups  jobgroup.Groups
}

// NewJob returns a world with a job with this spec, completed by Default.
func NewJob(spec job.Spec) *Job {
	job.Default(&spec)
	w := &Job{
		Now:     Start,
		Job:     job.Job{Namespace: "default", Name: "j", UID: "job-1", CreationTimestamp: Start, Spec: spec},
		Planner: new(job.Planner),
	}

	w.history.MaxParallelism = *spec.Parallelism
	w.tally = tally{job: w.Job.UID}
	w.DeliverAll()
	return w
}

// Clone returns an independent copy of the world, without the faults.
func (w *Job) Clone() *Job {
	c := *w
	c.Injector = Injector{Writes: w.Writes}

	pods := make([]job.Pod, len(w.Pods))
	c.Pods = make([]*job.Pod, len(w.Pods))
	for i, p := range w.Pods {
		pods[i] = *p // a detail is never written to once it is in a world
		c.Pods[i] = &pods[i]
	}

	c.View.Pods = slices.Clone(w.View.Pods)
	c.Events, c.Metrics, c.Failed = slices.Clip(w.Events), slices.Clip(w.Metrics), slices.Clip(w.Failed)
	c.plan, c.pods = nil, index{}
	c.history, c.tally = w.history.Clone(), w.tally.clone()
	return &c
}

// History returns what happened to each pod, and everything that has gone wrong so far.
func (w *Job) History() *jobcheck.History { return &w.history }

// state returns the input of the checks of a write.
func (w *Job) state() jobcheck.State {
	w.history.Late = w.Stale
	return jobcheck.State{
		Job:     &w.Job,
		Pods:    w.Pods,
		History: &w.history,
		Groups:  w.Groups,
		Options: w.Options,
		Find:    w.find,
	}
}

// Pod returns the live pod with this name, or nil. "#2" is the second pod that was created.
func (w *Job) Pod(name string) *job.Pod {
	if n, ok := strings.CutPrefix(name, "#"); ok {
		return w.find(job.UID("uid-" + n))
	}
	for _, p := range w.Pods {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Snapshot returns the controller's view.
func (w *Job) Snapshot() job.Snapshot {
	s := job.Snapshot{Job: w.Job, Now: w.Now, Memory: w.Memory, Groups: w.Groups, Options: w.Options}
	w.readAt = w.version

	if w.Stale {
		if e := w.Memory.Expectations; e != (expectations.Counts{}) && e.Satisfied(w.Now) {
			w.history.Lagged = true
		}
		s.Job = w.View.Job
		w.readAt = w.View.Version
		s.Pods, s.Groups = slices.Clone(w.View.Pods), w.View.Groups
	} else {
		// A controller that sees the live state has nothing to expect. So its expectations are
		// cleared, even if the snapshot is not Consistent.
		s.Consistent = w.Consistent
		s.Memory.Expectations = expectations.Counts{}
		s.Pods = make([]job.Pod, len(w.Pods))
		for i, p := range w.Pods {
			s.Pods[i] = *p
		}
	}

	s.Job.Version = int64(w.readAt)
	if w.Seen != nil {
		w.Seen(&s)
	}
	return s
}

// Edit changes the spec (F7). It must replace pointers in the spec, not write through them.
func (w *Job) Edit(change func(*job.Spec)) {
	change(&w.Job.Spec)
	w.version++
	w.history.MaxParallelism = max(w.history.MaxParallelism, *w.Job.Spec.Parallelism)
	w.history.Edited = true
}

// DeleteJob marks the job as being deleted.
func (w *Job) DeleteJob() {
	if w.Job.DeletionTimestamp.IsZero() {
		w.Job.DeletionTimestamp = w.Now
		w.version++
	}
}

// Restart makes the controller forget everything and list the objects again (F1). If old is true,
// the new list is as old as the controller's last view (F2).
func (w *Job) Restart(old bool) {
	w.Memory = job.Memory{}
	w.history.Restarted, w.tally.forgot = true, true
	if old {
		w.history.Traveled = true
		return
	}
	w.relist()
}

// note keeps the violations that a check has found.
func (w *Job) note(violations []jobcheck.Violation) {
	for _, v := range violations {
		w.Failed = append(w.Failed, &Failure{v, w.LastPlan()})
	}
}

func (w *Job) fail(rule, problem string) {
	w.note([]jobcheck.Violation{{Rule: rule, Problem: problem}})
}

// Failure is a violation, and the plan after which it happened.
type Failure struct {
	jobcheck.Violation
	Plan string
}

// Error returns the violation and the plan.
func (f *Failure) Error() string { return f.Violation.Error() + "\nafter the plan:\n" + f.Plan }

// Err returns the first violated invariant.
func (w *Job) Err() error {
	if len(w.Failed) == 0 {
		return nil
	}
	return w.Failed[0]
}

// AddPod adds a pod that another client has created.
func (w *Job) AddPod(p job.Pod) *job.Pod {
	w.nextUID++
	if p.UID == "" {
		p.UID = job.UID("uid-" + strconv.Itoa(w.nextUID))
	}
	if p.Name == "" {
		p.Name = "p" + strconv.Itoa(w.nextUID)
	}

	w.active = -1
	w.touch(&p)
	if p.Detail.CreationTimestamp.IsZero() {
		p.Detail.CreationTimestamp = w.Now
	}
	w.Pods = append(w.Pods, &p)
	w.pods.added(w.Pods)
	w.history.Born(&p)
	return &p
}

// touch gives the pod a new version, and a detail of its own that may be changed.
func (w *Job) touch(p *job.Pod) {
	w.revision++
	p.Detail = detailOf(p)
	p.Detail.ResourceVersion = strconv.Itoa(w.revision)
}

func (w *Job) find(uid job.UID) *job.Pod {
	if i := w.pods.of(w.Pods, uid); i >= 0 {
		return w.Pods[i]
	}
	return nil
}
