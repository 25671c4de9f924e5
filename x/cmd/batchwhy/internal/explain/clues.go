package explain

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// clues returns what is known about the cause of a failure besides the message of its container: a text
// that continues a sentence about the pod, and what to do first.
func (l *look) clues(f failure) (text string, remedies []*Remedy) {
	p, c := l.pods[f.place], &f.container
	if f.kind == failedStart {
		text, _ = l.notExecutable(p, c.Message) // startRemedies say what to do
	}
	if is, others := l.arch(p); contains(c.Message, "exec format") && len(others) > 0 {
		text += fmt.Sprintf("; node %s is %s, and other nodes are %s: the image is not built for %s", p.Node, is,
			list(others), is)
	}

	ask := []func(*read.Pod, *read.Container) (string, *Remedy){l.otherImage}
	if f.kind == failedOther && f.container.ExitCode != 137 { // one that was killed had begun its work
		ask = append(ask, l.notExpanded, l.notAllowed, l.newNode)
		text += l.imageText(c, p.Spec.Container(c.Name).Image)
	}

	for _, clue := range ask {
		more, r := clue(p, c)
		text += more
		if r != nil {
			remedies = append(remedies, r)
		}
	}
	return text, remedies
}

// notExpanded reports a $(...) in the arguments of a container that neither Kubernetes nor a shell
// replaces.
func (l *look) notExpanded(p *read.Pod, bad *read.Container) (string, *Remedy) {
	spec := p.Spec.Container(bad.Name)
	isShell := len(spec.Command) > 0 && contains(path.Base(spec.Command[0]), "sh", "cmd")
	for _, arg := range slices.Concat(spec.Command, spec.Args) {
		isCode := strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "c")
		if isCode { // as in sh -c: the program runs what follows
			return "", nil
		}

		before, rest, ok := strings.Cut(arg, "$(")
		inner, _, isClosed := strings.Cut(rest, ")")
		isReference := ok && isClosed && !strings.HasSuffix(before, "$")
		if !isReference || l.isVariable(&spec, inner) {
			continue
		}

		literal := "$(" + inner + ")"
		if (isShell || len(spec.Command) == 0) && !strings.Contains(bad.Message, literal) {
			continue // a shell may run it: the image may start one
		}
		return fmt.Sprintf("; the program gets %s as it is written: Kubernetes replaces only $(NAME) of an "+
				"environment variable, and only a shell runs the command in it", literal),
			l.again("let the program find the value itself, or start it with a shell, as in command: " +
				"[sh, -c, 'PROGRAM " + literal + "'],")
	}
	return "", nil
}

// isVariable reports whether a name in $(...) may be that of an environment variable. Those of Services
// have no small letters.
func (l *look) isVariable(spec *read.ContainerSpec, name string) bool {
	if slices.Contains(spec.Env, name) {
		return true
	}
	isName := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == ""
	return isName && (spec.Env == nil || strings.ToUpper(name) == name)
}

// notExecutable reports a program that a ConfigMap or a Secret provides without execute permission.
func (l *look) notExecutable(p *read.Pod, message string) (string, *Remedy) {
	_, program, ok := strings.Cut(message, `exec: "`)
	program, _, _ = strings.Cut(program, `"`)
	if !ok || !contains(message, "permission denied") {
		return "", nil
	}

	for _, c := range p.Spec.Containers {
		if len(c.Command) > 0 && c.Command[0] != program {
			continue // another container runs it
		}
		for _, m := range c.Mounts {
			mode, isFiles := p.Spec.Modes[m.Volume]
			isBelow := program == m.Path || strings.HasPrefix(program, strings.TrimSuffix(m.Path, "/")+"/")
			if isFiles && isBelow && mode&0o111 == 0 {
				return fmt.Sprintf("; %s comes from volume %s, whose files have mode %04o and cannot be executed",
						program, m.Volume, mode),
					l.again(fmt.Sprintf("set defaultMode: 0755 on volume %s, or start the file with its interpreter, "+
						"as in command: [/bin/sh, %s],", m.Volume, program))
			}
		}
	}
	return "", nil
}

// notAllowed reports that the API server has refused the pod's service account something.
func (l *look) notAllowed(p *read.Pod, bad *read.Container) (string, *Remedy) {
	account := "system:serviceaccount:" + p.Namespace + ":"
	_, name, ok := strings.Cut(bad.Message, account)
	name, _, _ = strings.Cut(name, `"`)
	if !ok || !contains(bad.Message, "forbidden", "cannot") || strings.ContainsAny(name, " \n") {
		return "", nil
	}

	where, with, elsewhere := p.Namespace, "a Role and a RoleBinding", true
	switch ns := quoted(bad.Message, "in the namespace"); {
	case contains(bad.Message, "at the cluster scope"):
		with = "a ClusterRole and a ClusterRoleBinding"
	case ns != "" && ns != p.Namespace:
		where, with = ns, with+" in namespace "+ns
	default:
		elsewhere = false
	}
	if name != "default" || l.job.Template.ServiceAccount != "" {
		return "", inspect(fmt.Sprintf("give service account %s that right, with %s; this shows what it may do", name,
			with), kubectl(where, "auth", "can-i", "--list", "--as="+account+name))
	}

	var bound []string
	for _, b := range l.e.othersIn("RoleBinding", p.Namespace) {
		for _, s := range elements(b.Fields["subjects"]) {
			kind, _ := read.At(s, "kind").(string)
			other, _ := read.At(s, "name").(string)
			ns, _ := read.At(s, "namespace").(string)
			isOther := kind == "ServiceAccount" && ns == p.Namespace && other != name
			if isOther && !elsewhere && !slices.Contains(bound, other) {
				bound = append(bound, other)
			}
		}
	}
	fix := "set serviceAccountName to an account that may do it"
	if len(bound) > 0 {
		fix += " (RoleBindings give rights to " + list(bound) + ")"
	}
	return "; the pod runs as service account default, since serviceAccountName is not set", l.again(fix)
}

// goodRuns returns the Jobs of a CronJob that have succeeded, oldest first.
func (e *Explainer) goodRuns(cron job.UID) []*read.Job {
	all, ok := e.good[cron]
	if ok {
		return all
	}
	for _, j := range e.children[cron] {
		s := &j.Object.Status
		isTimed := !s.StartTime.IsZero() && !s.Condition(job.ConditionComplete).LastTransitionTime.IsZero()
		if j.Controller().UID == cron && isTimed && s.Finished() == job.ConditionComplete {
			all = append(all, j)
		}
	}
	all = sortedStably(all, func(a, b **read.Job) int { return (*a).CreationTimestamp.Compare((*b).CreationTimestamp) })
	if e.good == nil {
		e.good = make(map[job.UID][]*read.Job)
	}
	e.good[cron] = all
	return all
}

// goodRuns returns the Jobs of the same CronJob that have succeeded, oldest first: those from before
// this Job, and those from after it.
func (l *look) goodRuns() (before, after []*read.Job) {
	owner := l.job.Controller()
	if owner.Kind != "CronJob" {
		return nil, nil
	}
	all := l.e.goodRuns(owner.UID)
	at, _ := slices.BinarySearchFunc(all, l.job.CreationTimestamp, func(j *read.Job, created time.Time) int {
		return j.CreationTimestamp.Compare(created)
	})
	return all[:at], all[at:]
}

// timeOf returns how long a Job took that has succeeded.
func timeOf(j *read.Job) time.Duration {
	s := &j.Object.Status
	return s.Condition(job.ConditionComplete).LastTransitionTime.Sub(s.StartTime)
}

// otherImage reports that the last good run had another image under the same name. If a later run was
// good, the image is hardly the cause.
func (l *look) otherImage(p *read.Pod, bad *read.Container) (string, *Remedy) {
	good, later := l.goodRuns()
	owner, image := l.job.Controller().Name, p.Spec.Container(bad.Name).Image
	isKnown := bad.ImageID != "" && image != ""
	if len(good) == 0 || len(later) > 0 || !isKnown {
		return "", nil
	}

	last := good[len(good)-1]
	for _, other := range l.e.pods[last.UID] {
		if other.Object.Phase != job.PodSucceeded || other.Spec.Container(bad.Name).Image != image {
			continue
		}
		for _, c := range other.Containers {
			_, was, ok := strings.Cut(c.ImageID, "@sha256:")
			_, is, isAlso := strings.Cut(bad.ImageID, "@sha256:")
			isOther := ok && isAlso && was != is
			if c.Name != bad.Name || !isOther {
				continue
			}

			pinned := c.ImageID
			if _, afterScheme, ok := strings.Cut(pinned, "://"); ok {
				pinned = afterScheme
			}
			back := edit(l.job.Namespace, "cronjob", owner)
			back.Command = kubectl(l.job.Namespace, "set", "image", "cronjob/"+owner, bad.Name+"="+pinned)
			return fmt.Sprintf("; image %s is another one than in the last good run, %s of %s: its digest was %s, "+
					"and is %s now", image, last.Name, l.clock(last.CreationTimestamp), short(was), short(is)),
				when("the new image is the cause", does("go back to the image of the last good run",
					"runs to come use the old program: look before whether it still fits what the new one has written"+
						l.ownerSetBack(), back))
		}
	}
	return "", nil
}

// ownerSetBack warns that a tool may undo a change of the Job's CronJob.
func (l *look) ownerSetBack() string {
	if c := l.ownerCronJob(); c != nil {
		return setBack(&c.Meta)
	}
	return ""
}

// ownerCronJob returns the CronJob of the Job, or nil if it was not read.
func (l *look) ownerCronJob() *read.CronJob {
	m := read.Meta{Namespace: l.job.Namespace, Name: l.job.Controller().Name}
	c, _ := l.e.existingOf("CronJob", &m).(*read.CronJob)
	return c
}

// short returns the first digits of a digest.
func short(digest string) string { return "sha256:" + digest[:min(12, len(digest))] }

// outgrown describes how long the runs before have taken, if a run has reached its deadline.
func (l *look) outgrown() (text string, r *Remedy) {
	good, _ := l.goodRuns()
	limit := l.spec.ActiveDeadlineSeconds
	if len(good) < 2 || limit == nil {
		return "", nil
	}
	good = good[max(0, len(good)-3):]
	var took []string
	var last time.Duration
	grows := true
	for _, j := range good {
		d := timeOf(j)
		took = append(took, span(d))
		grows, last = grows && d > last, d
	}

	text = fmt.Sprintf("; the last good runs took %s", list(took))
	if grows && last > time.Duration(*limit)*time.Second*2/3 {
		text += ", longer each time: the work has probably outgrown the deadline"
	}
	if c := l.ownerCronJob(); c != nil && c.Jobs != nil {
		switch now := c.Jobs.ActiveDeadlineSeconds; {
		case now == nil:
			return text + "; jobTemplate of the CronJob sets none now", nil
		case *now != *limit:
			return fmt.Sprintf("%s; jobTemplate of the CronJob has %d now", text, *now), nil
		}
	}
	owner := l.job.Controller().Name
	longer := patch(l.job.Namespace, "cronjob", owner, "spec.jobTemplate.spec.activeDeadlineSeconds", 2*(*limit))
	return text, when("the work needs more time", does("give runs twice as long", "runs to come have it: one that "+
		"hangs takes as long, and the next may be due before its end"+l.ownerSetBack(), longer))
}

// outgrownText returns the text of outgrown if a Job has failed at its deadline.
func (l *look) outgrownText(reason string) string {
	if reason != "DeadlineExceeded" {
		return ""
	}
	text, _ := l.outgrown()
	return text
}

// shrunkFindings report that runs succeed in a small part of the time that they took before.
func (l *cronLook) shrunkFindings() []Finding {
	jobs := l.e.goodRuns(l.cron.UID)
	var took, least []time.Duration // least[i] is the shortest time of the runs up to i
	for i, j := range jobs {
		took = append(took, timeOf(j))
		least = append(least, took[i])
		if i > 0 {
			least[i] = min(least[i], least[i-1])
		}
	}

	// The runs before and after the change must differ by the factor 10.
	short := time.Duration(0)
	for at := len(took) - 1; at >= 2; at-- {
		short = max(short, took[at])
		long := least[at-1]
		if at == len(took)-1 || long < 2*time.Minute || long < 10*short {
			continue
		}

		text := fmt.Sprintf("the last %d good runs took %s at most, and those before %s took %s or more: look whether "+
			"they still do their work", len(took)-at, span(short), jobs[at].Name, span(long))
		remedies := []*Remedy{inspect("read what the last run printed", kubectl(l.cron.Namespace, "logs",
			"job/"+jobs[len(jobs)-1].Name))}
		if c, shell := pipe(&l.cron.Template); c != "" {
			text += fmt.Sprintf("; the shell of container %s runs a pipe without pipefail, whose exit code is that of "+
				"the last program in it: a failure of another one counts as success", c)
			fix := "begin the shell's commands with set -eo pipefail"
			if !slices.Contains(strings.Fields("bash zsh ksh"), shell) {
				fix = fmt.Sprintf("start the commands with bash -eo pipefail -c if the image has bash (%s of Debian "+
					"and Ubuntu knows no pipefail)", shell)
			}
			remedies = append(remedies, l.edit(fix+", or use no pipe"))
		}

		f := finding(Warning, "RunsShrunk", text, remedies...)
		f.Inferred = true
		return []Finding{f}
	}
	return nil
}

// pipe returns the name and the shell of a container that runs a pipe without pipefail, or "".
func pipe(s *read.PodSpec) (container, shell string) {
	for _, c := range s.Containers {
		line := slices.Concat(c.Command, c.Args)
		if len(line) < 3 || !slices.Contains(strings.Fields("sh bash dash ash zsh ksh"), path.Base(line[0])) {
			continue
		}
		shell = path.Base(line[0])
		isScript := strings.HasPrefix(line[1], "-") && strings.HasSuffix(line[1], "c")
		if isScript && strings.Contains(line[2], " | ") && !strings.Contains(line[2], "pipefail") {
			return c.Name, shell
		}
	}
	return "", ""
}
