package job

import (
	"fmt"
	"strconv"
)

// Note names a contradiction in the snapshot and what was done about it.
type Note struct {
	Field   string `json:"field"`
	Value   string `json:"value"`
	Message string `json:"message"`
}

// noteList collects the notes of a plan.
type noteList []Note

func (n *noteList) add(field, value, message string) {
	*n = append(*n, Note{Field: field, Value: value, Message: message})
}

// noteUncovered names pods that have ended without the finalizer although no counter covers
// them: nobody is going to count them. Either they never had it, or Pod.Untracked is wrong.
// Two cases are in order and get no note: failures that the podFailurePolicy ignores, and
// indexes that an elastic job has dropped.
func noteUncovered(notes *noteList, s *Snapshot, c *census) {
	status := &s.Job.Status
	lists := status.uncounted()
	covered := int64(status.Succeeded) + int64(status.Failed) + int64(len(lists.Succeeded)+len(lists.Failed))
	switch {
	case s.Job.Spec.isIndexed(), s.Job.Spec.PodFailurePolicy != nil, c.done <= covered:
		return
	}

	notes.add("pods", strconv.FormatInt(c.done, 10), fmt.Sprintf(
		"so many have ended without the finalizer, and the status counts %d: the others are never counted", covered))
}
