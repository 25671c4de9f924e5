package explain

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// remedy is a Remedy without a condition.
func remedy(do, command, risk string) Remedy {
	return Remedy{Do: sentence(do), Command: command, Risk: sentence(risk)}
}

// when is a remedy that helps in one of several causes.
func when(cause string, r Remedy) Remedy {
	r.If = cause
	return r
}

// readsOnly is the risk of a command that looks.
const readsOnly = "changes nothing"

// inspect is a remedy that shows more.
func inspect(do, command string) Remedy { return remedy(do, command, readsOnly) }

// kubectl is a command line that a shell takes as it is meant, whatever the names contain.
func kubectl(namespace string, args ...string) string {
	line := "kubectl"
	if namespace != "" {
		line += " -n " + quote(namespace)
	}
	for _, a := range args {
		line += " " + quote(a)
	}
	return line
}

// quote quotes an argument for a shell, if it has to be.
func quote(arg string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"
	if arg != "" && strings.Trim(arg, plain) == "" {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

// patch is a command that sets one field, such as "spec.parallelism".
func patch(namespace, kind, name, field string, value any) string {
	names := strings.Split(field, ".")
	for _, name := range slices.Backward(names) {
		value = map[string]any{name: value}
	}
	data, _ := json.Marshal(value) // strings, numbers and maps of them always encode
	return kubectl(namespace, "patch", kind, name, "--type=merge", "-p", string(data))
}

// finding is a finding with its remedies, the most likely cause first.
func finding(s Severity, code, text string, remedies ...Remedy) Finding {
	return Finding{Severity: s, Code: code, Text: sentence(text), Remedies: remedies}
}

// inferred marks a finding that depends on what no object shows.
func inferred(f Finding) Finding {
	f.Inferred = true
	return f
}

// worstFirst orders findings by their severity.
func worstFirst(all []Finding) []Finding {
	return sortedStably(all, func(a, b *Finding) int { return a.Severity.rank() - b.Severity.rank() })
}

func (s Severity) rank() int { return slices.Index([]Severity{Error, Warning, Note}, s) }

// worst returns the most severe finding, or nil.
func worst(all []Finding) *Finding {
	if len(all) == 0 {
		return nil
	}
	return &worstFirst(all)[0]
}

// The remedies that many findings share.

// controllerRemedies say what to do if a controller does not act. Kind is "job" or "cronjob".
func controllerRemedies(namespace, kind, name string) []Remedy {
	return []Remedy{
		when("no controller is running", inspect("look whether the kube-controller-manager runs and holds its lease; on a managed control plane, ask its provider",
			kubectl("kube-system", "get", "lease", "kube-controller-manager", "-o", "jsonpath={.spec.holderIdentity} {.spec.renewTime}"))),
		when("its writes are refused", inspect("read the events of the "+kindName(kind)+": quotas, webhooks and missing permissions are reported there",
			kubectl(namespace, "describe", kind, name))),
		when("the input is old or incomplete", inspect("collect all kinds again and explain them together", collect(namespace))),
	}
}

func kindName(kind string) string {
	if kind == "cronjob" {
		return "CronJob"
	}
	return "Job"
}

// collect is the command that prints everything that an explanation uses.
func collect(namespace string) string {
	command := "kubectl get jobs,cronjobs,pods,events"
	if namespace != "" {
		command += " -n " + quote(namespace)
	}
	return command + " -o json"
}

// again is the remedy to correct the manifest of a Job and to run it again.
func (l *look) again(fix string) Remedy {
	ns, name := l.job.Namespace, l.job.Name
	cost := "deleting the Job deletes its pods and their logs"
	switch n := l.succeeded(); {
	case n > 0:
		cost += fmt.Sprintf(", and %s already done %s done again", count(n, "completion"), verb(n, "is", "are"))
	case !l.hasBegun():
		cost = "safe: no pod of the Job has done any work yet"
	case l.works() > 0:
		cost += fmt.Sprintf(", and %s that %s now", count(l.works(), "pod"), verb(l.works(), "works", "work"))
	}
	fix = strings.TrimSuffix(fix, ",")
	if l.job.IsManifest {
		return remedy(fix+" in the manifest", kubectl(ns, "apply", "-f", "job.yaml"), "safe: no server has the Job yet")
	}
	why := "its pod template cannot be changed"
	if l.isFinished() {
		why = "it does not start again"
	}
	switch owner := l.job.Controller(); owner.Kind {
	case "":
		return remedy(fix+" (in the manifest), and create the Job anew: "+why,
			kubectl(ns, "delete", "job", name)+" && "+kubectl(ns, "apply", "-f", "job.yaml"), cost)
	case "CronJob":
		return remedy(fix+fmt.Sprintf(" in spec.jobTemplate of CronJob %s, and delete this Job, which cannot be changed", owner.Name),
			kubectl(ns, "edit", "cronjob", owner.Name)+" && "+kubectl(ns, "delete", "job", name), "the runs to come are created from the new template; "+cost)
	default:
		return remedy(fix+fmt.Sprintf(" in %s %s, which has created the Job: what is changed in the Job alone is lost with it", owner.Kind, owner.Name),
			kubectl(ns, "get", strings.ToLower(owner.Kind), owner.Name, "-o", "yaml"), "changing the owner may create the Job again; "+cost)
	}
}

// rerun is the remedy to correct what lies outside of the manifest, and to run the Job again.
func (l *look) rerun(fix string) Remedy {
	r := l.again(fix)
	ns, name := l.job.Namespace, l.job.Name
	switch owner := l.job.Controller(); {
	case !l.isFinished() && !l.fails():
		return remedy(fix+": if it lies outside of the Job (a service, a Secret), the Job goes on by itself; if it lies in the manifest or the image, create the Job anew",
			kubectl(ns, "delete", "job", name)+" && "+kubectl(ns, "apply", "-f", "job.yaml"), r.Risk)
	case owner.Kind == "CronJob":
		return remedy(fix+fmt.Sprintf(", in spec.jobTemplate of CronJob %s if it lies there, and start a run without waiting for the schedule", owner.Name),
			kubectl(ns, "create", "job", "--from=cronjob/"+owner.Name, owner.Name+"-by-hand"), "starts immediately; this Job and its logs stay as long as the history keeps them")
	}
	r.Do = sentence(fix + ", and create the Job anew: it does not start again")
	return r
}

// logs is the remedy to read what a container has printed. Previous is true for its run before
// the last restart.
func (l *look) logs(p *read.Pod, container string, previous bool) Remedy {
	args := []string{"logs", p.Name}
	if container != "" {
		args = append(args, "-c", container)
	}
	do := "read what it printed"
	if previous {
		args, do = append(args, "--previous"), "read what it printed before the last restart"
	}
	return inspect(do, kubectl(l.job.Namespace, args...))
}

// failureLimit is the limit that a failed pod counts against.
func (l *look) failureLimit() string {
	if limit := l.spec.BackoffLimitPerIndex; limit != nil {
		return fmt.Sprintf("backoffLimitPerIndex %d", *limit)
	}
	return fmt.Sprintf("backoffLimit %d", *l.spec.BackoffLimit)
}

// moreFailures is the remedy to raise backoffLimit. The limit of each index cannot change.
func (l *look) moreFailures(do string) Remedy {
	if l.spec.BackoffLimitPerIndex != nil {
		return l.again("raise backoffLimitPerIndex")
	}
	return remedy(do, patch(l.job.Namespace, "job", l.job.Name, "spec.backoffLimit", min(int64(*l.spec.BackoffLimit)*2+2, math.MaxInt32)), "safe at any time before it has failed; real failures are also retried as often")
}

// ignoreRemedies say how to keep disruptions from counting.
func (l *look) ignoreRemedies() []Remedy {
	ignore := l.again("let the Job ignore disruptions: add " + ignorePolicy + " to its spec, which needs restartPolicy: Never,")
	if l.spec.Template.RestartPolicy == job.RestartOnFailure {
		ignore = l.again("set restartPolicy: Never, and let the Job ignore disruptions: add " + ignorePolicy + " to its spec,")
	}
	ignore.Risk += " A Job that ignores disruptions has no limit of them: give it an activeDeadlineSeconds too."
	if l.isFinished() || l.fails() {
		return []Remedy{ignore}
	}
	return []Remedy{ignore, when("the Job must not be restarted", l.moreFailures("allow this Job more failures"))}
}

func (l *look) describePodRemedy(p *read.Pod) Remedy {
	return inspect("read the events at the end of its description", kubectl(p.Namespace, "describe", "pod", p.Name))
}
