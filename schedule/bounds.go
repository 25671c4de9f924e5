package schedule

import (
	"errors"
	"fmt"
	"time"
)

// bound applies NotBefore and NotAfter (C20).
func (p *plan) bound(spec string, set *settings) error {
	p.after, p.until = firstUnix, lastUnix
	begin, end := set.notBefore, set.notAfter
	if !begin.IsZero() && !end.IsZero() && end.Before(begin) {
		value := fmt.Sprintf("%s to %s", begin.Format(time.RFC3339Nano), end.Format(time.RFC3339Nano))
		return &ParseError{spec, "bounds", value, errors.New("the end is before the start")}
	}

	if !begin.IsZero() {
		last := begin.Unix() // the last second without a run
		if begin.Nanosecond() == 0 {
			last--
		}
		p.after = min(max(last, firstUnix), lastUnix)
	}

	if !end.IsZero() {
		p.until = min(max(end.Unix(), firstUnix), lastUnix)
	}

	return nil
}

// isBounded reports whether there are bounds within the supported years.
func (p *plan) isBounded() bool { return p.after > firstUnix || p.until < lastUnix }

// boundsAreEmpty reports whether all runs of the schedule are outside the bounds.
func (p *plan) boundsAreEmpty() bool {
	if !p.isBounded() || p.every.seconds == 0 && p.table.never() {
		return false
	}
	_, ok := p.next(p.after)
	return !ok
}

// boundsText returns the text about the bounds and the single run for Describe, with times on the
// schedule's wall clock.
func (p *plan) boundsText() string {
	text := ""
	if p.hasSingleIn(p.after, p.until) {
		text += ", and at " + p.clockText(p.single)
	}
	if p.after > firstUnix {
		text += ", not before " + p.clockText(p.after+1)
	}
	if p.until < lastUnix {
		text += ", not after " + p.clockText(p.until)
	}
	return text
}

func (p *plan) clockText(unix int64) string {
	_, offset := p.instant(unix, true).Zone()
	return civilAt(unix, int64(offset)).text()
}
