package conformance

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
)

// Rules watches our controllers and counts how often the scripts have exercised each rule of
// docs/rules.md. No difference can be found in a rule that no script exercises.
type Rules struct {
	mu     sync.Mutex
	counts map[string]int // by rule and case
	// schedules holds the schedule of each CronJob in its last round (C17).
	schedules map[job.UID]string
}

// rule is a rule, or one case of it, with a function that recognises it.
type rule[T any] struct {
	// name is the number of the rule, and after a blank the case.
	name string
	seen func(T) bool
}

// unreachable holds the rules that no script exercises, and why.
var unreachable = map[string]string{
	"J4": "the controllers do not plan a job that has finished; what becomes of its pods is J36",
}

// NewRules returns empty counts.
func NewRules() *Rules { return &Rules{counts: map[string]int{}, schedules: map[job.UID]string{}} }

func count[T any](c *Rules, rules []rule[T], what T) {
	for _, r := range rules {
		if r.seen(what) {
			c.counts[r.name]++
		}
	}
}

// Script counts the rules that a script exercises, whatever the controllers do.
func (c *Rules) Script(s *script.Script) {
	c.mu.Lock()
	defer c.mu.Unlock()
	count(c, scriptRules, s)
	count(c, classRules, s)
	for _, step := range s.Steps {
		c.counts["step "+step.Op]++
	}
}

// Job implements [ours.Watch].
func (c *Rules) Job(s *job.Snapshot, p *job.Plan, o job.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	round := newJobRound(s, p, o)
	count(c, jobRules, round)
	count(c, situationRules, round)
}

// Stale implements [ours.Watch].
func (c *Rules) Stale() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts["E6"]++
}

// Orphan implements [ours.Watch].
func (c *Rules) Orphan() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts["J36"]++
}

// CronJob implements [ours.Watch].
func (c *Rules) CronJob(s *cronjob.Snapshot, p *cronjob.Plan, o cronjob.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	round := newCronRound(s, p, o)
	now := s.Schedule.Source + " " + s.Schedule.Zone
	before, ok := c.schedules[s.CronJob.UID]
	round.rescheduled = ok && before != now
	c.schedules[s.CronJob.UID] = now
	count(c, cronRules, round)
}

// TTL implements [ours.Watch].
func (c *Rules) TTL(j *job.Job, now time.Time, fresh, expired bool, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	count(c, ttlRules, &ttlLook{j, now, fresh, expired, at})
}

// names returns the names of all cases, in the order of the tables.
func names() []string {
	return slices.Concat(namesOf(scriptRules), namesOf(jobRules), namesOf(ttlRules), namesOf(cronRules),
		[]string{"J36", "E6"})
}

// others returns the names of the cases without a number: classes of scripts, and situations.
func others() []string { return slices.Concat(namesOf(classRules), namesOf(situationRules)) }

func namesOf[T any](rules []rule[T]) (out []string) {
	for _, r := range rules {
		out = append(out, r.name)
	}
	return out
}

// numbers returns the numbers of all rules.
func numbers() (out []string) {
	for _, group := range [...]struct {
		letter string
		last   int
	}{{"J", 45}, {"E", 6}, {"T", 4}, {"C", 17}, {"S", 5}} {
		for i := range group.last {
			out = append(out, fmt.Sprintf("%s%d", group.letter, i+1))
		}
	}
	return out
}

// Missed returns the rules of which no case was exercised, and the classes and situations that did
// not occur.
func (c *Rules) Missed() (out []string) {
	all := names()
	for _, number := range numbers() {
		total := 0
		for _, name := range casesOf(all, number) {
			total += c.counts[name]
		}
		if total == 0 && unreachable[number] == "" {
			out = append(out, number)
		}
	}
	for _, name := range others() {
		if c.counts[name] == 0 {
			out = append(out, name)
		}
	}
	return out
}

func casesOf(all []string, number string) (out []string) {
	for _, name := range all {
		if of, _, _ := strings.Cut(name, " "); of == number && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// String returns a table with a line for each rule and the counts of its cases.
func (c *Rules) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	all := names()
	for _, number := range numbers() {
		var cells []string
		for _, name := range casesOf(all, number) {
			_, of, _ := strings.Cut(name, " ")
			cells = append(cells, strings.TrimSpace(fmt.Sprintf("%s %d", of, c.counts[name])))
		}
		if why := unreachable[number]; why != "" {
			cells = []string{"- " + why}
		}
		fmt.Fprintf(&b, "%-4s %s\n", number, strings.Join(cells, ", "))
	}
	for _, name := range others() {
		fmt.Fprintf(&b, "%s %d\n", name, c.counts[name])
	}
	b.WriteString(c.steps())
	return b.String()
}

// steps returns a line with the count of every step.
func (c *Rules) steps() string {
	var cells []string
	for name, n := range c.counts {
		if op, ok := strings.CutPrefix(name, "step "); ok {
			cells = append(cells, fmt.Sprintf("%s %d", op, n))
		}
	}
	slices.Sort(cells)
	return "steps: " + strings.Join(cells, ", ") + "\n"
}
