package play

import (
	"strings"
	"time"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
)

// Life is a Job or CronJob and what has happened to it.
type Life interface {
	// Do takes one step, and lets the controller answer. After an error the life must not
	// be used any more.
	Do(step string) error
	// Clone returns a life that goes its own way from here.
	Clone() Life
	// View describes this state, with a page of its pods or jobs that begins at one of them.
	View(from int) View
	// GoTest is a test of the planner in Go: the snapshot of this state, and its plan.
	GoTest() (string, error)
}

// View is what a page shows of a Life.
type View struct {
	// Kind is "Job" or "CronJob".
	Kind string `json:"kind"`
	// Clock is the time since the beginning, and for a CronJob the time of day.
	Clock string `json:"clock"`
	// Summary is the state in a sentence, Next what happens next and why.
	Summary  string            `json:"summary"`
	State    explain.State     `json:"state"`
	Next     []explain.Step    `json:"next"`
	Facts    []explain.Fact    `json:"facts"`
	Findings []explain.Finding `json:"findings,omitempty"`
	// Plans are the plans of the step, with their reasons.
	Plans []string `json:"plans"`
	// Status is as Kubernetes would show it, Head and Table what kubectl get prints.
	Status string   `json:"status"`
	Head   []string `json:"head"`
	Table  []string `json:"table"`
	// Items are a page of the pods of a Job or the jobs of a CronJob: those from the
	// place From, of Count.
	Items  []Item   `json:"items"`
	From   int      `json:"from"`
	Count  int      `json:"count"`
	Events []string `json:"events"`
	// Wake says when something happens by itself, and Waited which share of the wait has passed.
	Wake     string            `json:"wake,omitempty"`
	Waited   float64           `json:"waited,omitempty"`
	Ended    bool              `json:"ended"`
	Suspend  bool              `json:"suspend"`
	Parallel int32             `json:"parallelism"`
	Timeline *explain.Timeline `json:"timeline"`
}

// Item is a pod or a job with what can be done to it.
type Item struct {
	Name    string   `json:"name"`
	Index   *int32   `json:"index,omitempty"`
	Phase   string   `json:"phase"`
	Text    string   `json:"text"`
	Actions []string `json:"actions"`
}

// pageSize is how many items a view has.
const pageSize = 50

// pageFrom is where the page that contains an item begins.
func pageFrom(from, count int) int {
	from = min(max(from, 0), max(count-1, 0))
	return from - from%pageSize
}

// maxEvents is how many events a view has, the latest ones.
const maxEvents = 50

// teller writes the story of a life down. A nil teller is silent, since the text of a large
// life costs more than the life.
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

// wait is the time until something happens by itself, and since when it is awaited.
type wait struct{ since, until time.Time }

// next is the wait for the time that is awaited now: the same one, or another that begins.
func (w wait) next(until, now time.Time) wait {
	if until.Equal(w.until) {
		return w
	}
	return wait{now, until}
}

// passed is the share of the wait that has passed, from 0 to 1.
func (w wait) passed(now time.Time) float64 {
	if whole := w.until.Sub(w.since); whole > 0 {
		return float64(now.Sub(w.since)) / float64(whole)
	}
	return 0
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
