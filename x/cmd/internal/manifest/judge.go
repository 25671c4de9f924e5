package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// Judge returns the problems for which an API server refuses a well-formed Job or CronJob. These
// are problems that the library finds in specs and names, and problems of labels, the selector and
// containers. Judge does not look at probes, resources and the sources of volumes.
func (o *Object) Judge() Problems {
	j := judge{object: o}
	t, err := o.Type()
	var in fields
	if err := errors.Join(err, json.Unmarshal(o.JSON, &in)); err != nil {
		return Problems{{o.where(err), jsonText(err)}}
	}
	meta, spec := in.at("metadata"), in.at("spec")
	name := j.name(meta)
	if namespace := meta.text("namespace"); namespace != "" && !isLabel(namespace) {
		j.add("metadata.namespace", "%q: %s", namespace, notLabel)
	}
	j.metadata("metadata", meta)

	if t.Kind == "CronJob" {
		c, err := cronjob.DecodeCronJob(o.JSON)
		cronjob.Default(&c.Spec)
		if c.Name = name; name == "" {
			err = errors.Join(err, cronjob.Validate(c.Spec))
		} else {
			err = errors.Join(err, c.Validate())
		}
		jobs, broken := JobSpecOf(o.JSON)
		j.refuse("", errors.Join(err, broken))
		if jobs == nil {
			jobs = new(job.Spec)
		}

		// The Jobs get names of their own, and an API server makes their selectors. So neither is
		// checked here.
		template := spec.at("jobTemplate")
		j.metadata("spec.jobTemplate.metadata", template.at("metadata"))
		j.job("spec.jobTemplate.", jobs, template.at("spec"))
		if isTrue, _ := template.at("spec")["manualSelector"].(bool); isTrue {
			j.add("spec.jobTemplate.spec.manualSelector",
				"must not be true in a CronJob: all its Jobs would have one selector")
		}
		return inOrder(j.found)
	}

	decoded, err := job.DecodeJob(o.JSON)
	j.refuse("", err)
	isManual, _ := spec["manualSelector"].(bool)
	j.job("", &decoded.Spec, spec)
	j.jobName(name, &decoded.Spec, isManual)
	j.selector(name, spec, decoded.Spec.Selector, isManual)
	return inOrder(j.found)
}

// JobSpecOf decodes the spec of the Jobs of a CronJob, without defaults; nil if there is none.
func JobSpecOf(cronJob []byte) (*job.Spec, error) {
	var c struct {
		Spec struct {
			JobTemplate struct {
				Spec *job.Spec `json:"spec"`
			} `json:"jobTemplate"`
		} `json:"spec"`
	}
	err := json.Unmarshal(cronJob, &c)
	return c.Spec.JobTemplate.Spec, err
}

// fields are the fields of an object. Each method returns a zero value for a field of another type.
type fields map[string]any

func (f fields) at(name string) fields {
	m, _ := f[name].(map[string]any)
	return m
}

func (f fields) text(name string) string {
	s, _ := f[name].(string)
	return s
}

func (f fields) list(name string) (all []fields) {
	items, _ := f[name].([]any)
	for _, item := range items {
		m, _ := item.(map[string]any)
		all = append(all, m)
	}
	return all
}

// judge collects the problems of one object.
type judge struct {
	object *Object
	found  Problems
}

func (j *judge) add(path, format string, args ...any) {
	j.found = append(j.found, j.object.Problem(path, format, args...))
}

// Refused returns the errors of the library as problems with their positions. base, such as
// "spec.jobTemplate.", comes before their paths.
func (o *Object) Refused(base string, err error) (all Problems) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			all = append(all, o.Refused(base, e)...)
		}
		return all
	}
	var input *job.InputError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &typed):
		all = append(all, Problem{o.where(err), jsonText(typed)})
	case errors.As(err, &input):
		if isName := input.Field == "metadata.name"; isName && base == "" {
			input.Field = o.namePath()
		}
		all = append(all, o.Problem(base+input.Field, "%s: %s", input.Value, input.Problem))
	case err != nil:
		all = append(all, o.Problem(base+"spec", "%v", err))
	}
	return all
}

func (j *judge) refuse(base string, err error) {
	j.found = append(j.found, j.object.Refused(base, err)...)
}

// name returns the object's name, or an example of the name that a server makes from generateName.
func (j *judge) name(meta fields) string {
	if name := meta.text("name"); name != "" {
		return name
	}
	if prefix := meta.text("generateName"); prefix != "" {
		return NameFrom(prefix, "x7k2p")
	}
	j.add("metadata.name", "is required")
	return ""
}

// namePath returns the path of the field that gives the object its name.
func (o *Object) namePath() string {
	if metadata := child(o.node(), "metadata"); metadata != nil && child(metadata, "name") == nil && child(metadata,
		"generateName") != nil {
		return "metadata.generateName"
	}
	return "metadata.name"
}

// selector checks the selector of a Job as an API server does. Without manualSelector, the server
// adds labels with the Job's UID and name. A manifest may contain only the label with the name, and
// the name must be right.
func (j *judge) selector(name string, spec fields, selector *job.Selector, isManual bool) {
	const notMade = "is made by the server; leave it out, or set manualSelector"
	labels := map[string]string{}
	given := spec.at("template").at("metadata").at("labels")
	for key := range given {
		labels[key] = given.text(key)
	}
	isAboutIt := func(p Problem) bool { return strings.HasPrefix(p.Text, "spec.selector") }
	isRefused := slices.ContainsFunc(j.found, isAboutIt)

	if isManual {
		switch {
		case selector == nil:
			j.add("spec.selector", "is required with manualSelector")
		case !isRefused && !selector.Matches(labels):
			j.add("spec.template.metadata.labels", "the selector does not match them")
		}
		return
	}

	const uid = "unknown" // no label has it
	made := map[string]string{}
	for _, prefix := range []string{"", "batch.kubernetes.io/"} {
		if _, ok := labels[prefix+"controller-uid"]; ok {
			j.add("spec.template.metadata.labels."+prefix+"controller-uid", notMade)
			return
		}
		if label, ok := labels[prefix+"job-name"]; ok && label != name {
			j.add("spec.template.metadata.labels."+prefix+"job-name", "%q: must be the name of the Job", label)
		}
		made[prefix+"controller-uid"], made[prefix+"job-name"] = uid, name
	}
	if selector != nil && !isRefused && !selector.Matches(made) {
		j.add("spec.selector", notMade)
	}
}

// NameFrom returns the name that an API server makes of generateName and five random characters.
func NameFrom(generateName, random string) string {
	return generateName[:min(len(generateName), maxLabel-5)] + random
}

// jobName checks the name of a Job. Its pods get the name as a label, unless manualSelector is true. In
// an Indexed Job, the name followed by an index is the host name of a pod.
func (j *judge) jobName(name string, s *job.Spec, isManual bool) {
	longest, last, path := maxLabel, "", j.object.namePath()
	if isManual {
		longest = maxName
	}
	if s.CompletionMode == job.Indexed && s.Completions != nil && *s.Completions > 0 {
		last = fmt.Sprintf("%s-%d", name, *s.Completions-1)
	}
	switch {
	case name == "":
	case len(name) > longest:
		j.add(path, "%q: must not be longer than %d bytes", name, longest)
	case slices.ContainsFunc(strings.Split(name, "."), func(part string) bool { return !label.MatchString(part) }):
		j.add(path, "%q: each part between dots %s", name, notPart)
	case last != "" && !isLabel(last):
		j.add(path, "%q: the host name %q of its last index %s", name, last, notLabel)
	}
}

// metadata checks the keys and values of labels and annotations. An API server ignores the name and
// the namespace of a template.
func (j *judge) metadata(path string, meta fields) {
	labels := meta.at("labels")
	for key := range labels {
		value := labels.text(key)
		switch {
		case !isKey(key):
			j.add(path+".labels."+key, notKey)
		case value != "" && (len(value) > maxLabel || !word.MatchString(value)):
			j.add(path+".labels."+key, "%q: %s", value, notWord)
		}
	}
	for key := range meta.at("annotations") {
		if !isKey(strings.ToLower(key)) {
			j.add(path+".annotations."+key, notKey)
		}
	}
}

// job sets the defaults of a job's spec, and checks it below a path, and its pods.
func (j *judge) job(base string, s *job.Spec, spec fields) {
	job.Default(s)
	j.refuse(base, job.Validate(*s))
	for _, field := range []string{"completionMode", "podReplacementPolicy", "managedBy"} {
		if value, isText := spec[field].(string); isText && value == "" {
			j.add(base+"spec."+field, "must not be empty when it is set")
		}
	}

	template := spec.at("template")
	path, pod := base+"spec.template.spec.", template.at("spec")
	j.metadata(base+"spec.template.metadata", template.at("metadata"))
	volumes := map[string]bool{}
	for i, v := range pod.list("volumes") {
		j.unique(fmt.Sprintf("%svolumes[%d].name", path, i), v.text("name"), volumes)
	}
	if len(pod.list("containers")) == 0 {
		j.add(path+"containers", "at least one is required")
	}
	seen := map[string]bool{}
	for _, group := range []string{"initContainers", "containers"} {
		for i, c := range pod.list(group) {
			j.container(fmt.Sprintf("%s%s[%d]", path, group, i), c, seen, volumes)
		}
	}
}

func (j *judge) container(path string, c fields, seen, volumes map[string]bool) {
	j.unique(path+".name", c.text("name"), seen)
	if policy, isText := c["restartPolicy"].(string); isText && !restartPolicies[policy] {
		j.add(path+".restartPolicy", "%q: must be Always, Never or OnFailure", policy)
	}
	if c.text("image") == "" {
		j.add(path+".image", "is required")
	}
	for i, m := range c.list("volumeMounts") {
		at := fmt.Sprintf("%s.volumeMounts[%d]", path, i)
		if name := m.text("name"); !volumes[name] {
			j.add(at+".name", "%q: the pod has no volume of this name", name)
		}
		if m.text("mountPath") == "" {
			j.add(at+".mountPath", "is required")
		}
	}
}

// unique checks that the name of a container or volume is valid and unique.
func (j *judge) unique(path, name string, seen map[string]bool) {
	switch {
	case name == "":
		j.add(path, "is required")
	case !isLabel(name):
		j.add(path, "%q: %s", name, notLabel)
	case seen[name]:
		j.add(path, "%q: must be unique", name)
	}
	seen[name] = true
}

const (
	maxLabel = 63
	maxName  = 253
	notPart  = "must consist of lower case letters, digits and '-', and begin and end with a letter or digit"
	notLabel = "must consist of at most 63 lower case letters, digits and '-', and begin and end with a letter or digit"
	notWord  = "must consist of at most 63 letters, digits, '-', '_' and '.', and begin and end with a letter or digit"
	notKey   = "the key must be a name of at most 63 letters, digits, '-', '_' and '.', " +
		"which may have a domain and '/' before it"
)

// restartPolicies are the policies that a container may have.
var restartPolicies = map[string]bool{"Always": true, "Never": true, "OnFailure": true}

var (
	label = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	word  = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
)

// isLabel reports whether a name is a DNS label. The names of namespaces, volumes and containers must
// be DNS labels.
func isLabel(name string) bool { return len(name) <= maxLabel && label.MatchString(name) }

// isKey reports whether a text can be the key of a label.
func isKey(key string) bool {
	domain, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		domain, name = "x", key
	}
	for part := range strings.SplitSeq(domain, ".") {
		if !label.MatchString(part) {
			return false
		}
	}
	return len(domain) <= 253 && len(name) <= maxLabel && word.MatchString(name)
}
