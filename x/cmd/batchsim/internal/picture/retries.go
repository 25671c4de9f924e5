package picture

import (
	"fmt"
	"time"

	"gonum.org/v1/plot/vg"

	"github.com/batchplan/batchplan/x/sim"
)

// mostRetries is the maximum number of pods of a job that are drawn.
const mostRetries = 60

// Retries shows the pods of one job, and the time between a failure and the next pod. If name is
// "", it shows the job with the most failures.
func Retries(r *sim.Result, name string) (*Picture, error) {
	id := -1
	for i := range r.Jobs {
		j := &r.Jobs[i]
		switch {
		case name != "":
			if j.Name == name {
				id = i
			}
		case j.Failed == 0:
		case id < 0, j.Failed > r.Jobs[id].Failed:
			id = i
		}
	}
	if id < 0 {
		if name != "" {
			return nil, fmt.Errorf("job %q: no such job", name)
		}
		return nil, nil
	}
	return retries(r, int32(id)), nil
}

func retries(r *sim.Result, id int32) *Picture {
	j := &r.Jobs[id]
	var pods []*sim.PodRecord
	for i := range r.Pods {
		if r.Pods[i].Job == id {
			pods = append(pods, &r.Pods[i])
		}
	}

	all := len(pods)
	pods = pods[:min(all, mostRetries)]
	over := until(r.End, j.Finished)
	if all > len(pods) {
		over = until(r.End, pods[len(pods)-1].Ended)
	}

	u := unitFor(over - j.Submitted)
	p := newPicture("retries", "Retries of "+j.Name, u.label("time since its submission"), "pod")
	b := &bars{rows: float64(len(pods))}
	var names []string

	lastFailure := sim.None
	for row, pod := range pods {
		if lastFailure != sim.None && pod.Created > lastFailure {
			b.all = append(b.all,
				bar{u.in(lastFailure - j.Submitted), u.in(pod.Created - j.Submitted), float64(row), inkBackoff, true})
			names = append(names,
				fmt.Sprintf("%d, after %v", pod.Number, (pod.Created-lastFailure).Round(100*time.Millisecond)))
		} else {
			names = append(names, fmt.Sprint(pod.Number))
		}

		shifted := *pod
		for _, t := range []*time.Duration{&shifted.Created, &shifted.Bound, &shifted.Started, &shifted.Ended,
			&shifted.Gone} {
			if *t != sim.None {
				*t -= j.Submitted
			}
		}

		b.all = append(b.all, podBars(&shifted, u, until(r.End-j.Submitted, shifted.Ended), row)...)
		if pod.Ended != sim.None && !pod.Succeeded {
			lastFailure = max(lastFailure, pod.Ended)
		} else if pod.Ended != sim.None {
			lastFailure = sim.None
		}
	}

	p.grid()
	p.plot.Add(b)
	p.plot.X.Tick.Marker = timeTicks{u}
	p.rowsFromTop(names)
	p.legend("held by backoff", inkBackoff, "waits", inkPending, "succeeds", inkSuccess, "fails", inkFailure)

	p.Note = "The number of each pod, and how long after the latest failure it came."
	if all > len(pods) {
		p.Note += fmt.Sprintf(" The first %d of %d pods.", len(pods), all)
	}
	p.height = vg.Points(120 + 15*float64(len(pods)))
	return p
}
