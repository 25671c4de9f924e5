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
	silentDNS  = []string{"lookup *:53: *timeout", "no servers could be reached"}
	unanswered = []string{"i/o timeout", "connect: timed out", "connect timed out", "connection timed out",
		"connect to *timed out", "connecting to *timed out", "connection to *timed out", "operation timed out",
		"read timed out", "connect timeout", "connecttimeout", "connection timeout", "timeout expired",
		"etimedout", "://*deadline exceeded", "dial*deadline exceeded", "rpc error*deadline exceeded",
		"awaiting headers", "no route to host", "network is unreachable"}
	unresolved = []string{"no such host", "could not resolve", "couldn't resolve", "can't resolve", "failed to resolve",
		" enotfound", "eai_again", "name or service not known", "name resolution", "could not translate host",
		"bad address '", "nxdomain", "unknownhost", "unknown host", "unknown mysql server host", "server misbehaving"}
	declined = []string{"connection refused", "econnrefused"}
)

// token is a word of a message, the character before it, and the one that ends it if it was cut off.
type token struct {
	text        string
	before, end byte
}

// tokensIn returns the words of wordsIn with what is around them.
func tokensIn(message string) (all []token) {
	rest := message
	for _, w := range wordsIn(message) {
		at := strings.Index(rest, w)
		if w == "" {
			continue
		}
		t := token{text: w}
		if at > 0 {
			t.before = rest[at-1]
		}
		if rest = rest[at+len(w):]; rest != "" {
			t.end = rest[0]
		}
		all = append(all, t)
	}
	return all
}

// isAddress reports whether a word may be a host with a port or a domain, and not a place in a file.
func isAddress(w string) bool {
	const digits = "0123456789"
	const others = " errno line code status error exit "
	const files = " py go js ts rb java c cc cpp h php sh rs cs sql yaml yml json conf log "
	name, port, hasPort := strings.Cut(w, ":")
	isPort := port != "" && strings.Trim(port, digits) == ""
	isSource := strings.HasSuffix(w, "-") // as in 10.0.0.1:4000->
	if isOther := hasPort && !isPort; name == "" || isSource || isOther {
		return false
	}

	ext := name[strings.LastIndex(name, ".")+1:]
	isFile := ext != name && strings.Contains(files, " "+ext+" ")
	isOther := strings.Contains(others, " "+strings.ToLower(name)+" ")
	hasDomain := hasPort || ext != name
	isName := hasDomain && strings.Trim(name[:1], digits) != "" || strings.Count(name, ".") == 3
	return isName && !isFile && !isOther
}

// hostIn returns the host that a message is about, and its port or 0.
func hostIn(message string) (host string, port int) {
	words := tokensIn(message)
	before, url, isURL := strings.Cut(message, "://")
	if isURL && !contains(before, slices.Concat(unanswered, unresolved, declined)...) { // not where to read more
		if at := strings.IndexAny(url, "/ \"'\n"); at >= 0 {
			url = url[:at]
		}
		host = strings.TrimRight(url[strings.LastIndex(url, "@")+1:], ".:,;)")
	}

	// The word after one of these is a host, or is one if it looks like one.
	const likely = " host, address, tcp, econnrefused, etimedout, name, at, to, server,"
	for _, also := range []bool{false, true} {
		for i, w := range words[:max(len(words)-1, 0)] {
			next, mark, two := words[i+1], strings.ToLower(w.text), ""
			if i > 0 {
				two = strings.ToLower(words[i-1].text) + " " + mark
			}

			isQuoted := next.before == '"' || next.before == '\''
			is := func(words, w string) bool { return strings.Contains(words, " "+w+",") }
			var isPort bool
			for _, p := range words[min(i+2, len(words)):min(i+4, len(words))] { // as in "db" (10.0.0.5), port 5432
				isPort = isPort || strings.EqualFold(p.text, "port") && w.end == ' '
			}

			isSure := false
			switch {
			case mark == "lookup":
				on := words[min(i+2, len(words)-1)].text
				isSure = next.end == ':' || isAddress(next.text) || on == "on"
			case isQuoted:
				isSure = is(" host, hostname, resolve, address,", mark) || is(" host name, server at, server on,", two)
			case w.end == ':':
				isSure = mark == "host" || strings.HasSuffix(mark, "unknownhostexception")
			case w.end == ' ':
				isSure = is(" enotfound, eai_again,", mark) || is(" unknown host, resolve host, resolve hostname,", two)
			}
			isPort = isPort && next.text != "host" && is(" to, host, at, server,", mark)
			isLikely := isPort || isAddress(next.text) && is(likely, mark)
			if isNext := isSure || also && isLikely; isNext && host == "" {
				host = next.text
			}
		}
	}
	for _, w := range words { // as in: connection refused: db:5432
		if host == "" && strings.Contains(w.text, ":") && isAddress(w.text) {
			host = w.text
		}
	}
	host, number, _ := strings.Cut(host, ":")
	for i, w := range words[:max(len(words)-1, 0)] {
		if strings.EqualFold(w.text, "port") && number == "" {
			number = words[i+1].text
		}
	}
	port, _ = strconv.Atoi(strings.Trim(number, ":"))
	return host, port
}

// hostHints are about the Services, Jobs and Deployments that the containers in trouble wait for: those
// that their messages name, and those that a container which runs before the others names in its spec.
func (l *look) hostHints() (all []hint) {
	seen := make(map[string]bool)
	isNew := func(what ...any) bool {
		key := fmt.Sprint(what...)
		was := seen[key]
		seen[key] = true
		return !was
	}

	for _, message := range l.printed() {
		points := slices.Concat(unanswered, unresolved, declined)
		_, line := symptomOf(message)
		if !contains(line, points...) || contains(line, silentDNS...) || !isNew(line) {
			continue
		}
		if host, port := hostIn(line); host != "" && isNew(host, " ", port) {
			all = append(all, l.serviceHints(host, port, !contains(line, unresolved...), points)...)
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
			if !isNew(c.Name, "\n", command) {
				continue
			}
			for _, w := range hostsIn(command) {
				host, number, _ := strings.Cut(w, ":")
				port, _ := strconv.Atoi(number)
				all = append(all, l.serviceHints(host, port, false, []string{"init container " + c.Name})...)
			}
			all = append(all, l.awaited(command, c.Name)...)
		}
	}
	return all
}

// hostsIn returns the words of a command that are probably hosts, with their ports.
func hostsIn(command string) (hosts []string) {
	isNumber := func(w string) bool { return w != "" && strings.Trim(w, "0123456789") == "" }
	for _, one := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune("\n;&|", r) }) {
		words, before, option, first := wordsIn(one), "", "", len(hosts)
		for i := 0; i < len(words); i++ {
			w, next := words[i], strings.Join(words[i+1:min(i+2, len(words))], "")
			if strings.HasPrefix(w, "-") {
				if isNumber(next) { // as in -w 2
					i++
				}
				if isPort := w == "-p" || w == "-P" || w == "--port"; isPort && isNumber(next) {
					option = ":" + next
				}
				if w == "-h" || w == "--host" {
					before = w
				}
				continue
			}

			_, port, hasPort := strings.Cut(w, ":")
			isHost := hasPort && isNumber(port) || strings.Contains(w, ".svc")
			isAsked := strings.Contains(" nslookup host hosts dig ping nc ncat -h --host ", " "+before+" ")
			before = w
			if !isHost && (!isAsked || isNumber(w)) {
				continue
			}
			if !hasPort && isNumber(next) {
				w += ":" + next // as in nc -z db 5432
			}
			hosts = append(hosts, w)
		}
		for i, host := range hosts[first:] {
			if !strings.Contains(host, ":") {
				hosts[first+i] += option
			}
		}
	}
	return hosts
}

// serviceHints are about the Service that a host name stands for, as the pods of the Job see it. If the name was
// found, its Service exists, whether it was read or not.
func (l *look) serviceHints(host string, port int, isFound bool, points []string) (all []hint) {
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
		var others []string
		for _, key := range sortedKeys(services) {
			if services[key].Name == parts[0] {
				others = append(others, services[key].Namespace)
			}
		}

		there := namesOf(l.e.othersIn("Service", ns))
		switch near := nearName(parts[0], there); {
		case len(there) == 0 || isFound || !l.e.objects.HasAll():
		case len(others) > 0:
			add(fmt.Sprintf("the input has Service %s in %s %s, and none in %s", parts[0],
				verb(int64(len(others)), "namespace", "namespaces"), list(others), ns),
				when("that one is meant", l.again("use the host name "+parts[0]+"."+others[0])))
			if len(others) > 1 {
				all[0].remedies = []*Remedy{when("one of those is meant", l.again("use the host name "+parts[0]+
					".NAMESPACE"))}
			}
		default:
			add(fmt.Sprintf("namespace %s has no Service %s in the input; it has %s", ns, parts[0], list(there)))
			if near != "" {
				all[0].remedies = []*Remedy{when("Service "+near+" is meant", l.again("use the host name "+near))}
			}
		}
		return all
	}

	var ports []string
	isOpen := port == 0 || x.At("spec.clusterIP") == "None" || x.At("spec.type") == "ExternalName"
	for _, p := range elements(x.At("spec.ports")) {
		n, _ := read.At(p, "port").(float64)
		ports, isOpen = append(ports, fmt.Sprint(n)), isOpen || int(n) == port
	}
	if !isOpen && len(ports) > 0 {
		add(fmt.Sprintf("Service %s has port %s, and not %d", x.Key(), list(ports), port),
			l.again(fmt.Sprintf("use port %s of Service %s", ports[0], x.Name)))
	}
	ready, isKnown := l.e.endpoints(x)
	if h := l.e.missedBy(x); h != nil && isKnown && ready == 0 {
		h.points = points
		return append(all, *h)
	}
	if isKnown && ready == 0 {
		add(fmt.Sprintf("Service %s has no ready endpoint", x.Key()), inspect("look why no pod of Service "+x.Name+
			" is ready", kubectl(ns, "describe", "service,endpointslices", x.Name)))
	}
	if b, isDown := l.e.downOf(x); isDown && b.replicas == 0 && !l.e.hasPods(x) {
		name := fmt.Sprintf("%s %s", b.Kind, b.Key())
		_, scale := backendRemedies(b)
		add(fmt.Sprintf("%s, whose pods Service %s selects, has replicas 0", name, x.Key()),
			inspect("look why "+name+" has replicas 0, and whether other pods should answer",
				kubectl(ns, "describe", strings.ToLower(b.Kind), b.Name)),
			when("its pods should answer", scale[0]))
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
	return ready, isKnown
}

// missedBy returns a hint if a Service selects nothing, and a Deployment or StatefulSet of its name has pods with other
// values of the labels. The Service may also be right, as one that selects only a primary.
func (e *Explainer) missedBy(x *read.Other) *hint {
	selector, _ := x.At("spec.selector").(map[string]any)
	if len(selector) == 0 || len(e.backendsOf(x)) > 0 || e.hasPods(x) {
		return nil
	}

	var meant *read.Other
	labels := make(map[string]any) // of the one that is meant
	for _, kind := range []string{"Deployment", "StatefulSet"} {
		for _, other := range e.othersIn(kind, x.Namespace) {
			has, _ := other.At("spec.template.metadata.labels").(map[string]any)
			theirs := make(map[string]any)
			for key := range selector {
				if value := has[key]; value != nil {
					theirs[key] = value
				}
			}

			isOfName := other.Name == x.Name || str(other.Fields, "spec.serviceName") == x.Name
			if isOfName && len(theirs) == len(selector) && meant == nil {
				meant, labels = other, theirs
			}
		}
	}
	if meant == nil {
		return nil
	}

	return &hint{
		text: fmt.Sprintf("Service %s has no endpoint: it selects %s, and the pods of %s %s have %s", x.Key(),
			written(selector), meant.Kind, meant.Name, written(labels)),
		remedies: []*Remedy{
			inspect("look whether the selector or the labels are wrong, or other pods should answer that do not "+
				"exist, such as those of a primary or of another version", kubectl(x.Namespace, "get", "pods",
				"--show-labels")),
			when("the pods of "+meant.Kind+" "+meant.Name+" should answer", remedy(fmt.Sprintf("correct the selector "+
				"of Service %s, here and where its manifest is kept: what waits for it goes on by itself", x.Name),
				kubectl(x.Namespace, "edit", "service", x.Name), "all that use the Service then reach these pods")),
		},
	}
}

// hasPods reports whether a Service selects pods that have not ended, or may select those of a Rollout.
func (e *Explainer) hasPods(x *read.Other) bool {
	selector := map[string]any{"matchLabels": x.At("spec.selector")}
	return len(e.othersIn("Rollout", x.Namespace)) > 0 ||
		slices.ContainsFunc(e.livePods("namespace "+x.Namespace), func(p *read.Pod) bool {
			return selects(selector, p.Labels)
		})
}

// awaited are the Jobs that the command of a container waits for, as in kubectl wait job/migrate.
func (l *look) awaited(command, container string) (all []hint) {
	points := []string{"init container " + container}
	add := func(text string, remedies ...*Remedy) {
		all = append(all, hint{text: text, points: points, remedies: remedies})
	}
	for _, one := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune("\n;&|", r) }) {
		ns, name, reads := l.job.Namespace, "", false
		words := strings.FieldsFunc(one, func(r rune) bool { return strings.ContainsRune(" \t\"'()`", r) })
		words = words[max(slices.Index(words, "kubectl"), 0):]
		for i, w := range words {
			next := strings.Join(words[min(i+1, len(words)):min(i+2, len(words))], "")
			value, isSet := strings.CutPrefix(w, "--namespace=")
			kind, named, ok := strings.Cut(w, "/")
			switch isJob := strings.Contains(" job jobs job.batch jobs.batch ", " "+kind+" "); {
			case isSet:
				ns = value
			case w == "-n" || w == "--namespace":
				ns = next
			case w == "wait" || w == "get":
				reads = words[0] == "kubectl"
			case isJob && ok:
				name = named
			case isJob && w != "" && name == "":
				name = next
			}
		}
		const letters = "abcdefghijklmnopqrstuvwxyz0123456789-."
		isName := strings.Trim(name+ns, letters) == "" && name != "" && !strings.HasPrefix(name, "-")
		if !reads || !isName {
			continue
		}

		j, _ := l.e.existingOf("Job", &read.Meta{Namespace: ns, Name: name}).(*read.Job)
		var names []string
		for _, other := range l.e.objects.Jobs {
			isOther := other != nil && other.Namespace == ns && other.UID != l.job.UID
			if j == nil && isOther {
				names = append(names, other.Name)
			}
		}
		switch near := nearName(name, names); {
		case j == nil && len(names) == 0: // perhaps they were not read
		case j == nil:
			add(fmt.Sprintf("it names Job %s, which the input does not have in namespace %s; it has %s", name, ns,
				list(names)))
			if near != "" {
				all[len(all)-1].remedies = []*Remedy{when("Job "+near+" is meant", l.again("name "+near+
					" in the command of "+container))}
			}
		case j.Object.Status.Finished() != "":
			add(fmt.Sprintf("it names Job %s, which has ended as %s", name, j.Object.Status.Finished()),
				inspect("look at Job "+name+", which does not change any more", kubectl(ns, "describe", "job", name)))
		default:
			add(fmt.Sprintf("it names Job %s, which has not ended", name))
		}
	}
	return all
}

// restricts reports whether a NetworkPolicy is about a direction, Ingress or Egress.
func restricts(x *read.Other, direction string) bool {
	if types := strs(x.At("spec.policyTypes")); len(types) > 0 {
		return slices.Contains(types, direction)
	}
	return direction == "Ingress" || x.At("spec.egress") != nil
}

// podPort returns the port of the pods behind a host, which a NetworkPolicy allows or not. isSure is false if
// the host may be a Service that translates the port to another one, and target is 0 if it does so by name.
func (l *look) podPort(host string, port int) (target int, isSure bool) {
	parts := append(strings.Split(host, "."), l.job.Namespace)
	services := l.e.objects.Kept["Service"]
	for _, key := range sortedKeys(services) {
		x := services[key]
		isNamed := x.Name == parts[0] && x.Namespace == parts[1]
		if x.At("spec.clusterIP") != host && !isNamed {
			continue
		}
		for _, p := range elements(x.At("spec.ports")) {
			n, _ := read.At(p, "port").(float64)
			to, isNumber := read.At(p, "targetPort").(float64)
			switch {
			case x.At("spec.clusterIP") == "None" || int(n) != port:
			case isNumber:
				return int(to), true
			case read.At(p, "targetPort") == nil:
				return port, true
			default: // a name of which only the pods know the number
				return 0, false
			}
		}
		return port, x.At("spec.clusterIP") == "None"
	}
	return port, false
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
		if restricts(x, "Egress") && selects(x.At("spec.podSelector"), l.podLabels()) {
			names, rules = append(names, x.Name), append(rules, elements(x.At("spec.egress"))...)
		}
	}
	if len(names) == 0 || l.isOnHost() {
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
	isName := slices.ContainsFunc(l.printed(), func(message string) bool {
		_, line := symptomOf(message)
		return contains(line, slices.Concat(unresolved, silentDNS)...)
	})
	switch {
	case len(rules) == 0:
		return []hint{{text: who + " no egress at all", points: slices.Concat(unanswered, unresolved),
			instead: true, remedies: []*Remedy{edit("what the pods need", "its ports, and "+dns)}}}
	case isName && !has(53) && !has(5353):
		all = append(all, hint{text: fmt.Sprintf("%s egress only to port %s, and not to port 53, so that no name is "+
			"resolved", who, list(ports)), points: slices.Concat(unresolved, silentDNS),
			instead: true, remedies: []*Remedy{edit("DNS", dns)}})
	}
	for _, message := range l.printed() {
		_, line := symptomOf(message)
		host, port := hostIn(line)
		if contains(line, silentDNS...) || !contains(line, unanswered...) {
			continue
		}
		target, isSure := l.podPort(host, port)
		allow := edit("the connection", fmt.Sprintf("port %d", target))
		if !isSure {
			allow = when(host+" is not a Service with another targetPort", allow)
		}
		switch {
		case port > 0 && target > 0 && !has(target):
			return append(all, hint{text: fmt.Sprintf("%s egress only to port %s, and not to port %d", who, list(ports),
				target), points: unanswered, remedies: []*Remedy{allow}})
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
	var isAny bool
	isNear := service.Namespace == l.job.Namespace

	for _, x := range l.e.othersIn("NetworkPolicy", service.Namespace) {
		if labels == nil || !restricts(x, "Ingress") || !selects(x.At("spec.podSelector"), labels) {
			continue
		}

		names = append(names, x.Name)
		for _, rule := range elements(x.At("spec.ingress")) {
			from := elements(read.At(rule, "from"))
			if len(from) == 0 {
				return nil
			}
			for _, peer := range from {
				isAny = true
				isSame := isNear && read.At(peer, "namespaceSelector") == nil
				isOther := read.At(peer, "namespaceSelector") != nil || read.At(peer, "ipBlock") != nil
				if isOther || isSame && selects(read.At(peer, "podSelector"), l.podLabels()) {
					return nil
				}
			}
		}
	}
	if len(names) == 0 || l.isOnHost() {
		return nil
	}

	fix := l.again("give the pod template the labels that NetworkPolicy " + names[0] + " lets in")
	if !isNear || !isAny {
		rule := "a podSelector for them"
		if !isNear {
			rule = "a namespaceSelector for namespace " + l.job.Namespace
		}
		fix = remedy(fmt.Sprintf("let the Job's pods in: add a rule with %s to ingress of NetworkPolicy %s, or "+
			"a policy of its own for them", rule, names[0]),
			kubectl(service.Namespace, "edit", "networkpolicy", names[0]),
			"what the rule names may then connect there: ask whoever keeps it")
	}

	return []hint{{
		text: fmt.Sprintf("NetworkPolicy %s/%s lets in to the pods of Service %s only what its ingress names, "+
			"which the Job's pods do not match", service.Namespace, list(names), service.Name),
		points:   append(points[:min(1, len(points)):1], unanswered...),
		remedies: []*Remedy{fix},
	}}
}

// isOnHost reports whether the pods use the network of their nodes, for which a NetworkPolicy may not count.
func (l *look) isOnHost() bool {
	is, _ := read.At(l.template(), "spec.hostNetwork").(bool)
	return is
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
