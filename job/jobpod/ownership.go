package jobpod

import "github.com/batchplan/batchplan/internal/enum"

// Ownership is the relation of a pod to the job (J6).
type Ownership uint8

const (
	// Owned pods have a controller reference to the job and match its selector.
	Owned Ownership = iota
	// OwnedUnmatched pods have the reference and no longer match. They are released.
	OwnedUnmatched
	// Orphan pods have no controller and match. They are adopted.
	Orphan
	// Foreign pods belong to another owner and are never touched.
	Foreign
)

const ownerships = "Owned|OwnedUnmatched|Orphan|Foreign"

// String returns the name of the constant.
func (o Ownership) String() string { return enum.String(ownerships, int(o), "Ownership") }

// MarshalText writes the name of the constant.
func (o Ownership) MarshalText() ([]byte, error) { return enum.Text(ownerships, int(o), "Ownership") }

// UnmarshalText reads the name of a constant; the empty text is Owned. Any other text is an error
// and changes nothing.
func (o *Ownership) UnmarshalText(text []byte) error { return enum.Read(o, ownerships, text, "owner") }
