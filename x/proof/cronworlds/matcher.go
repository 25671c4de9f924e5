package cronworlds

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// matcher finds the runs of a schedule. It looks at each minute.
type matcher struct {
	fields         [5]uint64
	anyDom, anyDow bool
	loc            *time.Location
	every          time.Duration // for "@every", from the anchor
	anchor         time.Time

	runs  []time.Time // those found so far
	after time.Time   // all instants up to it were looked at
}

func newMatcher(spec string, zone *string, anchor time.Time) *matcher {
	m := &matcher{loc: time.UTC, anchor: anchor, after: anchor.Add(-200 * time.Hour).Truncate(time.Minute)}
	if zone != nil {
		loc, err := time.LoadLocation(*zone)
		if err != nil {
			panic(err)
		}
		m.loc = loc
	}
	if every, ok := strings.CutPrefix(spec, "@every "); ok {
		m.every, _ = time.ParseDuration(every)
		return m
	}
	ranges := [5][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}}
	for i, field := range strings.Fields(spec) {
		m.fields[i] = fieldBits(field, ranges[i][0], ranges[i][1])
	}
	m.anyDom, m.anyDow = strings.Fields(spec)[2] == "*", strings.Fields(spec)[4] == "*"
	return m
}

// fieldBits reads "*", "a", "a-b", each with or without "/n", and lists of them.
func fieldBits(field string, low, high int) (bits uint64) {
	for part := range strings.SplitSeq(field, ",") {
		from, to, step := low, high, 1
		text, stepText, stepped := strings.Cut(part, "/")
		if stepped {
			step, _ = strconv.Atoi(stepText)
		}
		if text != "*" {
			a, b, ranged := strings.Cut(text, "-")
			from, _ = strconv.Atoi(a)
			if to = from; ranged {
				to, _ = strconv.Atoi(b)
			}
		}
		for v := from; v <= to; v += step {
			bits |= 1 << v
		}
	}
	return bits
}

// matches reports whether the schedule runs at an instant.
func (m *matcher) matches(t time.Time) bool {
	if m.every > 0 {
		return t.Sub(m.anchor)%m.every == 0
	}
	t = t.In(m.loc)
	has := func(field, v int) bool { return m.fields[field]>>v&1 == 1 }
	switch {
	case t.Second() != 0, t.Nanosecond() != 0:
		return false
	case !has(0, t.Minute()), !has(1, t.Hour()), !has(3, int(t.Month())):
		return false
	}
	dom, dow := has(2, t.Day()), has(4, int(t.Weekday()))
	if m.anyDom || m.anyDow {
		return dom && dow
	}
	return dom || dow
}

// extend looks at all instants up to a time.
func (m *matcher) extend(until time.Time) {
	if m.every > 0 {
		for k := m.after.Sub(m.anchor) / m.every; ; k++ {
			run := m.anchor.Add(k * m.every)
			if run.After(until) {
				break
			}
			if run.After(m.after) {
				m.runs = append(m.runs, run)
			}
		}
		m.after = value.Later(m.after, until)
		return
	}
	for t := m.after.Add(time.Minute); !t.After(until); t = t.Add(time.Minute) {
		if m.matches(t) {
			m.runs = append(m.runs, t)
		}
		m.after = t
	}
}

// between lists the runs in (after, until].
func (m *matcher) between(after, until time.Time) []time.Time {
	m.extend(until)
	return m.runs[m.place(after):m.place(until)]
}

// place returns the number of runs found up to a time.
func (m *matcher) place(t time.Time) int {
	n, _ := slices.BinarySearchFunc(m.runs, t, func(run, t time.Time) int {
		if run.After(t) {
			return 1
		}
		return -1
	})
	return n
}

// next returns the first run after a time. It looks a month ahead.
func (m *matcher) next(t time.Time) time.Time {
	for days := 1; days <= 32; days *= 2 {
		if runs := m.between(t, t.Add(time.Duration(days)*24*time.Hour)); len(runs) > 0 {
			return runs[0]
		}
	}
	return t.Add(32 * 24 * time.Hour)
}
