package jobcheck

import (
	"cmp"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// Plan checks a plan against the snapshot that it was made from. It checks JI5, JI7, JI10, JI11,
// JI13, JI16, JI18, JI21, JI22, JI23 and JI28 to JI30, as far as a snapshot shows them. The spec
// must have its defaults. Nil means that nothing is wrong.
func Plan(s *job.Snapshot, p *job.Plan) []Violation {
	var f found
	checkRound(&f, s, p)
	checkParallelism(&f, s, p)
	checkCreatedIndexes(&f, s, p)
	checkFailures(&f, s, p)
	checkAdopted(&f, s, p)
	checkTouched(&f, s, p)
	checkGroups(&f, s, p)
	return f
}

// checkRound checks the limits of a round, and that a job in certain states creates nothing.
func checkRound(f *found, s *job.Snapshot, p *job.Plan) {
	creates := len(p.Create)
	if creates > 0 && len(p.Delete) > 0 {
		f.add("JI13", "creates and deletes in one plan")
	}
	if limit := cmp.Or(int(s.Options.MaxPodWrites), 500); creates > limit {
		f.add("JI5", "%d creates", creates)
	}

	if creates == 0 {
		return
	}

	if suspend := s.Job.Spec.Suspend; suspend != nil && *suspend {
		f.add("JI18", "a suspended job creates")
	}
	remembersEnd := s.Memory.Finished && s.Memory.JobUID == s.Job.UID
	if s.Job.Status.Finished() != "" || remembersEnd {
		f.add("JI16", "creates after the end")
	}
	if !s.Job.DeletionTimestamp.IsZero() {
		f.add("JI16", "a job that is being deleted creates")
	}
}

// checkParallelism checks JI10 and JI11.
func checkParallelism(f *found, s *job.Snapshot, p *job.Plan) {
	creates := int64(len(p.Create))
	if creates == 0 {
		return
	}

	active, terminating := unfinished(s.Pods)
	parallelism := int64(*s.Job.Spec.Parallelism)
	if active+creates > parallelism {
		f.add("JI10", "%d active and %d creates, parallelism %d", active, creates, parallelism)
	}
	if c := s.Job.Spec.Completions; c != nil {
		if done := succeededOf(&s.Job); done+active+creates > int64(*c) {
			f.add("JI10", "%d successes, %d active and %d creates, completions %d", done, active, creates, *c)
		}
	}

	waits := s.Options.TerminatingTimeout == 0 && s.Options.PendingTimeout == 0
	if waits && s.Job.Spec.PodReplacementPolicy == job.ReplaceFailed && active+terminating+creates > parallelism {
		f.add("JI11", "%d active, %d terminating and %d creates, parallelism %d",
			active, terminating, creates, parallelism)
	}
}

// unfinished counts the pods of the job that have not ended. An orphan that is being
// deleted is not adopted.
func unfinished(pods []job.Pod) (active, terminating int64) {
	for i := range pods {
		p := &pods[i]
		switch {
		case p.Owner != jobpod.Owned && p.Owner != jobpod.Orphan || p.Phase >= job.PodSucceeded:
		case p.Deletion == nil:
			active++
		case p.Owner == jobpod.Owned:
			terminating++
		}
	}
	return active, terminating
}

// checkCreatedIndexes checks JI7 and JI13.
func checkCreatedIndexes(f *found, s *job.Snapshot, p *job.Plan) {
	if s.Job.Spec.CompletionMode != job.Indexed || len(p.Create) == 0 {
		return
	}

	completions := *s.Job.Spec.Completions
	var done indexset.Set
	done.AddText(s.Job.Status.CompletedIndexes, completions)
	if s.Job.Status.FailedIndexes != nil {
		done.AddText(*s.Job.Status.FailedIndexes, completions)
	}

	for i := range s.Pods {
		if p := &s.Pods[i]; p.Owner == jobpod.Owned && p.Index.Int32() >= 0 && holdsIndex(p) {
			done.Add(p.Index.Int32())
		}
	}

	for i := range p.Create {
		if at := p.Create[i].Index.Int32(); !isIndexOf(&s.Job.Spec, at) || !done.Add(at) {
			f.add("JI7", "index %s is created again", p.Create[i].Index)
		}
	}
}

// holdsIndex reports whether the pod forbids another pod of its index.
func holdsIndex(p *job.Pod) bool {
	running := p.Phase < job.PodSucceeded && p.Deletion == nil
	return running || p.Phase == job.PodSucceeded && !p.Untracked
}

// checkAdopted checks the part of JI22 about adoption: only orphans are adopted, and neither the
// pod nor the job is being deleted.
func checkAdopted(f *found, s *job.Snapshot, p *job.Plan) {
	isLeaving := !s.Job.DeletionTimestamp.IsZero()
	for _, c := range p.Adopt {
		pod := podOf(s, c.UID)
		isFree := pod != nil && pod.Owner == jobpod.Orphan && pod.Deletion == nil
		if !isFree || isLeaving {
			f.add("JI22", "%s is adopted", c.Name)
		}
	}
}

// checkTouched checks that a plan touches only pods of its job (JI22), and none of a
// job that another controller manages (JI23).
func checkTouched(f *found, s *job.Snapshot, p *job.Plan) {
	touched := len(p.Adopt) + len(p.Release) + len(p.Groups) + len(p.Delete) + len(p.Create) + len(p.Untrack)
	if by, ours := job.ManagerOf(s.Job.Spec, s.Options); !ours && touched > 0 {
		f.add("JI23", "the plan for a job of %s is not empty", by)
	}

	if len(p.Delete)+len(p.Untrack)+len(p.Release) == 0 {
		return
	}

	owners := ownersOf(s)
	check := func(what string, ref job.PodRef) {
		switch owner, there := owners[ref.UID]; {
		case !there:
			f.add("JI22", "%s %s, which is not in the snapshot", what, ref.Name)
		case owner == jobpod.Foreign:
			f.add("JI22", "%s %s, which belongs to another owner", what, ref.Name)
		}
	}

	for i := range p.Delete {
		check("delete", p.Delete[i].PodRef)
	}
	for i := range p.Untrack {
		check("untrack", p.Untrack[i].PodRef)
	}
	for _, c := range p.Release {
		check("release", c.PodRef)
	}
}

func ownersOf(s *job.Snapshot) map[job.UID]jobpod.Ownership {
	owners := make(map[job.UID]jobpod.Ownership, len(s.Pods))
	for i := range s.Pods {
		owners[s.Pods[i].UID] = s.Pods[i].Owner
	}
	return owners
}

func podOf(s *job.Snapshot, uid job.UID) *job.Pod {
	for i := range s.Pods {
		if s.Pods[i].UID == uid {
			return &s.Pods[i]
		}
	}
	return nil
}
