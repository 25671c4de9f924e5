package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// decision has the name of each part of an answer, and a text in a normal form. The text does not
// depend on the order of UIDs or on time zones, and omits reasons and messages.
type decision map[string]string

func decisionOf(s *job.Snapshot, a *answer) decision {
	d := make(decision)
	if a.Plan != nil {
		d.plan(s, a)
	}
	status := a.Status
	if status == nil && a.Plan != nil {
		status = &s.Job.Status // nothing is written
	}
	if status != nil {
		d.status("status", status)
	}
	if a.Settled != nil {
		d.status("settled", a.Settled)
	}
	return d
}

func (d decision) plan(s *job.Snapshot, a *answer) {
	p := a.Plan
	claims := func(list []job.Claim) (uids []string) {
		for _, c := range list {
			uids = append(uids, string(c.UID))
		}
		return uids
	}

	names := newNamesOf(p)
	var deletes, creates, groups, untracked []string
	for i := range p.Delete {
		deletes = append(deletes, fmt.Sprintf("%s (untrackFirst %v)", p.Delete[i].UID, p.Delete[i].UntrackFirst))
	}

	for i := range p.Create {
		c := &p.Create[i]
		group := names.of("PodGroup", c.Group.Name)
		creates = append(creates, fmt.Sprintf("index %s, namePrefix %q, hostname %q, failures %d, ignored %d, group %s",
			c.Index, c.NamePrefix, c.Hostname, c.FailureCount, c.IgnoredFailureCount, group))
	}

	for i := range p.Groups {
		g := &p.Groups[i]
		groups = append(groups, fmt.Sprintf("%s %s (UID %q) of workload %s, template %s, minCount %d",
			g.Kind, names.of(g.Kind.String(), g.Name), g.UID, names.of("Workload", g.Workload.Name),
			names.of("template", g.Template), g.MinCount))
	}
	for i := range p.Untrack {
		if u := &p.Untrack[i]; isApplied(s, a, u) {
			untracked = append(untracked, string(u.UID))
		}
	}

	d.set("adopt", claims(p.Adopt))
	d.set("release", claims(p.Release))
	d.set("delete", deletes)
	d.set("create", creates)
	d.set("groups", groups)
	d.set("untrack", untracked)
	d["requeue.at"] = textOf(p.Requeue.At)
}

// newNames holds the names that a plan gives to a new workload, to its template and to a new pod
// group. Each name comes after its kind. A program may choose these names freely, so a decision
// only tells that a name is new.
type newNames map[string]bool

func newNamesOf(p *job.Plan) newNames {
	names := make(newNames)
	for i := range p.Groups {
		g := &p.Groups[i]
		if g.UID != "" {
			continue
		}
		names[g.Kind.String()+" "+g.Name] = true
		if g.Kind == jobgroup.KindWorkload {
			names["template "+g.Template] = true
		}
	}
	return names
}

// of returns a name in the form that decisions have: "new" for a new name, and the quoted name
// otherwise.
func (names newNames) of(kind, name string) string {
	if name != "" && names[kind+" "+name] {
		return "new"
	}
	return strconv.Quote(name)
}

// isApplied reports whether a finalizer is removed after the status of the answer is written. OnEnd
// requires a status that ends the job, and UnlessEnd forbids one.
func isApplied(s *job.Snapshot, a *answer, u *job.Untracking) bool {
	if !s.Job.DeletionTimestamp.IsZero() || !u.OnEnd && !u.UnlessEnd {
		return true
	}
	return u.OnEnd == (isEnding(&s.Job.Status) || a.Status != nil && isEnding(a.Status))
}

// isEnding reports whether a status declares the end of the job.
func isEnding(s *job.Status) bool {
	for _, t := range []job.ConditionType{job.ConditionFailureTarget, job.ConditionSuccessCriteriaMet,
		job.ConditionFailed, job.ConditionComplete} {
		if s.Condition(t).Status == job.ConditionTrue {
			return true
		}
	}
	return false
}

func (d decision) status(name string, s *job.Status) {
	var conditions []string
	for _, c := range s.Conditions {
		conditions = append(conditions,
			fmt.Sprintf("%s=%s %s since %s", c.Type, c.Status, c.Reason, textOf(c.LastTransitionTime)))
	}
	d.set(name+".conditions", conditions)
	d[name+".startTime"], d[name+".completionTime"] = textOf(s.StartTime), textOf(s.CompletionTime)
	for field, n := range map[string]*int32{"active": &s.Active, "ready": s.Ready, "terminating": s.Terminating,
		"succeeded": &s.Succeeded, "failed": &s.Failed} {
		d[name+"."+field] = fmt.Sprint(valueOf(n))
	}
	d[name+".completedIndexes"], d[name+".failedIndexes"] = s.CompletedIndexes, valueOf(s.FailedIndexes)
	lists := valueOf(s.UncountedTerminatedPods)
	for field, list := range map[string][]job.UID{"succeeded": lists.Succeeded, "failed": lists.Failed} {
		var uids []string
		for _, uid := range list {
			uids = append(uids, string(uid))
		}
		d.set(name+".uncountedTerminatedPods."+field, uids)
	}
}

// set stores a list whose order does not matter.
func (d decision) set(part string, list []string) {
	slices.Sort(list)
	d[part] = strings.Join(list, "; ")
}

// differences returns the parts of an answer that differ from the wanted ones.
func (d decision) differences(want decision) (broken []jobcheck.Violation) {
	for _, part := range slices.Sorted(maps.Keys(d)) {
		wanted, known := want[part]
		if !known && strings.HasPrefix(part, "settled.") {
			wanted = want["status."+strings.TrimPrefix(part, "settled.")] // nothing more is written
		}
		if d[part] != wanted {
			broken = append(broken,
				jobcheck.Violation{Rule: "exact " + part, Problem: fmt.Sprintf("%q, want %q", d[part], wanted)})
		}
	}
	return broken
}

func textOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func valueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
