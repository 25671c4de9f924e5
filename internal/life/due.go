package life

import (
	"time"

	"github.com/batchplan/batchplan/backoff"
)

// slack is how far the clock of a program may be off, and how late the program may ask to be
// called: a store may keep times by the second.
const slack = time.Second

// Due is the time at which a program must be called again even if nothing happens. It follows from
// the program's last plan and the answers to its writes. The zero value means never.
type Due struct {
	At time.Time
	// Retry is set if a write has failed.
	Retry bool
}

// Due returns when a round is due. A write that has failed must be repeated soon.
func (l *Life) Due(conclusion time.Time, retry bool) Due {
	if retry {
		return Due{l.Now().Add(backoff.Retry().Max), true}
	}
	return Due{At: conclusion}
}

func (d Due) String() string {
	if d.Retry {
		return "a write has failed, and must be repeated within a minute"
	}
	return "a round is due at " + clock(d.At)
}

// First returns the earlier of the two.
func (d Due) First(other Due) Due {
	if d.At.IsZero() || !other.At.IsZero() && other.At.Before(d.At) {
		return other
	}
	return d
}

// checkDue checks that the program asks to be called again in time.
func (p *Program) checkDue() {
	due := p.Due()
	if due.At.IsZero() {
		return
	}

	latest := due.At
	if now := p.Now(); latest.Before(now) {
		latest = now
	}

	switch {
	case p.Again.IsZero():
		p.Breaks(p.Stuck, "the program waits for nothing but changes, and %s", due)
	case p.Again.After(latest.Add(slack)):
		p.Breaks(p.Stuck, "the program waits until %s, and %s", clock(p.Again), due)
	}
}

// CheckClock checks the time of a snapshot.
func (l *Life) CheckClock(now time.Time) {
	if now.Sub(l.Now()).Abs() > slack {
		l.Breaks("Store", "the snapshot is of %s, and it is %s: the clock of the life is Env.Now",
			clock(now), clock(l.Now()))
	}
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999") }
