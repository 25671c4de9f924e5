package job

import (
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// OwnerOf returns the relation of a pod to the job (J6). It depends on the UID of the pod's
// controller reference, "" if there is none, and on the pod's labels. The pod must be in the job's
// namespace.
func OwnerOf(j *Job, controllerUID UID, labels map[string]string) jobpod.Ownership {
	matches := j.Spec.Selector.Matches(labels)
	switch controllerUID {
	case j.UID:
		if matches {
			return jobpod.Owned
		}
		return jobpod.OwnedUnmatched
	case "":
		if matches {
			return jobpod.Orphan
		}
	}
	return jobpod.Foreign
}

// claim is the decision of a round about a pod's owner (J6).
type claim uint8

const (
	// leaveAlone: the pod belongs to another owner, or to none.
	leaveAlone claim = iota
	// keep: the pod belongs to the job.
	keep
	// adopt: this round makes the job the pod's controller.
	adopt
	// disown: this round releases the pod.
	disown
	// letGo: the pod no longer matches, and the job is being deleted. The pod loses
	// its finalizer and is not counted.
	letGo
)

// claimOf decides about the owner of a pod (J6). facts are the known facts about its UID.
func claimOf(pod *Pod, facts uidFacts, j *Job, quirks jobquirk.Set) claim {
	switch pod.Owner {
	case jobpod.Owned:
		return keep

	case jobpod.OwnedUnmatched:
		switch {
		case !j.isDeleted():
			return disown
		case !quirks.Has(jobquirk.UnmatchedStay):
			return letGo
		}

	case jobpod.Orphan:
		switch {
		case facts&uidUntracking != 0:
			return keep // adopted and accounted for already; the snapshot is older than that
		case !j.isDeleted() && pod.Deletion == nil:
			return adopt
		case facts&uidRecorded != 0 && !quirks.Has(jobquirk.UncheckedUntrack):
			return keep // adopted and recorded already: it is not counted before its finalizer is gone (JI3)
		}
	}
	return leaveAlone
}

// isTracked reports whether the pod has the finalizer, and no earlier round has removed it. facts
// are the known facts about its UID.
func isTracked(pod *Pod, facts uidFacts) bool {
	return carriesFinalizer(pod) && facts&uidUntracking == 0
}

// carriesFinalizer reports whether the pod has the finalizer once the round's
// adoptions are done: an adopted pod gets it with the controller reference.
func carriesFinalizer(pod *Pod) bool { return !pod.Untracked || pod.Owner == jobpod.Orphan }

// adoptionOf returns the claim that adopts a pod. Its version makes the adoption conditional on the
// pod being unchanged since the snapshot (J6).
func adoptionOf(pod *Pod, quirks jobquirk.Set) Claim {
	claim := Claim{pod.ref()}
	if quirks.Has(jobquirk.UncheckedUntrack) {
		claim.ResourceVersion = ""
	}
	return claim
}
