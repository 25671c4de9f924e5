package explain

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

const maxLanes = 60

// timeline draws the life of the Job: one lane for the Job, and lanes for its pods. An Indexed Job
// has a lane for each index, and another Job has as few lanes as possible.
func (l *look) timeline(state State, summary string) *Timeline {
	t := &Timeline{From: l.created(), Now: l.now, To: l.now}
	if t.From.IsZero() || t.From.After(l.now) {
		t.From = l.now
	}

	own := Lane{Label: "Job", Bars: []Bar{l.ownBar(state, summary)}}
	for _, w := range l.plan.Waits {
		switch w.Reason {
		case jobreason.WaitDeadline:
			own.Marks = append(own.Marks,
				Mark{At: w.Until, Kind: "deadline", Text: "activeDeadlineSeconds pass " + l.at(w.Until)})
		case jobreason.WaitBackoff:
			from := l.found.Backoff.LastFailure
			own.Bars = append(own.Bars, Bar{From: from, To: w.Until, Kind: "backoff",
				Text: fmt.Sprintf("backoff of %s after %s in a row (inferred)", span(w.Until.Sub(from)),
					count(w.Failures, "failure"))})
			own.Marks = append(own.Marks,
				Mark{At: w.Until, Kind: "retry", Text: "the next pod is created " + l.at(w.Until)})
		}
	}

	if _, at, err := job.Expire(&l.snapshot.Job, l.snapshot.Options, l.now); err == nil && !at.IsZero() {
		own.Marks = append(own.Marks, Mark{At: at, Kind: "expiry", Text: "ttlSecondsAfterFinished pass " + l.at(at)})
	}

	t.Lanes = append(t.Lanes, own)
	t.Lanes = append(t.Lanes, l.podLanes()...)
	t.finish()
	return t
}

func (l *look) ownBar(state State, summary string) Bar {
	b := Bar{From: l.start(), To: l.now, Kind: "job", Text: summary}
	switch state {
	case Complete:
		b.To, b.Kind = l.endTime(), "complete"
	case Failed:
		b.To, b.Kind = l.endTime(), "failed"
	case Suspended:
		b.Kind = "suspended"
	}
	if b.From.IsZero() || b.From.After(b.To) {
		b.From = b.To
	}
	return b
}

func (l *look) podLanes() []Lane {
	places := make([]int, 0, len(l.pods))
	for i := range l.pods {
		if l.snapshot.Pods[i].Owner != jobpod.Foreign && !l.pods[i].CreationTimestamp.IsZero() {
			places = append(places, i)
		}
	}

	sort.Slice(places, func(a, b int) bool {
		p, q := l.pods[places[a]], l.pods[places[b]]
		return cmp.Or(p.CreationTimestamp.Compare(q.CreationTimestamp), cmp.Compare(p.Name, q.Name)) < 0
	})

	if l.isIndexed() {
		return l.lanesByIndex(places)
	}
	return l.packedLanes(places)
}

func (l *look) lanesByIndex(places []int) (lanes []Lane) {
	byIndex := make(map[int32]*Lane)
	var order []int32
	for _, i := range places {
		n := l.snapshot.Pods[i].Index.Int32()
		if byIndex[n] == nil {
			byIndex[n] = &Lane{Label: "index " + l.snapshot.Pods[i].Index.String()}
			order = append(order, n)
		}
		byIndex[n].Bars = append(byIndex[n].Bars, l.bars(i, l.pods[i])...)
	}

	for _, r := range l.found.Retries {
		if lane := byIndex[r.Index.Int32()]; lane != nil && r.Due.After(l.now) {
			from := lane.Bars[len(lane.Bars)-1].To
			lane.Bars = append(lane.Bars, Bar{From: from, To: r.Due, Kind: "backoff",
				Text: fmt.Sprintf("backoff of index %s after %s", r.Index, count(int64(r.Failures), "failure"))})
		}
	}

	sort.Slice(order, func(a, b int) bool { return order[a] < order[b] })
	for _, n := range order {
		lanes = append(lanes, *byIndex[n])
	}
	return lanes
}

// packedLanes puts each pod into the first lane that is free when it is created.
func (l *look) packedLanes(places []int) (lanes []Lane) {
	var free []time.Time
	for _, i := range places {
		bars := l.bars(i, l.pods[i])
		if len(bars) == 0 {
			continue
		}

		n := slices.IndexFunc(free, func(t time.Time) bool { return !t.After(bars[0].From) })
		if n < 0 {
			if len(lanes) > maxLanes {
				n = len(lanes) - 1 // finish leaves this lane out
			} else {
				n = len(lanes)
				lanes, free = append(lanes, Lane{Label: "pods"}), append(free, time.Time{})
			}
		}
		lanes[n].Bars = append(lanes[n].Bars, bars...)
		free[n] = bars[len(bars)-1].To
	}
	return lanes
}

// bars returns the bars of a pod: one for the time before it started, and one for the time after
// that.
func (l *look) bars(i int, p *read.Pod) (bars []Bar) {
	pod, found := &l.snapshot.Pods[i], &l.found.Pods[i]
	text := p.Name + ": " + lower(l.podText(i, p))

	end, kind := l.now, "running"
	switch {
	case pod.Phase == job.PodSucceeded:
		end, kind = found.FinishTime, "succeeded"
	case found.Failed && !found.Counts:
		end, kind = found.FinishTime, "ignored"
	case pod.Phase == job.PodFailed:
		end, kind = found.FinishTime, "failed"
	case pod.Deletion != nil:
		kind = "terminating"
	case pod.Phase == job.PodPending:
		kind = "pending"
	}

	from := p.CreationTimestamp
	if start := p.StartTime; start.After(from) && kind != "pending" && start.Before(end) {
		bars = append(bars,
			Bar{From: from, To: start, Kind: "pending", Text: p.Name + ": pending for " + span(start.Sub(from))})
		from = start
	}

	if end.Before(from) {
		end = from
	}
	return append(bars, Bar{From: from, To: end, Kind: kind, Text: text})
}

// finish limits the number of lanes. It extends the timeline to all bars and marks, and to at least
// ten seconds.
func (t *Timeline) finish() {
	if len(t.Lanes) > maxLanes {
		t.More = len(t.Lanes) - maxLanes
		t.Lanes = t.Lanes[:maxLanes]
	}
	for i := range t.Lanes {
		for _, b := range t.Lanes[i].Bars {
			t.include(b.From)
			t.include(b.To)
		}
		for _, m := range t.Lanes[i].Marks {
			t.include(m.At)
		}
	}
	if t.To.Sub(t.From) < 10*time.Second {
		t.To = t.From.Add(10 * time.Second)
	}
}

func (t *Timeline) include(at time.Time) {
	if at.IsZero() {
		return
	}
	if at.Before(t.From) {
		t.From = at
	}
	if at.After(t.To) {
		t.To = at
	}
}

// addForecast adds a lane with the events of a forecast.
func (t *Timeline) addForecast(f *Forecast) {
	lane := Lane{Label: "forecast"}
	for _, e := range f.Events {
		lane.Marks = append(lane.Marks, Mark{At: e.At, Kind: "future", Text: e.Text})
	}
	t.Lanes = append(t.Lanes, lane)
	t.include(f.Until)
}

// timeline draws the runs of a CronJob: one lane for the times of the schedule, and lanes for the
// Jobs.
func (l *cronLook) timeline(s *Schedule) *Timeline {
	t := &Timeline{Now: l.now, From: l.now, To: l.now}
	runs := Lane{Label: "runs"}
	for _, r := range slices.Concat(s.Last, s.Next) {
		kind := "run"
		switch r.Outcome {
		case "complete", "failed", "active", "gone":
			kind = "started"
		case "missed", "held", "skipped", "taken":
			kind = "missed"
		}
		runs.Marks = append(runs.Marks, Mark{At: r.At, Kind: kind, Text: r.At.Format("15:04 ") + r.Text})
	}
	t.Lanes = append(t.Lanes, runs)
	t.Lanes = append(t.Lanes, l.jobLanes()...)
	t.finish()
	return t
}

func (l *cronLook) jobLanes() (lanes []Lane) {
	children := pointers(l.children)
	slices.SortFunc(children, func(a, b *cronjob.Child) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp), cmp.Compare(a.Name, b.Name))
	})

	var free []time.Time
	for _, c := range children {
		if c.Foreign || c.CreationTimestamp.IsZero() {
			continue
		}
		_, text := l.outcome(c)

		b := Bar{From: c.CreationTimestamp, To: l.now, Kind: "running", Text: c.Name + ": " + text}
		switch outcomeOf(c) {
		case "complete":
			b.To, b.Kind = c.FinishTime, "succeeded"
		case "failed":
			b.To, b.Kind = c.FinishTime, "failed"
		}

		n := slices.IndexFunc(free, func(t time.Time) bool { return !t.After(b.From) })
		if n < 0 {
			n = len(lanes)
			lanes, free = append(lanes, Lane{Label: "Jobs"}), append(free, time.Time{})
		}
		lanes[n].Bars = append(lanes[n].Bars, b)
		free[n] = b.To
	}
	return lanes
}
