package cronjob

import (
	"cmp"
	"maps"
	"slices"
)

// Trigger asks for a job outside of the schedule. It starts whether or not the
// CronJob is suspended, and does not touch lastScheduleTime.
type Trigger struct {
	// ID tells triggers apart and is part of the job's name, so that a trigger never
	// starts twice. Keep the trigger in the snapshot until [Conclusion.Triggered]
	// names it.
	ID string `json:"id"`
	// Overlap is Allow when empty; Forbid waits until no job is active.
	Overlap ConcurrencyPolicy `json:"overlap,omitempty"`
}

// InstantiateAnnotation marks jobs that the schedule did not start: "manual" by a
// trigger or by hand, "backfill" by a backfill.
const InstantiateAnnotation = "cronjob.kubernetes.io/instantiate"

// TriggerName is the name of the job of a trigger.
func TriggerName(cronJob, id string) string { return cronJob + "-manual-" + id }

func (t *Trigger) check() error {
	switch {
	case t.ID == "":
		return invalid("triggers.id", t.ID, "is required")
	case t.Overlap != "" && t.Overlap != Allow && t.Overlap != Forbid:
		return invalid("triggers["+t.ID+"].overlap", string(t.Overlap), "must be Allow or Forbid")
	}
	return nil
}

// startTriggers starts what was asked for, in the order of the IDs.
func (p *Planner) startTriggers() {
	if len(p.snap.Triggers) == 0 || p.cj.isDeleted() {
		return
	}
	p.triggers = append(p.triggers[:0], p.snap.Triggers...)
	slices.SortStableFunc(p.triggers, func(a, b Trigger) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Overlap, b.Overlap))
	})
	for i := range p.triggers {
		if i == 0 || p.triggers[i].ID != p.triggers[i-1].ID {
			p.startTrigger(&p.triggers[i])
		}
	}
}

func (p *Planner) startTrigger(t *Trigger) {
	name := TriggerName(p.cj.Name, t.ID)
	if p.hasJob(name) {
		p.plan.Triggered = append(p.plan.Triggered, t.ID)
		return
	}
	if busy := len(p.plan.Basis.Status.Active) + len(p.plan.Create); t.Overlap == Forbid && busy > 0 {
		p.plan.Basis.Blocked = true
		p.wait(Wait{Reason: WaitTrigger, Name: t.ID, Jobs: busy})
		return
	}
	template := &p.cj.Spec.JobTemplate
	annotations := make(map[string]string, len(template.Annotations)+1)
	maps.Copy(annotations, template.Annotations)
	annotations[InstantiateAnnotation] = "manual"
	p.plan.Create = append(p.plan.Create, Creation{
		Name: name, Trigger: t.ID, Labels: maps.Clone(template.Labels), Annotations: annotations, Reason: CreateTriggered,
	})
}

// hasJob looks for the job of a trigger or of a run that was asked for; recoverStarts
// has recorded it if a crash kept it from being recorded. A job of somebody else with
// that name is the end of it, too.
func (p *Planner) hasJob(name string) bool {
	if slices.ContainsFunc(p.plan.Basis.Status.Active, func(r Reference) bool { return r.Name == name }) {
		return true
	}
	return slices.ContainsFunc(p.snap.Children, func(c Child) bool { return c.Name == name })
}

// isTriggered reports whether a job is that of a trigger which is still in the
// snapshot.
func (p *Planner) isTriggered(name string) bool {
	for i := range p.snap.Triggers {
		if name == TriggerName(p.cj.Name, p.snap.Triggers[i].ID) {
			return true
		}
	}
	return false
}

// triggered lists the triggers that need no more.
func (p *Plan) triggered(o *Outcome) []string {
	ids := p.Triggered
	for i := range p.Create {
		id, r := p.Create[i].Trigger, effectAt(o.Created, i).Result
		if id != "" && (r == Done || r == AlreadyExists || r == NameTaken) {
			ids = append(ids[:len(ids):len(ids)], id)
		}
	}
	return ids
}
