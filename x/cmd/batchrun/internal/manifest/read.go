// Package manifest reads manifests of Jobs and CronJobs, refuses what this machine
// cannot honour, and turns pod templates into processes.
package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	batchv1 "k8s.io/api/batch/v1"
	kjson "sigs.k8s.io/json"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/internal/command"
)

// Objects holds the objects of manifests.
type Objects struct {
	Jobs     []*Job
	CronJobs []*CronJob
}

// Add adds the objects of another manifest.
func (o *Objects) Add(more Objects) {
	o.Jobs = append(o.Jobs, more.Jobs...)
	o.CronJobs = append(o.CronJobs, more.CronJobs...)
}

// Len returns the number of objects.
func (o *Objects) Len() int { return len(o.Jobs) + len(o.CronJobs) }

// Job is a Job object that can run here.
type Job struct {
	Object batchv1.Job
	// Raw is the object as JSON.
	Raw json.RawMessage
	// Spec is the object's spec for the planner, with its defaults.
	Spec job.Spec
	// Ignored lists the fields that are set but have no effect here.
	Ignored []string
	// Source is the file and line of the object.
	Source string
	// base is the path of the job template in a CronJob, with a trailing dot.
	base string
}

// Key returns the name of the job as users write it.
func (j *Job) Key() string { return j.Object.Namespace + "/" + j.Object.Name }

// Read reads all documents of a stream. The error joins all problems, each with
// file, line and field.
func Read(file string, in io.Reader) (Objects, error) {
	data, err := io.ReadAll(in)
	if err != nil {
		return Objects{}, fmt.Errorf("%s: %w", file, err)
	}
	var all Objects
	var problems []error
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			problems = append(problems, syntaxError(file, data, err))
			break
		}
		if len(node.Content) == 0 || node.Content[0].Tag == "!!null" {
			continue // an empty document
		}
		d := &document{file: file, root: node.Content[0]}
		one := d.read()
		if len(d.problems) > 0 {
			problems = append(problems, d.problems...)
			continue
		}
		all.Add(one)
	}
	if all.Len() == 0 && len(problems) == 0 {
		problems = append(problems, fmt.Errorf("%s: contains no object", file))
	}
	return all, errors.Join(problems...)
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): (.*)`)

// syntaxError puts the line after the file name, where editors look for it.
func syntaxError(file string, data []byte, err error) error {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	line, text := m[1], m[2]
	if strings.Contains(text, "tab character") || strings.Contains(text, "cannot start any token") {
		// The parser reports the line before, and a tab is hard to see.
		if n := tabLine(data); n > 0 {
			line, text = strconv.Itoa(n), "indented with a tab; YAML requires spaces"
		}
	}
	return fmt.Errorf("%s:%s: %s", file, line, text)
}

// tabLine returns the first line that is indented with a tab, or 0.
func tabLine(data []byte) int {
	for i, line := range bytes.Split(data, []byte("\n")) {
		indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
		if len(indent) < len(line) && bytes.ContainsRune(indent, '\t') {
			return i + 1
		}
	}
	return 0
}

// document is one object that is being checked.
type document struct {
	file     string
	root     *yaml.Node
	problems []error
	ignored  []string
	// base is put before the paths of fields: a job template is checked like a job.
	base string
}

// reject notes a problem of a field. An empty path means the whole document.
func (d *document) reject(path, format string, args ...any) {
	if path != "" {
		path = d.base + path
	}
	line := d.root.Line
	if node := locate(d.root, path); node != nil {
		line = node.Line
	}
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	d.problems = append(d.problems, fmt.Errorf("%s:%d: %s", d.file, line, text))
}

// read reads the object.
func (d *document) read() (one Objects) {
	plainTimes(d.root)
	var value any
	if err := d.root.Decode(&value); err != nil {
		d.problems = append(d.problems, syntaxError(d.file, nil, err))
		return one
	}
	object, ok := value.(map[string]any)
	if !ok {
		d.reject("", "is not an object")
		return one
	}
	if !d.checkKind(object) {
		return one
	}
	raw, err := json.Marshal(object)
	if err != nil {
		d.reject("", "%v", err)
		return one
	}
	d.checkStrings("", object)
	if object["kind"] == "CronJob" {
		one.CronJobs = []*CronJob{d.cronJob(object, raw)}
	} else {
		one.Jobs = []*Job{d.job(object, raw)}
	}
	slices.Sort(d.ignored)
	d.ignored = slices.Compact(d.ignored)
	for _, j := range one.Jobs {
		if j != nil {
			j.Ignored = d.ignored
		}
	}
	for _, c := range one.CronJobs {
		if c != nil {
			c.Ignored = d.ignored
		}
	}
	return one
}

// source returns the file and line of the object.
func (d *document) source() string { return fmt.Sprintf("%s:%d", d.file, d.root.Line) }

func (d *document) job(object map[string]any, raw []byte) *Job {
	j := &Job{Raw: raw, Source: d.source()}
	if d.decode(raw, "Job", &j.Object); len(d.problems) > 0 {
		return nil
	}
	if j.Object.Namespace == "" {
		j.Object.Namespace = "default"
	}
	d.checkNamespace(j.Object.Namespace)
	d.checkJobName(j.Object.Name)
	d.checkJob(object, j, jobHonoured)
	return j
}

func (d *document) checkKind(object map[string]any) bool {
	version, kind := object["apiVersion"], object["kind"]
	switch {
	case version == nil:
		d.reject("apiVersion", "is required; expected \"batch/v1\"")
	case kind == nil:
		d.reject("kind", "is required; expected \"Job\" or \"CronJob\"")
	case version != "batch/v1":
		d.reject("apiVersion", "%q (kind %q) is not supported; expected \"batch/v1\"", version, kind)
	case kind != "Job" && kind != "CronJob":
		d.reject("kind", "%q is not supported; expected \"Job\" or \"CronJob\"", kind)
	default:
		return true
	}
	return false
}

// decode decodes the object strictly: a misspelt field is an error, with the name that was probably meant.
func (d *document) decode(raw []byte, kind string, into any) {
	strict, err := kjson.UnmarshalStrict(raw, into)
	for _, problem := range strict {
		text := problem.Error()
		if path, ok := strings.CutPrefix(text, "unknown field "); ok {
			path = strings.Trim(path, `"`)
			d.reject(path, "no such field in batch/v1 %s%s", kind, command.DidYouMean(reflect.TypeOf(into), path))
			continue
		}
		d.reject("", "%s", text)
	}
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType):
		node := mistyped(d.root, wrongType.Field, wrongType.Value)
		value := wrongType.Value
		if node != nil && node.Kind == yaml.ScalarNode {
			value = fmt.Sprintf("%s %q", value, node.Value)
		}
		d.rejectAt(node, "%s: is a %s, expected %s", wrongType.Field, value, wrongType.Type)
	case err != nil:
		d.reject("", "%v", err)
	}
}

func (d *document) rejectAt(node *yaml.Node, format string, args ...any) {
	line := d.root.Line
	if node != nil {
		line = node.Line
	}
	d.problems = append(d.problems, fmt.Errorf("%s:%d: %s", d.file, line, fmt.Sprintf(format, args...)))
}
