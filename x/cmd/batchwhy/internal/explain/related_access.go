package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// strs returns the strings of a decoded list.
func strs(value any) (all []string) {
	for _, v := range elements(value) {
		if s, is := v.(string); is {
			all = append(all, s)
		}
	}
	return all
}

func str(value any, path string) string {
	s, _ := read.At(value, path).(string)
	return s
}

// selects reports whether a decoded label selector selects an object with the labels, a map of strings
// or a decoded one. The empty selector selects all.
func selects(selector, labels any) bool {
	value := func(key string) (s string, is bool) {
		switch labels := labels.(type) {
		case map[string]string:
			s, is = labels[key]
		case map[string]any:
			s, is = labels[key].(string)
		}
		return s, is
	}

	want, _ := read.At(selector, "matchLabels").(map[string]any)
	for key := range want {
		if has, is := value(key); !is || has != want[key] {
			return false
		}
	}
	for _, x := range elements(read.At(selector, "matchExpressions")) {
		has, is := value(str(x, "key"))
		isIn := is && slices.Contains(strs(read.At(x, "values")), has)
		ok := map[string]bool{"In": isIn, "NotIn": !isIn, "Exists": is, "DoesNotExist": !is}
		if !ok[str(x, "operator")] {
			return false
		}
	}
	return true
}

// refusedRight is what the API server has refused a service account.
type refusedRight struct {
	account, verb, resource, group string
	namespace                      string // where; empty for the whole cluster
}

// refusedIn reads what a message such as `User "system:serviceaccount:prod:a" cannot patch resource
// "deployments" in API group "apps" in the namespace "prod"` refuses an account of a namespace.
func refusedIn(message, namespace string) (r refusedRight, ok bool) {
	_, rest, ok := strings.Cut(strings.ReplaceAll(message, "'", `"`), "system:serviceaccount:"+namespace+":")
	r.account, rest, _ = strings.Cut(rest, `"`)
	_, rest, isRefused := strings.Cut(rest, "cannot ")
	r.verb, _, _ = strings.Cut(rest, " ")
	_, r.resource, _ = strings.Cut(rest, `resource "`) // such as pods/log
	r.resource, _, _ = strings.Cut(r.resource, `"`)
	r.group = quoted(rest, "API group")
	if !contains(rest, "at the cluster scope") {
		r.namespace = quoted(rest, "in the namespace")
	}
	return r, ok && isRefused && r.resource != ""
}

// rightsHints are about the Roles of a service account that lack what the API server has refused.
func (l *look) rightsHints() (all []hint) {
	seen := make(map[refusedRight]bool)
	for _, message := range l.printed() {
		r, ok := refusedIn(message, l.job.Namespace)
		if !ok || seen[r] {
			continue
		}
		seen[r] = true
		all = append(all, l.e.rightsOf(r, l.job.Namespace)...)
	}
	return all
}

// rightsOf compares what an account is refused with the Roles that it has.
func (e *Explainer) rightsOf(r refusedRight, home string) (all []hint) {
	bindings := e.othersIn("ClusterRoleBinding", "")
	if r.namespace != "" {
		bindings = append(e.othersIn("RoleBinding", r.namespace), bindings...)
	}
	points := []string{"system:serviceaccount:" + home + ":" + r.account}
	has := false
	var fix []*Remedy

	for _, b := range bindings {
		isBound, elsewhere := false, ""
		for _, s := range elements(b.Fields["subjects"]) {
			if str(s, "kind") == "ServiceAccount" && str(s, "name") == r.account {
				isBound = isBound || str(s, "namespace") == home
				elsewhere = str(s, "namespace")
			}
		}
		kind, name := str(b.Fields, "roleRef.kind"), str(b.Fields, "roleRef.name")
		role := e.other(kind, b.Namespace, name)
		hasAccount := r.account == "default" || e.other("ServiceAccount", elsewhere, r.account) != nil
		isOther := b.Namespace != home || hasAccount
		switch {
		case !isBound && (elsewhere == "" || isOther):
			continue
		case !isBound:
			all = append(all, hint{text: fmt.Sprintf("%s %s names service account %s of namespace %s, and the pod "+
				"runs in namespace %s", b.Kind, b.Key(), r.account, elsewhere, home), points: points})
			correct := remedy(fmt.Sprintf("correct the namespace of the subject in %s %s", b.Kind, b.Name),
				kubectl(b.Namespace, "edit", strings.ToLower(b.Kind), b.Name),
				"each pod of that account then has the rights of "+name)
			isEnough := false
			if role != nil {
				_, _, isEnough = allowed(role, r)
			}
			if !isEnough {
				correct = when("this one is meant", correct)
			}
			fix = append(fix, correct)
		case role == nil && len(e.objects.Kept[kind]) > 0 && e.objects.HasAll():
			all = append(all, hint{text: fmt.Sprintf("%s %s gives it %s %s, which the input lacks", b.Kind, b.Key(),
				kind, name), points: points})
		case role != nil:
			gives := fmt.Sprintf("%s %s, which %s %s gives it,", kind, role.Key(), b.Kind, b.Name)
			may, only, isAllowed := allowed(role, r)
			switch {
			case isAllowed:
				return []hint{{text: gives + " allows it by now", points: points, instead: true}}
			case len(only) > 0:
				gives += fmt.Sprintf(" allows %s only on %s", r.verb, list(only))
			case len(may) > 0:
				gives += fmt.Sprintf(" allows %s on %s, and not %s", list(may), r.resource, r.verb)
			default:
				gives += " allows nothing on " + r.resource
			}
			all = append(all, hint{text: gives, points: points})
			if kind == "Role" && len(only) == 0 {
				fix = append(fix, remedy(fmt.Sprintf("add verb %s for resource %s (apiGroups: [%q]) to Role %s", r.verb,
					r.resource, r.group, name), kubectl(role.Namespace, "edit", "role", name),
					"each pod of an account that has this role may do it from then on; look who has it"))
			}
		}
		has = true
	}

	if there := e.othersIn("RoleBinding", r.namespace); !has && len(there) > 0 && r.namespace != "" {
		all = append(all, hint{text: fmt.Sprintf("no RoleBinding of namespace %s that was read names it", r.namespace),
			points: points})
	}
	if len(fix) > 0 {
		all[0].remedies, all[0].instead = fix[:1], fix[0].If == ""
	}
	return all
}

// allowed returns the verbs that a role allows on a resource, and whether the refused one is among them; or
// the names of the only objects on which it is.
func allowed(role *read.Other, r refusedRight) (may, only []string, is bool) {
	in := func(value any, what string) bool {
		all := strs(value)
		return slices.Contains(all, what) || slices.Contains(all, "*")
	}
	_, part, _ := strings.Cut(r.resource, "/")
	for _, rule := range elements(role.Fields["rules"]) {
		isOn := in(read.At(rule, "resources"), r.resource) || part != "" && in(read.At(rule, "resources"), "*/"+part)
		if !isOn || !in(read.At(rule, "apiGroups"), r.group) {
			continue
		}
		names, has := strs(read.At(rule, "resourceNames")), in(read.At(rule, "verbs"), r.verb)
		switch {
		case len(names) == 0:
			may, is = append(may, strs(read.At(rule, "verbs"))...), is || has
		case has:
			only = append(only, names...)
		}
	}
	return may, only, is
}

// printed returns what the containers of the Job have printed, or were refused with.
func (l *look) printed() (all []string) {
	for _, p := range l.pods {
		for i := range p.Containers {
			c := &p.Containers[i]
			all = append(all, c.Message)
			if c.Last != nil {
				all = append(all, c.Last.Message)
			}
		}
	}
	return all
}

// nodeTroubles are the conditions of a node that mean trouble, and the words by which a trouble points to them.
var nodeTroubles = []struct{ in, points string }{
	{"Pressure", "evicted"},
	{"NetworkUnavailable", "sandbox"},
	{"NTP", "x509 clock"},
	{"ReadonlyFilesystem", "read-only"},
	{"Problem", ""},
	{"Deadlock", ""},
	{"Frequent", ""},
}

// nodeHints are about the nodes of the Job's pods, and about pods that have taken the place of its own.
func (l *look) nodeHints() (all []hint) {
	seen, isLate := make(map[string]bool), make(map[string]bool)
	for i, p := range l.pods {
		if p.Node == "" {
			continue
		}
		for _, c := range l.e.objects.Nodes[p.Node].Troubles {
			for _, t := range nodeTroubles {
				if seen[p.Node] || !strings.Contains(c.Type, t.in) {
					continue
				}
				all = append(all, hint{text: fmt.Sprintf("node %s has %s since %s%s", p.Node, c.Type, l.clock(c.At),
					after(": ", told(c.Message))), alone: true, points: strings.Fields(t.points),
					remedies: []*Remedy{inspect("look at node "+p.Node, kubectl("", "describe", "node", p.Node))}})
				break
			}
		}
		seen[p.Node] = true

		for k := range p.Containers {
			c := &p.Containers[k]
			early := p.CreationTimestamp.Sub(c.Since)
			isEarly := c.Running && early > slack/6 && !p.CreationTimestamp.IsZero()
			if isEarly && !isLate[p.Node] {
				isLate[p.Node] = true
				all = append(all, hint{text: fmt.Sprintf("container %s of pod %s started %s before the pod was "+
					"created: the clock of node %s is behind that of the API server", c.Name, p.Name, span(early),
					p.Node), alone: true, points: []string{"x509", "not yet valid", "token", "clock", "skew"},
					remedies: []*Remedy{inspect("set the clock of the node by NTP", kubectl("", "describe", "node",
						p.Node))}})
			}
		}
		all = append(all, l.preempted(i)...)
	}
	return all
}

// runtimeHints are about a RuntimeClass that does not keep its pods to the nodes that have its runtime.
func (l *look) runtimeHints() []hint {
	x := l.e.other("RuntimeClass", "", str(l.template(), "spec.runtimeClassName"))
	if x == nil || x.At("scheduling") != nil {
		return nil
	}
	handler := str(x.Fields, "handler")
	h := hint{text: fmt.Sprintf("RuntimeClass %s (handler %s) has no scheduling, so that nothing keeps its pods to "+
		"nodes that have this runtime", x.Name, handler), points: []string{"no runtime for", "runtime handler"}}

	node, key := l.nodeOfRuntime(x.Name, handler)
	if node == "" {
		return []hint{h}
	}

	n := l.e.objects.Nodes[node]
	h.text += fmt.Sprintf("; node %s has label %s=%s", node, key, n.Labels[key])
	set := "set its scheduling to nodeSelector " + key + ": " + n.Labels[key]
	if len(n.Taints) > 0 {
		h.text += " and taint " + list(n.Taints)
		set += " and tolerations for the taints that all nodes with this runtime have"
	}

	acts := []*Act{edit("", "runtimeclass", x.Name)}
	for i, p := range l.pods {
		if l.snapshot.Pods[i].Phase == job.PodPending && !hasRun(p) && len(acts) < 4 {
			acts = append(acts, remove(p.Namespace, "pod", p.Name))
		}
	}
	h.instead = true
	h.remedies = []*Remedy{when("the nodes with this label have the runtime", does(set+", and delete the pods that "+
		"wait, which keep the node that they have: the Job creates others", "counts for all new pods of the class; a "+
		"deleted pod counts as failed, and none of these has run. Do not take runtimeClassName out to let it start: "+
		"the program would run without this isolation", acts...))}
	return []hint{h}
}

// nodeOfRuntime returns a node with a label whose value names a runtime, and the key of the label. Nodes that take no
// pods do not count, nor those of the Job's own pods.
func (l *look) nodeOfRuntime(names ...string) (node, key string) {
	for _, node := range sortedKeys(l.e.objects.Nodes) {
		n := l.e.objects.Nodes[node]
		isOwn := slices.ContainsFunc(l.pods, func(p *read.Pod) bool { return p.Node == node })
		if isSick := n.Cordoned || !n.NotReady.IsZero(); isSick || isOwn {
			continue
		}
		for _, key := range sortedKeys(n.Labels) {
			if value := n.Labels[key]; value != "" && slices.Contains(names, value) {
				return node, key
			}
		}
	}
	return "", ""
}

// injectedHints are about containers that the Job's template does not have, and the webhooks that may have
// injected them.
func (l *look) injectedHints() (all []hint) {
	var hooks []string
	for _, x := range l.e.othersIn("MutatingWebhookConfiguration", "") {
		isOfPods := func(hook any) bool {
			return slices.ContainsFunc(elements(read.At(hook, "rules")), func(rule any) bool {
				return slices.Contains(strs(read.At(rule, "resources")), "pods")
			})
		}
		if slices.ContainsFunc(elements(x.Fields["webhooks"]), isOfPods) {
			hooks = append(hooks, x.Name)
		}
	}

	for i := range l.pods {
		for _, c := range l.doing[i].helpers {
			if names := l.templateNames(); len(names) == 0 || names[c.Name] {
				continue
			}
			text := fmt.Sprintf("the Job's template does not have container %s: it was injected", c.Name)
			if len(hooks) > 0 {
				text += fmt.Sprintf(" (webhooks that change pods: %s)", list(hooks))
			}
			return []hint{{text: text, points: []string{"sidecar " + strings.ToLower(c.Name)}}}
		}
	}
	return nil
}

// preempted names the pod for which a pod was preempted, if only one of higher priority came to the node
// then.
func (l *look) preempted(i int) []hint {
	p, at := l.pods[i], l.pods[i].Condition("DisruptionTarget")
	e := lastEvent(l.podEvents[i], "Preempted")
	if at.Reason != "PreemptionByScheduler" && e == nil {
		return nil
	}
	when := at.At
	if e != nil {
		when = e.Last
	}

	var by []*read.Pod
	for _, other := range l.e.livePods("node " + p.Node) {
		isThen := when.Sub(other.CreationTimestamp).Abs() < pendingLong
		isNamed := e != nil && other.UID != "" && strings.Contains(e.Message, string(other.UID))
		if other.Spec.Priority > p.Spec.Priority && (isThen || isNamed) {
			by = append(by, other)
		}
	}
	if len(by) != 1 {
		return nil
	}
	return []hint{{text: fmt.Sprintf("pod %s, with priority %d (this one has %d), came to node %s then", by[0].Key(),
		by[0].Spec.Priority, p.Spec.Priority, p.Node), points: []string{"preempt"}}}
}

// registryOf returns the registry of an image.
func registryOf(image string) string {
	host, _, is := strings.Cut(image, "/")
	if isHost := strings.ContainsAny(host, ".:") || host == "localhost"; !is || !isHost {
		return "docker.io"
	}
	return host
}

// pullHints are about a Deployment or StatefulSet of the namespace whose pods are ready with an image of
// the registry that does not let the Job's pods pull: what lets it pull.
func (l *look) pullHints(wrong string) (all []hint) {
	isRefused := contains(wrong, "unauthorized", "authorization", "authentication", "access denied", "forbidden",
		"credentials")
	if !isRefused {
		return nil
	}

	mine := strings.Split(l.job.Template.Images(), ", ")
	spec, _ := l.template()["spec"].(map[string]any)
	secrets := func(spec any) (names []string) {
		for _, s := range elements(read.At(spec, "imagePullSecrets")) {
			names = append(names, str(s, "name"))
		}
		if x := l.e.other("ServiceAccount", l.job.Namespace, cmp.Or(str(spec, "serviceAccountName"),
			"default")); x != nil {
			for _, s := range elements(x.Fields["imagePullSecrets"]) {
				names = append(names, str(s, "name"))
			}
		}
		return names
	}

	for _, kind := range []string{"Deployment", "StatefulSet"} {
		for _, x := range l.e.othersIn(kind, l.job.Namespace) {
			theirs := x.At("spec.template.spec")
			ready, _ := x.At("status.readyReplicas").(float64)
			isSame := false
			for _, c := range elements(read.At(theirs, "containers")) {
				isSame = isSame || slices.ContainsFunc(mine, func(image string) bool {
					return registryOf(image) == registryOf(str(c, "image"))
				})
			}

			var lacks []string
			for _, name := range secrets(theirs) {
				if !slices.Contains(secrets(spec), name) {
					lacks = append(lacks, name)
				}
			}
			if ready == 0 || !isSame || len(lacks) == 0 {
				continue
			}
			from := "names imagePullSecrets " + list(lacks)
			fix := l.again(fmt.Sprintf("set imagePullSecrets: [{name: %s}] in the pod template", lacks[0]))
			if account := str(theirs, "serviceAccountName"); account != "" && read.At(theirs,
				"imagePullSecrets") == nil {
				from = fmt.Sprintf("has imagePullSecrets %s (service account %s)", list(lacks), account)
			}
			all = append(all, hint{text: fmt.Sprintf("%s %s, which runs with an image of the same registry, %s, which "+
				"the Job's pods do not have", x.Kind, x.Key(), from), points: []string{"cannot pull image"},
				remedies: []*Remedy{fix}})
		}
	}
	return all[:min(1, len(all))]
}

// queueHints are about the queues of Kueue that the Job waits in.
func (l *look) queueHints() (all []hint) {
	local := l.e.other("LocalQueue", l.job.Namespace, l.queue())
	if l.queue() == "" || local == nil {
		return nil
	}
	what := "of the Job"
	if l.isSuspended() {
		what = "in which the Job waits"
	}
	all = l.e.hintOf(local, what)
	if x := l.e.other("ClusterQueue", "", str(local.Fields, "spec.clusterQueue")); x != nil {
		all = append(all, l.e.hintOf(x, "to which it belongs")...)
	}
	return all
}
