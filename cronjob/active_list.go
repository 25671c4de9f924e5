package cronjob

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/job"
)

// matchActive compares the active list of the status with the children. Finished jobs leave the
// list (C4), and so do stuck ones (C21). A listed job that is not among the children is looked up,
// and stays in the list until the answer is known (C5). With a consistent snapshot it counts as
// gone without a look-up, unless a foreign child has its UID. matchActive returns the buffer, which
// holds the jobs that stay in the list.
func (c *census) matchActive(refs, buffer []Reference, consistent bool) []Reference {
	var foreign map[job.UID]bool
	isForeign := func(uid job.UID) bool {
		if foreign == nil {
			foreign = foreignUIDs(c.children)
		}
		return foreign[uid]
	}

	kept := buffer
	for i := range refs {
		ref := &refs[i]

		switch place := c.placeOf(ref.UID); {
		case place >= 0 && c.isStuck(&c.children[place]):
			c.events = append(c.events, sayStuck(c.kind, ref.Name, c.timeout))
			continue
		case place >= 0:
			c.marks[place] |= markNamed
			if child := &c.children[place]; child.isFinished() {
				c.events = append(c.events, event(job.EventNormal, "SawCompletedJob",
					sawCompleted(c.kind, ref.Name)+", condition: "+string(child.Finished)))
				continue
			}
		case consistent && !isForeign(ref.UID): // the job is certainly gone
			c.events = append(c.events, event(job.EventNormal, "MissingJob", activeMissing(c.kind, ref.Name)))
			continue
		default:
			c.verify = append(c.verify, *ref)
		}
		kept = append(kept, *ref)
	}

	c.active, c.kept = refs, len(kept)
	switch c.kept {
	case len(refs):
	case 0:
		c.active = nil // nil, as with a fresh buffer
	default:
		c.active = kept
	}
	return kept
}

func sawCompleted(k Kind, name string) string { return "Saw completed " + k.String() + ": " + name }

func activeMissing(k Kind, name string) string {
	return "Active " + k.String() + " went missing: " + name
}

// foreignUIDs returns the UIDs of the children that the CronJob does not control.
func foreignUIDs(children []Child) map[job.UID]bool {
	uids := make(map[job.UID]bool)
	for i := range children {
		if children[i].Foreign {
			uids[children[i].UID] = true
		}
	}
	return uids
}

// lastSuccess returns the latest completion time of the CronJob's successful jobs, or last if no
// completion is later. So lastSuccessfulTime never goes back (C4, CI12).
func lastSuccess(children []Child, last time.Time) time.Time {
	for i := range children {
		if c := &children[i]; c.isOwnSuccess() {
			last = later(last, c.CompletionTime)
		}
	}
	return last
}

// unexpected appends to refs the running jobs of the CronJob that its active list lacks, sorted by
// name (C3).
func (c *census) unexpected(refs []Reference) []Reference {
	for i, v := range c.verdicts {
		if v.is(unexpected) {
			refs = append(refs, c.reference(i))
		}
	}
	slices.SortFunc(refs, func(a, b Reference) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	return refs
}

// appendUnexpected appends the events about unexpected jobs.
func appendUnexpected(events []job.Event, refs []Reference, k Kind) []job.Event {
	for i := range refs {
		events = append(events, event(job.EventWarning, "UnexpectedJob",
			"Saw a "+k.String()+" that the controller did not create or forgot: "+refs[i].Name))
	}
	return events
}
