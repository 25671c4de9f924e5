package cronjobreason

import "github.com/batchplan/batchplan/internal/enum"

// Unstarted is the reason why a run never starts.
type Unstarted uint8

// The reasons why runs never start.
const (
	// UnstartedForLater: a later run starts instead (C8).
	UnstartedForLater Unstarted = 1 + iota
	// UnstartedTooLate: the deadline of the run has passed (C9).
	UnstartedTooLate
	// UnstartedSuspended: the run was due while the CronJob was suspended (Options.SkipOnResume).
	UnstartedSuspended
	// UnstartedEdited: the new schedule has the run, but the run was due before the edit
	// (Options.SkipOnEdit).
	UnstartedEdited
	// UnstartedHeld: Forbid held the run back (Options.SkipHeld).
	UnstartedHeld
	// UnstartedNameTaken: the name of the run belongs to another owner, and the next run follows
	// (C14, CatchUpAll).
	UnstartedNameTaken
)

const unstartedNames = "|ForLater|TooLate|Suspended|Edited|Held|NameTaken"

const unstartedReasons = "unspecified|" +
	"a later run takes its place (C8)|" +
	"its deadline has passed (C9)|" +
	"the CronJob was suspended (SkipOnResume)|" +
	"it lies before the edit of the schedule (SkipOnEdit)|" +
	"an active job held it back (SkipHeld)|" +
	"its name belongs to another owner (C14)"

// String returns the reason as a sentence.
func (r Unstarted) String() string {
	return enum.String(unstartedReasons, int(r), "Unstarted")
}

// MarshalText returns the name of the constant without Unstarted.
func (r Unstarted) MarshalText() ([]byte, error) {
	return enum.Text(unstartedNames, int(r), "Unstarted")
}

// UnmarshalText reads what MarshalText returns. Any other text is an error and changes nothing.
func (r *Unstarted) UnmarshalText(text []byte) error {
	return enum.Read(r, unstartedNames, text, "reason")
}
