package traces

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/batchplan/batchplan/x/sim"
)

// slice is an event of the trace format of Chrome, which Perfetto also reads. Times are in
// microseconds.
type slice struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	At       int64          `json:"ts"`
	For      int64          `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// The numbers of the processes in the trace.
const (
	ofJobs = 1 + iota
	ofNodes
	ofCronJobs
)

// WritePerfetto writes a trace with the jobs, the pods by node, and the runs of CronJobs. If pods
// run on a node at the same time, they are on different lines.
func WritePerfetto(out io.Writer, r *sim.Result) error {
	b := bufio.NewWriterSize(out, 1<<16)
	w := &traceWriter{out: b, encoder: json.NewEncoder(b)}
	fmt.Fprint(b, "[\n")
	w.name(ofJobs, "jobs")
	w.name(ofNodes, "nodes")
	w.name(ofCronJobs, "CronJobs")
	w.jobs(r)
	w.pods(r)
	w.runs(r)
	fmt.Fprint(b, "]\n")
	if w.err != nil {
		return w.err
	}
	return b.Flush()
}

type traceWriter struct {
	out     *bufio.Writer
	encoder *json.Encoder
	some    bool
	err     error
}

func (w *traceWriter) write(s slice) {
	if w.err != nil {
		return
	}
	if w.some {
		_ = w.out.WriteByte(',') // Flush reports the error
	}
	w.some = true
	w.err = w.encoder.Encode(s)
}

func (w *traceWriter) name(process int, name string) {
	w.write(slice{Name: "process_name", Phase: "M", Process: process, Args: map[string]any{"name": name}})
}

// span writes a slice. If the slice has not ended, it lasts until the end of the simulation.
func (w *traceWriter) span(s slice, from, to, end time.Duration) {
	if from == sim.None {
		return
	}
	if to == sim.None {
		to = end
	}
	s.Phase, s.At, s.For = "X", from.Microseconds(), max(to-from, time.Microsecond).Microseconds()
	w.write(s)
}

func (w *traceWriter) jobs(r *sim.Result) {
	lanes := lanes{}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		to := j.Finished
		if to == sim.None {
			to = r.End
		}

		w.span(
			slice{
				Name:     j.Name,
				Category: "job",
				Process:  ofJobs,
				Thread:   lanes.take(j.Submitted, to),
				Args: map[string]any{
					"end": j.End, "reason": j.Reason, "pods": j.Pods, "succeeded": j.Succeeded, "failed": j.Failed,
				},
			},
			j.Submitted,
			j.Finished,
			r.End,
		)
	}
}

func (w *traceWriter) pods(r *sim.Result) {
	byNode := map[int32]lanes{}
	for i := range r.Pods {
		p := &r.Pods[i]
		from, to := p.Bound, p.Ended
		if from == sim.None {
			from = p.Created
		}
		if to == sim.None {
			to = p.Gone // the pod was deleted before it ran
		}
		if to == sim.None {
			to = r.End
		}
		l := byNode[p.Node]
		lane := l.take(from, to)
		byNode[p.Node] = l
		category := "failed"
		switch {
		case p.Succeeded:
			category = "succeeded"
		case p.Ended == sim.None:
			category = "open"
		}
		w.span(
			slice{
				Name:     fmt.Sprintf("%s/%d", r.Jobs[p.Job].Name, p.Number),
				Category: category,
				Process:  ofNodes,
				Thread:   int(p.Node+1)*1000 + lane,
				Args: map[string]any{
					"exitCode": p.ExitCode,
					"index":    p.Index,
					"restarts": p.Restarts,
					"waited":   (from - p.Created).Seconds(),
				},
			},
			from,
			to,
			r.End,
		)
	}
}

func (w *traceWriter) runs(r *sim.Result) {
	for i := range r.Runs {
		run := &r.Runs[i]
		w.span(
			slice{
				Name:     r.CronJobs[run.Cron],
				Category: "run",
				Process:  ofCronJobs,
				Thread:   int(run.Cron),
				Args: map[string]any{
					"scheduled": run.Scheduled.Seconds(), "late": (run.Created - run.Scheduled).Seconds(),
					"end": run.End,
				},
			},
			run.Created,
			run.Finished,
			r.End,
		)
	}

	for i := range r.Missed {
		m := &r.Missed[i]
		w.write(slice{
			Name:     "missed: " + m.Why,
			Category: "missed",
			Phase:    "i",
			At:       m.At.Microseconds(),
			Process:  ofCronJobs,
			Thread:   int(m.Cron),
			Args:     map[string]any{"runs": m.Count},
		})
	}
}

// lanes are the lines of a trace. Slices on one line do not overlap. The lines form a heap, with
// the line that is free first at the top.
type lanes []lane

type lane struct {
	free   time.Duration
	number int
}

// take returns the number of the lane for a slice. The arguments are the times at which the slice
// begins and ends. Slices must come roughly in the order in which they begin.
func (l *lanes) take(from, to time.Duration) int {
	h := *l
	if len(h) == 0 || h[0].free > from {
		h = append(h, lane{to, len(h)})
		for i := len(h) - 1; i > 0 && h[i].free < h[(i-1)/2].free; i = (i - 1) / 2 {
			h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		}
		*l = h
		return len(h) - 1
	}

	number := h[0].number
	h[0].free = to

	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h); c++ {
			if h[c].free < h[least].free {
				least = c
			}
		}

		if least == i {
			return number
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
