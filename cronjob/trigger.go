package cronjob

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// Trigger asks for a job outside of the schedule. It starts whether or not the
// CronJob is suspended, and does not touch lastScheduleTime.
type Trigger struct {
	// ID tells triggers apart and is part of the job's name, so that a trigger never
	// starts twice. Keep the trigger in the snapshot until [Conclusion.Triggered]
	// names it.
	ID string `json:"id"`
	// Overlap is Allow when empty; Forbid waits until no job is active. With either
	// the trigger waits while Options.MaxActive jobs are active, and while a run waits for the
	// jobs that it replaces to be gone: it would replace the trigger's job as well.
	Overlap ConcurrencyPolicy `json:"overlap,omitempty"`
}

// instantiateAnnotation marks jobs that the schedule did not start: "manual" by a
// trigger or by hand, "backfill" by a backfill.
const instantiateAnnotation = "cronjob.kubernetes.io/instantiate"

// JobName is the name of the trigger's job.
func (t Trigger) JobName(cronJob string) string { return cronJob + manualInfix + t.ID }

const manualInfix = "-manual-"

func (t *Trigger) check() error {
	switch {
	case t.ID == "":
		return invalid("triggers.id", t.ID, "is required")
	case t.Overlap != "" && t.Overlap != Allow && t.Overlap != Forbid:
		return invalid("triggers["+t.ID+"].overlap", string(t.Overlap), "must be Allow or Forbid")
	}
	return nil
}

// sortTriggers appends the triggers in the order of their IDs, each once.
func sortTriggers(buffer, triggers []Trigger) []Trigger {
	buffer = append(buffer, triggers...)
	if len(buffer) < 2 {
		return buffer
	}
	slices.SortFunc(buffer, func(a, b Trigger) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Overlap, b.Overlap))
	})
	return slices.CompactFunc(buffer, func(a, b Trigger) bool { return a.ID == b.ID })
}

// startTriggers starts what the triggers ask for, in the order of their IDs, unless the
// obstacle of the run that is due holds them back as well.
func startTriggers(plan *Plan, s *Snapshot, c *census, o obstacle) {
	if len(c.triggers) == 0 || s.CronJob.isDeleted() {
		return
	}
	hasJob := c.jobNamed(len(c.triggers))
	for i := range c.triggers {
		t := &c.triggers[i]
		busy, limit := len(c.active)+len(plan.Create), limitOf(t.Overlap, s.Options.MaxActive)
		switch name := t.JobName(c.cronJob); {
		case hasJob(name):
			plan.Triggered = append(plan.Triggered, t.ID)
		case c.behind && limit > 0:
			waitForSnapshot(plan, time.Time{}, t.ID)
		case o.standing == isReplacing:
			plan.wait(Wait{Reason: WaitTrigger, Name: t.ID, Jobs: o.jobs})
		case isAtLimit(limit, busy):
			plan.basis.Blocked = true
			plan.wait(Wait{Reason: WaitTrigger, Name: t.ID, Jobs: busy})
		default:
			plan.Create = append(plan.Create, triggered(&s.CronJob.Spec.JobTemplate, t.ID, name))
		}
	}
}

// triggered describes the job of a trigger.
func triggered(template *JobTemplate, id, name string) Creation {
	annotations := make(map[string]string, len(template.Annotations)+1)
	maps.Copy(annotations, template.Annotations)
	annotations[instantiateAnnotation] = "manual"
	return Creation{
		Name: name, Trigger: id, Labels: maps.Clone(template.Labels), Annotations: annotations, Reason: CreateTriggered,
	}
}

// findTrigger returns the place of a trigger among sorted ones.
func findTrigger(triggers []Trigger, id string) (int, bool) {
	return slices.BinarySearchFunc(triggers, id, func(t Trigger, id string) int { return cmp.Compare(t.ID, id) })
}

// isTriggered reports whether a job has the name of one of these triggers, which are
// sorted.
func isTriggered(triggers []Trigger, cronJob, name string) bool {
	if len(triggers) == 0 || !isTriggerName(cronJob, name) {
		return false
	}
	_, found := findTrigger(triggers, name[len(cronJob)+len(manualInfix):])
	return found
}

// isTriggerName reports whether a name belongs to a trigger's job.
func isTriggerName(cronJob, name string) bool {
	return strings.HasPrefix(name, cronJob) && strings.HasPrefix(name[len(cronJob):], manualInfix)
}

// triggered lists the triggers that need no more.
func (p *Plan) triggered(w *Writes) []string {
	ids := slices.Clip(p.Triggered)
	for i := range p.Create {
		id, r := p.Create[i].Trigger, value.At(w.Created, i).Result
		if id != "" && (r == ResultDone || r == ResultAlreadyExists || r == ResultNameTaken) {
			ids = append(ids, id)
		}
	}
	return ids
}
