package job

import (
	"math"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// Snapshot is the whole input of a round. The planner does not write to it.
type Snapshot struct {
	Job Job `json:"job"`
	// Pods are all pods that could belong to the job, in any order (B3).
	Pods []Pod `json:"pods,omitempty"`
	// Now is the time of the round. Every time in the plan comes from it (B6).
	Now time.Time `json:"now"`
	// Memory is the memory in the last round's Conclusion. The zero value means "just restarted".
	Memory Memory `json:"memory,omitzero"`
	// Consistent is true if the snapshot is sure to contain all earlier writes of the controller,
	// for example because it was read from a database in a transaction. Then the round waits for no
	// write to be seen (E1, E4, E5, E6), and the next memory holds no writes in flight. Leave it
	// false for a snapshot that is read from a cache or a watch.
	Consistent bool `json:"consistent,omitempty"`
	// Groups are needed with Options.Gangs.
	Groups  jobgroup.Groups `json:"groups,omitzero"`
	Options Options         `json:"options,omitzero"`
}

func (j *Job) isDeleted() bool { return !j.DeletionTimestamp.IsZero() }

func (s *Spec) isIndexed() bool   { return s.CompletionMode == Indexed }
func (s *Spec) isSuspended() bool { return value.Of(s.Suspend) }

// limitsIndexes reports whether backoffLimitPerIndex applies.
func (s *Spec) limitsIndexes() bool { return s.isIndexed() && s.BackoffLimitPerIndex != nil }

// clamp32 limits a sum of counts to the range from 0 to MaxInt32.
func clamp32(n int64) int32 { return int32(min(max(n, 0), math.MaxInt32)) }
