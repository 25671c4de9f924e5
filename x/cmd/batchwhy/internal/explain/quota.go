package explain

import (
	"cmp"
	"fmt"
	"strings"
)

// overQuota is a resource of which a quota has not enough, from a message such as "exceeded quota: q,
// requested: requests.cpu=8, used: requests.cpu=4, limited: requests.cpu=10".
type overQuota struct {
	resource         string
	requested, limit float64
}

// isOfObjects reports whether objects count as long as they exist. Other resources count for pods that have
// not ended.
func (q *overQuota) isOfObjects() bool { return strings.HasPrefix(q.resource, "count/") }

func overQuotas(message string) (all []overQuota) {
	part := func(name string) map[string]float64 {
		values := make(map[string]float64)
		_, rest, _ := strings.Cut(message, name+": ")
		rest, _, _ = strings.Cut(rest, ", ")
		for pair := range strings.SplitSeq(rest, ",") {
			key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			values[key], _ = quantity(value)
		}
		return values
	}
	requested, limits := part("requested"), part("limited")
	for _, resource := range sortedKeys(requested) {
		if limit, is := limits[resource]; is {
			all = append(all, overQuota{resource, requested[resource], limit})
		}
	}
	return all
}

// quotaText describes what takes a quota: more than all of it for one pod, objects that have ended, or pods
// that have not.
func (l *look) quotaText(message string) (text string) {
	if !contains(message, "exceeded quota") {
		return ""
	}
	for _, q := range overQuotas(message) {
		switch {
		case q.requested > q.limit:
			text += fmt.Sprintf("; one pod asks for more %s than the whole quota allows, so that no wait helps",
				q.resource)
		case q.isOfObjects():
			text += fmt.Sprintf("; %s counts objects as long as they exist, ended or not", q.resource)
		default:
			text += l.takersText(q.resource)
		}
	}
	return text
}

// takers are the pods of the namespace that have not ended, by who has created them. mayEnd is false if none
// of them is of a Job: what others create stays.
func (l *look) takers() (all tally, mayEnd bool) {
	for _, p := range l.e.livePods("namespace " + l.job.Namespace) {
		owner := p.Controller()
		name := strings.TrimSpace(owner.Kind + " " + cmp.Or(owner.Name, p.Name))
		isLeaving := p.Object.Deletion != nil
		if isLeaving {
			name += " (being deleted)"
		}
		all.add(name)
		ends := owner.Kind == "Job" || owner.Kind == "" || isLeaving
		mayEnd = mayEnd || ends
	}
	return all, mayEnd || len(all.order) == 0
}

func (l *look) takersText(resource string) string {
	all, mayEnd := l.takers()
	if len(all.order) == 0 {
		return ""
	}
	text := fmt.Sprintf("; pods that have ended do not count for %s; those that were read and count are of %s",
		resource, all.list())
	if !mayEnd {
		text += ", which do not end by themselves"
	}
	return text
}

// quotaRemedies say what to do if a quota refuses pods.
func (l *look) quotaRemedies(message string) (all []*Remedy) {
	const retries = "; the controller retries by itself, at most a minute apart"
	ns, waits, isSize := l.job.Namespace, true, false
	for _, q := range overQuotas(message) {
		hasSize := contains(q.resource, "cpu", "memory", "storage", "gpu")
		switch {
		case q.requested > q.limit && hasSize:
			all = append(all, l.again(fmt.Sprintf("let a pod ask for no more %s than the quota has", q.resource)))
		case q.isOfObjects():
			all = append(all, inspect("make room: delete objects that have ended, which count as well, such as Jobs "+
				"with their pods, and set ttlSecondsAfterFinished where they are created; read their logs "+
				"before"+retries,
				kubectl(ns, "get", "resourcequota")+" && "+kubectl(ns, "get", "jobs,pods")))
		}
		helps := q.requested <= q.limit && !q.isOfObjects()
		waits, isSize = waits && helps, isSize || hasSize
	}

	_, mayEnd := l.takers()
	switch {
	case waits && !mayEnd:
		all = append(all, inspect("make room: end what is not needed. No pod of a Job is among those that count, so "+
			"that waiting makes none"+retries, kubectl(ns, "get", "resourcequota")+" && "+kubectl(ns, "get", "pods",
			"--field-selector=status.phase!=Succeeded,status.phase!=Failed")))
	case waits:
		all = append(all, inspect("make room: wait for pods that end by themselves, or end what is not needed; pods "+
			"that have ended do not count"+retries, kubectl(ns, "get", "resourcequota")+" && "+kubectl(ns, "get",
			"pods", "--field-selector=status.phase!=Succeeded,status.phase!=Failed")))
	}
	all = append(all, when("the quota is too small", remedy("raise it", editQuota(ns, message),
		"needs the rights of an administrator; the cluster must have the capacity")))
	if waits && isSize {
		all = append(all, when("the pods ask for more than they need", l.again("lower resources.requests")))
	}
	return all
}
