package explain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobadmit"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// eachMeta visits all Jobs and CronJobs.
func eachMeta(o *read.Objects, visit func(kind string, m *read.Meta, isManifest bool, object any)) {
	for _, j := range o.Jobs {
		if j != nil {
			visit("Job", &j.Meta, j.IsManifest, j)
		}
	}
	for _, c := range o.CronJobs {
		if c != nil {
			visit("CronJob", &c.Meta, c.IsManifest, c)
		}
	}
}

// sortExisting notes the Jobs and CronJobs that an API server has accepted, by kind, namespace and name.
func (e *Explainer) sortExisting() {
	e.existing = make(map[string]any)
	eachMeta(e.objects, func(kind string, m *read.Meta, isManifest bool, object any) {
		if !isManifest {
			e.existing[kind+" "+m.Key()] = object
		}
	})
}

// existingOf returns the object that kubectl apply would change, or nil.
func (e *Explainer) existingOf(kind string, m *read.Meta) any { return e.existing[appliedTo(kind, m)] }

// appliedTo returns the kind, namespace and name of the object that kubectl apply changes, or "". A
// manifest with generateName changes none, and one without a namespace is taken for the namespace
// default.
func appliedTo(kind string, m *read.Meta) string {
	switch {
	case m.GenerateName != "" && m.Name == m.GenerateName:
		return ""
	case m.Namespace == "":
		return kind + " default/" + m.Name
	}
	return kind + " " + m.Key()
}

// ConcernManifests copies the changes of each object to the manifests that kubectl apply would
// apply to the object, since the explanation of such a manifest begins with the object. The keys of
// changes are the UIDs of the objects that the changes concern.
func ConcernManifests(o *read.Objects, changes map[job.UID][]read.Change) {
	of := make(map[string][]read.Change) // by kind, namespace and name
	var uids []string
	for uid := range changes {
		uids = append(uids, string(uid))
	}
	slices.Sort(uids)
	for _, uid := range uids {
		for _, c := range changes[job.UID(uid)] {
			if c.UID == job.UID(uid) && c.Gone {
				of[c.Kind+" "+c.Key] = append(of[c.Kind+" "+c.Key], c)
			}
		}
	}
	eachMeta(o, func(kind string, m *read.Meta, isManifest bool, _ any) {
		if all := changes[m.UID]; len(all) > 0 && !isManifest {
			of[kind+" "+m.Key()] = append(of[kind+" "+m.Key()], all...)
		}
	})

	eachMeta(o, func(kind string, m *read.Meta, isManifest bool, _ any) {
		if all := of[appliedTo(kind, m)]; len(all) > 0 && isManifest {
			changes[m.UID] = append(changes[m.UID], all...)
		}
	})
}

// jobOver explains the manifest of a Job that exists already: what kubectl apply would change, and
// what the controller would do then.
func (e *Explainer) jobOver(m, is *read.Job) (out Explanation, ok bool) {
	d, spec, ok := specAfter(is.Spec, m.Spec, &is.Meta)
	over, err := is.With(spec)
	if !ok || err != nil {
		return out, false
	}

	template := func(spec json.RawMessage) []byte {
		var s struct{ Template json.RawMessage }
		_ = json.Unmarshal(spec, &s)
		return s.Template
	}
	newest := release.Newest()
	refused := append(lines(jobadmit.ValidateUpdate(&is.Object, over.Object.Spec, newest)),
		lines(jobadmit.ValidateTemplateUpdate(&is.Object, template(is.Spec), template(spec), newest))...)

	out = besides(e.job(is), m.At.String())
	if len(refused) == 0 || len(d) == 0 { // without a change, kubectl sends nothing
		l, err := e.lookAt(over)
		if err != nil {
			return out, false
		}
		then := l.whatFollows()
		if is.Object.Status.Finished() != "" {
			then = "nothing runs again, since the Job has ended"
		}
		return applied(out, d, then, l.specFindings()), true
	}

	l, err := e.lookAt(is)
	if err != nil {
		return out, false
	}
	remedy := does("delete the Job, and create it from the manifest", l.cost(),
		remove(is.Namespace, "job", is.Name), apply(is.Namespace, "job", is.Name))
	if is.Controller().Kind != "" || keeperOf(&is.Meta).name != "" {
		remedy = l.again("make the change")
	}
	return notApplied(out, d, refused, when("the change is wanted", remedy)), true
}

// whatFollows describes what the controller does with the Job as it is after kubectl apply.
func (l *look) whatFollows() string {
	create, remove := int64(len(l.plan.Create)), int64(len(l.plan.Delete))
	switch {
	case !l.podsRead:
		return "what the controller does then depends on the pods, which the input lacks"
	case l.plan.Verdict.Type != "":
		return fmt.Sprintf("the Job then ends (%s)", l.plan.Verdict.Reason)
	case create > 0:
		return fmt.Sprintf("the controller then creates %s", count(create, "pod"))
	case remove > 0:
		return fmt.Sprintf("the controller then deletes %s", count(remove, "pod"))
	}
	return "no pod is created or deleted for that"
}

// cronJobOver is like jobOver, for CronJobs. Each of their fields may change.
func (e *Explainer) cronJobOver(m, is *read.CronJob) (out Explanation, ok bool) {
	d, spec, ok := specAfter(is.Spec, m.Spec, &is.Meta)
	over, err := is.With(spec)
	if !ok || err != nil {
		return out, false
	}

	out = besides(e.cronJob(is), m.At.String())
	refused := lines(cronjob.ValidateUpdate(&is.Object, over.Object.Spec, release.Newest()))
	if len(refused) > 0 && len(d) > 0 {
		return notApplied(out, d, refused,
			inspect("correct the field in the manifest", "kubectl diff -f cronjob.yaml")), true
	}

	l, err := e.lookAtCron(over)
	if err != nil {
		return out, false
	}
	then := l.nextRun()
	switch run, isHeld := runOf(l.theirs); {
	case l.isSuspended():
		then = "no run starts then, since it is suspended"
	case isHeld:
		then = fmt.Sprintf("the run of %s then starts as soon as the active Job has ended", l.moment(run))
	case !run.IsZero():
		then = fmt.Sprintf("the run of %s then starts immediately", l.moment(run))
	}
	return applied(out, d, then, append(l.specFindings(), l.suspendedFindings()...)), true
}

// besides returns the explanation of a manifest, without findings. The argument was is the explanation
// of the object that exists.
func besides(was Explanation, source string) Explanation {
	return Explanation{
		Kind: was.Kind, Namespace: was.Namespace, Name: was.Name, Source: source, State: was.State,
		Summary: sentence(fmt.Sprintf("a manifest of the %s in the cluster, which is explained separately", was.Kind)),
	}
}

// applied explains a manifest whose object exists: it describes what kubectl apply would change.
func applied(out Explanation, changes []string, then string, findings []Finding) Explanation {
	text := fmt.Sprintf("with kubectl apply, the manifest changes %s; %s", list(changes), then)
	if len(changes) == 0 {
		text = fmt.Sprintf("with kubectl apply, the manifest changes nothing in the spec of the %s", out.Kind)
	}
	out.Findings = append(findings, finding(Note, "AppliesToExisting", text,
		inspect("look at each difference", "kubectl diff -f "+strings.ToLower(out.Kind)+".yaml")))
	return out
}

// notApplied explains a manifest that a server refuses because its object exists.
func notApplied(out Explanation, changes, refused []string, remedies ...*Remedy) Explanation {
	out.State = Broken
	text := fmt.Sprintf("with kubectl apply, the manifest would change %s; a server refuses that, and the %s stays as "+
		"it is: %s", list(changes), out.Kind, strings.Join(refused, "; "))
	both := inspect("give the manifest another name, or generateName with kubectl create",
		"kubectl create --dry-run=server -f "+strings.ToLower(out.Kind)+".yaml")
	out.Findings = oneFinding(Error, "ApplyRefused", text, append(remedies, when("both are wanted", both))...)
	return out
}

func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

// differences are the fields that kubectl apply changes, as "spec.parallelism from 1 to 3".
type differences []string

// specAfter returns the spec that kubectl apply makes of the existing spec (argument was) and the
// spec of the manifest. It also considers the spec that was applied last, if an annotation of m has
// it. ok is false if the existing spec is unknown.
func specAfter(was, manifest json.RawMessage, m *read.Meta) (d differences, spec json.RawMessage, ok bool) {
	var before, next, last any
	if json.Unmarshal(was, &before) != nil || json.Unmarshal(manifest, &next) != nil {
		return nil, nil, false
	}
	var applied struct{ Spec any }
	if json.Unmarshal([]byte(m.Annotations["kubectl.kubernetes.io/last-applied-configuration"]), &applied) == nil {
		last = applied.Spec
	}

	data, err := json.Marshal(d.merge("spec", before, next, last))
	return d, data, err == nil
}

// merge merges maps by their keys, and lists of named elements by the names. It keeps what the
// manifest does not mention, unless the manifest of the last apply had it.
func (d *differences) merge(path string, was, next, last any) any {
	before, isTree := treeOf(was)
	wanted, isAlso := treeOf(next)
	if !isTree || !isAlso || before.isList != wanted.isList {
		if !isSame(path, was, next) {
			d.note(path, was, next)
			return next
		}
		return was
	}

	earlier, _ := treeOf(last)
	merged := make(map[string]any)
	for _, key := range before.order {
		value, isWanted := wanted.parts[key]
		switch {
		case isWanted && value == nil: // the server sets its default
		case isWanted:
			merged[key] = d.merge(before.at(path, key), before.parts[key], value, earlier.parts[key])
		case earlier.parts[key] != nil:
			d.note(before.at(path, key), before.parts[key], nil)
		default:
			merged[key] = before.parts[key]
		}
	}
	for _, key := range wanted.order {
		if _, is := before.parts[key]; !is && !isEmpty(wanted.parts[key]) {
			merged[key] = wanted.parts[key]
			before.order = append(before.order, key)
			d.note(before.at(path, key), nil, merged[key])
		}
	}
	if !before.isList {
		return merged
	}

	list := []any{}
	for _, key := range before.order {
		if element, is := merged[key]; is {
			list = append(list, element)
		}
	}
	return list
}

func (d *differences) note(path string, was, is any) {
	*d = append(*d, fmt.Sprintf("%s from %s to %s", path, brief(written(was)), brief(written(is))))
}

// tree is a map, or a list of maps whose names differ.
type tree struct {
	parts  map[string]any
	order  []string
	isList bool
}

func treeOf(value any) (t tree, ok bool) {
	switch value := value.(type) {
	case map[string]any:
		return tree{value, sortedKeys(value), false}, true
	case []any:
		t.parts, t.isList = make(map[string]any), true
		for _, element := range value {
			fields, _ := element.(map[string]any)
			name, _ := fields["name"].(string)
			if _, isAgain := t.parts[name]; isAgain || name == "" {
				return t, false
			}
			t.parts[name] = element
			t.order = append(t.order, name)
		}
		return t, true
	}
	return t, false
}

func (t *tree) at(path, key string) string {
	if t.isList {
		return path + "[" + key + "]"
	}
	return path + "." + key
}

func isEmpty(value any) bool {
	switch written(value) {
	case "none", "{}", "[]", `""`, "false":
		return true
	}
	return false
}

// isSame reports whether a server keeps the old value after an apply of the new one. A field that
// the new value leaves out may have a default, and a quantity has several forms.
func isSame(path string, was, next any) bool {
	x, isList := was.([]any)
	y, isAlso := next.([]any)
	if isList && isAlso && len(x) == len(y) {
		var d differences
		for i := range x {
			d.merge(path, x[i], y[i], nil)
		}
		return len(d) == 0
	}

	isAmount := strings.Contains(path, ".resources.") || strings.HasSuffix(path, ".sizeLimit")
	if written(was) == written(next) || !isAmount {
		return written(was) == written(next)
	}
	a, isQuantity := quantity(was)
	b, isOther := quantity(next)
	return isQuantity && isOther && a == b
}

// quantity returns the value of a quantity such as 500m, 0.5 or 1Gi.
func quantity(value any) (float64, bool) {
	text := strings.Trim(written(value), `"`)
	digits := strings.TrimRight(text, "numkKMGTPEi")
	n, err := strconv.ParseFloat(digits, 64)
	factor, ok := map[string]float64{
		"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
		"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50, "Ei": 1 << 60,
	}[text[len(digits):]]
	return n * factor, err == nil && ok
}

// written returns a value in JSON.
func written(value any) string {
	if value == nil {
		return "none"
	}
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // it was read from JSON
	return strings.TrimSuffix(out.String(), "\n")
}
