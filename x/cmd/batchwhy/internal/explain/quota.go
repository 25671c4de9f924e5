package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// overQuota is a resource of which a quota has not enough, from a message such as "exceeded quota: q,
// requested: requests.cpu=8, used: requests.cpu=4, limited: requests.cpu=10".
type overQuota struct {
	quota, resource  string
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
	_, name, _ := strings.Cut(message, "exceeded quota: ")
	name, _, _ = strings.Cut(name, ",")
	requested, limits := part("requested"), part("limited")
	for _, resource := range sortedKeys(requested) {
		if limit, is := limits[resource]; is {
			all = append(all, overQuota{name, resource, requested[resource], limit})
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
			text += l.takersText(&q)
		}
	}
	return text
}

// takers are the pods of the namespace that have not ended and ask for the resource of a quota, by who has
// created them. mayEnd is false if all of them stay. There are none if the quota counts only some pods.
func (l *look) takers(q *overQuota) (all tally, mayEnd bool) {
	x := l.e.other("ResourceQuota", l.job.Namespace, q.quota)
	isScoped := x != nil && (x.At("spec.scopes") != nil || x.At("spec.scopeSelector") != nil)
	asks := func(c read.ContainerSpec) bool {
		sizes := map[string]string{"cpu": c.CPU, "memory": c.Memory, "limits.memory": c.MemoryLimit, "pods": "1"}
		return sizes[strings.TrimPrefix(q.resource, "requests.")] != ""
	}

	for _, p := range l.e.livePods("namespace " + l.job.Namespace) {
		if isScoped || !slices.ContainsFunc(p.Spec.Containers, asks) {
			continue
		}
		owner := p.Controller()
		name := strings.TrimSpace(owner.Kind + " " + cmp.Or(owner.Name, p.Name))
		isLeaving := p.Object.Deletion != nil
		if isLeaving {
			name += " (being deleted)"
		}
		all.add(name)
		stays := strings.Contains(" ReplicaSet StatefulSet DaemonSet ", " "+owner.Kind+" ")
		mayEnd = mayEnd || !stays || isLeaving
	}
	return all, mayEnd || len(all.order) == 0
}

func (l *look) takersText(q *overQuota) string {
	all, mayEnd := l.takers(q)
	if len(all.order) == 0 {
		return ""
	}
	text := fmt.Sprintf("; pods that have ended do not count for %s; those that were read and count are of %s",
		q.resource, all.list())
	if !mayEnd {
		text += ", which do not end by themselves"
	}
	return text
}

// quotaRemedies say what to do if a quota refuses pods.
func (l *look) quotaRemedies(message string) (all []*Remedy) {
	const retries = "; the controller retries by itself, at most a minute apart"
	ns, waits, isSize, mayEnd := l.job.Namespace, true, false, true
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
		_, ends := l.takers(&q)
		mayEnd = mayEnd && ends
		helps := q.requested <= q.limit && !q.isOfObjects()
		waits, isSize = waits && helps, isSize || hasSize
	}

	switch {
	case waits && !mayEnd:
		all = append(all, inspect("make room: end what is not needed. Those that count stay, so that waiting makes "+
			"none"+retries, kubectl(ns, "get", "resourcequota")+" && "+kubectl(ns, "get", "pods",
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
