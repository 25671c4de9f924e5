package cronjobreason

import "github.com/batchplan/batchplan/internal/enum"

// Create is the reason why a job is created.
type Create uint8

// The reasons to create a job.
const (
	// CreateDue: the run is due and nothing was missed before it.
	CreateDue Create = 1 + iota
	// CreateLatest: the run is the latest of several that were missed (C7).
	CreateLatest
	// CreateOldest: the run is the oldest of several missed runs, which start one by one
	// (CatchUpAll).
	CreateOldest
	// CreateTriggered: a user requested the job (Trigger).
	CreateTriggered
	// CreateBackfilled: a user requested the run (Backfill).
	CreateBackfilled
)

const createNames = "|Due|Latest|Oldest|Triggered|Backfilled"

const createReasons = "unspecified|" +
	"the run is due (C7)|" +
	"the run is the latest of those that were missed (C7)|" +
	"the run is the oldest of those to make up (CatchUpAll)|" +
	"it was asked for (Trigger)|" +
	"the run was asked for (Backfill)"

// String returns the reason as a sentence.
func (r Create) String() string { return enum.String(createReasons, int(r), "Create") }

// MarshalText returns the name of the constant without Create.
func (r Create) MarshalText() ([]byte, error) { return enum.Text(createNames, int(r), "Create") }

// UnmarshalText reads what MarshalText returns. Any other text is an error and changes nothing.
func (r *Create) UnmarshalText(text []byte) error { return enum.Read(r, createNames, text, "reason") }
