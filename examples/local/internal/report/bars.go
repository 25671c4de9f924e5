package report

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/batchplan/batchplan/examples/local/internal/control"
	"github.com/batchplan/batchplan/job"
)

// bars shows one line a job, kept up to date.
type bars struct {
	mu       sync.Mutex
	progress *mpb.Progress
	jobs     map[string]*jobBar
	ends     []string
	out      io.Writer
}

type jobBar struct {
	bar  *mpb.Bar
	spec job.Spec
	text string
}

// NewBars draws on a terminal.
func NewBars(out io.Writer) Reporter {
	return &bars{
		progress: mpb.New(mpb.WithOutput(out), mpb.WithWidth(24), mpb.WithRefreshRate(100*time.Millisecond)),
		jobs:     map[string]*jobBar{},
		out:      out,
	}
}

// Round brings the bar of the job up to date.
func (b *bars) Round(r control.Round) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := r.Job.Key()
	j := b.jobs[key]
	if j == nil {
		j = b.add(key, r.Spec)
	}
	j.text = counters(r.Spec, &r.Status)
	if r.Status.Finished() != "" {
		j.text += "; " + Verdict(&r.Status)
	} else if next := outlook(&r); next != "" {
		j.text += "; " + next
	}
	j.bar.SetCurrent(min(int64(r.Status.Succeeded), j.total()))
	problems(b.progress, &r)
	for _, e := range r.Events {
		if e.Type == job.Warning {
			fmt.Fprintf(b.progress, "%s: %s: %s\n", key, e.Reason, e.Message)
		}
	}
}

// add makes the bar of a job. A bar never completes by itself: one that did
// would not be drawn again when completions grow.
func (b *bars) add(key string, spec *job.Spec) *jobBar {
	j := &jobBar{spec: *spec}
	b.jobs[key] = j
	text := func(decor.Statistics) string {
		b.mu.Lock()
		defer b.mu.Unlock()
		return " " + j.text
	}
	j.bar = b.progress.New(0, mpb.BarStyle().Lbound("[").Rbound("]"),
		mpb.PrependDecorators(decor.Name(key+" ", decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.Any(text)))
	j.bar.SetTotal(j.total(), false)
	return j
}

// total is the length of the bar; a work queue has no total, any success ends it.
func (j *jobBar) total() int64 {
	if j.spec.Completions == nil {
		return 1
	}
	return max(int64(*j.spec.Completions), 1)
}

// Note writes a line above the bars.
func (b *bars) Note(text string) { fmt.Fprintln(b.progress, text) }

// End notes how the job stands, to be written below the bars.
func (b *bars) End(key string, s job.Status) {
	b.mu.Lock()
	defer b.mu.Unlock()
	line := fmt.Sprintf("%s: %s", key, Verdict(&s))
	if j := b.jobs[key]; j != nil {
		line += "; " + counters(&j.spec, &s)
	}
	b.ends = append(b.ends, line)
}

// Close leaves the bars as they are and writes the ends below them.
func (b *bars) Close() {
	b.mu.Lock()
	var all []*mpb.Bar
	for _, j := range b.jobs {
		all = append(all, j.bar)
	}
	b.mu.Unlock()
	for _, bar := range all {
		bar.Abort(false)
	}
	b.progress.Wait()
	for _, line := range b.ends {
		fmt.Fprintln(b.out, line)
	}
}
