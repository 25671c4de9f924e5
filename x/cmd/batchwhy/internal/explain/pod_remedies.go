package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

func (l *look) imageRemedies(p *read.Pod, c *read.Container) []*Remedy {
	message, missing := c.Message, (*read.Event)(nil)
	for i := range l.pods {
		if l.pods[i] != p {
			continue
		}
		if e := lastEvent(l.podEvents[i], "Failed"); e != nil {
			message += " " + e.Message
		}
		missing = lastEvent(l.podEvents[i], "FailedToRetrieveImagePullSecret")
	}

	if missing != nil && contains(message, "401", "403", "denied", "unauthorized", "credentials") {
		return l.pullSecretRemedies(p, missing.Message)
	}

	ns := p.Namespace
	fix := l.again("correct the image's name or tag")
	secret := remedy("create a secret with the registry's credentials, and name it in imagePullSecrets of the "+
		"pods' service account: the kubelet retries by itself",
		kubectl(ns, "create", "secret", "docker-registry", "registry", "--docker-server=SERVER",
			"--docker-username=USER", "--docker-password=TOKEN")+" && "+
			kubectl(ns, "patch", "serviceaccount", l.serviceAccount(), "-p",
				`{"imagePullSecrets":[{"name":"registry"}]}`),
		"safe for what runs; pods that exist take a service account's secrets only if they are created again, so "+
			"delete the pending pods after it")

	if l.drains() {
		secret = withRisk(secret, "safe for what runs; this Job creates no pod any more")
	}

	switch {
	case c.Reason == "InvalidImageName":
		return []*Remedy{fix}
	case c.Reason == "ErrImageNeverPull":
		return []*Remedy{
			when("the image was built on this machine", remedy("load it onto the nodes, which do not see the "+
				"images of docker on this machine (with kind: kind load docker-image): the kubelet retries by itself",
				"minikube image load "+quote(l.imageOf(p, c)), "safe for what runs")),
			when("a registry has it", l.again("set imagePullPolicy to IfNotPresent")),
		}
	case contains(message, "toomanyrequests", "rate limit", "429"):
		return []*Remedy{
			remedy("wait: the kubelet retries, at most 5 minutes apart, and succeeds once the registry's rate "+
				"limit allows it", kubectl(ns, "get", "pod", p.Name, "--watch"), readsOnly),
			when("it comes back", withDo(secret, "pull with credentials, whose rate limit is higher: create a "+
				"secret and name it in imagePullSecrets")),
			when("it comes back", l.again("use a mirror or a copy of the image in a registry of your own")),
		}
	case contains(message, "x509", "certificate"):
		return []*Remedy{
			when("the registry's certificate comes from a CA of your own", inspect("install that CA on each node "+
				"for the container runtime, and restart the runtime; the kubelet retries by itself. This shows "+
				"which node it is", kubectl(ns, "get", "pod", p.Name, "-o", "wide"))),
			when("the registry has another name", fix),
		}
	case contains(message, "no match for platform", "exec format"):
		return l.platformRemedies(p)
	case contains(message, "pull access denied", "may require"):
		return []*Remedy{when("the name is misspelled", fix), when("the image is private", secret)}
	case contains(message, "unauthorized", "authoriz", "401", "403", "forbidden", "denied", "credentials"):
		return []*Remedy{when("the registry wants credentials", secret), when("the name is misspelled", fix)}
	case contains(message, "timeout", "no such host", "connection refused", "x509", "dial tcp",
		"network is unreachable", "tls"):
		return []*Remedy{
			when("the node cannot reach the registry", inspect("try to pull on the node, and check its DNS, proxy "+
				"and certificates; the kubelet retries by itself", kubectl(ns, "describe", "pod", p.Name))),
			when("the registry's name is misspelled", fix),
		}
	}
	isKnown := contains(message, "not found") && len(elements(read.At(l.template(), "spec.imagePullSecrets"))) > 0
	if _, was := l.goodImage(c, l.imageOf(p, c)); was != "" && repository(was) == repository(l.imageOf(p, c)) {
		isKnown, fix = true, l.again("use a tag that exists, such as that of the last good run, "+was)
	}
	all := []*Remedy{when("the name or the tag is wrong", fix),
		when("the image is still to be pushed", remedy("push it: the kubelet retries by itself, at most 5 minutes "+
			"apart", kubectl(ns, "get", "pod", p.Name, "--watch"), "safe: the Job goes on as soon as the image is "+
			"there"))}
	if !isKnown { // a registry that knows the caller says what is not there
		all = append(all, when("the image is private", secret))
	}
	return all
}

// pullSecretRemedies say what to do about a secret of imagePullSecrets that is not there.
func (l *look) pullSecretRemedies(p *read.Pod, message string) []*Remedy {
	_, name, _ := strings.Cut(message, "(")
	name, _, _ = strings.Cut(name, ")")
	if name == "" || strings.ContainsAny(name, ", ") {
		name = "NAME"
	}
	return []*Remedy{
		when("it was never created, or in another namespace", remedy(fmt.Sprintf("create secret %s, which "+
			"imagePullSecrets names and the kubelet does not find in namespace %s: it retries by itself", name,
			p.Namespace),
			kubectl(p.Namespace, "create", "secret", "docker-registry", name, "--docker-server=SERVER",
				"--docker-username=USER", "--docker-password=TOKEN"), "safe for what runs")),
		when("the name is misspelled", l.again("correct imagePullSecrets")),
	}
}

func withDo(r *Remedy, do string) *Remedy {
	c := *r
	c.Do = sentence(do)
	return &c
}

func (l *look) serviceAccount() string {
	if name := l.job.Template.ServiceAccount; name != "" {
		return name
	}
	return "default"
}

// missingRemedies say what to do about a ConfigMap, a Secret or a key that is missing.
func (l *look) missingRemedies(p *read.Pod, message string) []*Remedy {
	ns := p.Namespace
	create := ""
	switch {
	case quoted(message, "secret") != "":
		create = kubectl(ns, "create", "secret", "generic", quoted(message, "secret"), "--from-literal=KEY=VALUE")
	case quoted(message, "configmap") != "":
		create = kubectl(ns, "create", "configmap", quoted(message, "configmap"), "--from-literal=KEY=VALUE")
	}
	switch {
	case contains(message, "find key"):
		return []*Remedy{
			when("the key is missing", inspect("look which keys there are, and add the missing one: the kubelet "+
				"retries by itself", kubectl(ns, "get", "configmap,secret"))),
			when("the key is misspelled", l.again("correct the name of the key")),
		}
	case create == "":
		return []*Remedy{l.describePodRemedy(p), l.again("correct what the message names")}
	}
	return []*Remedy{
		when("it was not created, or in another namespace", remedy("create it: the kubelet retries and starts the "+
			"pod by itself", create, "safe: no container of the pod has run yet")),
		when("the name is misspelled", l.again("correct the name")),
	}
}

func (l *look) startRemedies(p *read.Pod, message string) []*Remedy {
	switch {
	case contains(message, "mount a directory onto a file", "not a directory"):
		return []*Remedy{l.again("mount a file on a file, or a directory on a directory: subPath names what the " +
			"volume does not have, or has as the other of the two (a key of a ConfigMap that is missing becomes a " +
			"directory),"),
			inspect("look which keys or files the volume has", kubectl(p.Namespace, "describe", "configmaps,secrets"))}
	case contains(message, "executable file not found", "no such file", "was not found"):
		return []*Remedy{l.again("correct command, which names a program that the image does not have,"),
			inspect("look what the image has", kubectl(p.Namespace, "run", "look", "--rm", "-it",
				"--image="+l.imageOf(p, &read.Container{Name: firstOf(&p.Spec)}), "--", "sh"))}
	case contains(message, "permission denied", "not executable"):
		if _, r := l.notExecutable(p, message); r != nil {
			return []*Remedy{r}
		}
		return []*Remedy{l.again("make the program executable (chmod +x in the image, defaultMode: 0755 of a " +
			"ConfigMap or Secret that it comes from), or start it with its interpreter in command,")}
	case contains(message, "exec format"):
		return l.platformRemedies(p)
	case contains(message, "is reserved for", "context deadline exceeded"):
		return []*Remedy{
			inspect("wait: the runtime of the node still works at an earlier attempt, and the kubelet retries by "+
				"itself; look whether the node is short of disk or processor time, which is why it is slow",
				kubectl("", "describe", "node", p.Node)),
			when("it stays so", does("delete the pod: the Job creates another", "it counts as failed against "+
				"backoffLimit; no container of it has run", remove(p.Namespace, "pod", p.Name))),
		}
	}
	return []*Remedy{
		l.again("correct command and args: the container's program does not start,"),
		l.describePodRemedy(p),
	}
}

func cordon(node string) *Act {
	return &Act{Verb: Edits, Kind: "node", Name: node, Command: kubectl("", "cordon", node)}
}

// platformRemedies say what to do about an image that is built for other nodes.
func (l *look) platformRemedies(bad *read.Pod) (all []*Remedy) {
	const most = 4 // pods that one command moves
	var nodes []string
	var acts []*Act
	n := l.failures()
	for i, p := range l.pods {
		if !l.waitsForPlatform(i) || n == l.failures()+most {
			continue
		}
		if n++; !slices.Contains(nodes, p.Node) {
			nodes, acts = append(nodes, p.Node), append(acts, cordon(p.Node))
		}
		acts = append(acts, remove(p.Namespace, "pod", p.Name))
	}

	// A deleted pod counts as failed. The Job, or an index of it, must not fail because of that.
	mayFail := l.spec.BackoffLimitPerIndex == nil && n <= int64(*l.spec.BackoffLimit)
	if len(acts) > 0 && l.works() > 0 && mayFail {
		all = []*Remedy{when("pods on other nodes work", does("keep new pods off the node, and delete the pods that "+
			"wait there: the Job creates others, and what it has done stays",
			"each deleted pod counts as failed against "+l.failureLimit()+"; none of them has run. Allow pods on the "+
				"node again (kubectl uncordon) when the Job has ended", acts...))}
	}
	if _, others := l.arch(bad); len(others) == 1 {
		return append(all, l.again("keep the pods on nodes that the image is built for, with nodeSelector "+
			"kubernetes.io/arch: "+others[0]+", or build it for both (docker buildx build --platform "+
			"linux/amd64,linux/arm64),"))
	}
	return append(all,
		l.again("build the image for the architecture of each node it runs on (docker buildx build --platform "+
			"linux/amd64,linux/arm64), or keep the pods on nodes that it is for with a nodeSelector for "+
			"kubernetes.io/arch,"),
		inspect("look which architectures the nodes have", "kubectl get nodes -L kubernetes.io/arch"))
}

// arch returns the architecture of the node of a pod, and those of other nodes.
func (l *look) arch(p *read.Pod) (is string, others []string) {
	const label = "kubernetes.io/arch"
	is = l.e.objects.Nodes[p.Node].Labels[label]
	for _, value := range sortedKeys(l.e.withLabel(label)) {
		if value != is && is != "" {
			others = append(others, value)
		}
	}
	return is, others
}

// waitsForPlatform reports whether a pod waits on a node for which its image is not built.
func (l *look) waitsForPlatform(i int) bool {
	p := l.pods[i]
	if p.Object.Phase != job.PodPending || p.Object.Deletion != nil || p.Node == "" {
		return false
	}
	isIt := func(message string) bool { return contains(message, "no match for platform", "exec format") }
	for k := range p.Containers {
		if c := &p.Containers[k]; c.Waiting && isIt(c.Message) {
			return true
		}
	}
	for k := range l.podEvents[i] {
		if isIt(l.podEvents[i][k].Message) {
			return true
		}
	}
	return false
}

func (l *look) memoryRemedies(p *read.Pod, container string) []*Remedy {
	limit := p.Spec.Container(container).MemoryLimit
	raise := "set resources.limits.memory, with a request of the same size,"
	if limit != "" && !l.isRangeLimit(container) {
		raise = fmt.Sprintf("raise resources.limits.memory, now %s,", limit)
	}

	more := when("the work needs more memory", l.again(raise))
	if c := l.ownerCronJob(); c != nil && l.job.Controller().Kind == "CronJob" {
		if now := c.Template.Container(container).MemoryLimit; now != "" && limit != "" && now != limit {
			more = inspect(fmt.Sprintf("look how the runs to come do: this run had resources.limits.memory %s, and "+
				"CronJob %s has %s now", limit, c.Name, now),
				kubectl(p.Namespace, "get", "cronjob", c.Name, "-o", "yaml"))
		}
	}

	which := []string{"top", "pod", p.Name, "--containers"}
	if p.Object.Phase >= job.PodSucceeded { // it has no metrics any more
		which = []string{"top", "pod", "-l", "batch.kubernetes.io/job-name=" + l.job.Name, "--containers"}
	}
	return append(l.changeSuspended("change resources", resourcesField),
		more,
		when("the program leaks, or takes the node's memory for its own", inspect("watch what it uses while a pod "+
			"runs, and give runtimes such as Java and Node.js a limit of their own", kubectl(p.Namespace, which...))))
}

// sidecarRemedies say how to end a pod that its helpers keep running.
func (l *look) sidecarRemedies(p *read.Pod, activity *activity) []*Remedy {
	ns, name := p.Namespace, activity.helpers[0].Name
	logs := l.logs(p, activity.ended[0].Name, false)
	logs.If = "the work itself has failed"
	now := func(code int32, args ...string) *Remedy {
		command := kubectl(ns, append([]string{"exec", p.Name, "-c", name, "--"}, args...)...)
		return does("end the sidecar now, so that the pod ends", l.whenEnded(p, activity, code),
			end(ns, p.Name, name, code, command))
	}

	native := l.nextTime(fmt.Sprintf("move %s into initContainers with restartPolicy: Always (a native sidecar, "+
		"from Kubernetes 1.29 on, does not keep the pod running)", name))
	image := p.Spec.Container(name).Image

	given := []*Remedy{when("nothing waits for the Job's end",
		does("delete the Job, whose work has ended: nothing is done again",
			"the Job never counts as complete, and its logs are lost with its pods: read them before",
			remove(ns, "job", l.job.Name)))}
	if l.works() > 0 || l.spec.Completions == nil || l.remaining() > 1 {
		given = nil
	}

	var all []*Remedy
	switch {
	case contains(name+" "+image, "istio"):
		all = []*Remedy{now(0, "pilot-agent", "request", "POST", "quitquitquit"),
			l.nextTime("let Istio inject a native sidecar: set the annotation " +
				"sidecar.istio.io/nativeSidecar: \"true\" on the pod template (older Istio: ENABLE_NATIVE_SIDECARS " +
				"on istiod), or keep the proxy out with the label sidecar.istio.io/inject: \"false\",")}
	case contains(name+" "+image, "linkerd"):
		command := kubectl(ns, "port-forward", p.Name, "4191") +
			" & sleep 2; curl -X POST http://127.0.0.1:4191/shutdown"
		all = []*Remedy{
			does("end the proxy now, so that the pod ends", l.whenEnded(p, activity, 0)+". The proxy must have "+
				"config.linkerd.io/proxy-admin-shutdown: enabled", end(ns, p.Name, name, 0, command)),
			l.nextTime("set the annotation config.linkerd.io/proxy-enable-native-sidecar: \"true\" " +
				"(config.alpha.linkerd.io/proxy-enable-native-sidecar before Linkerd 2.19) on the pod template, or " +
				"linkerd.io/inject: disabled,")}
	case contains(name+" "+image, "cloud-sql", "cloudsql", "alloydb"):
		command := kubectl(ns, "port-forward", p.Name, "9091") +
			" & sleep 2; curl -X POST http://127.0.0.1:9091/quitquitquit"
		all = []*Remedy{native}
		spec := p.Spec.Container(name)
		args := slices.Concat(spec.Command, spec.Args)
		if len(args) == 0 || contains(strings.Join(append(args, spec.Env...), " "), "quitquitquit") {
			all = append(all, does("end the proxy now, if it was started with --quitquitquit",
				l.whenEnded(p, activity, 0), end(ns, p.Name, name, 0, command)))
		} else {
			all = append(all, given...)
		}
	case contains(name+" "+image, "vault"):
		all = []*Remedy{
			now(0, "kill", "1"),
			l.nextTime("let the agent fill in the secrets before the work and end: " +
				"annotation vault.hashicorp.com/agent-pre-populate-only: \"true\","),
		}
	default:
		// No object shows what the program does at SIGTERM. Without a handler, it ends with 143. As
		// process 1 it does not end at all.
		const gently = "it has a way of its own to end with exit code 0, or does so at SIGTERM"
		stop := when(gently, now(143, "kill", "1"))
		stop.Risk = sentence("safe only if its exit code is 0: with another, such as 143, " + lowerWord(stop.Risk))
		all = slices.Concat([]*Remedy{stop}, given, []*Remedy{native})
	}

	if activity.ended[0].ExitCode != 0 {
		all = append([]*Remedy{logs}, all...)
	}
	return all
}

// whenEnded describes what the planner decides about a pod whose sidecar ends with a code.
func (l *look) whenEnded(p *read.Pod, a *activity, code int32) string {
	if code != 0 && l.spec.Template.RestartPolicy == job.RestartOnFailure {
		return "the kubelet starts it again, as restartPolicy OnFailure says, and the pod goes on"
	}
	if code == 0 && a.ended[0].ExitCode == 0 {
		return "safe: the work has ended; the pod ends with the exit code of its containers"
	}

	s := l.snapshot
	s.Pods = slices.Clone(s.Pods)
	for i := range l.pods {
		if l.pods[i] == p {
			s.Pods[i].Phase, s.Pods[i].Ready = job.PodFailed, false
		}
	}

	plan, err := job.Reconcile(s)
	if err == nil && plan.Verdict.Type == job.ConditionFailureTarget {
		return "the pod then counts as failed, and the Job fails"
	}
	return "the pod then counts as failed, and its work is done again"
}

// gateRemedies say which controller removes scheduling gates.
func (l *look) gateRemedies(p *read.Pod) []*Remedy {
	if contains(strings.Join(p.Spec.Gates, " "), "kueue") || l.queue() != "" {
		return []*Remedy{inspect("read in the conditions of the pod's workload why Kueue does not admit it: it "+
			"removes the gate when there is quota; the workload names the pod as its owner",
			kubectl(p.Namespace, "describe", "workloads.kueue.x-k8s.io")),
			inspect("look at the quota of the queue, and at what holds it: describe shows both",
				"kubectl describe clusterqueues.kueue.x-k8s.io")}
	}
	return []*Remedy{inspect("find out who has set the gate: its name begins with the name of a controller, whose "+
		"logs say what it waits for",
		kubectl(p.Namespace, "get", "pod", p.Name, "-o", "jsonpath={.spec.schedulingGates}"))}
}

// scaleUpTakes is how long an autoscaler may take to add a node.
const scaleUpTakes = 10 * time.Minute

// scheduleRemedies say what to do about a pod that fits on no node. Each reason in the scheduler's
// message is handled once.
func (l *look) scheduleRemedies(p *read.Pod, message string, events []read.Event) (all []*Remedy) {
	message, _, _ = strings.Cut(message, "preemption:")
	reasons := strings.Split(message, ", ")
	if len(reasons) > 1 { // if there are other reasons, the control plane's taint is not the cause
		reasons = slices.DeleteFunc(reasons,
			func(r string) bool { return contains(r, "taint {node-role.kubernetes.io/control-plane") })
	}

	take := func(words ...string) bool {
		before := len(reasons)
		reasons = slices.DeleteFunc(reasons, func(r string) bool { return contains(r, words...) })
		return len(reasons) < before
	}

	if e := lastEvent(events, "TriggeredScaleUp"); e != nil && l.now.Sub(e.Last) < scaleUpTakes {
		all = append(all, inspect(fmt.Sprintf("wait: the autoscaler adds nodes since %s, which takes some minutes; "+
			"the scheduler tries again by itself", l.clock(e.Last)),
			kubectl(p.Namespace, "get", "pod", p.Name, "--watch")))
	}

	free := inspect("look how much of each node is taken", "kubectl describe nodes | grep -A 9 'Allocated resources'")
	if name := extended(message); name != "" {
		take("insufficient " + strings.ToLower(name))
		all = append(all, l.e.deviceRemedies(name)...)
	}

	if take("insufficient") {
		all = append(all, l.roomRemedies(p, free, events)...)
	}

	if take("volume node affinity", "persistentvolume's node affinity") {
		all = append(all, l.volumeZoneRemedies(p)...)
	}

	cordoned := take("unschedulable")
	if nodes := l.cordonedFor(p); cordoned && len(nodes) > 0 && strings.Contains(message, "volume") {
		all, cordoned = append([]*Remedy{uncordon(nodes)}, all...), false
	}
	if take("taint {node.kubernetes.io/", "taint {node.cloudprovider.kubernetes.io/") {
		all = append(all, inspect("look why nodes are not ready, or short of something: Kubernetes takes the taint "+
			"off once they are well", "kubectl describe nodes | grep -A 8 Conditions:"))
	}

	taints := taintsIn(reasons)
	isOther := taints == "" && len(all) > 0 // the taint may be on a node that lacks what the pod needs
	if take("taint") && !isOther {
		all = append(all, when("the nodes are reserved, and this Job may use them",
			l.again("add a toleration for "+cmp.Or(taints, "the taint that the message names"))))
	}

	if take("topology spread") {
		all = append(all, when("the zones or nodes cannot be filled evenly",
			l.again("set whenUnsatisfiable: ScheduleAnyway in topologySpreadConstraints, or raise maxSkew")),
			inspect("look which zones the nodes are in: a zone without room holds back the others",
				"kubectl get nodes -L topology.kubernetes.io/zone"))
	}

	if take("pod affinity", "anti-affinity") {
		all = append(all, when("podAntiAffinity or podAffinity excludes the nodes",
			l.again("use preferredDuringSchedulingIgnoredDuringExecution there instead of required")),
			withDo(free, "look which pods run on which nodes"))
	}

	if take("affinity", "selector", "didn't match") {
		labels := inspect("compare the labels of the nodes with nodeSelector and affinity, and correct one of them",
			"kubectl get nodes --show-labels")
		if want := p.Spec.NodeSelector; len(want) > 0 {
			var pairs []string
			for _, key := range sortedKeys(want) {
				pairs = append(pairs, key+"="+want[key])
			}
			and, or := "", ""
			if p.Spec.NodeAffinity {
				and, or = " and what its affinity requires", " or affinity"
			}
			labels = inspect(fmt.Sprintf("the pod wants nodes with %s%s: look which have them, and label the "+
				"others, or correct nodeSelector%s", list(pairs), and, or),
				"kubectl get nodes -l "+quote(strings.Join(pairs, ",")))
		}
		all = append(all, l.selectorRemedies(p)...)
		if p.Spec.NodeAffinity || !l.e.hasLabels(p.Spec.NodeSelector) {
			all = append(all, when("no node has the labels that the pod wants", labels))
		}
	}

	if take("persistentvolumeclaim", "volume") {
		claim, args := quoted(message, "persistentvolumeclaim"), []string{"get", "pvc"}
		if claim == "" && len(p.Spec.Claims) == 1 {
			claim = p.Spec.Claims[0]
		}
		if claim != "" {
			args = []string{"describe", "pvc", claim}
		}
		all = append(all, when("its PersistentVolumeClaim is not bound", inspect("look why: no such claim, storage "+
			"class or volume; the pod is scheduled once the claim is bound", kubectl(p.Namespace, args...))))
	}

	if take("too many pods") {
		all = append(all, when("the nodes run as many pods as they may", inspect("wait for pods to end, or add "+
			"nodes: pods that have ended do not count. This shows how many a node may run",
			"kubectl get nodes -o "+quote("custom-columns=NAME:.metadata.name,PODS:.status.allocatable.pods"))))
	}

	if cordoned {
		nodes := l.e.cordoned
		if len(nodes) == 0 || len(nodes) > 3 {
			nodes = []string{"NODE"}
		}
		all = append(all, when("nodes are cordoned", uncordon(nodes)))
	}

	if take("free ports") {
		all = append(all, when("another pod has the hostPort", l.again("remove hostPort")))
	}

	if len(all) == 0 {
		all = []*Remedy{l.describePodRemedy(p), free}
	}
	return append(all, l.changeSuspended("change nodeSelector, tolerations, node affinity or resources",
		schedulingField)...)
}

func uncordon(nodes []string) *Remedy {
	return remedy("allow pods on the cordoned nodes again", kubectl("", append([]string{"uncordon"}, nodes...)...),
		"a node may be cordoned for maintenance: ask first")
}

// taintsIn names the taints in the reasons of a scheduler's message. It returns "" if the message names none.
func taintsIn(reasons []string) string {
	var all []string
	for _, r := range reasons {
		_, taint, ok := strings.Cut(r, "untolerated taint {")
		if !ok {
			continue
		}
		taint, _, _ = strings.Cut(taint, "}")
		key, value, _ := strings.Cut(taint, ":")
		if value = strings.TrimSpace(value); value != "" {
			key += "=" + value
		}
		all = append(all, key)
	}
	if len(all) == 0 {
		return ""
	}
	return "taint " + list(all)
}

// extended returns the resource that a message is about if only some nodes have it, such as
// nvidia.com/gpu, or "".
func extended(message string) string {
	for _, reason := range strings.Split(message, ", ") {
		if _, name, ok := strings.Cut(reason, "Insufficient "); ok && strings.Contains(name, "/") {
			name, _, _ = strings.Cut(name, " ") // a sentence about something else may follow
			return strings.TrimRight(name, ".")
		}
	}
	return ""
}

// deviceRemedies say what to do about a resource of which no node has enough.
func (e *Explainer) deviceRemedies(name string) []*Remedy {
	var without []string
	for _, node := range sortedKeys(e.objects.Nodes) {
		if has := e.objects.Nodes[node].Allocatable[name]; has == "0" {
			without = append(without, node)
		}
	}
	if len(without) > 0 {
		return []*Remedy{inspect(fmt.Sprintf("look why the device plugin, a DaemonSet, does not report %s: %s %s 0 of "+
			"it allocatable; the scheduler tries again by itself", name, list(without),
			verb(int64(len(without)), "has", "have")), "kubectl get daemonsets -A")}
	}
	columns := "custom-columns=NAME:.metadata.name,HAS:.status.allocatable." + strings.ReplaceAll(name, ".", `\.`)
	look := inspect(fmt.Sprintf("look which nodes have %s: if all say none, add such nodes, or look why the device "+
		"plugin, a DaemonSet, does not run on those that have it", name), "kubectl get nodes -o "+quote(columns))
	return []*Remedy{look, when("all of it is taken", inspect("wait until a pod that has it ends: the scheduler "+
		"tries again by itself; look who has it", "kubectl describe nodes | grep "+quote(name)))}
}

// roomRemedies say what to do if no node has enough of something.
func (l *look) roomRemedies(p *read.Pod, free *Remedy, events []read.Event) (all []*Remedy) {
	size := ""
	for _, c := range p.Spec.Containers {
		if c.CPU != "" || c.Memory != "" {
			size = fmt.Sprintf(" (container %s: cpu %s, memory %s)", c.Name, orNone(c.CPU), orNone(c.Memory))
			break
		}
	}

	lower := l.again("lower resources.requests" + size)
	if e := lastEvent(events, "NotTriggerScaleUp"); e != nil {
		grow := remedy("raise the maximum size of the node group, or add a group whose nodes are large enough",
			"kubectl -n kube-system get configmap cluster-autoscaler-status -o yaml", "more nodes cost money")
		if !contains(e.Message, "max node group size reached") {
			grow = when("the autoscaler is at its limit", grow)
		}
		all = append(all, grow)
	}

	wait := when("the nodes are full for now", withDo(free, "wait until pods end or nodes are added: the scheduler "+
		"tries again by itself; look how full the nodes are"))
	switch text, isKnown := l.tooLargeFor(p); {
	case text != "":
		return append(all, lower, when("the work needs that much", remedy("add a node that is large enough: the "+
			"scheduler tries again by itself", kubectl("", "get", "nodes"), "more nodes cost money")))
	case isKnown:
		return append(all, wait, when("the work needs less than it asks for", lower))
	}
	return append(all, when("the pod asks for more than any node has", lower), wait)
}

// tooLargeFor returns a text if a pod asks for more than any node that it may use has, even if that is empty. isKnown
// is false if not all nodes were read.
func (l *look) tooLargeFor(p *read.Pod) (text string, isKnown bool) {
	all := len(l.e.objects.Nodes)
	if !strings.Contains(p.Condition("PodScheduled").Message, fmt.Sprintf("/%d nodes ", all)) {
		return "", false
	}

	for _, resource := range []string{"cpu", "memory"} {
		asks := 0.0
		for _, c := range p.Spec.Containers {
			if n, _ := quantity(map[string]string{"cpu": c.CPU, "memory": c.Memory}[resource]); !c.Init || c.Sidecar {
				asks += n
			}
		}

		most := l.e.largest(resource, p.Spec.NodeSelector)
		if !most.isKnown {
			return "", false
		}
		if asks > most.size && most.size > 0 {
			return fmt.Sprintf("; the pod asks for more %s than any of these nodes has, %v: it fits on none of them, "+
				"even if that is empty", resource, most.text), true
		}
	}
	return "", all > 0
}

// capacity is the most that a node has of a resource. isKnown is false if one of the nodes does not say what it has.
type capacity struct {
	size    float64
	text    any
	isKnown bool
}

// largest returns the most that a node with the labels of a node selector has of a resource.
func (e *Explainer) largest(resource string, selector map[string]string) (most capacity) {
	key := resource + " " + written(selector)
	if most, has := e.largestOf[key]; has {
		return most
	}
	if e.largestOf == nil {
		e.largestOf = make(map[string]capacity)
	}

	most.isKnown = true
	for _, name := range sortedKeys(e.objects.Nodes) {
		n := e.objects.Nodes[name]
		size, ok := quantity(n.Allocatable[resource])
		isOther := false
		for label, value := range selector {
			isOther = isOther || n.Labels[label] != value
		}
		most.isKnown = most.isKnown && ok
		if !isOther && size > most.size {
			most.size, most.text = size, n.Allocatable[resource]
		}
	}
	e.largestOf[key] = most
	return most
}

// volumeZoneRemedies say what to do about a volume that the nodes cannot reach.
func (l *look) volumeZoneRemedies(p *read.Pod) []*Remedy {
	claim := "CLAIM"
	if len(p.Spec.Claims) > 0 {
		claim = p.Spec.Claims[0]
	}
	add := when("the volume is in a zone without a free node", inspect(fmt.Sprintf("look where the volume of claim %s "+
		"is (Node Affinity), and bring back or add a node in that zone: only such nodes can use it, and the "+
		"scheduler tries again by itself", claim),
		fmt.Sprintf("kubectl describe pv $(%s)",
			kubectl(p.Namespace, "get", "pvc", claim, "-o", "jsonpath={.spec.volumeName}"))))
	v := l.e.objects.Volumes[p.Namespace+"/"+claim]
	with := l.e.withLabel(v.Key)
	if isOne := len(v.Values) == 1 && len(with) > 0; isOne && len(with[v.Values[0]]) == 0 {
		add = inspect(fmt.Sprintf("add a node with %s=%s: only such a node can use the volume, and the scheduler "+
			"tries again by itself", v.Key, v.Values[0]), kubectl("", "get", "nodes", "-L", v.Key))
	}

	all := []*Remedy{add}
	if len(p.Spec.NodeSelector) > 0 || p.Spec.NodeAffinity {
		all = append(all, when("nodeSelector or affinity keeps the pod out of that zone",
			l.again("name the zone of the volume there, or leave it out")))
	}
	risk := "the command changes nothing; deleting the claim deletes the data, unless its reclaim policy is Retain"
	command := "kubectl get storageclass"
	pv := l.e.other("PersistentVolume", "", v.Name)
	if pv != nil && pv.At("spec.persistentVolumeReclaimPolicy") == "Delete" {
		risk = "do not delete the claim before: its volume's reclaim policy is Delete, so that the data goes with " +
			"it; the command keeps the volume in that case"
		command = kubectl("", "patch", "pv", v.Name, "-p", `{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`)
	}
	return append(all, when("the data can be restored elsewhere", remedy("restore it, such as from a snapshot, into a "+
		"new claim with a storage class whose volumeBindingMode is WaitForFirstConsumer: its volume is made where the "+
		"pod can run", command, risk)))
}

func orNone(size string) string {
	if size == "" {
		return "none"
	}
	return size
}

func (l *look) mountRemedies(p *read.Pod, message string) []*Remedy {
	ns := p.Namespace
	switch {
	case contains(message, "multi-attach", "already used", "already exclusively attached"):
		_, other := l.holders(p, message)
		stays := other != nil && other.Controller().Kind != "Job" && other.Object.Deletion == nil

		if stays && l.e.objects.Nodes[other.Node].NotReady.IsZero() {
			label := "a label"
			for _, key := range []string{"app.kubernetes.io/name", "app", "statefulset.kubernetes.io/pod-name"} {
				if value := other.Labels[key]; value != "" {
					label = "label " + key + "=" + value
				}
			}
			return []*Remedy{l.again(fmt.Sprintf("let both pods run on one node, which a ReadWriteOnce volume allows: "+
				"require %s of pod %s in podAffinity, with topologyKey kubernetes.io/hostname; or use a volume with "+
				"ReadWriteMany,", label, other.Name))}
		}
		runs := other != nil && other.Object.Phase == job.PodRunning && other.Object.Deletion == nil
		if runs && l.e.objects.Nodes[other.Node].NotReady.IsZero() {
			return []*Remedy{
				inspect(fmt.Sprintf("wait: pod %s runs; when it has ended, the volume is released, and this pod "+
					"starts by itself; look how far it is", other.Name), kubectl(ns, "logs", other.Name, "--tail=20")),
				when("both must use it",
					l.again("use a volume with ReadWriteMany, or an affinity that puts both pods on one node,")),
			}
		}
		return []*Remedy{
			when("another pod still uses the volume", remedy("end the pod that the message names: a ReadWriteOnce "+
				"volume can be on one node only", kubectl(ns, "get", "pods", "-o", "wide"), "ending the other pod "+
				"ends its work; the command changes nothing")),
			when("its old node is gone", remedy("wait: the volume is released after 6 minutes; or delete the "+
				"VolumeAttachment of the dead node", "kubectl get volumeattachments", "deleting it while the node "+
				"still writes damages data")),
			when("both must use it",
				l.again("use a volume with ReadWriteMany, or an affinity that puts both pods on one node,")),
		}
	case quoted(message, "configmap") != "" || quoted(message, "secret") != "":
		return l.missingRemedies(p, message)
	case contains(message, "not found", "doesn't exist"):
		return []*Remedy{
			inspect("look whether the claim, its volume and its storage class exist", kubectl(ns, "get", "pvc")),
			l.again("correct the name of the volume's source"),
		}
	}
	return []*Remedy{
		inspect("look at the claim and its volume; the kubelet retries by itself", kubectl(ns, "describe", "pvc")),
		l.describePodRemedy(p),
	}
}

func (l *look) sandboxRemedies(p *read.Pod, message string) []*Remedy {
	look := inspect("look at the pods of the network plugin on that node; the kubelet retries by itself",
		"kubectl -n kube-system get pods -o wide --field-selector spec.nodeName="+quote(p.Node))
	if contains(message, "ip address", "no available ip", "assign an ip", "failed to allocate", "no ips", "ippool") {
		return []*Remedy{
			when("the node or its subnet has no IP address left", inspect("wait for pods to end, or give the network "+
				"plugin more addresses (a larger subnet, prefix delegation); pods that have ended hold none. This "+
				"shows which pods the node runs",
				"kubectl get pods -A -o wide --field-selector="+
					quote("spec.nodeName="+p.Node+",status.phase=Running"))),
			when("the network plugin is ill", look),
		}
	}

	if contains(message, "no runtime for", "runtimehandler", "runtime handler") {
		return []*Remedy{
			l.again("let the pods go only to nodes that have the runtime of their runtimeClassName, with " +
				"nodeSelector and tolerations,"),
			inspect("look at the RuntimeClass: its scheduling can name these nodes for all pods that use it",
				kubectl("", "get", "runtimeclasses", "-o", "yaml")),
		}
	}
	return []*Remedy{when("the network plugin on the node is ill", look),
		when("other nodes work", does("keep new pods off the node, and delete this one: the Job creates another",
			"safe for the pod, which has not run; the deleted pod may count as failed",
			cordon(p.Node), remove(p.Namespace, "pod", p.Name)))}
}

// terminatingRemedies say what to do about a pod whose deletion does not end.
func (l *look) terminatingRemedies(i int) []*Remedy {
	p := l.pods[i]
	force := does("delete the pod without waiting for its node", "safe only if the containers certainly do not run "+
		"any more: otherwise two pods may do the same work and write to the same volume; its logs are lost",
		remove(p.Namespace, "pod", p.Name, "--force", "--grace-period=0"))
	if others := otherFinalizers(p.Finalizers); len(others) > 0 {
		return append(finalizerRemedies(p.Namespace, p.Name, list(others), p.Finalizers), force)
	}

	node := inspect("look whether the node is ready", kubectl("", "get", "node", p.Node))
	if p.Node == "" {
		return []*Remedy{force}
	}
	if l.isOnLostNode(i) {
		return append(l.lostNodeRemedies(p), when("it certainly does not run", force))
	}
	return []*Remedy{
		when("you do not know whether the node lives", node),
		when("the node is gone for good", remedy("delete the node: its pods then go by themselves",
			kubectl("", "delete", "node", p.Node), "safe only if the machine is switched off")),
		when("the container ignores SIGTERM, or hangs in the kernel or on a volume", force),
	}
}

// lostNodeRemedies say what to do about a node that does not answer.
func (l *look) lostNodeRemedies(p *read.Pod) []*Remedy {
	then := "; after 5 minutes Kubernetes begins to delete its pods"
	if p.Object.Deletion != nil {
		then = "; its pods are being deleted"
	}
	if then += ", and the Job replaces them"; l.spec.PodReplacementPolicy == job.ReplaceFailed {
		then += " when they have ended (podReplacementPolicy Failed), which nobody sees while the node is away"
	}
	return []*Remedy{
		when("it comes back", inspect("look why the node is not ready"+then, kubectl("", "describe", "node", p.Node))),
		when("the machine is switched off", remedy("tell Kubernetes so: it deletes the pods immediately and "+
			"releases their volumes", kubectl("", "taint", "nodes", p.Node,
			"node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"),
			"safe only if the machine certainly does not run: otherwise two pods may do the same work and write to "+
				"the same volume")),
	}
}

func finalizerRemedies(namespace, pod, names string, all []string) []*Remedy {
	off := merge(namespace, "pod", pod, `{"metadata":{"finalizers":null}}`)
	risk := "safe if whoever has set it does not exist any more; what it would have cleaned up stays"
	if names == job.Finalizer {
		risk = "safe if the Job is gone or has ended: otherwise this pod's end may not be counted, " +
			"and its work be done again"
	} else if len(all) > 1 && slices.Contains(all, job.Finalizer) {
		risk += ". The pod also has " + job.Finalizer + ", which the Job controller removes"
	}
	return []*Remedy{
		when("the controller of the finalizer still runs", inspect("find out from its logs why it does not remove "+
			names+"; this shows what the pod says", kubectl(namespace, "get", "pod", pod, "-o", "yaml"))),
		when("it is gone", does("remove the finalizer by hand: the pod then goes", risk, off)),
	}
}
