package schedule

// Describe returns an English description of the runs, such as "every 15 minutes from 08:00 to
// 18:45 on weekdays". Times are on the wall clock of the schedule's zone, which is not named. The
// text is meant for people; its wording may change.
func (s Schedule) Describe() string {
	switch p := s.plan; {
	case p == nil:
		return "never"
	case p.boundsAreEmpty():
		return "never (no time is left)"
	case p.never:
		return p.text()
	default:
		return p.text() + p.boundsText()
	}
}

// text describes the runs without the bounds.
func (p *plan) text() string {
	switch {
	case p.every.seconds > 0:
		return "every " + period(p.every.seconds)
	case p.table.combined != nil:
		return p.table.combinedText()
	case p.table.seconds != 0:
		return p.table.secondsText()
	}
	return p.table.text()
}

func (p *pattern) combinedText() string {
	if p.never() {
		return "never (no time is left)"
	}

	text := p.text()
	for i := range p.combined.also {
		text += ", also " + p.combined.also[i].text()
	}
	for i := range p.combined.except {
		text += ", except " + p.combined.except[i].text()
	}
	return text
}
