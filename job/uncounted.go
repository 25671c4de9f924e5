package job

import (
	"slices"

	"github.com/batchplan/batchplan/expectations"
)

// backlog is the state of the status's uncounted lists at the beginning of a round (J35, step 3).
// record.go fills the lists, and settle.go empties them.
type backlog struct {
	// left are the UIDs whose pods still carry the finalizer.
	left UncountedTerminatedPods
	// succeeded and failed are the numbers of listed UIDs whose pods are gone or have lost the
	// finalizer. The next status write moves them into the counters.
	succeeded, failed int64
}

// learn fills the table with the UIDs that the round has to recognize: finalizer removals in
// flight, ignored pods whose match is reported, and the uncounted lists. It returns those lists
// without repeated and empty UIDs, and reuses buf. A UID that is listed twice keeps its first
// verdict (JI2, M5).
func (t *uidTable) learn(
	memory *Memory, lists *UncountedTerminatedPods, buf UncountedTerminatedPods, notes *noteList,
) UncountedTerminatedPods {
	if lists == nil {
		lists = &UncountedTerminatedPods{}
	}

	t.reset(memory.Untracking.Len() + memory.rest.Handled.Len() + len(lists.Succeeded) + len(lists.Failed))
	for uid := range memory.Untracking.All() {
		if uid == "" {
			notes.add("memory.untracking", `""`, "an empty UID is left out")
			continue
		}
		t.add(uid, uidUntracking)
	}

	for uid := range memory.rest.Handled.All() {
		t.add(uid, uidHandled)
	}

	const field = "job.status.uncountedTerminatedPods"
	return UncountedTerminatedPods{
		Succeeded: t.learnList(field+".succeeded", lists.Succeeded, uidSucceeded, buf.Succeeded[:0], notes),
		Failed:    t.learnList(field+".failed", lists.Failed, uidFailed, buf.Failed[:0], notes),
	}
}

func (t *uidTable) learnList(field string, uids []UID, fact uidFacts, out []UID, notes *noteList) []UID {
	for _, uid := range uids {
		switch {
		case uid == "":
			notes.add(field, `""`, "an empty UID is left out")
		case t.add(uid, fact)&uidRecorded != 0:
			notes.add(field, string(uid), "a UID that is listed twice keeps its first verdict")
		default:
			out = append(out, uid)
		}
	}
	return out
}

// absorb counts the UIDs of pods that no longer carry the finalizer, and removes them from the
// lists. The others stay: if they were counted now, the next round would count them again (J35,
// JI3, M4).
func absorb(lists UncountedTerminatedPods, known *uidTable) backlog {
	if len(lists.Succeeded)+len(lists.Failed) == 0 {
		return backlog{}
	}

	gone := func(uid UID) bool {
		facts := known.facts(uid)
		return facts&uidSeen == 0 || facts&uidUntracking != 0
	}

	left := UncountedTerminatedPods{
		Succeeded: slices.DeleteFunc(lists.Succeeded, gone),
		Failed:    slices.DeleteFunc(lists.Failed, gone),
	}

	return backlog{
		left:      left,
		succeeded: int64(len(lists.Succeeded) - len(left.Succeeded)),
		failed:    int64(len(lists.Failed) - len(left.Failed)),
	}
}

// stillTracked returns the UIDs whose pods the snapshot still shows with the finalizer (E4).
func stillTracked(uids expectations.UIDs, known *uidTable) expectations.UIDs {
	var seen []UID
	for uid := range uids.All() {
		if known.facts(uid)&uidSeen == 0 {
			seen = append(seen, uid)
		}
	}

	if seen == nil {
		return uids
	}
	return uids.Without(seen...)
}
