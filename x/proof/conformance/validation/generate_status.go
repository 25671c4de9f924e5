package validation

import (
	"fmt"
	"maps"
	"slices"

	"github.com/batchplan/batchplan/internal/specgen"
)

// status is a status under construction.
type status struct {
	// fields holds all fields of the status except conditions and uncountedTerminatedPods.
	fields     object
	conditions []object
	uncounted  [2][]string // succeeded, failed
}

func newStatus() *status {
	return &status{fields: object{"active": 0, "ready": 0, "terminating": 0, "succeeded": 0, "failed": 0}}
}

func (s *status) clone() *status {
	return &status{
		maps.Clone(s.fields),
		slices.Clone(s.conditions),
		[2][]string{slices.Clone(s.uncounted[0]), slices.Clone(s.uncounted[1])},
	}
}

func (s *status) object() object {
	o := maps.Clone(s.fields)
	maps.DeleteFunc(o,
		func(name string, value any) bool { return value == nil || value == "" && name != "failedIndexes" })
	if s.conditions != nil {
		o["conditions"] = s.conditions
	}
	if len(s.uncounted[0])+len(s.uncounted[1]) > 0 {
		o["uncountedTerminatedPods"] = object{"succeeded": s.uncounted[0], "failed": s.uncounted[1]}
	}
	return o
}

// set sets fields, given as alternating names and values.
func (s *status) set(fields ...any) {
	for i := 0; i < len(fields); i += 2 {
		s.fields[fields[i].(string)] = fields[i+1]
	}
}

func (s *status) add(field string, n int) { s.fields[field] = s.fields[field].(int) + n }

const (
	early = "2026-01-01T00:00:00Z"
	late  = "2026-01-01T00:01:00Z"
)

// setCondition replaces the condition of a type, or adds it.
func (s *status) setCondition(kind, value, reason string) {
	c := object{"type": kind, "status": value, "reason": reason, "lastTransitionTime": late}
	if i := slices.IndexFunc(s.conditions, func(c object) bool { return c["type"] == kind }); i >= 0 {
		s.conditions[i] = c
		return
	}
	s.conditions = append(s.conditions, c)
}

// statusSpec draws the spec of a job that both sides accept.
func (g *generator) statusSpec() object {
	o := specgen.Generator{Source: g, Range: specgen.Wild}.Job()
	if o["completions"] != nil && g.in100(50) {
		o["completions"] = 5
	}
	return o
}

// transition draws a status and the next one. They differ by realistic steps, by random changes, by
// both, or not at all.
func (g *generator) transition(spec object) (old, next object) {
	was := newStatus()
	if g.in100(80) {
		was.set("startTime", early)
	}
	for range g.IntN(4) {
		g.live(was, spec)
	}
	for g.in100(25) {
		g.change(was)
	}
	is := was.clone()
	for range g.IntN(3) {
		g.live(is, spec)
	}
	for g.in100(45) {
		g.change(is)
	}
	return was.object(), is.object()
}

// live takes a realistic step.
func (g *generator) live(s *status, spec object) {
	indexed := spec["completionMode"] == "Indexed"
	switch g.IntN(9) {
	case 0:
		active := 1 + g.IntN(3)
		s.set("active", active, "ready", g.IntN(active+1))
	case 1:
		s.uncounted[g.IntN(2)] = append(s.uncounted[0], fmt.Sprint("uid-", g.IntN(6)))
	case 2: // the uncounted pods are counted
		if !indexed {
			s.add("succeeded", len(s.uncounted[0]))
		}
		s.add("failed", len(s.uncounted[1]))
		s.uncounted = [2][]string{}
	case 3:
		if indexed {
			lists := []string{"", "0", "0,1", "0-2", "0-2,4", "3,4", "2-4"}
			sizes := []int{0, 1, 2, 3, 4, 2, 3}
			i := g.IntN(len(lists))
			s.set("completedIndexes", lists[i], "succeeded", sizes[i])
		}
	case 4:
		if spec["backoffLimitPerIndex"] != nil {
			s.set("failedIndexes", pick(g, "", "1", "3,4", "3"))
		}
	case 5:
		if g.in100(50) {
			s.setCondition("Suspended", "True", "JobSuspended")
			s.set("startTime", "", "active", 0, "ready", 0)
		} else {
			s.setCondition("Suspended", "False", "JobResumed")
			s.set("startTime", late)
		}
	case 6:
		s.setCondition(pick(g, "FailureTarget", "SuccessCriteriaMet"), "True",
			pick(g, "SuccessPolicy", "CompletionsReached"))
	case 7:
		g.end(s)
	case 8:
		s.set("terminating", g.IntN(3))
	}
}

func (g *generator) end(s *status) {
	s.set("active", 0, "ready", 0, "terminating", 0)
	s.uncounted = [2][]string{}
	if g.in100(50) {
		s.setCondition("FailureTarget", "True", "BackoffLimitExceeded")
		s.setCondition("Failed", "True", "BackoffLimitExceeded")
		return
	}
	s.setCondition("SuccessCriteriaMet", "True", "CompletionsReached")
	s.setCondition("Complete", "True", "CompletionsReached")
	s.set("completionTime", late)
}

// fieldValues holds values for random changes of a field; nil removes the field.
var fieldValues = []struct {
	name   string
	values []any
}{
	{"active", numbers}, {"ready", numbers}, {"terminating", numbers}, {"succeeded", numbers}, {"failed", numbers},
	{
		"startTime",
		[]any{"", early, late, "2026-01-01T00:02:00Z"},
	}, {"completionTime", []any{"", early, late, "2026-01-01T00:02:00Z"}},
	{
		"completedIndexes",
		lists,
	}, {"failedIndexes", append(lists[:len(lists):len(lists)], nil, nil, nil, nil, nil, nil, nil)},
}

var (
	numbers = []any{-1, 0, 1, 2, 3, 4}
	lists   = []any{
		"",
		"0",
		"1",
		"0,1",
		"0-2",
		"1-3,5",
		"0-4",
		"3,4",
		"1,2,3",
		"0-1",
		"1-1",
		"+1",
		"01",
		"4,2",
		"2-2,1",
		"0-2,2",
		"5-2",
		"x",
		"0,x",
		"x,1",
		"1,",
		"-1",
		"1-",
		"0-9",
		"9",
		"6",
		"0-1-2",
		"4294967296",
		"0,2-1,3",
	}
)

// change makes one random change.
func (g *generator) change(s *status) {
	if n := g.IntN(13); n < len(fieldValues) {
		s.set(fieldValues[n].name, pick(g, fieldValues[n].values...))
		return
	}
	switch i := g.IntN(2); g.IntN(4) {
	case 0:
		s.uncounted[i] = append(s.uncounted[i], pick(g, "", "uid-0", "uid-1", "uid-2"))
	case 1:
		s.uncounted[i] = s.uncounted[i][min(1, len(s.uncounted[i])):]
	default:
		g.changeCondition(s)
	}
}

func (g *generator) changeCondition(s *status) {
	kind := pick(g, "Suspended", "FailureTarget", "SuccessCriteriaMet", "Failed", "Complete", "Other")
	value := pick(g, "True", "True", "False", "Unknown", "")
	reason := pick(g, "", "SuccessPolicy", "CompletionsReached")
	switch g.IntN(4) {
	case 0, 1:
		s.setCondition(kind, value, reason)
	case 2:
		s.conditions = slices.DeleteFunc(s.conditions, func(c object) bool { return c["type"] == kind })
	case 3: // a second one of its type, if there is one already
		s.conditions = append(s.conditions, object{"type": kind, "status": value, "reason": reason})
	}
}
