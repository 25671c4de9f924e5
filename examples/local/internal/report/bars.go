package report

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/batchplan/batchplan/examples/local/internal/control"
	"github.com/batchplan/batchplan/examples/local/internal/store"
	"github.com/batchplan/batchplan/job"
)

// bars shows one line per job or CronJob, kept up to date. Jobs of CronJobs come
// and go: lines above report how they end.
type bars struct {
	mu sync.Mutex
	// progress is nil until there is a bar to draw. Earlier lines are written
	// permanently, since their number is not known.
	progress *mpb.Progress
	layout   string
	jobs     map[string]*jobBar
	crons    map[string]*jobBar
	ends     []string
	out      io.Writer
}

type jobBar struct {
	bar  *mpb.Bar
	spec job.Spec
	text string
}

// NewBars returns a reporter that draws on a terminal, with times in the given
// layout.
func NewBars(out io.Writer, layout string) Reporter {
	return &bars{layout: layout, jobs: map[string]*jobBar{}, crons: map[string]*jobBar{}, out: out}
}

// FitBars reports whether that many bars fit on a terminal. If they do not, each
// drawing would scroll the one before, and the lines above it, out of sight.
func FitBars(out *os.File, n int) bool {
	_, height, err := cwriter.New(out).GetTermSize()
	return err == nil && n+1 < height
}

// begin creates the progress; bars are drawn from here on.
func (b *bars) begin() {
	if b.progress == nil {
		b.progress = mpb.New(mpb.WithOutput(b.out), mpb.WithWidth(24), mpb.WithRefreshRate(100*time.Millisecond))
	}
}

// Round updates the bar of the job.
func (b *bars) Round(r control.Round) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin()
	key := r.Job.Key()
	if r.Job.CronJob == "" {
		b.update(key, &r)
	}
	problems(b.progress, key, r.Notes, r.Err)
	b.warn(key, r.Events)
}

func (b *bars) update(key string, r *control.Round) {
	j := b.jobs[key]
	if j == nil {
		j = b.add(key, r.Spec)
	}
	j.text = counters(r.Spec, &r.Status)
	if r.Status.Finished() != "" {
		j.text += "; " + Verdict(&r.Status)
	} else if next := outlook(r, b.layout); next != "" {
		j.text += "; " + next
	}
	j.bar.SetCurrent(min(int64(r.Status.Succeeded), j.total()))
}

// warn writes the warnings among the events above the bars.
func (b *bars) warn(key string, events []job.Event) {
	for _, e := range events {
		if e.Type == job.EventWarning {
			fmt.Fprintf(b.progress, "%s: %s: %s\n", key, e.Reason, e.Message)
		}
	}
}

// CronRound updates the line of the CronJob. A CronJob has no end, so it has no
// bar.
func (b *bars) CronRound(r control.CronRound) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin()
	key := r.CronJob.Key()
	c := b.crons[key]
	if c == nil {
		c = &jobBar{}
		b.crons[key] = c
		c.bar = b.progress.New(0, mpb.NopStyle(), b.prepend(key), b.append(c))
		c.bar.SetTotal(1, false)
	}
	c.text = cronLine(&r, b.layout)
	problems(b.progress, key, r.Notes, r.Err)
	b.warn(key, r.Events)
}

// add creates the bar of a job. A bar never completes by itself, since a complete
// bar would not be drawn again when completions grow.
func (b *bars) add(key string, spec *job.Spec) *jobBar {
	j := &jobBar{spec: *spec}
	b.jobs[key] = j
	j.bar = b.progress.New(0, mpb.BarStyle().Lbound("[").Rbound("]"), b.prepend(key), b.append(j))
	j.bar.SetTotal(j.total(), false)
	return j
}

func (b *bars) prepend(key string) mpb.BarOption {
	return mpb.PrependDecorators(decor.Name(key+" ", decor.WCSyncSpaceR))
}

func (b *bars) append(j *jobBar) mpb.BarOption {
	return mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
		b.mu.Lock()
		defer b.mu.Unlock()
		return " " + j.text
	}))
}

// total is the length of the bar. A work queue has no total: any success ends it.
func (j *jobBar) total() int64 {
	if j.spec.Completions == nil {
		return 1
	}
	return max(int64(*j.spec.Completions), 1)
}

// Note writes a line above the bars.
func (b *bars) Note(text string) {
	b.mu.Lock()
	progress := b.progress
	b.mu.Unlock()
	if progress == nil {
		fmt.Fprintln(b.out, text)
		return
	}
	fmt.Fprintln(progress, text)
}

// End keeps the final state of the job, to be written below the bars.
func (b *bars) End(stored *store.Job, s job.Status) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := stored.Key()
	line := fmt.Sprintf("%s: %s", key, Verdict(&s))
	if b.begin(); stored.CronJob != "" {
		fmt.Fprintln(b.progress, line)
		return
	}
	if j := b.jobs[key]; j != nil {
		line += "; " + counters(&j.spec, &s)
	}
	b.ends = append(b.ends, line)
}

// Close leaves the bars and writes the final states below them.
func (b *bars) Close() {
	b.mu.Lock()
	var all []*mpb.Bar
	for _, group := range []map[string]*jobBar{b.jobs, b.crons} {
		for _, j := range group {
			all = append(all, j.bar)
		}
	}
	b.mu.Unlock()
	for _, bar := range all {
		bar.Abort(false)
	}
	if b.progress != nil {
		b.progress.Wait()
	}
	for _, line := range b.ends {
		fmt.Fprintln(b.out, line)
	}
}
