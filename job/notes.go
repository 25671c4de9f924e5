package job

import (
	"fmt"
	"strconv"
)

// Note names a contradiction in the snapshot, and tells how the plan has worked around it.
type Note struct {
	Field   string `json:"field"`
	Value   string `json:"value"`
	Message string `json:"message"`
}

type noteList []Note

func (n *noteList) add(field, value, message string) {
	*n = append(*n, Note{Field: field, Value: value, Message: message})
}

// noteUncovered adds a note if pods have ended without the finalizer and no counter includes them,
// since they will never be counted. Either they never had the finalizer, or Pod.Untracked is wrong.
// Indexed jobs and jobs with a podFailurePolicy get no note. Their pods can rightly be uncounted:
// an elastic job may have dropped the index, or the policy may have ignored the failure.
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
