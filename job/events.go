package job

import (
	"fmt"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
)

// Event is a message for the people who watch the job (J41).
type Event struct {
	Type    EventType `json:"type"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	// PodWrite is true for an event about the creation or deletion of a pod. An adapter leaves such
	// events out if its client reports them.
	PodWrite bool `json:"podWrite,omitempty"`
}

// EventType is Normal or Warning.
type EventType string

// The types of events.
const (
	EventNormal  EventType = "Normal"
	EventWarning EventType = "Warning"
)

// events returns the events of the round (J41). It reports only what has happened: a condition is
// reported once it is written.
func (a *aftermath) events(recorded *Status) []Event {
	var events []Event
	p, o := a.plan, a.outcome
	if n := len(p.Events) + len(p.Groups) + len(p.Delete) + len(p.Create); n > 0 {
		events = append(make([]Event, 0, n+2), p.Events...) // never append to the plan's own list
	}

	add := func(t EventType, reason, message string) {
		events = append(events, Event{Type: t, Reason: reason, Message: message})
	}
	wrote := func(t EventType, reason, message string) {
		events = append(events, Event{Type: t, Reason: reason, Message: message, PodWrite: true})
	}

	for i := range p.Groups {
		a.reportGroup(&p.Groups[i], value.At(o.Grouped, i), add)
	}

	for i := range p.Delete {
		switch e := value.At(o.Deleted, i); e.Result {
		case jobreason.ResultDone:
			wrote(EventNormal, "SuccessfulDelete", "Deleted pod: "+p.Delete[i].Name)
		case jobreason.ResultUnsuccessful:
			wrote(EventWarning, "FailedDelete", "Error deleting: "+e.Error)
		}
	}

	for i := range p.Create {
		switch e := value.At(o.Created, i); e.Result {
		case jobreason.ResultDone:
			wrote(EventNormal, "SuccessfulCreate", "Created pod: "+e.Pod.Name)
		case jobreason.ResultUnsuccessful:
			wrote(EventWarning, "FailedCreate", "Error creating: "+e.Error)
		}
	}

	if a.Facts.Quirks.Has(jobquirk.EarlyEvents) {
		reportSuspension(&a.Facts.Status, recorded, add)
	} else {
		reportSuspension(&a.Facts.Status, a.final, add)
	}
	reportEnd(&a.Facts, a.final, add)
	return events
}

// reportGroup reports that a workload or a pod group was created, or that a workload could not be
// created. As in Kubernetes, there is no event for a resized gang, nor for a pod group that could
// not be created; the error of the round reports that.
func (a *aftermath) reportGroup(g *jobgroup.Write, e jobgroup.Effect, add func(t EventType, reason, message string)) {
	switch {
	case g.UID != "":
	case e.Result == jobreason.ResultDone:
		add(EventNormal, g.Kind.String()+"Created",
			fmt.Sprintf("Created %s %s for Job %s", g.Kind, g.Name, a.Facts.JobName))
	case e.Result == jobreason.ResultUnsuccessful && g.Kind == jobgroup.KindWorkload:
		add(EventWarning, "FailedWorkloadCreate",
			fmt.Sprintf("Failed to create Workload for Job %s: %s", a.Facts.JobName, e.Error))
	}
}

func reportSuspension(before, after *Status, add func(t EventType, reason, message string)) {
	was, is := before.Condition(ConditionSuspended), after.Condition(ConditionSuspended)
	switch {
	case equalCondition(was, is):
	case is.Status == ConditionTrue:
		add(EventNormal, "Suspended", "Job suspended")
	default:
		add(EventNormal, "Resumed", "Job resumed")
	}
}

func reportEnd(f *facts, final *Status, add func(t EventType, reason, message string)) {
	turned := func(t ConditionType) bool {
		return final.isTrue(t) && !f.Status.isTrue(t)
	}

	if turned(ConditionComplete) {
		if f.Completions != nil && final.Succeeded > *f.Completions {
			add(EventWarning, "TooManySucceededPods", "Too many succeeded pods running after completion count reached")
		}
		add(EventNormal, "Completed", "Job completed")
	}

	if turned(ConditionFailed) {
		c := final.Condition(ConditionFailed)
		add(EventWarning, c.Reason, c.Message)
	}
}
