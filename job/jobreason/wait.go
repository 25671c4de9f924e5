package jobreason

import "github.com/batchplan/batchplan/internal/enum"

// Wait is a reason for which a job waits.
type Wait uint8

// The reasons to wait.
const (
	// WaitBackoff: wanted pods are held back after failures (J31).
	WaitBackoff Wait = 1 + iota
	// WaitIndexBackoff: indexes are held back, each after its own failures (J31).
	WaitIndexBackoff
	// WaitDeadline: the job fails when activeDeadlineSeconds have passed (J23).
	WaitDeadline
	// WaitExpectations: own writes have not been seen yet (E1).
	WaitExpectations
	// WaitReplacement: terminating pods must end before they are replaced (J30).
	WaitReplacement
	// WaitPods: active pods, including this plan's, have not finished.
	WaitPods
	// WaitSuspended: the job is suspended (J28).
	WaitSuspended
	// WaitTerminating: the end waits for terminating pods (J38).
	WaitTerminating
	// WaitUncounted: finished pods wait until a later round records them (J35).
	WaitUncounted
	// WaitObserved: the status that was written last has not been seen yet (E5, E6).
	WaitObserved
	// WaitManagedBy: another controller manages the job (J3).
	WaitManagedBy
	// WaitDeleted: the job is being deleted.
	WaitDeleted
	// WaitUnknownMode: the completion mode is not known to this version (J5).
	WaitUnknownMode
	// WaitTimeout: a pod that does not start or end is going to be given up
	// (Options.PendingTimeout, Options.TerminatingTimeout).
	WaitTimeout
	// WaitAdoption: pods are managed once a snapshot shows that the adopted ones are the job's
	// (J6).
	WaitAdoption
	// WaitParallelism: the job is not complete, and parallelism is 0.
	WaitParallelism
	// WaitFinished: the job has finished, nothing is left to do (J4).
	WaitFinished
	// WaitNext: the next round builds on the writes of this one (L9).
	WaitNext
)

const waitNames = "|Backoff|IndexBackoff|Deadline|Expectations|Replacement|Pods|Suspended|Terminating|Uncounted|" +
	"Observed|ManagedBy|Deleted|UnknownMode|Timeout|Adoption|Parallelism|Finished|Next"

// String returns the name of the constant without Wait. A plan's job.Wait prints as a sentence with
// figures.
func (r Wait) String() string { return enum.String(waitNames, int(r), "Wait") }

// MarshalText is [Wait.String].
func (r Wait) MarshalText() ([]byte, error) { return enum.Text(waitNames, int(r), "Wait") }

// UnmarshalText reads what MarshalText returns. Any other text is an error and changes nothing.
func (r *Wait) UnmarshalText(text []byte) error { return enum.Read(r, waitNames, text, "reason") }
