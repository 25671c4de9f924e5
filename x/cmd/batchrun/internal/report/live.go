package report

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/control"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/logs"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
	"github.com/batchplan/batchplan/x/cmd/internal/terminal"
)

// live shows one line for each unfinished job and each CronJob at the bottom of a terminal, and
// keeps the lines up to date. Everything else is written above them, and stays.
//
// A frame is drawn over the last one with one write, and ends with the cursor below the frame. So
// if the program is killed, nothing has to be restored. The lines of a frame are not wider than the
// terminal, whose size may change.
type live struct {
	mu     sync.Mutex
	out    io.Writer
	size   func() (width, height int)
	now    func() time.Time
	layout string
	lines  []*liveLine
	drawn  []int    // the widths of the lines that are on the screen
	ends   []string // lines to be written below the last frame
	dirty  bool
	stop   chan struct{}
	over   sync.WaitGroup
	names  prefixes
}

// liveLine is the line of one job or CronJob.
type liveLine struct {
	uid     job.UID
	key     string
	spec    *job.Spec // nil for a CronJob
	status  job.Status
	created time.Time
	next    string // what the CronJob or job waits for
	over    bool   // the job or CronJob has ended; its next round, as after a resumption, clears this
}

// minHeight is the minimum height of a terminal with live lines. There are at least two lines above
// the live line, and the line of the cursor below it.
const minHeight = 4

// frameTime is the minimum time between two frames.
const frameTime = 100 * time.Millisecond

// FitLive reports whether a terminal has room for live lines.
func FitLive(out *os.File) bool {
	_, height, err := term.GetSize(int(out.Fd()))
	return err == nil && height >= minHeight
}

// NewLive returns a reporter that draws on a terminal, with times in the given layout.
func NewLive(out *os.File, layout string, now func() time.Time) Reporter {
	l := &live{out: out, now: now, layout: layout, stop: make(chan struct{}), size: func() (int, int) {
		width, height, err := term.GetSize(int(out.Fd()))
		if err != nil || width == 0 {
			return 80, 24
		}
		return width, height
	}}
	l.over.Go(l.redraw)
	return l
}

// redraw draws a frame after changes, and every second, since frames show times.
func (l *live) redraw() {
	tick := time.NewTicker(frameTime)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
		l.mu.Lock()
		if l.dirty || n%int(time.Second/frameTime) == 0 && len(l.drawn) > 0 {
			l.draw("")
		}
		l.mu.Unlock()
	}
}

// above writes a text above the live lines. The text ends with a line end.
func (l *live) above(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(terminal.Text(strings.TrimSuffix(line, "\n")) + "\n")
	}
	l.draw(b.String())
}

// draw replaces the last frame by a text and a new frame.
func (l *live) draw(text string) {
	width, height := l.size()
	var b strings.Builder
	if rows := rowsOf(l.drawn, width); rows > 0 {
		// The cursor cannot go above the first row of the screen.
		fmt.Fprintf(&b, "\r\x1b[%dA\x1b[J", min(rows, max(1, height-1)))
	}
	b.WriteString(text)
	l.drawn = l.drawn[:0]
	for _, line := range l.frame(width, height) {
		l.drawn = append(l.drawn, runewidth.StringWidth(line))
		b.WriteString(line + "\n")
	}
	l.dirty = false
	_, _ = io.WriteString(l.out, b.String())
}

// rowsOf returns how many rows the lines take on a terminal whose width has changed to width. Most
// terminals wrap lines that have become too long.
func rowsOf(widths []int, width int) (rows int) {
	for _, w := range widths {
		rows += max(1, (w+width-1)/max(width, 1))
	}
	return rows
}

// frame returns the lines to draw.
func (l *live) frame(width, height int) (lines []string) {
	open := slices.Clone(l.lines)
	open = slices.DeleteFunc(open, func(j *liveLine) bool { return j.over })
	most := max(1, min(height-2, (height+1)/2))
	for i, j := range open {
		if len(lines) == most-1 && i < len(open)-1 {
			lines = append(lines, cut(fmt.Sprintf("... and %d more; batchrun status shows all", len(open)-i), width))
			break
		}
		lines = append(lines, l.line(j, width))
	}
	return lines
}

// barWidth is the width of a bar. barFrom is the minimum width of a terminal with bars.
const barWidth, barFrom = 22, 76

// line returns the line of a job or CronJob, at most as wide as the terminal.
func (l *live) line(j *liveLine, width int) string {
	name := Shorten(terminal.Text(j.key), max(8, width/4))
	if j.spec == nil {
		return cut(name+"  "+terminal.Text(j.next), width)
	}
	s := &j.status
	parts := []string{name}
	if total := totalOf(j.spec); total > 0 && width >= barFrom {
		done := int(min(int64(s.Succeeded), total) * barWidth / total)
		parts = append(parts, "["+strings.Repeat("#", done)+strings.Repeat("-", barWidth-done)+"]")
	}
	parts = append(parts, Elapsed(l.now().Sub(j.created)))
	counts := succeeded(j.spec, s) + " done, " + fmt.Sprint(s.Active) + " active"
	if s.Failed > 0 {
		counts += fmt.Sprintf(", %d failed", s.Failed)
	}
	parts = append(parts, counts)
	if j.next != "" {
		parts = append(parts, terminal.Text(j.next))
	}
	return cut(strings.Join(parts, "  "), width)
}

// totalOf returns the number of completions, or 0 for a work queue.
func totalOf(spec *job.Spec) int64 {
	if spec.Completions == nil {
		return 0
	}
	return int64(*spec.Completions)
}

// cut ends a line before the last column, since some terminals wrap a line that fills it.
func cut(line string, width int) string { return runewidth.Truncate(line, max(width-1, 1), "…") }

// Shorten shortens a long name in its middle, since names often differ at their ends.
func Shorten(name string, width int) string {
	if runewidth.StringWidth(name) <= width {
		return name
	}
	head := runewidth.Truncate(name, width/2, "")
	tail := runewidth.TruncateLeft(name, runewidth.StringWidth(name)-(width-1-runewidth.StringWidth(head)), "")
	return head + "…" + tail
}

// Elapsed writes a time that has passed, such as 1m05s, in at most seven characters.
func Elapsed(d time.Duration) string {
	d = max(d, 0).Truncate(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%02dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

// find returns the line of a job or CronJob. A removed object and its successor may share a key.
func (l *live) find(uid job.UID, key string) *liveLine {
	for _, j := range l.lines {
		if j.uid == uid {
			return j
		}
	}
	j := &liveLine{uid: uid, key: key}
	l.lines = append(l.lines, j)
	return j
}

// Round updates the line of the job. Jobs of CronJobs have no lines.
func (l *live) Round(r control.Round) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := r.Job.Key()
	if r.Job.CronJob == "" {
		j := l.find(r.Job.UID, key)
		j.spec, j.status, j.created, j.next = r.Spec, r.Status, r.Job.Created, outlook(&r, l.layout)
		j.over, l.dirty = false, true
	}
	l.problems(key, r.Notes, r.Err, r.Events)
}

// CronRound updates the line of the CronJob.
func (l *live) CronRound(r control.CronRound) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := r.CronJob.Key()
	c := l.find(r.CronJob.UID, key)
	c.next, l.dirty = cronLine(&r, l.layout), true
	l.problems(key, r.Notes, r.Err, r.Events)
}

// problems writes notes, the error of a round, and the warnings among the events.
func (l *live) problems(key string, notes []job.Note, err error, events []job.Event) {
	var b strings.Builder
	problems(&b, key, notes, err)
	for _, e := range events {
		if e.Type == job.EventWarning {
			fmt.Fprintf(&b, "%s: %s: %s\n", key, e.Reason, e.Message)
		}
	}
	if b.Len() > 0 {
		l.above("%s", b.String())
	}
}

// Note writes a line above the live lines.
func (l *live) Note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.above("%s\n", text)
}

// Log writes a line that a pod has written.
func (l *live) Log(line logs.Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	width, _ := l.size()
	if most := max(12, width/3); most != l.names.most {
		l.names = prefixes{most: most}
	}
	l.above("%s%s\n", l.names.of(&line), line.Text)
}

// End removes the line of the job. It keeps the final state of the job, which Close writes.
func (l *live) End(stored *store.Job, s job.Status, f *Failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := stored.Key()
	line := fmt.Sprintf("%s: %s", key, Verdict(&s))
	if stored.CronJob != "" {
		l.above("%s\n%s", line, f.text())
		return
	}
	j := l.find(stored.UID, key)
	if j.over, l.dirty = true, true; j.spec != nil {
		line += "; " + counters(j.spec, &s) + "; after " + Elapsed(l.now().Sub(j.created))
	}
	l.ends = append(l.ends, line+"\n"+f.text())
}

// Removed removes the line of the job or CronJob, and writes the text above the others.
func (l *live) Removed(uid job.UID, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = slices.DeleteFunc(l.lines, func(j *liveLine) bool { return j.uid == uid })
	l.above("%s\n", text)
}

// Close removes the live lines and writes the final states.
func (l *live) Close() {
	close(l.stop)
	l.over.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	// If a job has not ended, its last line stays on the screen.
	l.draw("")
	l.drawn = nil
	l.lines = nil
	l.above("%s", strings.Join(l.ends, ""))
}
