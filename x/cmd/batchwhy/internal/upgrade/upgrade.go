// Package upgrade finds what differs for Jobs and CronJobs between two releases of Kubernetes:
// which fields an API server drops, and what the two controllers do differently. It plays the same
// lives of a Job in both releases: the same pods end in the same way. The planner of package job
// decides, with the options of each release.
package upgrade

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobadmit"
	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// Report has the differences between two releases.
type Report struct {
	From    release.Release `json:"from"`
	To      release.Release `json:"to"`
	Objects []Object        `json:"objects"`
	// Cluster has the changes that do not depend on an object.
	Cluster []Change `json:"cluster"`
}

// Object is a Job or a CronJob with its changes.
type Object struct {
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name"`
	Changes   []Change `json:"changes"`
}

// Change is one difference.
type Change struct {
	// What is a sentence about the change. Rule is the rule of docs/rules.md, if there is one.
	What string `json:"what"`
	Rule string `json:"rule,omitempty"`
	// See is the enhancement proposal or the pull request of Kubernetes that made the change, such
	// as KEP-3939 or kubernetes#130333. It is empty if none is known.
	See string `json:"see,omitempty"`
	// FoundBy is how the change was found: "lives" of the Job, a "case" that is played in both
	// releases, "fields" that an API server drops, or the "status" of the object. It is "read" if a
	// person read about the change and none of these shows it.
	FoundBy string `json:"found_by"`
	// Shown is what each of the two releases does, as found in the way that FoundBy names. It is
	// nil for a change that was only read about.
	Shown *Parting `json:"shown,omitempty"`
}

// How changes are found.
const (
	foundLives  = "lives"
	foundCase   = "case"
	foundFields = "fields"
	foundStatus = "status"
	foundRead   = "read"
)

// Differs reports whether anything changes for an object.
func (r *Report) Differs() bool {
	return slices.ContainsFunc(r.Objects, func(o Object) bool { return len(o.Changes) > 0 })
}

// Compare returns what differs between the releases for each object and for the cluster.
func Compare(objects *read.Objects, from, to release.Release) *Report {
	r := &Report{From: from, To: to, Objects: []Object{}, Cluster: clusterChanges(from, to)}
	for _, j := range objects.Jobs {
		r.Objects = append(r.Objects,
			Object{"Job", j.Namespace, j.Name, append([]Change{}, jobChanges(&j.Object, from, to)...)})
	}
	for _, c := range objects.CronJobs {
		r.Objects = append(r.Objects,
			Object{"CronJob", c.Namespace, c.Name, append([]Change{}, cronJobChanges(c, from, to)...)})
	}
	slices.SortStableFunc(r.Objects, func(a, b Object) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return r
}

// jobChanges returns the changes of the Job's fields, the changes that depend on its status, and
// the changes that random lives show.
func jobChanges(j *job.Job, from, to release.Release) []Change {
	changes := fieldChanges("spec.", j.Spec, from, to)
	for _, change := range [...]Change{resumeTrap(j, from, to), refusedStatus(j, from, to)} {
		if change.What != "" {
			changes = append(changes, change)
		}
	}
	return append(changes, lives(j.Spec, from, to)...)
}

// fieldChanges returns a change for each field that only one of the releases keeps. path comes
// before the names of the fields.
func fieldChanges(path string, spec job.Spec, from, to release.Release) (changes []Change) {
	dropped := func(r release.Release) []string {
		s := spec
		job.Default(&s)
		if spec.PodReplacementPolicy == "" {
			s.PodReplacementPolicy = "" // the default does not count as dropped
		}
		return jobadmit.DropDisabled(nil, &s, r)
	}

	before, after := dropped(from), dropped(to)
	for _, field := range slices.Concat(before, after) {
		c := Change{See: proposals[field], FoundBy: foundFields}
		switch wasDropped, isDropped := slices.Contains(before, field), slices.Contains(after, field); {
		case wasDropped && isDropped:
			continue
		case wasDropped:
			c.Shown = &Parting{Before: "dropped", Behind: "honoured"}
			c.What = fmt.Sprintf("%s%s is dropped by %s when the object is created, and honoured by %s.", path, field,
				from, to)
		default:
			c.Shown = &Parting{Before: "honoured", Behind: "dropped"}
			c.What = fmt.Sprintf("%s%s is honoured by %s, and dropped by %s when the object is created.", path, field,
				from, to)
		}
		changes = append(changes, c)
	}
	return changes
}

// proposals has the enhancement proposals of the fields that a release may drop.
var proposals = map[string]string{
	"managedBy": "KEP-4368", "podReplacementPolicy": "KEP-3939", "successPolicy": "KEP-3998",
	"backoffLimitPerIndex": "KEP-3850", "maxFailedIndexes": "KEP-3850",
}

// trapRule is the rule of the change that resumeTrap finds. No other change has this rule.
const trapRule = "J23"

// resumeTrap finds a Job that was suspended under an old release and kept its startTime. The
// deadline of such a Job counts from before the suspension, even in a newer release that clears
// startTime.
func resumeTrap(j *job.Job, from, to release.Release) Change {
	const gate = release.MutableSchedulingDirectivesForSuspendedJobs
	suspended := j.Spec.Suspend != nil && *j.Spec.Suspend &&
		j.Status.Condition(job.ConditionSuspended).Status == job.ConditionTrue
	switch {
	case !suspended, j.Status.StartTime.IsZero(), j.Spec.ActiveDeadlineSeconds == nil:
		return Change{}
	case from.Has(gate), !to.Has(gate):
		return Change{}
	}

	return Change{Rule: trapRule, See: "KEP-5440", FoundBy: foundStatus, What: fmt.Sprintf("The Job is suspended "+
		"and kept its startTime, %s. When %s resumes it, activeDeadlineSeconds still counts from there: "+
		"once %d s have passed, the Job fails with DeadlineExceeded instead of being resumed. Raise the deadline "+
		"first.",
		j.Status.StartTime.UTC().Format("2006-01-02 15:04:05"), to, *j.Spec.ActiveDeadlineSeconds)}
}

// refusedStatus finds a status that only the old release accepts. That is harmless if the
// controller of Kubernetes has written the status. But another controller writes such statuses
// again and again.
func refusedStatus(j *job.Job, from, to release.Release) Change {
	spec := j.Spec
	job.Default(&spec)
	before, behind := jobstatus.CheckServed(job.Status{}, j.Status, spec, from), jobstatus.CheckServed(job.Status{},
		j.Status, spec, to)
	if before != nil || behind == nil {
		return Change{}
	}
	problems := strings.ReplaceAll(behind.Error(), "\n", "; ")
	return Change{
		Rule:    "J3",
		See:     "KEP-4368",
		FoundBy: foundStatus,
		Shown:   &Parting{Before: verdict(before), Behind: "refused: " + problems},
		What: fmt.Sprintf(
			"%s refuses this status: %s. If a controller other than the one of Kubernetes has written it, change that "+
				"controller first.", to, problems),
	}
}

// Write writes the report in plain English.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "From Kubernetes %s to %s\n", r.From, r.To)

	same := 0
	for _, o := range r.Objects {
		if len(o.Changes) == 0 {
			same++
		}
	}

	if grouped := r.byChange(); len(grouped) > 0 {
		b.WriteString("\n")
		r.writeChanges(&b, grouped)
	}
	if same > 0 {
		fmt.Fprintf(&b, "\nNothing changes for %d of %s.\n", same, value.Count(len(r.Objects), "object"))
	}

	if len(r.Cluster) > 0 {
		b.WriteString("\nIn the cluster\n")
		r.writeChanges(&b, alone(r.Cluster))
	}

	_, err := io.WriteString(w, b.String())
	return err
}

// concern is a change with all objects that it concerns.
type concern struct {
	Change
	objects []concerned
}

// concerned is an object, or the Jobs of a CronJob.
type concerned struct{ kind, name string }

func (c concerned) String() string { return c.kind + " " + c.name }

func alone(changes []Change) (all []concern) {
	for _, c := range changes {
		all = append(all, concern{Change: c})
	}
	return all
}

// byChange returns each change of the report once, with all objects that it concerns. The most
// important changes come first, and equally important ones keep their order. The field Shown of a
// change comes from the first of its objects.
func (r *Report) byChange() (all []concern) {
	places := map[string]int{}
	for _, o := range r.Objects {
		of := concerned{o.Kind, o.Name}
		if o.Namespace != "" {
			of.name = o.Namespace + "/" + o.Name
		}

		for _, c := range o.Changes {
			of := of
			if what, ok := strings.CutPrefix(c.What, ofItsJobs); ok {
				c.What, of.kind = what, "the Jobs of "+of.kind
			}

			place, ok := places[c.What]
			if !ok {
				place = len(all)
				places[c.What] = place
				all = append(all, concern{Change: c})
			}
			all[place].objects = append(all[place].objects, of)
		}
	}

	slices.SortStableFunc(all, func(a, b concern) int { return cmp.Compare(b.rank(), a.rank()) })
	return all
}

// rank is greater for more important changes. Changes that need an action before the upgrade come
// first. Then come fields and objects that are refused, dropped or left to other controllers.
// Changes that only a suspension shows come last.
func (c *concern) rank() int {
	switch c.Rule {
	case trapRule:
		return 3
	case "J3", "J2", "S1":
		return 2
	case "J39":
		return 0
	}
	if c.FoundBy == foundFields {
		return 2
	}
	return 1
}

// mostNames is the maximum number of names for a change in the text. The JSON has all objects.
const mostNames = 20

// names lists objects, which are in order. It writes the kind of an object only if the object
// before has another kind. It counts objects with the same name. If the list has all objects or all
// CronJobs, names only writes their number.
func (r *Report) names(objects []concerned) string {
	const few = 2
	if len(objects) == len(r.Objects) && len(objects) > few {
		return fmt.Sprintf("all %d objects", len(objects))
	}

	all := 0
	for _, o := range r.Objects {
		if o.Kind == "CronJob" {
			all++
		}
	}
	of, isOfCronJobs := strings.CutSuffix(objects[0].kind, "CronJob")
	isOther := func(o concerned) bool { return o.kind != objects[0].kind }
	if isOfCronJobs && !slices.ContainsFunc(objects, isOther) && len(objects) == max(all, few+1) {
		return fmt.Sprintf("%sall %d CronJobs", of, all)
	}

	var b strings.Builder
	for i := 0; i < min(len(objects), mostNames); {
		o, same := objects[i], 1
		for i+same < len(objects) && objects[i+same] == o {
			same++
		}

		switch {
		case i == 0:
			b.WriteString(o.String())
		case o.kind == objects[i-1].kind:
			b.WriteString(", " + o.name)
		default:
			b.WriteString("; " + o.String())
		}
		if same > 1 {
			fmt.Fprintf(&b, " (%d)", same)
		}
		if i += same; i >= mostNames && i < len(objects) {
			fmt.Fprintf(&b, " and %d more", len(objects)-i)
		}
	}
	return b.String()
}

func (r *Report) writeChanges(b *strings.Builder, all []concern) {
	for _, c := range all {
		fmt.Fprintf(b, "  - %s", c.What)
		switch {
		case c.Rule != "" && c.See != "":
			fmt.Fprintf(b, " (%s; %s)", c.Rule, c.See)
		case c.Rule+c.See != "":
			fmt.Fprintf(b, " (%s)", c.Rule+c.See)
		}
		b.WriteString("\n")
		if len(c.objects) > 0 {
			fmt.Fprintf(b, "    For %s.\n", r.names(c.objects))
		}
		switch p := c.Shown; {
		case p == nil || p.Once == "":
		case p.After == "":
			fmt.Fprintf(b, "    When %s:\n      %s: %s\n      %s: %s\n", p.Once, r.From, p.Before, r.To, p.Behind)
		default:
			fmt.Fprintf(b, "    Shown by %s, %s after the start, once %s:\n      %s: %s\n      %s: %s\n",
				c.objects[0], p.After, p.Once, r.From, p.Before, r.To, p.Behind)
		}
	}
}
