package main

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

// bug is the planner of this library with a planted bug: it overlooks something before it plans, or
// its answer is changed afterwards. It breaks one rule of docs/rules.md. If the answer of this
// planner to a snapshot differs from the right one, "the rule decides" in that snapshot.
type bug struct {
	rule, text string
	// overlook changes the snapshot before it plans. It replaces the values of pointers and slices,
	// and never writes to them.
	overlook func(*job.Snapshot)
	// spoil changes the answer.
	spoil func(*job.Snapshot, *answer)
	// spec and meddle change a life so that the rule decides in some of its snapshots. They are set
	// only if that would be rare otherwise.
	spec   func(*rapid.T, *job.Spec)
	meddle func(*rapid.T, *world.Job)
	// gangs is true for a rule of jobs with Options.Gangs.
	gangs bool
}

// answer returns the planner's answer, or nil if it has none.
func (b *bug) answer(s *job.Snapshot) *answer {
	seen := *s
	seen.Pods = slices.Clone(s.Pods)
	if b.overlook != nil {
		b.overlook(&seen)
	}
	a, err := right(&seen)
	if err != nil {
		return nil
	}
	if b.spoil != nil {
		b.spoil(s, a)
	}
	return a
}

// planted returns the planners with planted bugs that good questions catch.
func planted(gangs bool) []bug {
	if gangs {
		return slices.Concat(bugs, gangBugs)
	}
	return bugs
}

// bugs are planners with a planted bug, in the order of the rules. Without -gangs, these are all
// planners.
var bugs = []bug{
	{rule: "J3", text: "plans the job of another controller",
		overlook: func(s *job.Snapshot) { s.Job.Spec.ManagedBy = nil },
		meddle: func(_ *rapid.T, w *world.Job) {
			w.Edit(func(s *job.Spec) { s.ManagedBy = new("example.com/other") })
		}},
	{rule: "J4", text: "plans a job that has ended",
		overlook: func(s *job.Snapshot) { without(s, job.ConditionComplete, job.ConditionFailed) }},
	{rule: "J5", text: "takes an unknown completionMode for NonIndexed",
		overlook: func(s *job.Snapshot) {
			if s.Job.Spec.CompletionMode != job.Indexed {
				s.Job.Spec.CompletionMode = job.NonIndexed
			}
		},
		meddle: func(_ *rapid.T, w *world.Job) { w.Edit(func(s *job.Spec) { s.CompletionMode = "Scattered" }) }},
	{rule: "J6", text: "adopts no pod", overlook: dropPods(func(p *job.Pod) bool { return p.Owner == jobpod.Orphan })},
	{rule: "J6", text: "releases no pod", overlook: changePods(func(p *job.Pod) {
		if p.Owner == jobpod.OwnedUnmatched {
			p.Owner = jobpod.Owned
		}
	})},
	{rule: "J6", text: "takes the pods of another owner for its own",
		overlook: changePods(func(p *job.Pod) { p.Owner = jobpod.Owned }),
		meddle: func(t *rapid.T, w *world.Job) {
			w.AddPod(job.Pod{Owner: jobpod.Foreign, Index: job.IndexAt(rapid.Int32Range(-1, 3).Draw(t, "index"))})
		}},
	{rule: "J7", text: "waits for the end of a deleted pod before it counts as failed",
		overlook: func(s *job.Snapshot) { s.Job.Spec.PodReplacementPolicy = job.ReplaceFailed },
		spec:     func(_ *rapid.T, s *job.Spec) { s.PodFailurePolicy, s.PodReplacementPolicy = nil, "" }},
	{rule: "J8", text: "counts pods that have lost their finalizer",
		overlook: changePods(func(p *job.Pod) { p.Untracked = false })},
	{
		rule:     "J9",
		text:     "forgets the successes in the uncounted list",
		overlook: changeUncounted(func(u *job.UncountedTerminatedPods) { u.Succeeded = nil }),
		spec: func(_ *rapid.T, s *job.Spec) {
			s.CompletionMode, s.Parallelism, s.Completions = job.NonIndexed, new(int32(3)), new(int32(5))
			s.BackoffLimitPerIndex, s.MaxFailedIndexes, s.SuccessPolicy, s.Suspend = nil, nil, nil, new(false)
		},
	},
	{
		rule:     "J10",
		text:     "forgets the failures in the uncounted list",
		overlook: changeUncounted(func(u *job.UncountedTerminatedPods) { u.Failed = nil }),
	},
	{
		rule:  "J11",
		text:  "leaves the number of active pods as it is",
		spoil: changeStatus(func(s *job.Snapshot, next *job.Status) { next.Active = s.Job.Status.Active }),
	},
	{
		rule:  "J12",
		text:  "sets no startTime",
		spoil: changeStatus(func(s *job.Snapshot, next *job.Status) { next.StartTime = s.Job.Status.StartTime }),
	},
	{rule: "J13", text: "takes a missing index for 0",
		overlook: changePods(func(p *job.Pod) { p.Index = job.IndexAt(max(p.Index.Int32(), 0)) }),
		spec:     indexed,
		meddle:   func(_ *rapid.T, w *world.Job) { w.AddPod(job.Pod{Index: job.NoIndex()}) }},
	{
		rule:     "J14",
		text:     "forgets completed indexes whose pods are counted",
		overlook: func(s *job.Snapshot) { s.Job.Status.CompletedIndexes = "" },
	},
	{
		rule:   "J15",
		text:   "keeps the completed indexes that a smaller number of completions has cut off",
		spec:   elastic,
		meddle: shrink,
		spoil: changeStatus(func(s *job.Snapshot, next *job.Status) {
			if s.Job.Spec.CompletionMode == job.Indexed {
				old, _ := job.ParseIndexes(s.Job.Status.CompletedIndexes)
				now, _ := job.ParseIndexes(next.CompletedIndexes)
				all := old.Union(now)
				next.CompletedIndexes, next.Succeeded = all.String(), int32(all.Len())
			}
		}),
	},
	{
		rule:     "J16",
		text:     "forgets failed indexes",
		overlook: func(s *job.Snapshot) { s.Job.Status.FailedIndexes = nil },
		spec:     perIndex,
	},
	{
		rule:  "J17",
		text:  "lets the failed pod go that carries the count of its index",
		spoil: untrackFailed,
		spec:  perIndex,
	},
	{rule: "J18", text: "a replacement carries no failure count",
		spoil: changeCreations(func(c *job.Creation) { c.FailureCount, c.IgnoredFailureCount = 0, 0 }), spec: perIndex},
	{
		rule:     "J19",
		text:     "withdraws a success that was declared",
		overlook: func(s *job.Snapshot) { without(s, job.ConditionSuccessCriteriaMet) },
		spec:     firstSuccess,
	},
	{
		rule:     "J20",
		text:     "withdraws a failure that was declared",
		overlook: func(s *job.Snapshot) { without(s, job.ConditionFailureTarget) },
	},
	{
		rule:     "J21",
		text:     "has no podFailurePolicy",
		overlook: func(s *job.Snapshot) { s.Job.Spec.PodFailurePolicy = nil },
	},
	{
		rule:     "J21",
		text:     "counts failures that are to be ignored",
		overlook: changeActions(job.IgnoreFailure, job.CountFailure),
	},
	{
		rule:     "J22",
		text:     "has no backoffLimit",
		overlook: func(s *job.Snapshot) { s.Job.Spec.BackoffLimit = new(int32(1 << 30)) },
	},
	{rule: "J22", text: "allows one failure too few", overlook: func(s *job.Snapshot) {
		if n := *s.Job.Spec.BackoffLimit; n > 0 {
			s.Job.Spec.BackoffLimit = new(n - 1)
		}
	}},
	{rule: "J22", text: "forgets the restarts of containers",
		overlook: changeContainers(func(c *jobpod.Container) { c.Restarts = 0 }),
		spec: func(_ *rapid.T, s *job.Spec) {
			s.Template.RestartPolicy, s.PodFailurePolicy, s.BackoffLimitPerIndex,
				s.MaxFailedIndexes = job.RestartOnFailure, nil, nil, nil
			s.BackoffLimit = new(int32(1))
		}},
	{rule: "J23", text: "has no deadline", overlook: func(s *job.Snapshot) { s.Job.Spec.ActiveDeadlineSeconds = nil }},
	{
		rule:     "J24",
		text:     "has no maxFailedIndexes",
		overlook: func(s *job.Snapshot) { s.Job.Spec.MaxFailedIndexes = nil },
		spec:     perIndex,
	},
	{
		rule:  "J24",
		text:  "completes with failed indexes",
		spec:  perIndex,
		spoil: rename("FailedIndexes", job.ConditionSuccessCriteriaMet, "CompletionsReached"),
	},
	{
		rule:     "J25",
		text:     "has no successPolicy",
		overlook: func(s *job.Snapshot) { s.Job.Spec.SuccessPolicy = nil },
		spec:     indexed,
	},
	{rule: "J26", text: "never completes", spoil: changeStatus(func(s *job.Snapshot, next *job.Status) {
		if s.Job.Status.CompletionTime.IsZero() {
			next.CompletionTime = time.Time{}
		}
		next.Conditions = slices.DeleteFunc(slices.Clone(next.Conditions), func(c job.Condition) bool {
			return c.Reason == "CompletionsReached" && s.Job.Status.Condition(c.Type) != c
		})
	})},
	{rule: "J27", text: "lets pods run when the job ends", spoil: dropDeletions(jobreason.DeleteEnding)},
	{
		rule:     "J28",
		text:     "goes on while the job is suspended",
		overlook: func(s *job.Snapshot) { s.Job.Spec.Suspend = new(false) },
	},
	{rule: "J29", text: "deletes no surplus pod", spoil: dropDeletions(jobreason.DeleteSurplus), meddle: scaleDown},
	{rule: "J29", text: "deletes the wrong one of two surplus pods", spoil: deleteAnother, meddle: scaleDown},
	{
		rule:   "J29",
		text:   "keeps two pods of an index",
		spoil:  dropDeletions(jobreason.DeleteDuplicateIndex),
		spec:   indexed,
		meddle: addTwin,
	},
	{rule: "J30", text: "creates one pod too many", spoil: func(_ *job.Snapshot, a *answer) {
		if n := len(a.Plan.Create); n > 0 {
			a.Plan.Create = append(a.Plan.Create, a.Plan.Create[n-1])
		}
	}},
	{rule: "J30", text: "replaces pods that are still terminating", overlook: func(s *job.Snapshot) {
		if s.Job.Spec.PodFailurePolicy == nil {
			s.Job.Spec.PodReplacementPolicy = job.ReplaceTerminatingOrFailed
		}
	}, spec: func(_ *rapid.T, s *job.Spec) {
		s.PodFailurePolicy, s.PodReplacementPolicy = nil, job.ReplaceFailed
	}},
	{
		rule:     "J30",
		text:     "writes more pods in a round than the option allows",
		overlook: func(s *job.Snapshot) { s.Options.MaxPodWrites = 0 },
		meddle:   func(_ *rapid.T, w *world.Job) { w.Options.MaxPodWrites = 1 },
	},
	{rule: "J31", text: "replaces failed pods without a backoff", overlook: func(s *job.Snapshot) {
		s.Options.Backoff = backoff.Policy{Base: 1, Max: 1}
		endEarlier(s)
	}},
	{
		rule:     "J31",
		text:     "waits as long after any number of failures",
		overlook: func(s *job.Snapshot) { s.Options.Backoff.Factor = 1 },
		spec:     func(_ *rapid.T, s *job.Spec) { s.BackoffLimit = new(int32(6)) },
	},
	{rule: "J32", text: "takes the creation of a pod for its end", overlook: changePods(func(p *job.Pod) {
		if p.Detail != nil {
			detail := *p.Detail
			detail.ReadyTransition, detail.Containers = time.Time{}, nil
			p.Detail = &detail
		}
	})},
	{
		rule:  "J33",
		text:  "creates the highest free indexes first",
		spoil: highestIndexes,
		spec: func(t *rapid.T, s *job.Spec) {
			indexed(t, s)
			s.Parallelism, s.Completions, s.SuccessPolicy, s.MaxFailedIndexes = new(int32(2)), new(int32(5)), nil, nil
		},
	},
	{
		rule:  "J33",
		text:  "forgets the hostname of an index",
		spoil: changeCreations(func(c *job.Creation) { c.Hostname = "" }),
	},
	{
		rule: "J35",
		text: "counts pods that still have the finalizer",
		spoil: changeStatus(func(_ *job.Snapshot, next *job.Status) {
			lists := valueOf(next.UncountedTerminatedPods)
			next.Succeeded += int32(len(lists.Succeeded))
			next.Failed += int32(len(lists.Failed))
			next.UncountedTerminatedPods = nil
		}),
	},
	{rule: "J36", text: "leaves finalizers behind when the job is over", spoil: func(s *job.Snapshot, a *answer) {
		if s.Job.Status.Finished() != "" || !s.Job.DeletionTimestamp.IsZero() {
			a.Plan.Untrack = nil
		}
	}, meddle: func(_ *rapid.T, w *world.Job) { w.DeleteJob() }},
	{rule: "J37", text: "keeps the finalizers of pods that never end", spoil: func(_ *job.Snapshot, a *answer) {
		a.Plan.Untrack = slices.DeleteFunc(slices.Clone(a.Plan.Untrack),
			func(u job.Untracking) bool { return !u.Ended })
	}},
	{
		rule: "J38",
		text: "never says that the job has ended",
		spoil: changeStatus(func(s *job.Snapshot, next *job.Status) {
			if s.Job.Status.Finished() == "" {
				next.CompletionTime = time.Time{}
				next.Conditions = slices.DeleteFunc(slices.Clone(next.Conditions), func(c job.Condition) bool {
					return c.Type == job.ConditionComplete || c.Type == job.ConditionFailed
				})
			}
		}),
	},
	{rule: "J38", text: "ends the job while pods are terminating", overlook: dropPods(func(p *job.Pod) bool {
		return p.Deletion != nil && p.Phase < job.PodSucceeded
	})},
	{rule: "J39", text: "says nothing of a suspension", spoil: changeStatus(func(s *job.Snapshot, next *job.Status) {
		old := s.Job.Status.Condition(job.ConditionSuspended)
		next.Conditions = slices.DeleteFunc(slices.Clone(next.Conditions), func(c job.Condition) bool {
			return c.Type == job.ConditionSuspended && c != old
		})
	})},
	{rule: "J40", text: "writes a status for a startTime alone", spoil: func(s *job.Snapshot, a *answer) {
		goesOn := s.Job.Status.Finished() == "" && s.Job.DeletionTimestamp.IsZero() && !valueOf(s.Job.Spec.Suspend)
		if goesOn && a.Status == nil && s.Job.Status.StartTime.IsZero() {
			next := s.Job.Status
			next.StartTime = s.Now
			a.Status = &next
		}
	}, spec: func(_ *rapid.T, s *job.Spec) { s.Parallelism = new(int32(0)) }, meddle: forgetStart},
	{
		rule:  "J43",
		text:  "asks for no round at a time",
		spoil: func(_ *job.Snapshot, a *answer) { a.Plan.Requeue = job.Requeue{} },
	},
	{rule: "L9", text: "does nothing", spoil: func(_ *job.Snapshot, a *answer) { *a = answer{Plan: new(job.Plan)} }},
	{rule: "JI3", text: "deletes every pod and removes every finalizer", spoil: func(s *job.Snapshot, a *answer) {
		p := new(job.Plan)
		for i := range s.Pods {
			ref := job.PodRef{Name: s.Pods[i].Name, UID: s.Pods[i].UID}
			p.Delete = append(p.Delete, job.Deletion{PodRef: ref})
			p.Untrack = append(p.Untrack, job.Untracking{PodRef: ref})
		}
		*a = answer{Plan: p}
	}},
}

func changePods(change func(*job.Pod)) func(*job.Snapshot) {
	return func(s *job.Snapshot) {
		for i := range s.Pods {
			change(&s.Pods[i])
		}
	}
}

func dropPods(drop func(*job.Pod) bool) func(*job.Snapshot) {
	return func(s *job.Snapshot) {
		s.Pods = slices.DeleteFunc(s.Pods, func(p job.Pod) bool { return drop(&p) })
	}
}

func changeContainers(change func(*jobpod.Container)) func(*job.Snapshot) {
	return changePods(func(p *job.Pod) {
		if p.Detail == nil {
			return
		}
		detail := *p.Detail
		detail.Containers = slices.Clone(detail.Containers)
		for i := range detail.Containers {
			change(&detail.Containers[i])
		}
		p.Detail = &detail
	})
}

// endEarlier moves the end of each pod to a second earlier.
func endEarlier(s *job.Snapshot) {
	changeContainers(func(c *jobpod.Container) { c.FinishedAt = secondBefore(c.FinishedAt) })(s)
	changePods(func(p *job.Pod) {
		if p.Detail != nil {
			detail := *p.Detail
			detail.ReadyTransition = secondBefore(detail.ReadyTransition)
			p.Detail = &detail
		}
	})(s)
}

func secondBefore(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(-time.Second)
}

func changeUncounted(change func(*job.UncountedTerminatedPods)) func(*job.Snapshot) {
	return func(s *job.Snapshot) {
		lists := valueOf(s.Job.Status.UncountedTerminatedPods)
		change(&lists)
		s.Job.Status.UncountedTerminatedPods = &lists
	}
}

func changeActions(from, to job.FailureAction) func(*job.Snapshot) {
	return func(s *job.Snapshot) {
		if s.Job.Spec.PodFailurePolicy == nil {
			return
		}
		rules := slices.Clone(s.Job.Spec.PodFailurePolicy.Rules)
		for i := range rules {
			if rules[i].Action == from {
				rules[i].Action = to
			}
		}
		s.Job.Spec.PodFailurePolicy = &job.PodFailurePolicy{Rules: rules}
	}
}

// without removes conditions from the snapshot.
func without(s *job.Snapshot, types ...job.ConditionType) {
	s.Job.Status.Conditions = slices.DeleteFunc(slices.Clone(s.Job.Status.Conditions), func(c job.Condition) bool {
		return slices.Contains(types, c.Type)
	})
}

func changeStatus(change func(*job.Snapshot, *job.Status)) func(*job.Snapshot, *answer) {
	return func(s *job.Snapshot, a *answer) {
		for _, status := range []*job.Status{a.Status, a.Settled} {
			if status != nil {
				change(s, status)
			}
		}
	}
}

func changeCreations(change func(*job.Creation)) func(*job.Snapshot, *answer) {
	return func(_ *job.Snapshot, a *answer) {
		for i := range a.Plan.Create {
			change(&a.Plan.Create[i])
		}
	}
}

func dropDeletions(reason jobreason.Delete) func(*job.Snapshot, *answer) {
	return func(_ *job.Snapshot, a *answer) {
		a.Plan.Delete = slices.DeleteFunc(a.Plan.Delete, func(d job.Deletion) bool { return d.Reason == reason })
	}
}

// deleteAnother makes the first deletion delete another pod: an active one that should stay.
func deleteAnother(s *job.Snapshot, a *answer) {
	if len(a.Plan.Delete) == 0 || a.Plan.Delete[0].Reason != jobreason.DeleteSurplus {
		return
	}
	var other *job.Pod // of several the first by UID, whatever the order of the pods
	for i := range s.Pods {
		p := &s.Pods[i]
		isDeleted := slices.ContainsFunc(a.Plan.Delete, func(d job.Deletion) bool { return d.UID == p.UID })
		isActive := p.Owner == jobpod.Owned && p.Phase < job.PodSucceeded && p.Deletion == nil
		stays := isActive && !isDeleted
		if stays && (other == nil || p.UID < other.UID) {
			other = p
		}
	}
	if other != nil {
		a.Plan.Delete[0].PodRef = job.PodRef{Name: other.Name, UID: other.UID}
	}
}

// rename changes the type and the reason of each new condition FailureTarget whose reason equals
// the parameter from.
func rename(from string, to job.ConditionType, reason string) func(*job.Snapshot, *answer) {
	return changeStatus(func(s *job.Snapshot, next *job.Status) {
		next.Conditions = slices.Clone(next.Conditions)
		for i := range next.Conditions {
			if c := &next.Conditions[i]; c.Reason == from && c.Type == job.ConditionFailureTarget &&
				s.Job.Status.Condition(c.Type) != *c {
				c.Type, c.Reason = to, reason
			}
		}
	})
}

// untrackFailed records all failed pods and removes their finalizers.
func untrackFailed(s *job.Snapshot, a *answer) {
	if a.Status == nil || s.Job.Spec.BackoffLimitPerIndex == nil {
		return
	}
	lists := valueOf(a.Status.UncountedTerminatedPods)
	for i := range s.Pods {
		p := &s.Pods[i]
		isUntracked := slices.ContainsFunc(a.Plan.Untrack, func(u job.Untracking) bool { return u.UID == p.UID })
		switch {
		case p.Owner != jobpod.Owned, p.Phase != job.PodFailed, p.Untracked, isUntracked:
			continue
		}
		a.Plan.Untrack = append(slices.Clip(a.Plan.Untrack),
			job.Untracking{PodRef: job.PodRef{Name: p.Name, UID: p.UID}, Ended: true})
		if !slices.Contains(lists.Failed, p.UID) {
			lists.Failed = append(slices.Clip(lists.Failed), p.UID)
		}
	}
	a.Status.UncountedTerminatedPods = &lists
}

// highestIndexes creates as many pods as the right plan, but takes the highest free indexes.
func highestIndexes(s *job.Snapshot, a *answer) {
	if s.Job.Spec.CompletionMode != job.Indexed || len(a.Plan.Create) == 0 {
		return
	}
	free := *s
	free.Job.Spec.Parallelism = s.Job.Spec.Completions
	free.Options.MaxPodWrites = 0
	all, err := right(&free)
	if n := len(a.Plan.Create); err == nil && len(all.Plan.Create) > n {
		a.Plan.Create = all.Plan.Create[len(all.Plan.Create)-n:]
	}
}

// gangBugs are planners that make a mistake with gangs.
var gangBugs = []bug{
	{rule: "J44", text: "makes no workload and no pod group", gangs: true, spec: ganged,
		spoil: func(_ *job.Snapshot, a *answer) { a.Plan.Groups = nil }},
	{rule: "J44", text: "puts no pod into the group", gangs: true, spec: ganged,
		spoil: changeCreations(func(c *job.Creation) { c.Group = jobgroup.Ref{} })},
	{rule: "J45", text: "never resizes a gang", gangs: true, spec: ganged,
		meddle: func(_ *rapid.T, w *world.Job) {
			w.Edit(func(s *job.Spec) { s.Parallelism = new(*s.Parallelism + 1) })
		},
		spoil: func(_ *job.Snapshot, a *answer) {
			isResize := func(g jobgroup.Write) bool { return g.UID != "" }
			a.Plan.Groups = slices.DeleteFunc(slices.Clone(a.Plan.Groups), isResize)
		}},
	{rule: "J45", text: "gives a gang the size of parallelism, although it asks for another", gangs: true,
		overlook: func(s *job.Snapshot) { ganged(nil, &s.Job.Spec) },
		spec: func(t *rapid.T, s *job.Spec) {
			ganged(t, s)
			s.Scheduling.SchedulingPolicy.Gang.MinCount = new(int32(1))
		}},
}

// ganged makes all pods of a job start together.
func ganged(_ *rapid.T, s *job.Spec) {
	s.Parallelism = new(max(*s.Parallelism, 2))
	s.Scheduling = &jobgroup.Scheduling{
		SchedulingPolicy: &jobgroup.SchedulingPolicy{Gang: new(jobgroup.Gang)},
	}
}

func indexed(_ *rapid.T, s *job.Spec) {
	s.CompletionMode = job.Indexed
	if s.Completions == nil {
		s.Completions = new(int32(3))
	}
	s.Parallelism = new(max(*s.Parallelism, 2))
}

// firstSuccess gives the Job a success policy for which one success is enough.
func firstSuccess(t *rapid.T, s *job.Spec) {
	indexed(t, s)
	s.Completions = new(max(*s.Completions, 3))
	s.SuccessPolicy = &job.SuccessPolicy{Rules: []job.SuccessPolicyRule{{SucceededCount: new(int32(1))}}}
}

func perIndex(t *rapid.T, s *job.Spec) {
	indexed(t, s)
	s.Completions = new(int32(3))
	if s.BackoffLimitPerIndex == nil {
		s.BackoffLimitPerIndex, s.BackoffLimit = new(rapid.Int32Range(0, 1).Draw(t, "per index")), nil
	}
	if s.MaxFailedIndexes != nil {
		s.MaxFailedIndexes = new(min(*s.MaxFailedIndexes, 1))
	}
	s.SuccessPolicy, s.ActiveDeadlineSeconds, s.Suspend = nil, nil, new(false)
}

func elastic(t *rapid.T, s *job.Spec) {
	indexed(t, s)
	s.Parallelism, s.Completions = new(int32(4)), new(int32(4))
	s.SuccessPolicy, s.MaxFailedIndexes, s.BackoffLimitPerIndex = nil, nil, nil
	s.BackoffLimit, s.PodFailurePolicy = new(int32(6)), nil
}

func shrink(_ *rapid.T, w *world.Job) {
	w.Edit(func(s *job.Spec) { s.Parallelism, s.Completions = new(int32(1)), new(int32(1)) })
}

func scaleDown(_ *rapid.T, w *world.Job) {
	w.Edit(func(s *job.Spec) {
		if s.CompletionMode != job.Indexed {
			s.Parallelism = new(max(*s.Parallelism, 2) - 1)
		}
	})
}

// addTwin adds a pod with the index of another.
func addTwin(_ *rapid.T, w *world.Job) {
	for _, p := range w.Pods {
		if p.Owner == jobpod.Owned && p.Phase < job.PodSucceeded && p.Deletion == nil {
			w.AddPod(job.Pod{Index: p.Index})
			return
		}
	}
}

// forgetStart clears the startTime of an unfinished job, so that only its start has to be written.
func forgetStart(_ *rapid.T, w *world.Job) {
	if w.Job.Status.Finished() == "" {
		w.Job.Status.StartTime = time.Time{}
	}
}
