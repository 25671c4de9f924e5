package cronjobreason

import "github.com/batchplan/batchplan/internal/enum"

// Delete is the reason why a job is deleted.
type Delete uint8

// The reasons to delete a job.
const (
	// DeleteReplaced: another run replaces the job (C12).
	DeleteReplaced Delete = 1 + iota
	// DeleteSuccessful and DeleteFailed: there are more finished jobs than the history keeps (C2).
	DeleteSuccessful
	DeleteFailed
	// DeleteExpired: a finished job is as old as the options allow (KeepSuccessful, KeepFailed).
	DeleteExpired
)

const deleteNames = "|Replaced|Successful|Failed|Expired"

const deleteReasons = "unspecified|" +
	"another run replaces it (C12)|" +
	"more successful jobs than successfulJobsHistoryLimit (C2)|" +
	"more failed jobs than failedJobsHistoryLimit (C2)|" +
	"it finished long enough ago (KeepSuccessful, KeepFailed)"

// String returns the reason as a sentence.
func (r Delete) String() string { return enum.String(deleteReasons, int(r), "Delete") }

// MarshalText returns the name of the constant without Delete.
func (r Delete) MarshalText() ([]byte, error) { return enum.Text(deleteNames, int(r), "Delete") }

// UnmarshalText reads what MarshalText returns. Any other text is an error and changes nothing.
func (r *Delete) UnmarshalText(text []byte) error { return enum.Read(r, deleteNames, text, "reason") }
