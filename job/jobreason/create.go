package jobreason

import "github.com/batchplan/batchplan/internal/enum"

// Create is a reason to create a pod. The metric job_controller_job_pods_creation_total has the
// same values (J42).
type Create uint8

// The reasons to create a pod.
const (
	// CreateNew: the job has no failed or terminating pod to replace.
	CreateNew Create = 1 + iota
	// CreateReplacement: a pod has failed or is terminating. As in the metric, this includes a
	// terminating pod that is not replaced, because the job replaces only failed pods.
	CreateReplacement
	// CreateReplacementOfFailed: a pod has failed, and the job does not replace terminating pods.
	CreateReplacementOfFailed
)

const createNames = "|New|Replacement|ReplacementOfFailed"

const createReasons = "unspecified|" +
	"fewer pods are active than wanted (J30)|" +
	"replaces a failed or terminating pod (J30)|" +
	"replaces a failed pod (J30)"

// String returns the reason as a sentence.
func (r Create) String() string { return enum.String(createReasons, int(r), "Create") }

// MarshalText returns the name of the constant without Create.
func (r Create) MarshalText() ([]byte, error) { return enum.Text(createNames, int(r), "Create") }

// UnmarshalText reads what MarshalText returns. Any other text is an error and changes nothing.
func (r *Create) UnmarshalText(text []byte) error { return enum.Read(r, createNames, text, "reason") }

// Metric returns the value of the metric's label "reason".
func (r Create) Metric() string {
	switch r {
	case CreateReplacement:
		return "recreate_terminating_or_failed"
	case CreateReplacementOfFailed:
		return "recreate_failed"
	}
	return "new"
}
