package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// Words of a message about the network.
var (
	unanswered = []string{"timed out", "timeout", "deadline exceeded", "etimedout", "no route to host",
		"network is unreachable"}
	unresolved = []string{"no such host", "could not resolve", "couldn't resolve", "can't resolve", " enotfound",
		"eai_again", "name or service not known", "name resolution", "could not translate host", "bad address",
		"nxdomain", "unknownhost", "unknown mysql server host", "server misbehaving"}
	declined = []string{"connection refused", "econnrefused"}
)

// hostIn returns the host that a message is about, and its port or 0.
func hostIn(message string) (host string, port int) {
	words := wordsIn(message)
	if _, url, is := strings.Cut(message, "://"); is {
		if at := strings.IndexAny(url, "/ \"'"); at >= 0 {
			url = url[:at]
		}
		_, after, isUser := strings.Cut(url, "@")
		if isUser {
			url = after
		}
		words = []string{"lookup", url}
	}

	// The word after one of these is a host, or is one if it looks like one.
	const sure, likely = " lookup enotfound eai_again host ", " address tcp econnrefused etimedout name at to server "
	for _, marks := range []string{sure, likely} {
		for i, w := range words[:max(len(words)-1, 0)] {
			next, mark := words[i+1], " "+strings.ToLower(w)+" "
			isNamed := marks == sure && !strings.EqualFold(next, "name") || strings.ContainsAny(next, ".:")
			isAfterHost := i > 0 && strings.EqualFold(words[i-1], "host") && !strings.EqualFold(next, "or")
			isBeforePort := i+2 < len(words) && strings.EqualFold(words[i+2], "port")
			isHost := isNamed || isAfterHost || isBeforePort
			if host == "" && strings.Contains(marks, mark) && isHost {
				host = next
			}
		}
	}
	for _, w := range words { // as in: connection refused: db:5432
		before, after, is := strings.Cut(w, ":")
		isPort := is && after != "" && strings.Trim(after, "0123456789") == ""
		if host == "" && isPort && strings.Trim(before, "0123456789") != "" {
			host = w
		}
	}
	host, number, _ := strings.Cut(host, ":")
	for i, w := range words[:max(len(words)-1, 0)] {
		if strings.EqualFold(w, "port") && number == "" {
			number = words[i+1]
		}
	}
	port, _ = strconv.Atoi(strings.Trim(number, ":"))
	return host, port
}

// hostHints are about the Services, Jobs and Deployments that the containers in trouble wait for: those
// that their messages name, and those that a container which runs before the others names in its spec.
func (l *look) hostHints() (all []hint) {
	for _, message := range l.printed() {
		points := slices.Concat(unanswered, unresolved, declined)
		if host, port := hostIn(message); host != "" && contains(message, points...) {
			all = append(all, l.serviceHints(host, port, points)...)
		}
	}

	for _, p := range l.pods {
		for i := range p.Containers {
			c := &p.Containers[i]
			hasBegun := c.Running || c.Last != nil
			if !hasBegun || !c.Init || c.Sidecar {
				continue
			}
			spec := p.Spec.Container(c.Name)
			command := strings.Join(slices.Concat(spec.Command, spec.Args), " ")
			for _, w := range hostsIn(command) {
				host, number, _ := strings.Cut(w, ":")
				port, _ := strconv.Atoi(number)
				all = append(all, l.serviceHints(host, port, []string{"init container " + c.Name})...)
			}
			all = append(all, l.awaited(command, c.Name)...)
		}
	}
	return all
}

// hostsIn returns the words of a command that are probably hosts, with their ports.
func hostsIn(command string) (hosts []string) {
	words := wordsIn(command)
	for i, w := range words {
		_, port, hasPort := strings.Cut(w, ":")
		isHost := hasPort && strings.Trim(port, "0123456789") == "" || strings.Contains(w, ".svc")
		before := words[max(i-1, 0)]
		isAsked := i > 0 && strings.Contains(" nslookup host hosts dig ping -h --host -z -zv -vz ", " "+before+" ")
		if isHost || isAsked {
			if i+1 < len(words) && !hasPort && strings.Trim(words[i+1], "0123456789") == "" {
				w += ":" + words[i+1] // as in nc -z db 5432
			}
			hosts = append(hosts, w)
		}
	}
	return hosts
}

// serviceHints are about the Service that a host name stands for, as the pods of the Job see it.
func (l *look) serviceHints(host string, port int, points []string) (all []hint) {
	parts := strings.Split(host, ".")
	ns, services := l.job.Namespace, l.e.objects.Kept["Service"]
	isLocal := len(parts) > 2 && parts[2] == "svc" || len(parts) == 1
	if len(parts) > 1 {
		ns = parts[1]
		isLocal = isLocal || len(l.e.othersIn("Service", ns)) > 0 && len(parts) == 2
	}
	if isNone := parts[0] == "" || host == "localhost"; !isLocal || isNone || len(services) == 0 {
		return nil
	}
	add := func(text string, remedies ...*Remedy) {
		all = append(all, hint{text: text, points: points, remedies: remedies})
	}

	x := services[ns+"/"+parts[0]]
	if x == nil {
		for _, key := range sortedKeys(services) {
			other := services[key]
			if other.Name == parts[0] {
				add(fmt.Sprintf("the input has Service %s in namespace %s, and none in %s: from there its name is "+
					"%s.%s",
					other.Name, other.Namespace, ns, other.Name, other.Namespace),
					l.again(fmt.Sprintf("use the host name %s.%s", other.Name, other.Namespace)))
				return all
			}
		}
		there := namesOf(l.e.othersIn("Service", ns))
		if near := nearName(parts[0], there); len(there) > 0 && l.e.objects.HasAll() {
			add(fmt.Sprintf("namespace %s has no Service %s in the input; it has %s", ns, parts[0], list(there)))
			if near != "" {
				all[0].remedies = []*Remedy{when("Service "+near+" is meant", l.again("use the host name "+near))}
			}
		}
		return all
	}

	var ports []string
	isOpen := port == 0
	for _, p := range elements(x.At("spec.ports")) {
		n, _ := read.At(p, "port").(float64)
		ports, isOpen = append(ports, fmt.Sprint(n)), isOpen || int(n) == port
	}
	if !isOpen && len(ports) > 0 {
		add(fmt.Sprintf("Service %s has port %s, and not %d", x.Key(), list(ports), port),
			l.again(fmt.Sprintf("use port %s of Service %s", ports[0], x.Name)))
	}
	if ready, isKnown := l.e.endpoints(x); isKnown && ready == 0 {
		text, remedies := fmt.Sprintf("Service %s has no ready endpoint", x.Key()), []*Remedy{inspect(
			"look why no pod of Service "+x.Name+" is ready", kubectl(ns, "describe", "service,endpointslices",
				x.Name))}
		if b, ok := l.e.downOf(x); ok {
			why, first := backendRemedies(b)
			text, remedies = text+why, first
		}
		add(text, remedies...)
	}
	return append(all, l.ingressHints(x, points)...)
}

// endpoints returns the number of ready endpoints of a Service. isKnown is false if no object shows it.
func (e *Explainer) endpoints(x *read.Other) (ready int, isKnown bool) {
	for _, s := range e.othersIn("EndpointSlice", x.Namespace) {
		if s.Labels["kubernetes.io/service-name"] != x.Name {
			continue
		}
		isKnown = true
		for _, p := range elements(s.Fields["endpoints"]) {
			if is, _ := read.At(p, "conditions.ready").(bool); is || read.At(p, "conditions.ready") == nil {
				ready++
			}
		}
	}
	if s := e.objects.Kept["Endpoints"][x.Key()]; s != nil {
		isKnown = true
		for _, part := range elements(s.Fields["subsets"]) {
			ready += len(elements(read.At(part, "addresses")))
		}
	}
	if _, isDown := e.downOf(x); isDown {
		isKnown = true
	}
	return ready, isKnown
}

// awaited are the Jobs and other objects that the command of a container waits for, as in kubectl wait
// job/migrate.
func (l *look) awaited(command, container string) (all []hint) {
	ns := l.job.Namespace
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n;&|\"'()", r) })
	for i, w := range words {
		kind, name, ok := strings.Cut(strings.TrimSuffix(w, ","), "/")
		if (w == "job" || w == "jobs") && i+1 < len(words) {
			kind, name, ok = "job", words[i+1], true
		}
		isJob := contains(" job jobs job.batch jobs.batch ", " "+kind+" ")
		if !ok || !isJob || name == "" {
			continue
		}
		text, points := "", []string{"init container " + container}
		var remedies []*Remedy
		switch j, _ := l.e.existingOf("Job", &read.Meta{Namespace: ns, Name: name}).(*read.Job); {
		case j == nil:
			var names []string
			for _, other := range l.e.objects.Jobs {
				if other != nil && other.Namespace == ns && other.UID != l.job.UID {
					names = append(names, other.Name)
				}
			}
			text = fmt.Sprintf("it names Job %s, which the input does not have in namespace %s; it has %s", name, ns,
				list(names))
			if near := nearName(name, names); near != "" {
				remedies = []*Remedy{when("Job "+near+" is meant", l.again("name "+near+" in the command of "+
					""+container))}
			}
		case j.Object.Status.Finished() != "":
			text = fmt.Sprintf("it names Job %s, which has ended as %s", name, j.Object.Status.Finished())
			remedies = []*Remedy{inspect("look at Job "+name+", which does not change any more", kubectl(ns, "describe",
				"job", name))}
		default:
			text = fmt.Sprintf("it names Job %s, which has not ended", name)
		}
		all = append(all, hint{text: text, points: points, remedies: remedies})
	}
	return all
}

// rulePorts describes the ports that the rules of a NetworkPolicy allow. all is true if a rule allows every
// port.
func rulePorts(rules []any) (ports []string, all bool, has func(port int) bool) {
	type interval struct{ from, to int }
	var open []interval
	isNamed := false
	for _, rule := range rules {
		list := elements(read.At(rule, "ports"))
		all = all || len(list) == 0
		for _, p := range list {
			from, isNumber := read.At(p, "port").(float64)
			to, isRange := read.At(p, "endPort").(float64)
			if !isRange {
				to = from
			}
			isNamed = isNamed || !isNumber
			open = append(open, interval{int(from), int(to)})
			if text := fmt.Sprint(read.At(p, "port")); !slices.Contains(ports, text) {
				ports = append(ports, text)
			}
		}
	}
	return ports, all, func(port int) bool {
		return all || isNamed ||
			slices.ContainsFunc(open, func(i interval) bool { return i.from <= port && port <= i.to })
	}
}

// policyHints are about the NetworkPolicies that select the pods of the Job, if they keep the pods from
// what their messages complain about. Policies add up, so that all of them are looked at together.
func (l *look) policyHints() (all []hint) {
	var names []string
	var rules []any
	for _, x := range l.e.othersIn("NetworkPolicy", l.job.Namespace) {
		isEgress := slices.Contains(strs(x.At("spec.policyTypes")), "Egress") || x.At("spec.egress") != nil
		if isEgress && selects(x.At("spec.podSelector"), l.podLabels()) {
			names, rules = append(names, x.Name), append(rules, elements(x.At("spec.egress"))...)
		}
	}
	if len(names) == 0 {
		return nil
	}

	n := int64(len(names))
	who := fmt.Sprintf("NetworkPolicy %s %s the Job's pods and %s", list(names), verb(n, "selects", "select"),
		verb(n, "allows", "allow"))
	edit := func(what, rule string) *Remedy {
		return remedy(fmt.Sprintf("allow %s: add %s to egress of NetworkPolicy %s, or a policy of its own for these "+
			"pods",
			what, rule, names[0]), kubectl(l.job.Namespace, "edit", "networkpolicy", names[0]),
			"all pods that the policy selects may then connect there: ask whoever keeps it")
	}
	isOpen := func(rule any) bool { return read.At(rule, "to") == nil && read.At(rule, "ports") == nil }
	if slices.ContainsFunc(rules, isOpen) {
		return nil
	}
	ports, isAll, has := rulePorts(rules)
	const dns = "port 53, UDP and TCP"
	switch {
	case len(rules) == 0:
		return []hint{{text: who + " no egress at all", points: slices.Concat(unanswered, unresolved),
			remedies: []*Remedy{edit("what the pods need", "its ports, and "+dns)}}}
	case !has(53):
		all = append(all, hint{text: fmt.Sprintf("%s egress only to port %s, and not to port 53, so that no name is "+
			"resolved", who, list(ports)), points: slices.Concat(unresolved, unanswered),
			remedies: []*Remedy{edit("DNS", dns)}})
	}
	for _, message := range l.printed() {
		host, port := hostIn(message)
		if port == 53 || !contains(message, unanswered...) {
			continue
		}
		switch {
		case port > 0 && !has(port):
			return append(all, hint{text: fmt.Sprintf("%s egress only to port %s, and not to port %d", who, list(ports),
				port), points: unanswered, remedies: []*Remedy{edit("the connection", fmt.Sprintf("port %d", port))}})
		case len(all) == 0 && host != "":
			text := who + " egress only as its rules say"
			if !isAll {
				text = fmt.Sprintf("%s egress only to port %s, and only to what its rules name", who, list(ports))
			}
			return append(all, hint{text: text, points: unanswered, remedies: []*Remedy{inspect(
				fmt.Sprintf("look whether a rule of it allows %s", host),
				kubectl(l.job.Namespace, "get", "networkpolicy", names[0], "-o", "yaml"))}})
		}
	}
	return all
}

// ingressHints are about the NetworkPolicies that keep the pods of the Job from those of a Service.
func (l *look) ingressHints(service *read.Other, points []string) (all []hint) {
	labels := service.At("spec.selector")
	var names []string
	for _, x := range l.e.othersIn("NetworkPolicy", service.Namespace) {
		types := strs(x.At("spec.policyTypes"))
		isIngress := len(types) == 0 || slices.Contains(types, "Ingress")
		if labels == nil || !isIngress || !selects(x.At("spec.podSelector"), labels) {
			continue
		}
		names = append(names, x.Name)
		for _, rule := range elements(x.At("spec.ingress")) {
			from := elements(read.At(rule, "from"))
			if len(from) == 0 {
				return nil
			}
			for _, peer := range from {
				isSame := service.Namespace == l.job.Namespace && read.At(peer, "namespaceSelector") == nil
				isOther := read.At(peer, "namespaceSelector") != nil || read.At(peer, "ipBlock") != nil
				if isOther || isSame && selects(read.At(peer, "podSelector"), l.podLabels()) {
					return nil
				}
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []hint{{
		text: fmt.Sprintf("NetworkPolicy %s/%s lets in to the pods of Service %s only what its ingress names, which "+
			"the Job's pods do not match", service.Namespace, list(names), service.Name),
		points:   append(points[:min(1, len(points)):1], unanswered...),
		remedies: []*Remedy{l.again("give the pod template the labels that NetworkPolicy " + names[0] + " lets in")},
	}}
}

// podLabels returns the labels of the Job's pods.
func (l *look) podLabels() map[string]string {
	for _, p := range l.pods {
		return p.Labels
	}
	labels := map[string]string{"batch.kubernetes.io/job-name": l.job.Name, "job-name": l.job.Name}
	all, _ := read.At(l.template(), "metadata.labels").(map[string]any)
	for key, value := range all {
		labels[key], _ = value.(string)
	}
	return labels
}
