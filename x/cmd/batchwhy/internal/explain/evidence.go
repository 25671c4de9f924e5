package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// This file finds evidence in other objects of the input: nodes, volumes, Deployments, service
// accounts, and what other controllers report about a Job.

// names reports whether a message names an object of a kind, "job" or "cronjob", as in "Job/prod/a"
// or `Job.batch "a"`. It also reports whether the message contains the object's namespace.
func names(message, kind string, m *read.Meta) (named, withNamespace bool) {
	words := strings.FieldsFunc(strings.ToLower(message), func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-.", r)
	})
	for i, word := range words {
		if i == 0 || strings.Trim(word, ".") != m.Name {
			continue
		}
		before, isIn := words[i-1], false
		if i > 1 && before == m.Namespace {
			before, isIn = words[i-2], true
		}
		if strings.TrimSuffix(strings.TrimSuffix(before, ".batch"), "s") == kind {
			named, withNamespace = true, withNamespace || isIn
		}
	}
	return named, withNamespace
}

// reports returns what other objects report about a Job or a CronJob. It leaves out good news, and
// reports from before the object's creation, which concern an earlier one of the same name.
func (e *Explainer) reports(kind string, m *read.Meta) (all []read.Report) {
	if m.CreationTimestamp.IsZero() {
		return nil // a manifest
	}
	for _, r := range e.objects.Reports {
		if !strings.Contains(r.Message, m.Name) {
			continue // as most do
		}
		named, withNamespace := names(r.Message, kind, m)
		isHere := r.Namespace == m.Namespace || r.Target == m.Namespace || withNamespace
		isBad := contains(r.Message, "fail", "error", "invalid", "immutable", "forbidden", "denied", "refused",
			"cannot", "unable", "timed out", "timeout", "conflict", "waiting")
		isAgain := slices.ContainsFunc(all, func(before read.Report) bool { return before.Message == r.Message })
		isOld := r.At.Before(m.CreationTimestamp) || r.At.Before(e.objects.Well[r.Kind+" "+r.Namespace+"/"+r.Name])
		if concerns := named && isHere && isBad; concerns && !isAgain && !isOld {
			all = append(all, r)
		}
	}
	return all
}

// reportFindings report what other objects say about the Job.
func (l *look) reportFindings() (all []Finding) {
	for _, r := range l.e.reports("job", &l.job.Meta) {
		f := l.reportFinding(r)
		if isRefused := contains(r.Message, "immutable") && contains(r.Message, "spec.template"); isRefused {
			f.Severity, f.Remedies = Warning, l.immutableRemedies(r)
			f.Text = sentence(strings.TrimSuffix(f.Text, ".") + "; so the Job that exists, created " +
				l.clock(l.created()) + ", does not have the change, and what was changed has not run")
		}
		all = append(all, f)
	}
	return all
}

// reportFindings report what other objects say about the CronJob.
func (l *cronLook) reportFindings() (all []Finding) {
	for _, r := range l.e.reports("cronjob", &l.cron.Meta) {
		all = append(all, l.reportFinding(r))
	}
	return all
}

// reportFinding quotes another object.
func (w words) reportFinding(r read.Report) Finding {
	from := read.Meta{Namespace: r.Namespace, Name: r.Name}
	what := strings.TrimSpace(r.Type + " " + r.Reason)
	return finding(Note, "Reported", fmt.Sprintf("%s %s reports %s (%s): %s", r.Kind, from.Key(), w.at(r.At), what,
		told(r.Message)), inspect("look at it", kubectl(r.Namespace, "describe", strings.ToLower(r.Kind), r.Name)))
}

// immutableRemedies say how to bring a change into a Job whose template cannot be changed.
func (l *look) immutableRemedies(r read.Report) []*Remedy {
	ns, name := l.job.Namespace, l.job.Name
	acts := []*Act{remove(ns, "job", name)}
	if k := keeperOf(&l.job.Meta); k.name != "" {
		again := apply(ns, "job", name)
		again.Command = k.command
		acts = append(acts, again)
	}

	fix := "put the version into the name of the Job, so that each change is a Job of its own"
	switch r.Kind {
	case "Kustomization":
		fix += ", or give it the annotation kustomize.toolkit.fluxcd.io/force: enabled, under which Flux replaces it"
	case "Application":
		fix += ", or make it a hook, or give it the annotation argocd.argoproj.io/sync-options: Force=true,Replace=true"
	case "HelmRelease":
		fix += ", or make it a hook (annotation helm.sh/hook)"
	}
	return []*Remedy{
		does(fmt.Sprintf("delete the Job: %s %s then creates it with the change", r.Kind, r.Name), l.cost(), acts...),
		inspect("for the next time, "+fix+", in its source", kubectl(r.Namespace, "describe", strings.ToLower(r.Kind),
			r.Name)),
	}
}

// sortNodes notes which nodes are cordoned.
func (e *Explainer) sortNodes() {
	e.labelled = make(map[string]map[string][]string)
	for _, name := range sortedKeys(e.objects.Nodes) {
		if e.objects.Nodes[name].Cordoned {
			e.cordoned = append(e.cordoned, name)
		}
	}
}

// withLabel returns the names of the nodes that have a label, by its value.
func (e *Explainer) withLabel(key string) map[string][]string {
	if e.labelled[key] == nil {
		all := make(map[string][]string)
		for _, name := range sortedKeys(e.objects.Nodes) {
			if value, is := e.objects.Nodes[name].Labels[key]; is {
				all[value] = append(all[value], name)
			}
		}
		e.labelled[key] = all
	}
	return e.labelled[key]
}

// fewValues is up to how many values of a node label are compared with the value that a pod wants.
const fewValues = 20

// hasLabels reports whether a node that takes pods has all of some labels.
func (e *Explainer) hasLabels(want map[string]string) bool {
	for _, n := range e.objects.Nodes {
		has := len(want) > 0 && !n.Cordoned && n.NotReady.IsZero()
		for key, value := range want {
			has = has && n.Labels[key] == value
		}
		if has {
			return true
		}
	}
	return false
}

// fullGroups names the node groups of the cluster autoscaler that have as many nodes as they may.
func (e *Explainer) fullGroups() (all []string) {
	x := e.other("ConfigMap", "kube-system", "cluster-autoscaler-status")
	if x == nil {
		return nil
	}
	name, has := "", ""
	for line := range strings.Lines(str(x.Fields, "data.status")) {
		key, value, _ := strings.Cut(strings.TrimLeft(strings.TrimSpace(line), "- "), ": ")
		switch {
		case key == "name":
			name = value
		case key == "cloudProviderTarget":
			has = value
		case key == "maxSize" && value == has:
			all = append(all, fmt.Sprintf("%s (maxSize %s)", name, value))
		}
	}
	return all
}

// labelText describes which nodes have a label with one of the values. It returns "" if no node was
// read, or if all have it.
func (l *look) labelText(key string, values []string) string {
	with, have := l.e.withLabel(key), []string(nil)
	for _, value := range values {
		for _, name := range with[value] {
			n := l.e.objects.Nodes[name]
			have = append(have, name+l.unusable(&n))
		}
	}
	all := len(l.e.objects.Nodes)
	if all == 0 || len(have) == all {
		return ""
	}

	var others []string
	for _, value := range sortedKeys(with) {
		if !slices.Contains(values, value) && len(with) <= fewValues {
			others = append(others, fmt.Sprintf("%s (%s)", value, count(int64(len(with[value])), "node")))
		}
	}
	text := fmt.Sprintf("; of the %s that were read, %s %s %s=%s", count(int64(all), "node"), list(have),
		verb(int64(max(len(have), 1)), "has", "have"), key, strings.Join(values, " or "))
	if len(have) < 3 && len(others) > 0 {
		text += ", and others have " + list(others)
	}
	return text
}

// cordonedFor returns the names of the cordoned nodes that can use all volumes of a pod, if not all
// nodes can. If there are many, it returns NODE.
func (l *look) cordonedFor(p *read.Pod) (all []string) {
	for _, name := range l.e.cordoned {
		suits, excludes := false, false
		for _, claim := range p.Spec.Claims {
			if v := l.e.objects.Volumes[p.Namespace+"/"+claim]; v.Key != "" {
				has := slices.Contains(v.Values, l.e.objects.Nodes[name].Labels[v.Key])
				suits, excludes = suits || has, excludes || !has
			}
		}
		if suits && !excludes {
			all = append(all, name)
		}
	}
	if len(all) > 3 {
		return []string{"NODE"}
	}
	return all
}

// unusable describes why a node takes no pod, or returns "".
func (l *look) unusable(n *read.Node) string {
	switch {
	case !n.NotReady.IsZero():
		return " (not ready since " + l.clock(n.NotReady) + ")"
	case n.Cordoned && n.CordonedAt.IsZero():
		return " (cordoned)"
	case n.Cordoned:
		return " (cordoned since " + l.clock(n.CordonedAt) + ")"
	}
	return ""
}

// nodesText describes the nodes that a scheduler's message is about.
func (l *look) nodesText(p *read.Pod, message string) (text string) {
	if contains(message, "insufficient cpu", "insufficient memory") {
		text, _ = l.tooLargeFor(p)
	}
	if contains(message, "node affinity/selector", "node selector", "didn't match pod's node affinity") {
		for _, key := range sortedKeys(p.Spec.NodeSelector) {
			text += l.labelText(key, []string{p.Spec.NodeSelector[key]})
		}
	}
	if contains(message, "volume node affinity", "persistentvolume's node affinity") {
		for _, claim := range p.Spec.Claims {
			if v, ok := l.e.objects.Volumes[p.Namespace+"/"+claim]; ok {
				text += fmt.Sprintf("; only nodes with %s=%s can use the volume of claim %s%s", v.Key,
					strings.Join(v.Values, " or "), claim, l.labelText(v.Key, v.Values))
			}
		}
	}
	return text
}

// selectorRemedies say how to give a pod a nodeSelector that nodes match, if no node has the labels.
func (l *look) selectorRemedies(p *read.Pod) (all []*Remedy) {
	for _, key := range sortedKeys(p.Spec.NodeSelector) {
		if value := l.otherValue(key, p.Spec.NodeSelector[key]); value != "" {
			all = append(all, when(fmt.Sprintf("nodes with %s=%s may be used instead", key, value),
				l.again(fmt.Sprintf("write %s: %s in nodeSelector", key, value))))
		}
	}
	return all
}

// holders describes where the pods run that a message about a volume names, as in "already used by
// pod(s) a, b", and returns the first of them.
func (l *look) holders(p *read.Pod, message string) (text string, first *read.Pod) {
	_, names, ok := strings.Cut(message, "used by pod(s) ")
	if !ok {
		return "", nil
	}
	if l.e.podsByName == nil {
		l.e.podsByName = make(map[string]*read.Pod)
		for _, other := range l.e.objects.Pods {
			if other != nil && other.Object.Phase < job.PodSucceeded && other.Node != "" {
				l.e.podsByName[other.Key()] = other
			}
		}
	}
	for _, name := range strings.Split(names, ", ") {
		if other := l.e.podsByName[p.Namespace+"/"+name]; other != nil {
			first = cmp.Or(first, other)
			text += fmt.Sprintf("; pod %s has it on node %s", other.Name, other.Node)
		}
	}
	return text, first
}

// livePods returns the pods that have not ended in "namespace NAME", or on "node NAME".
func (e *Explainer) livePods(where string) []*read.Pod {
	if e.live == nil {
		e.live = make(map[string][]*read.Pod)
		for _, p := range e.objects.Pods {
			if p != nil && p.Object.Phase < job.PodSucceeded {
				e.live["namespace "+p.Namespace] = append(e.live["namespace "+p.Namespace], p)
				e.live["node "+p.Node] = append(e.live["node "+p.Node], p)
			}
		}
	}
	return e.live[where]
}

// otherValue returns the value of a node label that is like the one which no node has. It returns "" if
// there is none, or more than one.
func (l *look) otherValue(key, want string) (value string) {
	with := l.e.withLabel(key)
	if want == "" || len(with[want]) > 0 || len(with) > fewValues {
		return ""
	}
	for _, v := range sortedKeys(with) {
		isLike := strings.HasPrefix(v, want) || strings.HasPrefix(want, v)
		if v != "" && isLike {
			if value != "" {
				return ""
			}
			value = v
		}
	}
	return value
}

// backend is a Deployment or StatefulSet. ready is the number of its pods that are ready.
type backend struct {
	*read.Other
	replicas, ready int64
}

// backendsOf returns the Deployments and StatefulSets whose pods a Service selects, with most replicas
// first. A manifest without a status is not in the cluster.
func (e *Explainer) backendsOf(service *read.Other) (all []backend) {
	selector, _ := service.At("spec.selector").(map[string]any)
	if len(selector) == 0 {
		return nil
	}

	for _, kind := range []string{"Deployment", "StatefulSet"} {
		for _, x := range e.othersIn(kind, service.Namespace) {
			isLive := x.UID != "" || x.At("status") != nil
			if !isLive || !selects(map[string]any{"matchLabels": selector}, x.At("spec.template.metadata.labels")) {
				continue
			}

			b := backend{x, 1, 0}
			if n, is := x.At("spec.replicas").(float64); is {
				b.replicas = int64(n)
			}
			if n, is := x.At("status.readyReplicas").(float64); is {
				b.ready = int64(n)
			}
			all = append(all, b)
		}
	}
	return sortedStably(all, func(a, b *backend) int { return int(b.replicas - a.replicas) })
}

// downOf returns the first backend of a Service if it has some and none has a ready pod.
func (e *Explainer) downOf(service *read.Other) (b backend, ok bool) {
	all := e.backendsOf(service)
	if len(all) == 0 || slices.ContainsFunc(all, func(b backend) bool { return b.ready > 0 }) {
		return b, false
	}
	return all[0], true
}

// backendOf returns the backend that should answer for the Service which the URL in a message names, as
// in https://NAME.NAMESPACE.svc:443/, if none has a ready pod.
func (e *Explainer) backendOf(message string) (b backend, ok bool) {
	_, url, _ := strings.Cut(message, "://")
	host, _, isService := strings.Cut(url, ".svc")
	name, namespace, isName := strings.Cut(host, ".")
	service := e.other("Service", namespace, name)
	if !isService || !isName || service == nil {
		return b, false
	}
	return e.downOf(service)
}

// backendRemedies say how to let the pods of a Service answer again.
func backendRemedies(b backend) (text string, remedies []*Remedy) {
	name := fmt.Sprintf("%s %s/%s", b.Kind, b.Namespace, b.Name)
	kind := strings.ToLower(b.Kind)
	if b.replicas > 0 {
		return fmt.Sprintf("; no pod of %s, which should answer, is ready", name), []*Remedy{
			inspect("look why no pod of "+name+" is ready", kubectl(b.Namespace, "describe", kind, b.Name))}
	}
	return fmt.Sprintf("; %s, which should answer, has replicas 0", name), []*Remedy{
		remedy("start the pods of "+name, kubectl(b.Namespace, "scale", kind, b.Name, "--replicas=1"),
			"whoever has set replicas to 0 may have had a reason: ask first; what waits for it goes on then")}
}

// stopped describes a pod that something other than the controller has stopped, and whether its node
// was cordoned before, or returns "".
func (l *look) stopped() (text string) {
	p, e := l.stoppedPod()
	if n, _ := l.goneDisruptions(); p == nil || n > 0 {
		return ""
	}
	text = fmt.Sprintf("; pod %s was stopped %s, and no event shows that the controller has deleted it", p.name,
		l.at(e.Last))
	n := l.e.objects.Nodes[e.Host]
	if n.Cordoned && !n.CordonedAt.IsZero() && !n.CordonedAt.After(e.Last) {
		text += fmt.Sprintf("; its node %s is cordoned since %s, as before a drain", e.Host, l.clock(n.CordonedAt))
	}
	return text
}
