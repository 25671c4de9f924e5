package play

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/line"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
)

// Life is the life of a Job or CronJob up to now.
type Life interface {
	// Do takes one step, and runs the controller after it. After an error the life must not
	// be used any more.
	Do(step string) error
	// Clone returns a copy in this state. Steps of the copy do not change the original, and steps
	// of the original do not change the copy.
	Clone() Life
	// View describes this state. It contains one page of the pods or Jobs: the page with the item
	// at place from, counted from 0.
	View(from int) View
	// GoTest returns a Go test: it plans the snapshot of this state, and expects the same plan.
	GoTest() (string, error)
}

// View is the state of a Life as the page shows it.
type View struct {
	// Kind is "Job" or "CronJob".
	Kind string `json:"kind"`
	// Clock is the time since the beginning, and for a CronJob the time of day.
	Clock string `json:"clock"`
	// Summary is the state in a sentence. Next is what happens next, and why.
	Summary  string            `json:"summary"`
	State    explain.State     `json:"state"`
	Next     []explain.Step    `json:"next"`
	Facts    []explain.Fact    `json:"facts"`
	Findings []explain.Finding `json:"findings,omitempty"`
	// Plans are the plans of the step, with their reasons.
	Plans []string `json:"plans"`
	// Status is the status as YAML. Head and Table are the lines of kubectl get.
	Status string   `json:"status"`
	Head   []string `json:"head"`
	Table  []string `json:"table"`
	// Items are one page of the pods of a Job or of the Jobs of a CronJob. From is the place of the
	// first item. Count is the number of all pods or Jobs.
	Items  []Item   `json:"items"`
	From   int      `json:"from"`
	Count  int      `json:"count"`
	Events []string `json:"events"`
	// Wake is the next time at which something happens by itself. Waited is how much of the wait
	// has passed, from 0 to 1.
	Wake     string            `json:"wake,omitempty"`
	Waited   float64           `json:"waited,omitempty"`
	Ended    bool              `json:"ended"`
	Suspend  bool              `json:"suspend"`
	Parallel int32             `json:"parallelism"`
	Timeline *explain.Timeline `json:"timeline"`
}

// Item is a pod or a Job, with the actions that apply to it.
type Item struct {
	Name    string   `json:"name"`
	Index   *int32   `json:"index,omitempty"`
	Phase   string   `json:"phase"`
	Text    string   `json:"text"`
	Actions []string `json:"actions"`
}

// pageSize is the maximum number of items in a view.
const pageSize = 50

// pageFrom returns the place of the first item on the page that contains the item at place from.
func pageFrom(from, count int) int {
	from = min(max(from, 0), max(count-1, 0))
	return from - from%pageSize
}

// maxEvents is the maximum number of events in a view. It shows the latest ones.
const maxEvents = 50

// lanes puts bars into the lanes of a drawing, in the order in which the bars are created. The first
// lane of the drawing stays free.
type lanes struct {
	*explain.Timeline
	label string
	// free has, for each lane, the time from which it is free.
	free []time.Time
}

// add adds bars to the first lane that is free when they begin. end is zero if the bars have not
// ended.
func (l *lanes) add(begin, end time.Time, bars ...explain.Bar) {
	n := slices.IndexFunc(l.free, func(at time.Time) bool { return !at.After(begin) })
	if n < 0 && len(l.free) >= maxLanes {
		l.More++
		return
	}
	if n < 0 {
		n = len(l.free)
		l.free = append(l.free, time.Time{})
		l.Lanes = append(l.Lanes, explain.Lane{Label: l.label})
	}
	l.Lanes[n+1].Bars = append(l.Lanes[n+1].Bars, bars...)
	if l.free[n] = end; end.IsZero() {
		l.free[n] = l.Now.Add(time.Nanosecond)
	}
}

// teller writes the story of a life. A nil teller writes nothing, because writing the story of a
// large life takes longer than playing it.
type teller struct{ strings.Builder }

// tell adds a command to the story.
func (t *teller) tell(command, input, output string) {
	if t == nil {
		return
	}
	t.WriteString(command + "\n")
	if input != "" {
		t.WriteString(input + "\n")
	}
	t.WriteString("----\n" + output + "\n")
}

// wait is a wait until something happens by itself.
type wait struct{ since, until time.Time }

// next returns w if w also lasts until the time until. Otherwise it returns a new wait that begins
// now.
func (w wait) next(until, now time.Time) wait {
	if until.Equal(w.until) {
		return w
	}
	return wait{now, until}
}

// passed returns how much of the wait has passed, from 0 to 1.
func (w wait) passed(now time.Time) float64 {
	if whole := w.until.Sub(w.since); whole > 0 {
		return float64(now.Sub(w.since)) / float64(whole)
	}
	return 0
}

func jsonText(spec any) string {
	data, err := json.Marshal(spec)
	if err != nil {
		return "{}" // unreachable
	}
	return string(data)
}

// edited returns a copy of a spec with the fields of a JSON text.
func edited[S any](spec S, text, example string) (next S, err error) {
	if err := json.Unmarshal([]byte(jsonText(spec)), &next); err != nil {
		return next, err
	}
	if err := line.Decode(text, &next); err != nil {
		return next, fmt.Errorf("edit: %q: must be fields of the spec as JSON, such as %s: %w", text, example, err)
	}
	return next, nil
}

func short(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = text[:len(text)-2]
	}
	if strings.HasSuffix(text, "h0m") {
		text = text[:len(text)-2]
	}
	return text
}
