package cronjobreason

import "github.com/batchplan/batchplan/internal/enum"

// Unstarted is why a run never starts.
type Unstarted uint8

// The reasons why runs never start.
const (
	// UnstartedForLater: a later run takes its place (C8).
	UnstartedForLater Unstarted = 1 + iota
	// UnstartedTooLate: its deadline has passed (C9).
	UnstartedTooLate
	// UnstartedSuspended: it came due while the CronJob was suspended (Options.SkipOnResume).
	UnstartedSuspended
	// UnstartedEdited: a new schedule has it, and it lies before the edit (Options.SkipOnEdit).
	UnstartedEdited
	// UnstartedHeld: Forbid held it back (Options.SkipHeld).
	UnstartedHeld
	// UnstartedNameTaken: its name belongs to another owner, and the next run takes its turn
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

// String is a sentence for people.
func (r Unstarted) String() string {
	return enum.String(unstartedReasons, int(r), "UnstartedReason")
}

// MarshalText returns the name of the constant without Unstarted.
func (r Unstarted) MarshalText() ([]byte, error) {
	return []byte(enum.String(unstartedNames, int(r), "UnstartedReason")), nil
}

// UnmarshalText reads what MarshalText returns.
func (r *Unstarted) UnmarshalText(text []byte) error {
	i, err := enum.Parse(unstartedNames, string(text), "reason")
	*r = Unstarted(i)
	return err
}
