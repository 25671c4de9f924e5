package read

import (
	"fmt"
	"time"
)

// Source describes how old the inputs are.
type Source struct {
	// Written is the time at which the newest file was written.
	Written time.Time
	// Live is true if an input may show the present state: a pipe, a pasted text or a cluster.
	Live bool
	// Fresh is true if the input shows the present state for certain, because a cluster was read.
	Fresh bool
}

// farApart is a limit. AsOf warns if the newest file was written more than this time after the
// newest time in the objects.
const farApart = time.Hour

// AsOf returns the time for which to explain the objects if the user gives none. For a cluster, a
// pipe and a pasted text it is the present, and for files the newest time in their objects. The
// result from continues a sentence that begins with "As of". The result warning describes what may
// be wrong with the time. The argument otherwise is the option with which a user chooses another
// time.
func (o *Objects) AsOf(s Source, now time.Time, otherwise string) (at time.Time, from, warning string) {
	latest := o.Latest
	switch {
	case latest.IsZero():
		if !s.Live && !s.Written.IsZero() && s.Written.Before(now) {
			return s.Written, ", when the newest file was written: its objects contain no time", ""
		}
		return now, "", ""
	case s.Live && !s.Fresh && now.Sub(latest) > 24*farApart:
		return now, "", fmt.Sprintf("the newest time in the input is %s: if it was saved earlier, explain that "+
			"time with %s %s",
			stamp(latest), otherwise, latest.UTC().Format(time.RFC3339))
	case s.Live:
		return now, "", ""
	case latest.After(now):
		return now, "", fmt.Sprintf("the objects contain a time in the future, %s: a clock is wrong; explained as "+
			"of now", stamp(latest))
	}

	if d := s.Written.Sub(latest); d > farApart {
		warning = fmt.Sprintf("explained as of %s, the newest time that the objects contain, although the file was "+
			"written %s later: choose another time with %s",
			stamp(latest), d.Round(time.Minute), otherwise)
	}
	return latest, ", the newest time in the objects", warning
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }
