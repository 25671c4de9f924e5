package cronjob

import (
	"slices"

	"github.com/batchplan/batchplan/job"
)

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

// running returns the children that run, except three. The job of a run that is not recorded is found
// like any other trace of a crash (CI3): a run must not replace it before. A job that is out
// is not active any more, and neither is one that was found gone and that the children still show.
func running(s *Snapshot) (refs []Reference) {
	c := family{
		kind:      s.Options.Child.orJob(),
		namespace: s.CronJob.Namespace,
		children:  s.Children,
		names:     s.Options.Naming.of(s.CronJob.Name),
		unstored:  s.CronJob.Spec.ConcurrencyPolicy == Replace,
	}

	recorded, m, gone := s.CronJob.Status.LastScheduleTime, memoryAbout(s), map[job.UID]bool{}
	for _, l := range m.Deleted {
		gone[l.UID] = l.Gone
	}

	for i := range s.Children {
		switch child := &s.Children[i]; {
		case !child.isRunning(), gone[child.UID], c.isOut(child), c.isUnrecordedRun(child, recorded):
		default:
			refs = append(refs, c.reference(i))
		}
	}

	for _, start := range m.Started {
		isShown := func(child Child) bool { return child.UID == start.UID }
		switch {
		case !start.Recorded, start.Over, slices.ContainsFunc(s.Children, isShown):
		default:
			refs = append(refs, start.Reference) // created, and not seen yet (CI15)
		}
	}

	sortReferences(refs)
	return refs
}
