// Package explain describes in sentences what Jobs and CronJobs do next, and why. The planners
// of batchplan decide; this package finds the words.
package explain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// Options choose what a report contains.
type Options struct {
	// At is the time for which to explain the objects. It must not be zero.
	At time.Time
	// For is how far to look ahead, 0 for no forecast.
	For time.Duration
	// Timeline adds a drawing to each explanation. Plan adds the text of the plan.
	Timeline, Plan bool
	// Pods is the number of pods of a Job to list, 0 for 100. The first PodsFrom pods are left out.
	Pods, PodsFrom int
	// Names are the objects to explain, as NAME or NAMESPACE/NAME, optionally after
	// "job/" or "cronjob/". Without names, all objects are explained.
	Names []string
	// Only, if not nil, reports whether to explain the object with this UID. It chooses among the
	// objects that Names include.
	Only func(job.UID) bool
}

// Explainer explains the objects of an input one by one.
type Explainer struct {
	objects *read.Objects
	options Options
	words
	// pods has the pods of each Job by the Job's UID.
	pods map[job.UID][]*read.Pod
	// children has the Jobs that could belong to each CronJob by the CronJob's UID.
	children map[job.UID][]*read.Job
	// strays has the pods whose Job is not in the input.
	strays []*read.Pod
	// existing has the objects from an API server, by kind, namespace and name.
	existing map[string]any
	// gone has the pods that occur only in events. The key is a pod's name without its random end.
	gone map[string][]gonePod
	// logged has the containers of pods that occur only in logs, by the prefix of the pod's name.
	logged map[string][]read.LogKey
	// cordoned are the names of the cordoned nodes. labelled has the names of the nodes by label and
	// value, for the labels that were looked for.
	cordoned []string
	labelled map[string]map[string][]string
	// largestOf has the most that a node has, by resource and node selector, for those that were looked for.
	largestOf map[string]capacity
	// good has the Jobs of each CronJob that have succeeded, oldest first, for those that were looked for.
	good map[job.UID][]*read.Job
	// works has the Jobs of the same work, and needless the Jobs of a namespace that may go, oldest first. failed has
	// the namespaces with Jobs that have failed.
	works, needless map[string][]*read.Job
	failed          map[string]bool
	// podsByName has the pods on nodes that have not ended, by NAMESPACE/NAME, once one was looked for.
	podsByName map[string]*read.Pod
	// owned has the objects of other kinds by the UIDs of their owners. there has them by kind and
	// namespace, in the order of their names.
	owned map[job.UID][]*read.Other
	there map[string][]*read.Other
	// live has the pods that have not ended by namespace, and by node, once some were looked for.
	live   map[string][]*read.Pod
	queue  []any
	report Report
}

// New prepares the explanation of all objects.
func New(objects *read.Objects, options Options) *Explainer {
	e := &Explainer{objects: objects, options: options, words: words{options.At}}
	e.report = Report{SchemaVersion: SchemaVersion, At: options.At.UTC(), Objects: []Explanation{}}
	e.sortPods()
	e.sortChildren()
	e.sortWorks()
	e.sortExisting()
	e.sortGone()
	e.sortNodes()
	e.sortOthers()

	for _, c := range objects.CronJobs {
		if c != nil && e.options.Wants("cronjob", &c.Meta) {
			e.queue = append(e.queue, c)
		}
	}

	for _, j := range objects.Jobs {
		if j != nil && e.options.Wants("job", &j.Meta) {
			e.queue = append(e.queue, j)
		}
	}
	return e
}

// All explains all objects and returns the whole report.
func All(objects *read.Objects, options Options) *Report {
	e := New(objects, options)
	for {
		one, ok := e.Next()
		if !ok {
			return e.Report()
		}
		e.report.Objects = append(e.report.Objects, one)
	}
}

// Len returns the number of objects that Next has not explained yet.
func (e *Explainer) Len() int { return len(e.queue) }

// Next explains the next object. It returns false after the last one.
func (e *Explainer) Next() (Explanation, bool) {
	if len(e.queue) == 0 {
		return Explanation{}, false
	}
	object := e.queue[0]
	e.queue = e.queue[1:]
	if c, ok := object.(*read.CronJob); ok {
		out := e.cronJob(c)
		out.Of = c.UID
		return out, true
	}
	j := object.(*read.Job)
	out := e.job(j)
	out.Of = j.UID
	if owner := j.Controller(); owner.Kind == "CronJob" {
		out.owner = owner.UID
	}
	return out, true
}

// Report returns the findings and problems of the input as a whole.
func (e *Explainer) Report() *Report {
	e.report.Findings = e.strayFindings()
	e.report.Problems = e.objects.Problems
	e.report.MoreProblems = e.objects.ProblemCount() - len(e.objects.Problems)
	return &e.report
}

// IsWrong reports whether any finding is an error or a warning.
func IsWrong(all []Finding) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.Severity != Note })
}

// Wants reports whether to explain an object of a kind, "job" or "cronjob".
func (o *Options) Wants(kind string, m *read.Meta) bool {
	if o.Only != nil && !o.Only(m.UID) {
		return false
	}
	return len(o.Names) == 0 || slices.ContainsFunc(o.Names, func(name string) bool {
		prefix, rest, ok := strings.Cut(name, "/")
		switch strings.ToLower(prefix) {
		case "job", "jobs", "cronjob", "cronjobs", "cj":
			if ok {
				wanted := "job"
				if strings.HasPrefix(strings.ToLower(prefix), "c") {
					wanted = "cronjob"
				}
				return wanted == kind && (rest == m.Name || rest == m.Key())
			}
		}
		return name == m.Name || name == m.Key()
	})
}

// sortPods finds the Job of each pod. If the pod has a controller, that is the Job. Otherwise it is
// a Job whose selector matches the pod.
func (e *Explainer) sortPods() {
	e.pods = make(map[job.UID][]*read.Pod)
	known := make(map[job.UID]*read.Job)
	byLabel := make(map[string][]*read.Job)
	for _, j := range e.objects.Jobs {
		if j == nil {
			continue
		}
		known[j.UID] = j
		if key := selectorKey(j); key != "" {
			byLabel[key] = append(byLabel[key], j)
		}
	}

	for _, p := range e.objects.Pods {
		if p == nil {
			continue
		}

		owner := p.Controller()
		switch {
		case owner.UID != "" && known[owner.UID] != nil:
			e.pods[owner.UID] = append(e.pods[owner.UID], p)
		case owner.Kind == "Job":
			e.strays = append(e.strays, p)
		case owner.UID == "" && !e.offer(p, byLabel) && !p.Object.Untracked:
			e.strays = append(e.strays, p) // left behind by a Job that was deleted without its pods
		}
	}

	for _, pods := range e.pods {
		slices.SortFunc(pods, byAge)
	}
	slices.SortFunc(e.strays, byAge)
}

// byAge orders pods by their creation, so that the order of the input does not matter.
func byAge(a, b *read.Pod) int {
	if c := a.CreationTimestamp.Compare(b.CreationTimestamp); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}

// offer adds a pod without a controller to the Jobs that would adopt it (J6), and reports whether
// there is such a Job.
func (e *Explainer) offer(p *read.Pod, byLabel map[string][]*read.Job) (taken bool) {
	for _, key := range sortedKeys(p.Labels) {
		for _, j := range byLabel[p.Namespace+"/"+key+"="+p.Labels[key]] {
			if job.OwnerOf(&j.Object, "", p.Labels) == jobpod.Orphan {
				e.pods[j.UID] = append(e.pods[j.UID], p)
				taken = true
			}
		}
	}
	return taken
}

// selectorKey returns the namespace of a Job and one label that its selector requires of each pod.
// With it, a pod without a controller need not be compared with every Job.
func selectorKey(j *read.Job) string {
	if j.Object.Spec.Selector == nil {
		return ""
	}
	labels := j.Object.Spec.Selector.MatchLabels
	for _, key := range sortedKeys(labels) {
		return j.Namespace + "/" + key + "=" + labels[key]
	}
	return ""
}

// sortChildren finds the Jobs that could belong to each CronJob: Jobs that it controls, Jobs whose
// names could be names of its runs, and Jobs whose controller has its name.
func (e *Explainer) sortChildren() {
	byName := make(map[string]job.UID, len(e.objects.CronJobs))
	for _, c := range e.objects.CronJobs {
		if c != nil {
			byName[c.Key()] = c.UID
		}
	}

	e.children = make(map[job.UID][]*read.Job)
	for _, j := range e.objects.Jobs {
		if j == nil {
			continue
		}

		owner := j.Controller()
		if owner.Kind == "CronJob" {
			e.children[owner.UID] = append(e.children[owner.UID], j)
		}

		whose := read.Meta{Namespace: j.Namespace, Name: owner.Name}
		named := byName[whose.Key()]
		if named != "" && named != owner.UID {
			e.children[named] = append(e.children[named], j)
		}
		name := j.Key()
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			if uid := byName[name[:i]]; uid != "" && uid != owner.UID && uid != named {
				e.children[uid] = append(e.children[uid], j)
			}
		}
	}
}
