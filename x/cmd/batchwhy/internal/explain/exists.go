package explain

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobadmit"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// objectName is the kind and the name of an object, without its namespace.
type objectName struct{ kind, name string }

// sortExisting notes the objects that an API server has accepted.
func (e *Explainer) sortExisting() {
	e.existing = make(map[objectName][]any)
	for _, j := range e.objects.Jobs {
		if j != nil && !j.IsManifest {
			key := objectName{"Job", j.Name}
			e.existing[key] = append(e.existing[key], j)
		}
	}
	for _, c := range e.objects.CronJobs {
		if c != nil && !c.IsManifest {
			key := objectName{"CronJob", c.Name}
			e.existing[key] = append(e.existing[key], c)
		}
	}
}

// existingOf returns the object that a manifest would change, or nil. If the manifest has no
// namespace, it is the object with the same name, if there is only one.
func existingOf[T interface{ Key() string }](e *Explainer, kind string, m *read.Meta) (found T) {
	all := e.existing[objectName{kind, m.Name}]
	for _, o := range all {
		if object := o.(T); object.Key() == m.Key() || m.Namespace == "" && len(all) == 1 {
			return object
		}
	}
	return found
}

// jobOver explains the manifest of a Job that exists already: what kubectl apply would change, and
// what happens then.
func (e *Explainer) jobOver(m, is *read.Job) Explanation {
	next := job.Spec{}
	if err := patched(&next, &is.Object.Spec, specPatch(m.Spec)); err != nil {
		return broken(Explanation{Kind: "Job", Namespace: is.Namespace, Name: is.Name, Source: m.At.String()}, err,
			inspect("look at the manifest", "kubectl diff -f job.yaml"))
	}

	ofTemplate := templateChanges("spec.template", is.Template, m.Template)
	refused := lines(jobadmit.ValidateUpdate(&is.Object, next, release.Newest()))
	for _, c := range ofTemplate {
		refused = append(refused, c+": the template of a Job must not change")
	}

	over := *is
	over.At, over.Object.Spec = m.At, next
	out := e.job(&over)
	if len(refused) == 0 {
		return applied(out, e.job(is), append(changes("spec", &is.Object.Spec, &next), ofTemplate...))
	}

	l, err := e.lookAt(is)
	if err != nil {
		return out
	}
	remedy := does("delete the Job, and create it from the manifest", l.cost(),
		remove(is.Namespace, "job", is.Name), apply(is.Namespace, "job", is.Name))
	if is.Controller().Kind != "" || keeperOf(&is.Meta).name != "" {
		remedy = l.again("make the change")
	}
	return notApplied(out, refused, when("the change is wanted", remedy))
}

// cronJobOver is like jobOver, for a CronJob. A CronJob may change in every field.
func (e *Explainer) cronJobOver(m, is *read.CronJob) Explanation {
	next := cronjob.Spec{}
	if err := patched(&next, &is.Object.Spec, specPatch(m.Spec)); err != nil {
		return broken(Explanation{Kind: "CronJob", Namespace: is.Namespace, Name: is.Name, Source: m.At.String()}, err,
			inspect("look at the manifest", "kubectl diff -f cronjob.yaml"))
	}

	over := *is
	over.At, over.Object.Spec, over.Template = m.At, next, m.Template
	out := e.cronJob(&over)
	if refused := lines(cronjob.ValidateUpdate(&is.Object, next, release.Newest())); len(refused) > 0 {
		return notApplied(out, refused, inspect("correct the field in the manifest", "kubectl diff -f cronjob.yaml"))
	}
	return applied(out, e.cronJob(is), append(changes("spec", &is.Object.Spec, &next),
		templateChanges("spec.jobTemplate.spec.template", is.Template, m.Template)...))
}

// applied adds the finding that the manifest is not applied yet. out explains the object with the
// manifest's spec, and was explains the object as it is. Findings that was also has are left out.
// So is the finding that the controller is late, because it does not know the manifest yet.
func applied(out, was Explanation, changes []string) Explanation {
	text := fmt.Sprintf("the %s exists, and this is explained as if the manifest had been applied: it changes %s",
		out.Kind, list(changes))
	if len(changes) == 0 {
		text = fmt.Sprintf("the %s exists, and the manifest changes nothing that decides what happens", out.Kind)
	}
	file := strings.ToLower(out.Kind) + ".yaml"
	out.Findings = slices.DeleteFunc(out.Findings, func(f Finding) bool {
		isLate := f.Code == "ControllerBehind" || f.Code == "NotExpired"
		wasSo := func(g Finding) bool { return f.Code == g.Code && f.Text == g.Text }
		return isLate || slices.ContainsFunc(was.Findings, wasSo)
	})
	out.Findings = append(out.Findings, finding(Note, "AppliesToExisting", text,
		inspect("look at each difference", "kubectl diff -f "+file)))
	return out
}

// notApplied explains a manifest that a server refuses to apply to the object that exists.
func notApplied(was Explanation, refused []string, remedies ...*Remedy) Explanation {
	return Explanation{
		Kind: was.Kind, Namespace: was.Namespace, Name: was.Name, Source: was.Source, State: Broken,
		Summary: sentence(fmt.Sprintf("the manifest of a %s that exists: a server refuses to apply it, and the %s "+
			"stays as it is", was.Kind, was.Kind)),
		Findings: oneFinding(Error, "ApplyRefused", strings.Join(refused, "; "), append(remedies,
			when("both are wanted", inspect("give the manifest another name, or generateName with kubectl create",
				"kubectl create --dry-run=server -f "+strings.ToLower(was.Kind)+".yaml")))...),
	}
}

func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func specPatch(spec json.RawMessage) []byte {
	return slices.Concat([]byte(`{"spec":`), spec, []byte("}"))
}

// changes describes the fields of a spec that differ. Templates have their own differences.
func changes(path string, was, is any) (all []string) {
	var before, after map[string]any
	a, _ := json.Marshal(was)
	b, _ := json.Marshal(is)
	_, _ = json.Unmarshal(a, &before), json.Unmarshal(b, &after)
	delete(before, "template")
	delete(after, "template")

	both := maps.Clone(before)
	maps.Copy(both, after)
	for _, key := range sortedKeys(both) {
		if x, y := written(before[key]), written(after[key]); x != y {
			all = append(all, fmt.Sprintf("%s.%s from %s to %s", path, key, x, y))
		}
	}
	return all
}

// written returns a field's value in JSON.
func written(value any) string {
	if value == nil {
		return "none"
	}
	data, _ := json.Marshal(value)
	return string(data)
}

// templateChanges describes the images and commands of a manifest that differ. What the manifest
// leaves out stays as it is.
func templateChanges(path string, was, is read.PodSpec) (all []string) {
	for _, c := range is.Containers {
		before := was.Container(c.Name)
		list := "containers"
		if c.Init {
			list = "initContainers"
		}
		at := fmt.Sprintf("%s.spec.%s[%s]", path, list, c.Name)
		if c.Image != "" && before.Name != "" && c.Image != before.Image {
			all = append(all, fmt.Sprintf("%s.image from %s to %s", at, before.Image, c.Image))
		}
		if c.Runs != 0 && before.Name != "" && c.Runs != before.Runs {
			all = append(all, at+": command, args or env")
		}
	}
	return all
}
