package expectations

import "time"

// Timeout is how long a record holds a controller back (E1). A notification
// that has not come by then is taken for lost.
const Timeout = 5 * time.Minute

// Counts says how many creations and deletions of one job are still to be
// observed, and since when. The zero value is "nothing recorded". A Counts is a
// value: its methods never change it.
type Counts struct {
	// Creations and Deletions are the writes still to be observed. A number at or
	// below zero means none.
	Creations int `json:"creations,omitempty"`
	Deletions int `json:"deletions,omitempty"`
	// At is when they were recorded. Observations leave it alone; a new record
	// replaces the whole value (E3).
	At time.Time `json:"at,omitzero"`
}

// Satisfied reports whether the controller may create and delete at now (E1):
// nothing is left to observe, or the record has timed out, which it has from
// [Counts.Expires] on.
//
// A record from the future is one that a clock running backwards has left
// behind. A small step back (less than [Timeout]) changes nothing but the wait,
// which is then at most twice the timeout. A record further ahead than that says
// nothing about the present, and counts as timed out.
func (c Counts) Satisfied(now time.Time) bool {
	if !c.pending() {
		return true
	}
	age := now.Sub(c.At) // Sub saturates, so a record without a time is also old
	return age >= Timeout || age <= -Timeout
}

// Expires returns when the record times out and is satisfied whatever has been
// observed: the time to look again if no notification comes. It is zero when
// nothing is left to observe.
func (c Counts) Expires() time.Time {
	if !c.pending() {
		return time.Time{}
	}
	return c.At.Add(Timeout)
}

// Lower returns the record with that many creations and deletions taken off:
// because they were seen, or because the writes failed or were skipped and will
// never be seen (E2). Negative arguments take off nothing.
//
// A number does not fall below zero. More can be observed than was recorded,
// since other parties create and delete pods as well; as nothing is ever added
// to a record, only replaced, a debt would change no answer. When nothing is
// left the result is the zero Counts, so that records which mean the same are
// equal.
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
