// Package calendar shows the times of a schedule: its next runs, the gaps and overlaps of daylight
// saving time, what may be surprising, and the runs that Kubernetes 1.37 starts at other times.
package calendar

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

// Calendar describes the runs of a schedule.
type Calendar struct {
	Spec     string    `json:"spec"`
	Zone     string    `json:"zone"`
	Sentence string    `json:"sentence"`
	Runs     []Run     `json:"runs"`
	Shifts   []Shift   `json:"shifts"`
	Findings []Finding `json:"findings"`
	// Differences are runs of the next year that Kubernetes 1.37 starts at other times.
	Differences []Difference `json:"differences"`
	// PerYear is the number of runs in the year after From.
	PerYear int `json:"perYear"`
	// Days has the number of runs on each day of the year after From, in the zone. Day is the date
	// of the first day.
	Days []int     `json:"days"`
	Day  string    `json:"day"`
	From time.Time `json:"from"`
}

// Run is one run, in the zone and in UTC.
type Run struct {
	Local string `json:"local"`
	UTC   string `json:"utc"`
	In    string `json:"in"`
}

// Shift is a change of the zone's clock.
type Shift struct {
	At time.Time `json:"at"`
	// Before and After are the times of day that the clock shows. Gap is true if the clock is put
	// forward.
	Before string `json:"before"`
	After  string `json:"after"`
	Gap    bool   `json:"gap"`
	// Minutes is the size of the change, negative if the clock is put back.
	Minutes int    `json:"minutes"`
	Text    string `json:"text"`
	// Runs has the minutes from the change to each run in the hours around it, negative for earlier
	// runs.
	Runs []int `json:"runs"`
}

// Finding is something that may be surprising.
type Finding struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// Difference is a run that Kubernetes 1.37 starts at another time, or not at all.
type Difference struct {
	Ours   string `json:"ours"`
	Theirs string `json:"theirs"`
}

const layout = "Mon 2006-01-02 15:04:05 MST"

// Look describes the runs of a schedule after a time, in a zone of the zone database. An empty zone
// is UTC. The deadline is startingDeadlineSeconds, -1 for none.
func Look(spec, zone string, deadline int64, from time.Time) (*Calendar, error) {
	if zone == "" {
		zone = "UTC"
	}

	s, err := schedule.Parse(spec, schedule.WithTimeZone(zone))
	if err != nil {
		return nil, err
	}
	theirs, err := schedule.Parse(spec, schedule.WithTimeZone(zone), schedule.Kubernetes(release.Newest()))
	if err != nil {
		return nil, err
	}

	loc := s.Location()
	c := &Calendar{
		Spec: spec, Zone: loc.String(), Sentence: s.Describe(), From: from,
		Runs: []Run{}, Shifts: []Shift{}, Findings: []Finding{}, Differences: []Difference{},
	}

	for run := range s.NextN(from, 10) {
		c.Runs = append(c.Runs, Run{run.In(loc).Format(layout), run.UTC().Format(layout), distance(run.Sub(from))})
	}
	c.PerYear = s.Count(from, from.AddDate(1, 0, 0))

	first := time.Date(from.In(loc).Year(), from.In(loc).Month(), from.In(loc).Day(), 0, 0, 0, 0, loc)
	c.Day = first.Format(time.DateOnly)
	for i := range 365 {
		day, next := first.AddDate(0, 0, i), first.AddDate(0, 0, i+1)
		c.Days = append(c.Days, s.Count(day.Add(-time.Second), next.Add(-time.Second)))
	}

	around := schedule.Circumstances{From: from, WakeUpLag: 10 * time.Second}
	if deadline >= 0 {
		around.StartingDeadlineSeconds = &deadline
	}
	for _, f := range s.Lint(around) {
		c.Findings = append(c.Findings, Finding{string(f.Kind), f.Message})
	}

	for at := range shifts(loc, from, from.AddDate(3, 0, 0)) {
		c.Shifts = append(c.Shifts, describe(s, at))
	}

	c.Differences = append(c.Differences, compare(s, theirs, from)...)
	return c, nil
}

func distance(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("in %ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("in %dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("in %dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("in %d days", int(d.Hours()/24))
}

// shifts finds the changes of a zone's offset in a span.
func shifts(loc *time.Location, from, to time.Time) func(yield func(time.Time) bool) {
	return func(yield func(time.Time) bool) {
		for t := from; t.Before(to); {
			_, end := t.In(loc).ZoneBounds()
			if end.IsZero() || !end.Before(to) {
				return
			}
			if !end.After(t) {
				// After the last transition that a zone file lists, ZoneBounds at the time of a
				// change may return the bounds of the period before the change.
				t = t.Add(time.Hour)
				continue
			}
			t = end
			_, before := end.Add(-1).In(loc).Zone()
			if _, after := end.In(loc).Zone(); before != after && !yield(end) {
				return
			}
		}
	}
}

// window is the time before and after a change of the clock for which runs are shown.
const window = 3 * time.Hour

// describe describes a change of the clock and the runs around it.
func describe(s schedule.Schedule, at time.Time) Shift {
	loc := s.Location()
	_, before := at.Add(-1).In(loc).Zone()
	_, after := at.In(loc).Zone()
	out := Shift{
		At: at.UTC(), Gap: after > before, Minutes: (after - before) / 60, Runs: []int{},
		Before: at.In(time.FixedZone("", before)).Format("15:04"), After: at.In(loc).Format("15:04"),
	}

	n := 0
	for run := range s.Between(at.Add(-window), at.Add(window)) {
		if n++; n <= 400 {
			out.Runs = append(out.Runs, int(run.Sub(at)/time.Minute))
		}
	}

	day, verb := at.In(loc).Format("2006-01-02"), "back"
	if out.Gap {
		verb = "forward"
	}
	out.Text = fmt.Sprintf("%s: clocks go %s from %s to %s; %s in the three hours before and after", day, verb,
		out.Before, out.After, value.Count(n, "run"))
	return out
}

// compare returns at most ten runs of the next year that Kubernetes starts at other times.
func compare(ours, theirs schedule.Schedule, from time.Time) (out []Difference) {
	a, b := from, from
	end := from.AddDate(1, 0, 0)
	// Each schedule continues from its own last run. So a run that only one schedule has does not
	// shift later comparisons.
	for range 3000 {
		x, y := ours.Next(a), theirs.Next(b)

		switch {
		case x.IsZero() && y.IsZero(), x.After(end) && y.After(end), len(out) == 10:
			return out
		}
		switch {
		case x.Equal(y):
			a, b = x, y
		case y.IsZero() || !x.IsZero() && x.Before(y):
			out = append(out, Difference{Ours: x.Format(layout), Theirs: "no run"})
			a = x
		default:
			out = append(out, Difference{Ours: "no run", Theirs: y.In(ours.Location()).Format(layout)})
			b = y
		}
	}
	return out
}
