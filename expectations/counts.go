package expectations

import "time"

// Timeout limits how long a record holds a controller back (E1). A notification that has not
// arrived by then is considered lost.
const Timeout = 5 * time.Minute

// Counts holds the numbers of creations and deletions of one job that are still to be observed, and
// the time at which they were recorded. The zero value means that nothing is recorded. A Counts is
// a value: its methods never change it.
type Counts struct {
	// Creations and Deletions are the writes still to be observed. A number at or
	// below zero means none.
	Creations int `json:"creations,omitempty"`
	Deletions int `json:"deletions,omitempty"`
	// At is the time of the record. Observations do not change it; a new record replaces it (E3).
	At time.Time `json:"at,omitzero"`
}

// Satisfied reports whether the controller may create and delete at now (E1). It may if nothing is
// left to observe, and also once the record has timed out, at [Counts.Expires].
//
// A record is in the future if the clock was set back after it was made. If it is less than
// [Timeout] ahead, the wait only becomes longer, at most twice the timeout. A record that is
// further ahead is no evidence about the present, and counts as timed out.
func (c Counts) Satisfied(now time.Time) bool {
	if !c.pending() {
		return true
	}
	age := now.Sub(c.At) // Sub saturates, so a record without a time is also old
	return age >= Timeout || age <= -Timeout
}

// Expires returns the time at which the record times out. If no notification arrives, plan again at
// that time. It is zero when nothing is left to observe.
func (c Counts) Expires() time.Time {
	if !c.pending() {
		return time.Time{}
	}
	return c.At.Add(Timeout)
}

// Lower returns the record without a number of creations and deletions that were observed, or that
// never will be, because the writes failed or were skipped (E2). Negative arguments count as zero.
//
// No number falls below zero. More can be observed than was recorded, since other clients create
// and delete pods as well. The surplus is dropped, because a new record replaces the old one and is
// not added to it. When nothing is left, the result is the zero Counts, so that records with the
// same meaning are equal.
func (c Counts) Lower(creations, deletions int) Counts {
	c.Creations = lowered(c.Creations, creations)
	c.Deletions = lowered(c.Deletions, deletions)
	if !c.pending() {
		return Counts{}
	}
	return c
}

func (c Counts) pending() bool { return c.Creations > 0 || c.Deletions > 0 }

func lowered(n, by int) int {
	n, by = max(n, 0), max(by, 0)
	return max(n-by, 0)
}
