package cronjob

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// Trigger asks for a job outside of the schedule. It starts whether or not the
// CronJob is suspended, and does not touch lastScheduleTime.
type Trigger struct {
	// ID tells triggers apart and is part of the job's name, so that a trigger never
	// starts twice. Keep the trigger in the snapshot until [Conclusion.Triggered]
	// names it.
	ID string `json:"id"`
	// Overlap is Allow when empty; Forbid waits until no job is active. With either
	// the trigger waits while Options.MaxActive jobs are active.
	Overlap ConcurrencyPolicy `json:"overlap,omitempty"`
}

// InstantiateAnnotation marks jobs that the schedule did not start: "manual" by a
// trigger or by hand, "backfill" by a backfill.
const InstantiateAnnotation = "cronjob.kubernetes.io/instantiate"

// TriggerName is the name of the job of a trigger.
func TriggerName(cronJob, id string) string { return cronJob + manualInfix + id }

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

// sortTriggers puts the triggers into the order of their IDs, each once.
func (p *Planner) sortTriggers() {
	p.triggers = append(p.triggers[:0], p.snap.Triggers...)
	if len(p.triggers) < 2 {
		return
	}
	slices.SortFunc(p.triggers, func(a, b Trigger) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Overlap, b.Overlap))
	})
	p.triggers = slices.CompactFunc(p.triggers, func(a, b Trigger) bool { return a.ID == b.ID })
}

// startTriggers starts what was asked for, in the order of the IDs.
func (p *Planner) startTriggers() {
	if len(p.triggers) == 0 || p.cj.isDeleted() {
		return
	}
	hasJob := p.jobNamed(len(p.triggers))
	for i := range p.triggers {
		t := &p.triggers[i]
		busy := len(p.plan.basis.Status.Active) + len(p.plan.Create)
		limit := limitOf(t.Overlap, p.snap.Options.MaxActive)
		switch name := TriggerName(p.cj.Name, t.ID); {
		case hasJob(name):
			p.plan.Triggered = append(p.plan.Triggered, t.ID)
		case p.behind && limit > 0:
			p.waitForSnapshot(time.Time{}, t.ID)
		case isAtLimit(limit, busy):
			p.plan.basis.Blocked = true
			p.wait(Wait{Reason: WaitTrigger, Name: t.ID, Jobs: busy})
		default:
			p.startTrigger(t, name, limit)
		}
	}
}

// limitOf is the number of active jobs from which on what was asked for waits; zero
// means no limit.
func limitOf(overlap ConcurrencyPolicy, maxActive int32) int32 {
	if overlap == Forbid {
		return 1
	}
	return maxActive
}

func (p *Planner) startTrigger(t *Trigger, name string, limit int32) {
	if limit > 0 {
		p.needsList(name)
	}
	template := &p.cj.Spec.JobTemplate
	annotations := make(map[string]string, len(template.Annotations)+1)
	maps.Copy(annotations, template.Annotations)
	annotations[InstantiateAnnotation] = "manual"
	p.plan.Create = append(p.plan.Create, Creation{
		Name: name, Trigger: t.ID, Labels: maps.Clone(template.Labels), Annotations: annotations, Reason: CreateTriggered,
	})
}

// isTriggered reports whether a job is that of a trigger which is still in the
// snapshot.
func (p *Planner) isTriggered(name string) bool {
	if len(p.triggers) == 0 || !isTriggerName(p.cj.Name, name) {
		return false
	}
	id := name[len(p.cj.Name)+len(manualInfix):]
	_, found := slices.BinarySearchFunc(p.triggers, id, func(t Trigger, id string) int { return cmp.Compare(t.ID, id) })
	return found
}

// isTriggerName reports whether a name is TriggerName of some ID.
func isTriggerName(cronJob, name string) bool {
	return strings.HasPrefix(name, cronJob) && strings.HasPrefix(name[len(cronJob):], manualInfix)
}

// triggered lists the triggers that need no more.
func (p *Plan) triggered(w *Writes) []string {
	ids := slices.Clip(p.Triggered)
	for i := range p.Create {
		id, r := p.Create[i].Trigger, effectAt(w.Created, i).Result
		if id != "" && (r == Done || r == AlreadyExists || r == NameTaken) {
			ids = append(ids, id)
		}
	}
	return ids
}
