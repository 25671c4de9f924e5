package jobreason

import "github.com/batchplan/batchplan/internal/enum"

// Delete is a reason to delete a pod.
type Delete uint8

// The reasons to delete a pod.
const (
	// DeleteEnding: the job is ending (J27).
	DeleteEnding Delete = 1 + iota
	// DeleteSuspended: the job is suspended (J28).
	DeleteSuspended
	// DeleteNoIndex: the pod of an Indexed job has no index (J29).
	DeleteNoIndex
	// DeleteIndexOutOfRange: the index is not below completions (J15, J29).
	DeleteIndexOutOfRange
	// DeleteDuplicateIndex: a more valuable pod has the same index (J29).
	DeleteDuplicateIndex
	// DeleteSurplus: more pods are active than wanted (J29).
	DeleteSurplus
	// DeletePending: the pod has not started in time (Options.PendingTimeout).
	DeletePending
)

const deleteNames = "|Ending|Suspended|NoIndex|IndexOutOfRange|DuplicateIndex|Surplus|Pending"

const deleteReasons = "unspecified|" +
	"the job is ending (J27)|" +
	"the job is suspended (J28)|" +
	"the pod has no completion index (J29)|" +
	"the completion index is out of range (J29)|" +
	"a more valuable pod has the same index (J29)|" +
	"more pods are active than wanted (J29)|" +
	"the pod has not started in time (PendingTimeout)"

// String returns the reason as a sentence.
func (r Delete) String() string { return enum.String(deleteReasons, int(r), "Delete") }

// MarshalText returns the name of the constant without Delete.
func (r Delete) MarshalText() ([]byte, error) { return enum.Text(deleteNames, int(r), "Delete") }

// UnmarshalText reads what MarshalText returns. Any other text is an error and changes nothing.
func (r *Delete) UnmarshalText(text []byte) error { return enum.Read(r, deleteNames, text, "reason") }
