package cronjob

import "slices"

// fromChildren returns the snapshot with a status that has what the CronJob's kind does not store
// (C18). lastScheduleTime cannot be replaced: once a child is gone, nothing else shows that its
// run has started.
func fromChildren(s *Snapshot) *Snapshot {
	o := &s.Options
	if !o.ActiveFromChildren && !o.SuccessFromChildren {
		return s
	}
	full := *s
	if o.SuccessFromChildren {
		full.CronJob.Status.LastSuccessfulTime = lastSuccess(s.Children, s.CronJob.Status.LastSuccessfulTime)
	}
	if o.ActiveFromChildren {
		full.CronJob.Status.Active = running(s)
	}
	return &full
}

// running returns the children that run, but for two. The job of a run that is not recorded is found
// like any other trace of a crash (CI3): a run must not replace it before. And what Replace has
// deleted is not active any more.
func running(s *Snapshot) (refs []Reference) {
	c := census{kind: s.Options.Child.orJob(), namespace: s.CronJob.Namespace, children: s.Children, names: s.Options.Naming.of(s.CronJob.Name)}
	recorded := s.CronJob.Status.LastScheduleTime
	for i := range s.Children {
		child := &s.Children[i]
		isLeaving := !child.DeletionTimestamp.IsZero() && s.CronJob.Spec.ConcurrencyPolicy == Replace
		if !child.Foreign && !child.isFinished() && !isLeaving && !c.isUnrecordedRun(child, recorded) {
			refs = append(refs, c.reference(i))
		}
	}
	for _, start := range memoryAbout(s).Started {
		isShown := func(child Child) bool { return child.UID == start.UID }
		if start.Recorded && !slices.ContainsFunc(s.Children, isShown) {
			refs = append(refs, start.Reference) // created, and not seen yet (CI15)
		}
	}
	sortReferences(refs)
	return refs
}
