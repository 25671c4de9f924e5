package cronjob

import (
	"slices"

	"github.com/batchplan/batchplan/job"
)

// fromChildren returns the snapshot with the status fields that the CronJob's kind does not store,
// derived from the children (C18). lastScheduleTime cannot be derived: once a child is gone,
// nothing else shows that its run has started.
func fromChildren(s *Snapshot, f *family, m *memory) *Snapshot {
	o := &s.Options
	if !o.ActiveFromChildren && !o.SuccessFromChildren {
		return s
	}

	full := *s
	if o.SuccessFromChildren {
		full.CronJob.Status.LastSuccessfulTime = lastSuccess(s.Children, s.CronJob.Status.LastSuccessfulTime)
	}
	if o.ActiveFromChildren {
		full.CronJob.Status.Active = f.running(&s.CronJob.Status, m)
	}
	return &full
}

// running returns the children that run, with three exceptions. The job of an unrecorded run is
// left to recoverStarts, as after a crash (CI3), so that no run replaces it before it is recorded.
// A job that has left the active list, because it is being deleted (isOut) or was replaced, is not
// active any more. A job that was found to be gone is not active either, even if the children still
// show it.
func (f *family) running(status *Status, m *memory) (refs []Reference) {
	gone := map[job.UID]bool{}
	for _, l := range m.Deleted {
		gone[l.UID] = l.Gone
	}
	if f.unstored {
		for _, l := range m.Replaced { // they left the list, though the children may not show that yet
			gone[l.UID] = true
		}
	}

	for i := range f.children {
		switch child := &f.children[i]; {
		case !child.isRunning(), gone[child.UID], f.isOut(child), f.isUnrecordedRun(child, status.LastScheduleTime):
		default:
			refs = append(refs, f.reference(i))
		}
	}

	for _, start := range m.Started {
		isShown := func(child Child) bool { return child.UID == start.UID }
		switch {
		case !start.Recorded, start.Over, slices.ContainsFunc(f.children, isShown):
		default:
			refs = append(refs, start.Reference) // created, but not among the children yet (CI15)
		}
	}

	sortReferences(refs)
	return refs
}
