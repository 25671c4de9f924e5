package cronjob

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/job"
)

// matchActive compares the active list of the status with the children. Finished jobs
// leave it (C4). Those without a child are to be looked up, and stay until the answer is
// known (C5); a consistent snapshot needs no look-up for a job that nobody has. It returns
// the buffer.
func (c *census) matchActive(refs, buffer []Reference) []Reference {
	over := 0
	for i := range refs {
		place := c.placeOf(refs[i].UID)
		if place < 0 && c.isGone(refs[i].UID) {
			over++
			c.events = append(c.events, event(job.EventNormal, "MissingJob", activeMissing(c.kind, refs[i].Name)))
			continue
		}
		if place < 0 {
			c.verify = append(c.verify, refs[i])
			continue
		}
		c.listed[place] = true
		if child := &c.children[place]; child.isFinished() {
			over++
			c.events = append(c.events, event(job.EventNormal, "SawCompletedJob", sawCompleted(c.kind, refs[i].Name)+", condition: "+string(child.Finished)))
		}
	}
	c.active = refs
	if over > 0 {
		buffer = c.appendActive(buffer, refs)
		if c.active = buffer; len(buffer) == 0 {
			c.active = nil // the same plan as with a fresh buffer
		}
	}
	c.kept = len(c.active)
	return buffer
}

func sawCompleted(k Kind, name string) string { return "Saw completed " + k.String() + ": " + name }

func activeMissing(k Kind, name string) string {
	return "Active " + k.String() + " went missing: " + name
}

// isGone reports whether it is certain that a job which is not among the owned children is
// not there at all.
func (c *census) isGone(uid job.UID) bool {
	if !c.consistent {
		return false
	}
	if c.foreign == nil {
		c.foreign = foreignUIDs(c.children)
	}
	return !c.foreign[uid]
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

// appendActive appends the references to jobs that are not known to be finished or gone.
func (c *census) appendActive(buffer, refs []Reference) []Reference {
	for i := range refs {
		place := c.placeOf(refs[i].UID)
		if place < 0 && !c.isGone(refs[i].UID) || place >= 0 && !c.children[place].isFinished() {
			buffer = append(buffer, refs[i])
		}
	}
	return buffer
}

// lastSuccess returns lastSuccessfulTime, moved forward to the latest completion of a
// job that succeeded, and never back (C4, CI12).
func lastSuccess(children []Child, last time.Time) time.Time {
	for i := range children {
		if c := &children[i]; !c.Foreign && c.Finished == job.ConditionComplete {
			last = later(last, c.CompletionTime)
		}
	}
	return last
}

// unexpected appends the running jobs of the CronJob that it did not record, in the order of
// their names (C3).
func (c *census) unexpected(refs []Reference) []Reference {
	if !c.unlisted {
		return refs
	}
	for i := range c.children {
		if child := &c.children[i]; !child.Foreign && !child.isFinished() && !c.listed[i] && !c.isLeft(i) && !c.leaving[i].Gone {
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
		events = append(events, event(job.EventWarning, "UnexpectedJob", "Saw a "+k.String()+" that the controller did not create or forgot: "+refs[i].Name))
	}
	return events
}
