package validation

import (
	"fmt"
	"maps"
	"slices"
)

// status is a status under construction.
type status struct {
	conditions                                    []object
	start, completion                             string
	active, ready, terminating, succeeded, failed int
	completed                                     string
	failedIndexes                                 *string
	uncounted                                     [2][]string // succeeded, failed
}

func (s *status) clone() *status {
	c := *s
	c.conditions = slices.Clone(s.conditions)
	for i := range c.conditions {
		c.conditions[i] = maps.Clone(c.conditions[i])
	}
	for i := range c.uncounted {
		c.uncounted[i] = slices.Clone(s.uncounted[i])
	}
	return &c
}

func (s *status) object() object {
	o := object{"active": s.active, "ready": s.ready, "terminating": s.terminating, "succeeded": s.succeeded, "failed": s.failed}
	if s.conditions != nil {
		o["conditions"] = s.conditions
	}
	for field, text := range map[string]string{"startTime": s.start, "completionTime": s.completion, "completedIndexes": s.completed} {
		if text != "" {
			o[field] = text
		}
	}
	if s.failedIndexes != nil {
		o["failedIndexes"] = *s.failedIndexes
	}
	if len(s.uncounted[0])+len(s.uncounted[1]) > 0 {
		o["uncountedTerminatedPods"] = object{"succeeded": s.uncounted[0], "failed": s.uncounted[1]}
	}
	return o
}

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

// statusSpec draws the spec of a job that both sides take.
func (g *generator) statusSpec() object {
	o := object{"template": object{"spec": object{"restartPolicy": "Never", "containers": containers("main")}}}
	o.set("suspend", one(g, []any{nil, nil, nil, true, false}, nil))
	o.set("completions", one(g, []any{5, 5, 0, 1, 7}, nil))
	o.set("parallelism", one(g, []any{nil, 2, o["completions"], 7}, nil))
	if g.in100(60) {
		o["completionMode"] = "Indexed"
		if g.in100(60) {
			o["backoffLimitPerIndex"] = 1
		}
		if g.in100(30) {
			o["successPolicy"] = object{"rules": []object{{"succeededCount": 0}}}
		}
	} else if g.in100(20) {
		delete(o, "completions")
	}
	return o
}

// transition draws a status and the next one. The step between them is a step of a
// life, none or some changes by chance, or all of that.
func (g *generator) transition(spec object) (old, next object) {
	was := new(status)
	if g.in100(80) {
		was.start = early
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

// live takes a step as jobs take them.
func (g *generator) live(s *status, spec object) {
	indexed := spec["completionMode"] == "Indexed"
	switch g.IntN(9) {
	case 0:
		s.active = 1 + g.IntN(3)
		s.ready = g.IntN(s.active + 1)
	case 1:
		s.uncounted[g.IntN(2)] = append(s.uncounted[0], fmt.Sprint("uid-", g.IntN(6)))
	case 2: // what is uncounted is counted
		if !indexed {
			s.succeeded += len(s.uncounted[0])
		}
		s.failed += len(s.uncounted[1])
		s.uncounted = [2][]string{}
	case 3:
		if indexed {
			lists := []string{"", "0", "0,1", "0-2", "0-2,4", "3,4", "2-4"}
			sizes := []int{0, 1, 2, 3, 4, 2, 3}
			i := g.IntN(len(lists))
			s.completed, s.succeeded = lists[i], sizes[i]
		}
	case 4:
		if spec["backoffLimitPerIndex"] != nil {
			list := one(g, []string{"", "1", "3,4", "3"}, nil)
			s.failedIndexes = &list
		}
	case 5:
		if g.in100(50) {
			s.setCondition("Suspended", "True", "JobSuspended")
			s.start, s.active, s.ready = "", 0, 0
		} else {
			s.setCondition("Suspended", "False", "JobResumed")
			s.start = late
		}
	case 6:
		s.setCondition(one(g, []string{"FailureTarget", "SuccessCriteriaMet"}, nil), "True", one(g, []string{"SuccessPolicy", "CompletionsReached"}, nil))
	case 7:
		g.end(s)
	case 8:
		s.terminating = g.IntN(3)
	}
}

func (g *generator) end(s *status) {
	s.active, s.ready, s.terminating, s.uncounted = 0, 0, 0, [2][]string{}
	if g.in100(50) {
		s.setCondition("FailureTarget", "True", "BackoffLimitExceeded")
		s.setCondition("Failed", "True", "BackoffLimitExceeded")
		return
	}
	s.setCondition("SuccessCriteriaMet", "True", "CompletionsReached")
	s.setCondition("Complete", "True", "CompletionsReached")
	s.completion = late
}

// change changes one thing by chance.
func (g *generator) change(s *status) {
	number := func() int { return g.IntN(6) - 1 }
	switch g.IntN(13) {
	case 0:
		s.active = number()
	case 1:
		s.ready = number()
	case 2:
		s.terminating = number()
	case 3:
		s.succeeded = number()
	case 4:
		s.failed = number()
	case 5:
		s.start = one(g, []string{"", early, late, "2026-01-01T00:02:00Z"}, nil)
	case 6:
		s.completion = one(g, []string{"", early, late, "2026-01-01T00:02:00Z"}, nil)
	case 7:
		s.completed = g.indexes()
	case 8:
		s.failedIndexes = nil
		if list := g.indexes(); g.in100(80) {
			s.failedIndexes = &list
		}
	case 9:
		i := g.IntN(2)
		s.uncounted[i] = append(s.uncounted[i], one(g, []string{"", "uid-0", "uid-1", "uid-2"}, nil))
	case 10:
		i := g.IntN(2)
		if n := len(s.uncounted[i]); n > 0 {
			s.uncounted[i] = slices.Delete(s.uncounted[i], 0, 1)
		}
	default:
		g.changeCondition(s)
	}
}

func (g *generator) indexes() string {
	return one(g, []string{"", "0", "1", "0,1", "0-2", "1-3,5", "0-4", "3,4", "1,2,3", "0-1", "1-1", "+1", "01", "4,2", "2-2,1", "0-2,2", "5-2", "x", "0,x", "x,1", "1,", "-1", "1-",
		"0-9", "9", "6", "0-1-2", "4294967296", "0,2-1,3"}, nil)
}

var conditionTypes = []string{"Suspended", "FailureTarget", "SuccessCriteriaMet", "Failed", "Complete"}

func (g *generator) changeCondition(s *status) {
	kind := one(g, append(slices.Clone(conditionTypes), "Other"), nil)
	value := one(g, []string{"True", "True", "False", "Unknown", ""}, nil)
	reason := one(g, []string{"", "SuccessPolicy", "CompletionsReached"}, nil)
	switch g.IntN(4) {
	case 0, 1:
		s.setCondition(kind, value, reason)
	case 2:
		s.conditions = slices.DeleteFunc(s.conditions, func(c object) bool { return c["type"] == kind })
	case 3: // a second one of its type, if there is one already
		s.conditions = append(s.conditions, object{"type": kind, "status": value, "reason": reason})
	}
}
