package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

const (
	slack       = 30 * time.Second // after which a controller counts as late
	pendingLong = 5 * time.Minute  // after which a pod counts as pending for too long
)

// podTrouble is a finding about one pod.
type podTrouble struct {
	Finding
	// since is the time at which the trouble began.
	since time.Time
}

// podTroubles returns the trouble of each pod, in the order of the pods. A pod without trouble has a
// nil entry.
func (l *look) podTroubles() []*podTrouble {
	all := make([]*podTrouble, len(l.pods))
	surplus := make(map[job.UID]bool)
	for _, d := range l.plan.Delete {
		surplus[d.UID] = true
	}
	for i, p := range l.pods {
		pod := &l.snapshot.Pods[i]
		isDeleted := surplus[p.UID] && pod.Phase == job.PodPending && pod.Deletion == nil // by the controller
		if pod.Owner != jobpod.Foreign && !isDeleted {
			all[i] = l.podTrouble(i)
		}
	}
	return all
}

// groupTroubles returns one finding for all pods with the same trouble. While other pods still work,
// an error is only a warning.
func (l *look) groupTroubles(troubles []*podTrouble) (all []Finding) {
	places := make(map[string][]int)
	var order []string
	for i, t := range troubles {
		if t == nil {
			continue
		}
		key := t.Code + t.Text
		if places[key] == nil {
			order = append(order, key)
		}
		places[key] = append(places[key], i)
	}

	for _, key := range order {
		var names []string
		for _, i := range places[key] {
			names = append(names, l.pods[i].Name+after(" for ", l.lasting(troubles[i].since)))
		}

		f := troubles[places[key][0]].Finding
		if n := len(names); n > 1 {
			f.Text = plural(f.Text)
		}
		f.Text = sentence(fmt.Sprintf("%s (%s) %s", count(int64(len(names)), "pod"), list(names), f.Text))
		if f.Severity == Error && l.works() > 0 {
			f.Severity = Warning
		}
		all = append(all, f)
	}
	return all
}

// plural returns a text with its first word, a verb, in the plural.
func plural(text string) string {
	first, rest, _ := strings.Cut(text, " ")
	of := map[string]string{"has": "have", "is": "are", "crashes": "crash", "runs": "run", "restarts": "restart"}
	if many := of[first]; many != "" {
		return many + " " + rest
	}
	return text
}

func (l *look) lasting(since time.Time) string {
	if since.IsZero() {
		return ""
	}
	return l.since(since)
}

// podTrouble returns the trouble of one pod, or nil. The text of the trouble continues a sentence
// whose subject is the pod.
func (l *look) podTrouble(i int) *podTrouble {
	pod, p := &l.snapshot.Pods[i], l.pods[i]
	trouble := func(since time.Time, s Severity, code, text string, remedies ...*Remedy) *podTrouble {
		return &podTrouble{Finding{Severity: s, Code: code, Text: text, Remedies: remedies}, since}
	}

	switch {
	case pod.Phase >= job.PodSucceeded:
		return l.leftBehind(i)
	case pod.Deletion != nil && l.now.Sub(pod.Deletion.Timestamp) > time.Minute:
		return trouble(pod.Deletion.Begun(), Error, "PodTerminating",
			"should be gone since the end of the grace period, but "+l.whyThere(i), l.terminatingRemedies(i)...)
	case pod.Deletion != nil:
		return nil
	case pod.Phase == job.PodRunning && l.isOnLostNode(i):
		return trouble(l.lostSince(i), Error, "NodeNotReady", fmt.Sprintf("is on node %s, which is not ready: "+
			"nobody knows whether it still runs", p.Node), l.lostNodeRemedies(p)...)
	}

	if t := l.containerTrouble(i); t != nil {
		return t
	}
	if pod.Phase == job.PodPending {
		return l.pendingTrouble(i)
	}
	return nil
}

// containerTrouble returns what keeps the containers of a pod from running or ending, or nil.
func (l *look) containerTrouble(i int) *podTrouble {
	p, does := l.pods[i], &l.doing[i]
	for k := range p.Containers {
		c := &p.Containers[k]
		switch {
		case !c.Waiting, c.Reason == "PodInitializing", c.Reason == "ContainerCreating", c.Reason == "":
			continue
		}
		if f, ok := l.waitTrouble(p, c); ok {
			return &podTrouble{f, p.CreationTimestamp}
		}
	}

	if len(does.helpers) > 0 {
		return &podTrouble{l.sidecarTrouble(p, does), latestEnd(does.ended)}
	}
	if len(does.stopping) > 0 {
		return &podTrouble{l.stopTrouble(p, does), latestEnd(does.ended)}
	}

	for k := range p.Containers {
		c := &p.Containers[k]

		runsLong := c.Running && l.now.Sub(c.Since) > pendingLong
		if runsLong && c.Init && !c.Sidecar {
			remedies := l.awaits(p, c)
			if !isWaiter(p.Spec.Container(c.Name), c.Message) {
				remedies = append(remedies, when("it is meant to run beside the others",
					l.again("give it restartPolicy: Always, which makes an init container a native sidecar,")))
			}
			return &podTrouble{Finding{Severity: Error, Code: "InitRuns",
				Text: fmt.Sprintf("cannot begin, init container %s runs for %s and has not ended%s", c.Name,
					l.since(c.Since), said("", c.Message)),
				Remedies: remedies}, p.CreationTimestamp}
		}

		kind, why := l.killedByProbe(i, c)
		isStarting := c.Sidecar && (c.Waiting || !c.Started)
		if kind == "startup" && isStarting && c.Restarts > 0 {
			return &podTrouble{Finding{Severity: Error, Code: "SidecarNotStarted",
				Text: fmt.Sprintf("cannot begin, native sidecar %s is killed by its startupProbe and was restarted "+
					"%s, and the other containers wait until the probe succeeds%s", c.Name,
					count(int64(c.Restarts), "time"), why),
				Remedies: []*Remedy{
					l.again("let the sidecar answer the probe (look at its port and path, and whether an option of " +
						"the program turns the endpoint on), or correct or remove the startupProbe of " + c.Name + ","),
					l.logs(p, c.Name, true),
				}}, p.CreationTimestamp}
		}

		startsLong := runsLong && !c.Started && p.Object.Phase == job.PodPending
		if startsLong && c.Sidecar {
			return &podTrouble{Finding{Severity: Error, Code: "SidecarNotStarted",
				Text: fmt.Sprintf("cannot begin, native sidecar %s runs for %s and counts as not started, since "+
					"its startupProbe has not succeeded, and the other containers wait for it", c.Name,
					l.since(c.Since)),
				Remedies: []*Remedy{
					inspect("read what it printed", kubectl(p.Namespace, "logs", p.Name, "-c", c.Name)),
					l.describePodRemedy(p),
					when("the probe is wrong", l.again("correct or remove the startupProbe of "+c.Name)),
				}}, p.CreationTimestamp}
		}

		if f, ok := l.restartTrouble(i, c); ok {
			return &podTrouble{f, c.Since}
		}
	}

	if p.Condition("AllContainersRestarting").Status == "True" {
		return &podTrouble{Finding{Severity: Warning, Code: "AllContainersRestart", Text: "restarts all its " +
			"containers, as a restart rule of its spec says",
			Remedies: []*Remedy{l.logs(p, firstOf(&p.Spec), true)}}, p.Condition("AllContainersRestarting").At}
	}
	return nil
}

// imageMessage returns the end of a message about an image, which contains the answer of the
// registry.
func imageMessage(message string) string {
	if rest, ok := strings.CutPrefix(message, "Back-off pulling image "); ok {
		if _, why, ok := strings.Cut(rest, ": ErrImagePull: "); ok {
			message = why
		}
	}
	if rest, ok := strings.CutPrefix(message, "rpc error: code = "); ok {
		_, message, _ = strings.Cut(rest, " desc = ")
	}

	for _, step := range []string{"failed to pull and unpack image ", "failed to resolve reference ",
		"failed to resolve image "} {
		if rest, ok := strings.CutPrefix(message, step+`"`); ok {
			if _, why, ok := strings.Cut(rest, `": `); ok {
				message = why
			}
		}
	}
	return told(message)
}

// waitTrouble returns why a container waits to be started. It returns false if the wait is still
// normal.
func (l *look) waitTrouble(p *read.Pod, c *read.Container) (Finding, bool) {
	waits := fmt.Sprintf("container %s waits with %s%s", c.Name, c.Reason, after(": ", imageMessage(c.Message)))
	switch c.Reason {
	case "ImagePullBackOff",
		"ErrImagePull",
		"InvalidImageName",
		"ErrImageNeverPull",
		"ImageInspectError",
		"RegistryUnavailable",
		"SignatureValidationFailed":
		return Finding{
			Severity: Error,
			Code:     "ImagePull",
			Text: fmt.Sprintf("cannot pull image %s, %s%s", l.imageOf(p, c), waits,
				l.imageText(c, l.imageOf(p, c))),
			Remedies: l.imageRemedies(p, c),
		}, true
	case "CreateContainerConfigError":
		if contains(c.Message, "runasnonroot") {
			return Finding{Severity: Error, Code: "CannotStart", Text: "cannot start, " + waits,
				Remedies: []*Remedy{l.again(fmt.Sprintf("set securityContext.runAsUser to the number of a user "+
					"other than root, who can read what the program needs, or build image %s with such a user "+
					"(USER and a number)", l.imageOf(p, c)))}}, true
		}
		return Finding{
			Severity: Error,
			Code:     "ConfigMissing",
			Text:     "cannot start, " + waits,
			Remedies: l.missingRemedies(p, c.Message),
		}, true
	case "CreateContainerError",
		"RunContainerError",
		"StartError",
		"ContainerCannotRun",
		"CreatePodSandboxError",
		"PreStartHookError",
		"PostStartHookError":
		return Finding{
			Severity: Error,
			Code:     "CannotStart",
			Text:     "cannot start, " + waits,
			Remedies: l.startRemedies(p, c.Message),
		}, true
	case "CrashLoopBackOff":
		return l.crashTrouble(p, c), true
	}

	if l.now.Sub(p.CreationTimestamp) > pendingLong {
		return Finding{
			Severity: Error,
			Code:     "PodPending",
			Text:     "cannot run, " + waits,
			Remedies: []*Remedy{l.describePodRemedy(p)},
		}, true
	}
	return Finding{}, false
}

func (l *look) crashTrouble(p *read.Pod, c *read.Container) Finding {
	if c.Last != nil && c.Last.Reason == "OOMKilled" {
		return l.memoryTrouble(p, c)
	}

	ended, message := "", ""
	if c.Last != nil {
		ended = ", last with " + exit(c.Last.ExitCode, c.Last.Reason)
		message = said(c.Last.Reason, c.Last.Message)
	}

	kind := "container"
	if c.Init {
		kind = "init container"
	}
	text := fmt.Sprintf("crashes in a loop, %s %s was restarted %s%s%s%s", kind, c.Name,
		count(int64(c.Restarts), "time"), ended, message, l.restartsLeft())

	var remedies []*Remedy
	switch last := c.Last; {
	case last == nil:
		remedies = []*Remedy{l.logs(p, c.Name, true), l.rerun("correct what makes it fail")}
	case last.ExitCode == 127, last.ExitCode == 126, neverRan(last.Reason):
		remedies = l.startRemedies(p, last.Message)
	default:
		remedies = l.startWith(p, c, *last, true)
	}
	return Finding{Severity: Error, Code: "CrashLoop", Text: text, Remedies: remedies}
}

// restartsLeft describes after how many restarts the Job fails, if containers restart in their
// pods.
func (l *look) restartsLeft() string {
	if l.spec.Template.RestartPolicy != job.RestartOnFailure || l.found.Restarts == 0 {
		return ""
	}
	return fmt.Sprintf("; the Job fails at %s (backoffLimit %d)",
		count(max(int64(*l.spec.BackoffLimit), 1), "restart"), *l.spec.BackoffLimit)
}

// memoryTrouble reports a container that was killed because it used more memory than it may.
func (l *look) memoryTrouble(p *read.Pod, c *read.Container) Finding {
	text := fmt.Sprintf("runs out of memory, container %s ended last with %s%s and was restarted %s%s",
		c.Name, exit(c.Last.ExitCode, c.Last.Reason), l.memoryLimit(p, c.Name),
		count(int64(c.Restarts), "time"), l.restartsLeft())
	return Finding{Severity: Error, Code: "OutOfMemory", Text: text, Remedies: l.memoryRemedies(p, c.Name)}
}

// restartTrouble reports a container that runs now and has failed before.
func (l *look) restartTrouble(i int, c *read.Container) (Finding, bool) {
	p := l.pods[i]
	switch {
	case !c.Running, c.Last == nil, c.Last.ExitCode == 0, c.Sidecar:
		return Finding{}, false
	}

	if c.Last.Reason == "OOMKilled" {
		f := l.memoryTrouble(p, c)
		f.Severity = Warning
		return f, true
	}

	if kind, why := l.killedByProbe(i, c); kind != "" {
		return Finding{Severity: Warning, Code: "ProbeKills",
			Text: fmt.Sprintf("is killed by the %s probe, container %s was restarted %s%s%s", kind, c.Name,
				count(int64(c.Restarts), "time"), why, l.restartsLeft()),
			Remedies: []*Remedy{
				l.again(fmt.Sprintf("a container that works through a Job seldom needs a %sProbe: remove it, or give "+
					"it a longer timeoutSeconds and failureThreshold,", kind)),
				l.logs(p, c.Name, true),
			}}, true
	}

	return Finding{Severity: Warning, Code: "Restarts",
		Text: fmt.Sprintf("restarts: container %s was restarted %s, last after %s%s%s", c.Name,
			count(int64(c.Restarts), "time"), exit(c.Last.ExitCode, c.Last.Reason), said(c.Last.Reason, c.Last.Message),
			l.restartsLeft()),
		Remedies: l.startWith(p, c, *c.Last, true)}, true
}

// killedByProbe returns which probe has made the kubelet kill a container last, "liveness" or "startup",
// and what the probe reported. It returns "" if none has.
func (l *look) killedByProbe(i int, c *read.Container) (kind, why string) {
	isOther := func(e read.Event) bool { return !contains(e.Message, "container "+c.Name+" failed ") }
	e := lastEvent(slices.DeleteFunc(slices.Clone(l.podEvents[i]), isOther), "Killing")
	switch {
	case e == nil:
	case contains(e.Message, "liveness probe"):
		kind = "liveness"
	case contains(e.Message, "startup probe"):
		kind = "startup"
	}
	if probe := lastEvent(l.podEvents[i], "Unhealthy"); kind != "" && probe != nil && contains(probe.Message, kind) {
		why = ": " + plainly(probe.Message)
	}
	return kind, why
}

// sidecarTrouble reports a pod that helpers keep running after the work has ended.
func (l *look) sidecarTrouble(p *read.Pod, does *activity) Finding {
	var running, ended []string
	for _, c := range does.helpers {
		running = append(running, c.Name)
	}
	for _, c := range does.ended {
		ended = append(ended, fmt.Sprintf("container %s ended %s with %s%s", c.Name, l.at(c.Since),
			exit(c.ExitCode, c.Reason), said(c.Reason, c.Message)))
	}

	f := Finding{Severity: Error, Code: "SidecarRuns", Remedies: l.sidecarRemedies(p, does),
		Text: fmt.Sprintf("will never end: %s, and sidecar %s still %s, so the pod counts as active", list(ended),
			list(running), verb(int64(len(running)), "runs", "run"))}
	if does.guessed {
		f.Severity, f.Inferred = Warning, true
		f.Text = fmt.Sprintf("may never end: %s, and %s still %s; if that is a sidecar, it keeps the pod active",
			list(ended), list(running), verb(int64(len(running)), "runs", "run"))
	}
	return f
}

// stopTrouble reports native sidecars that still run after the work has ended. The kubelet stops them.
func (l *look) stopTrouble(p *read.Pod, does *activity) Finding {
	ended, grace := latestEnd(does.ended), int64(30)
	if p.Spec.Grace != nil {
		grace = *p.Spec.Grace
	}
	kill := ended.Add(time.Duration(grace) * time.Second)
	name := does.stopping[0].Name
	if l.now.After(kill) {
		return Finding{Severity: Warning, Code: "SidecarStops",
			Text: fmt.Sprintf("has done its work (%s ended %s with %s), and native sidecar %s still runs, although "+
				"the kubelet should have killed it %s, after terminationGracePeriodSeconds, %d: it or its node may "+
				"hang", does.ended[0].Name, l.at(ended), exit(does.ended[0].ExitCode, ""), name, l.at(kill), grace),
			Remedies: []*Remedy{inspect("look at the node and at the events of its kubelet",
				kubectl("", "describe", "node", p.Node)), l.describePodRemedy(p)}}
	}

	next := fmt.Sprintf("let %s end at SIGTERM", name)
	if grace > 30 {
		next += ", or set terminationGracePeriodSeconds to 30"
	}
	return Finding{Severity: Note, Code: "SidecarStops",
		Text: fmt.Sprintf("has done its work (%s ended %s with %s), and native sidecar %s still runs: the kubelet has "+
			"asked it to stop, and kills it when terminationGracePeriodSeconds, %d, has passed, %s", does.ended[0].Name,
			l.at(ended), exit(does.ended[0].ExitCode, ""), name, grace, l.at(kill)),
		Remedies: []*Remedy{
			inspect("wait until then: nothing is done again", kubectl(p.Namespace, "get", "pod", p.Name, "--watch")),
			l.nextTime(next)}}
}

// pendingTrouble returns why a pod has no node or does not start on its node, or nil.
func (l *look) pendingTrouble(i int) *podTrouble {
	p, events := l.pods[i], l.podEvents[i]
	age := l.now.Sub(p.CreationTimestamp)
	trouble := func(code, text string, remedies ...*Remedy) *podTrouble {
		return &podTrouble{Finding{Severity: Error, Code: code, Text: text, Remedies: remedies}, p.CreationTimestamp}
	}
	unschedulable := func(message string) *podTrouble {
		text := "cannot be scheduled: " + told(message) + l.scaleUp(events) + l.nodesText(p, message)
		return trouble("Unschedulable", text, l.scheduleRemedies(p, message, events)...)
	}

	scheduled := p.Condition("PodScheduled")
	gates := p.Spec.Gates
	switch {
	case len(gates) > 0 || scheduled.Reason == "SchedulingGated":
		return trouble("SchedulingGated", "is held by "+gateText(gates)+": no scheduler looks at it until whoever "+
			"set the gate removes it", l.gateRemedies(p)...)
	case p.Node == "" && l.lacksGang(p):
		return trouble("GangIncomplete", l.gangLack(), l.gangRemedy())
	case scheduled.Status == "False":
		t := unschedulable(scheduled.Message)
		if age < slack*2 {
			t.Severity = Warning
		}
		return t
	case p.Node == "" && lastEvent(events, "FailedScheduling") != nil:
		return unschedulable(lastEvent(events, "FailedScheduling").Message)
	}

	if e := lastPull(events); e != nil {
		image, why := pullOf(e.Message)
		c := read.Container{Reason: "ErrImagePull", Message: e.Message}
		return trouble("ImagePull", fmt.Sprintf("cannot pull image %s, as node %s has reported %s, last %s: %s",
			image, p.Node, times(e.Count), l.at(e.Last), why), l.imageRemedies(p, &c)...)
	}

	for _, reason := range []string{"FailedMount", "FailedAttachVolume", "FailedMapVolume",
		"FailedCreatePodSandBox", "FailedCreatePodContainer", "NetworkNotReady"} {
		e := lastEvent(events, reason)
		if e == nil {
			continue
		}
		attach := lastEvent(events, "FailedAttachVolume")
		if reason == "FailedMount" && attach != nil && isEcho(e.Message) {
			e, reason = attach, attach.Reason // the mount waits for the volume to be attached
		}

		text := fmt.Sprintf("cannot start on node %s: %s was reported %s, last %s: %s", p.Node, reason,
			times(e.Count), l.at(e.Last), told(e.Message))
		switch reason {
		case "FailedMount", "FailedMapVolume", "FailedAttachVolume":
			has, _ := l.holders(p, e.Message)
			text += has
			return trouble(reason, text, l.mountRemedies(p, e.Message)...)
		}
		return trouble(reason, text, l.sandboxRemedies(p, e.Message)...)
	}

	if age <= pendingLong {
		return nil
	}
	warned := ""
	if e := latestWarning(events); e != nil {
		warned = fmt.Sprintf("; the last warning, %s: %s", e.Reason, brief(e.Message))
	}
	if p.Node == "" {
		const usual = "default-scheduler"
		name := cmp.Or(p.Spec.Scheduler, usual)
		var remedies []*Remedy
		if warned != "" {
			remedies = append(remedies, l.describePodRemedy(p))
		}
		if name != usual {
			remedies = append(remedies, when("no scheduler has that name",
				l.again("correct schedulerName: the scheduler of Kubernetes is "+usual+",")))
		}
		remedies = append(remedies, when("the scheduler does not run", inspect("look for the scheduler's pods; on a "+
			"managed control plane, ask its provider",
			"kubectl get pods -A -o wide | grep -i "+quote(shortName(name)))))
		text := fmt.Sprintf("has no node, and no scheduler has reported anything: schedulerName is %s", name)
		return trouble("NotScheduled", text+warned, remedies...)
	}

	text := fmt.Sprintf("has node %s, which has not started %s containers", p.Node, whichContainers(p)) + warned
	if hasRun(p) { // the kubelet is at work
		return trouble("PodPending", text, l.describePodRemedy(p))
	}
	return trouble("PodPending", text, l.describePodRemedy(p),
		when("the kubelet does not answer", inspect("look at the node", kubectl("", "describe", "node", p.Node))))
}

// whichContainers returns "its", or "all its" if some of the containers of a pod have run.
func whichContainers(p *read.Pod) string {
	if hasRun(p) {
		return "all its"
	}
	return "its"
}

// isEcho reports whether a message about a mount only says that it waits for something else, such as the
// attachment of the volume.
func isEcho(message string) bool { return contains(message, "timed out", "deadline exceeded") }

// isWaiter reports whether an init container waits for something, so that the others must not start beside it.
func isWaiter(spec read.ContainerSpec, message string) bool {
	command := strings.Join(slices.Concat(spec.Command, spec.Args), " ")
	return contains(command, "until ", "while ", " wait", "wait-for", "isready") || contains(message, "waiting for")
}

// lastPull returns the latest event about an image that could not be pulled, or nil.
func lastPull(events []read.Event) *read.Event {
	for _, reason := range []string{"Failed", "BackOff"} {
		if e := lastEvent(events, reason); e != nil && contains(e.Message, "pull image", "pulling image") {
			return e
		}
	}
	return nil
}

// pullOf returns the image that a message is about, and why it could not be pulled.
func pullOf(message string) (image, why string) {
	_, rest, _ := strings.Cut(message, `image "`)
	image, why, _ = strings.Cut(rest, `"`)
	if why = imageMessage(strings.TrimPrefix(why, ": ")); why == "" {
		why = "no reason is given"
	}
	return image, why
}

func shortName(scheduler string) string {
	if scheduler == "default-scheduler" {
		return "kube-scheduler"
	}
	return scheduler
}

func gateText(gates []string) string {
	if len(gates) == 0 {
		return "a scheduling gate"
	}
	return "scheduling gate " + list(gates)
}

// scaleUp returns what the autoscaler has reported about a pod without a node.
func (l *look) scaleUp(events []read.Event) string {
	var last *read.Event
	for _, reason := range []string{"NotTriggerScaleUp", "FailedScaleUp", "ScaleUpTimedOut", "TriggeredScaleUp"} {
		if e := lastEvent(events, reason); e != nil && (last == nil || e.Last.After(last.Last)) {
			last = e
		}
	}
	switch {
	case last == nil:
		return ""
	case last.Reason == "TriggeredScaleUp":
		return "; the autoscaler adds nodes since " + l.clock(last.Last)
	}
	text := "; the autoscaler: " + plainly(last.Message)
	if full := l.e.fullGroups(); len(full) > 0 && contains(last.Message, "max node group size") {
		text += "; at its maximum: " + list(full)
	}
	return text
}

// leftBehind reports finalizers of an ended pod that nothing removes any more.
func (l *look) leftBehind(i int) *podTrouble {
	pod, p := &l.snapshot.Pods[i], l.pods[i]
	end := l.found.Pods[i].FinishTime
	if !pod.Untracked && l.isFinished() && l.now.Sub(l.endTime()) > time.Minute {
		return &podTrouble{Finding{Severity: Warning, Code: "FinalizerLeftBehind",
			Text: "of a finished Job cannot be deleted, because of the finalizer " + job.Finalizer +
				" that the controller has not removed",
			Remedies: finalizerRemedies(p.Namespace, p.Name, job.Finalizer, p.Finalizers)}, end}
	}
	others := otherFinalizers(p.Finalizers)
	if pod.Deletion != nil && len(others) > 0 && l.now.Sub(pod.Deletion.Timestamp) > time.Minute {
		return &podTrouble{Finding{Severity: Warning, Code: "FinalizerLeftBehind",
			Text:     "cannot go although deleted and ended, because of the finalizer " + list(others),
			Remedies: finalizerRemedies(p.Namespace, p.Name, list(others), p.Finalizers)}, pod.Deletion.Timestamp}
	}
	return nil
}

// whyThere describes why a pod that should be gone may still exist.
func (l *look) whyThere(i int) string {
	p := l.pods[i]
	if l.isOnLostNode(i) {
		return fmt.Sprintf("its node %s is not ready since %s, so nobody can say whether its containers have ended",
			p.Node, l.clock(l.lostSince(i)))
	}
	if p.Node == "" {
		return "never had a node"
	}
	return fmt.Sprintf("the kubelet of node %s does not answer, or the containers do not end", p.Node)
}
