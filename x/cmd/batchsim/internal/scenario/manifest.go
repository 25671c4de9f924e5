package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
	"github.com/batchplan/batchplan/x/cmd/internal/command"
	"github.com/batchplan/batchplan/x/sim"
)

var kubernetesSchedule = schedule.Kubernetes()

// Objects are the jobs and CronJobs of a manifest.
type Objects struct {
	Jobs     []sim.Job
	CronJobs []sim.CronJob
}

// ReadManifest reads the Jobs and CronJobs of a file. A List and several documents are
// understood; each problem names file, line and field.
func ReadManifest(file string) (Objects, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Objects{}, err
	}
	nodes, err := documents(file, data)
	if err != nil {
		return Objects{}, err
	}
	var all Objects
	var problems []error
	for len(nodes) > 0 {
		n := nodes[0]
		nodes = nodes[1:]
		if items := child(n, "items"); items != nil && valueOf(n, "kind") == "List" {
			nodes = append(slices.Clone(items.Content), nodes...)
			continue
		}
		m := manifest{file: file, root: n}
		if err := m.read(&all); err != nil {
			problems = append(problems, err)
		}
	}
	if len(all.Jobs)+len(all.CronJobs) == 0 && len(problems) == 0 {
		problems = append(problems, fmt.Errorf("%s: contains no object", file))
	}
	return all, errors.Join(problems...)
}

func valueOf(n *yaml.Node, key string) string {
	if c := child(n, key); c != nil {
		return c.Value
	}
	return ""
}

// manifest is one object that is being read.
type manifest struct {
	file string
	root *yaml.Node
}

func (m *manifest) problem(n *yaml.Node, format string, args ...any) error {
	if n == nil {
		n = m.root
	}
	return fmt.Errorf("%s:%d: %s", m.file, n.Line, fmt.Sprintf(format, args...))
}

// read adds the object.
func (m *manifest) read(all *Objects) error {
	if m.root.Kind != yaml.MappingNode {
		return m.problem(nil, "is not an object")
	}
	version, kind := valueOf(m.root, "apiVersion"), valueOf(m.root, "kind")
	if version != "batch/v1" || kind != "Job" && kind != "CronJob" {
		return m.problem(child(m.root, "apiVersion"), "%s %q is not supported; expected a Job or CronJob of batch/v1", version, kind)
	}
	plain(m.root)
	var value any
	if err := m.root.Decode(&value); err != nil {
		return located(m.file, "", err)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return m.problem(nil, "%v", err)
	}
	if kind == "Job" {
		j, err := m.job(raw)
		if err == nil {
			all.Jobs = append(all.Jobs, j)
		}
		return err
	}
	c, err := m.cronJob(raw)
	if err == nil {
		all.CronJobs = append(all.CronJobs, c)
	}
	return err
}

// plain keeps times as they are written: YAML would turn them into values of its own.
func plain(n *yaml.Node) {
	if n.Tag == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, c := range n.Content {
		plain(c)
	}
}

// decode decodes strictly: a misspelt field is an error, at its line.
func (m *manifest) decode(raw []byte, into any) error {
	strict, err := kjson.UnmarshalStrict(raw, into)
	if err != nil {
		return m.problem(nil, "%v", err)
	}
	var problems []error
	for _, problem := range strict {
		text := problem.Error()
		path, unknown := strings.CutPrefix(text, "unknown field ")
		n := m.locate(strings.Trim(path, `"`))
		if unknown {
			path = strings.Trim(path, `"`)
			text = "no such field: " + path + command.DidYouMean(reflect.TypeOf(into), path)
		}
		problems = append(problems, m.problem(n, "%s", text))
	}
	return errors.Join(problems...)
}

// locate returns the node at a path such as spec.template.spec.containers[0].name.
func (m *manifest) locate(path string) *yaml.Node {
	n := m.root
	for part := range strings.SplitSeq(strings.NewReplacer("[", ".", "]", "").Replace(path), ".") {
		next := child(n, part)
		if place := 0; next == nil && n.Kind == yaml.SequenceNode {
			if _, err := fmt.Sscan(part, &place); err == nil && place < len(n.Content) {
				next = n.Content[place]
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	return n
}

func (m *manifest) source() string { return fmt.Sprintf("%s:%d", m.file, m.root.Line) }

func (m *manifest) job(raw []byte) (sim.Job, error) {
	var object batchv1.Job
	if err := m.decode(raw, &object); err != nil {
		return sim.Job{}, err
	}
	var planned struct{ Spec job.Spec }
	if err := json.Unmarshal(raw, &planned); err != nil {
		return sim.Job{}, m.problem(nil, "%v", err)
	}
	j := sim.Job{Name: cmpOr(object.Name, object.GenerateName, "job"), Spec: planned.Spec, Source: m.source()}
	var err error
	j.Pod, err = m.pod(&object.Spec.Template.Spec, object.Annotations, object.Spec.Template.Annotations)
	return j, err
}

func cmpOr(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func (m *manifest) cronJob(raw []byte) (sim.CronJob, error) {
	var object batchv1.CronJob
	if err := m.decode(raw, &object); err != nil {
		return sim.CronJob{}, err
	}
	var planned struct {
		Spec struct {
			JobTemplate struct{ Spec job.Spec } `json:"jobTemplate"`
		}
	}
	decoded, err := cronjob.DecodeCronJob(raw)
	if err == nil {
		err = json.Unmarshal(raw, &planned)
	}
	if err != nil {
		return sim.CronJob{}, m.problem(nil, "%v", err)
	}
	template := &object.Spec.JobTemplate
	c := sim.CronJob{Name: cmpOr(object.Name, "cronjob"), Spec: decoded.Spec, Source: m.source()}
	c.Job = sim.Job{Spec: planned.Spec.JobTemplate.Spec, Source: c.Source}
	c.Job.Pod, err = m.pod(&template.Spec.Template.Spec, object.Annotations, template.Annotations, template.Spec.Template.Annotations)
	return c, err
}

// defaultDuration is how long a pod runs of which a manifest says nothing.
const defaultDuration = time.Minute

// pod says how the pods of a template behave. Later annotations win.
func (m *manifest) pod(spec *corev1.PodSpec, annotations ...map[string]string) (sim.Pod, error) {
	p := sim.Pod{Duration: sim.Constant(defaultDuration)}
	if s := spec.TerminationGracePeriodSeconds; s != nil {
		if *s < 0 || *s > maxGrace {
			return p, m.problem(find(m.root, "terminationGracePeriodSeconds"), "terminationGracePeriodSeconds: %d: must be from 0 to %d", *s, maxGrace)
		}
		grace(&p, time.Duration(*s)*time.Second)
	}

	var err error
	if p.Resources, err = requests(spec); err != nil {
		return p, m.problem(find(m.root, "requests"), "%v", err)
	}

	for _, of := range annotations {
		for _, key := range slices.Sorted(maps.Keys(of)) {
			name, ok := strings.CutPrefix(key, Prefix)
			if !ok {
				continue
			}
			if err := apply(&p, name, of[key]); err != nil {
				return p, m.problem(find(m.root, key), "annotation %s%v", Prefix, err)
			}
		}
	}
	return p, nil
}

// find returns the first key of that name anywhere below a node.
func find(n *yaml.Node, key string) *yaml.Node {
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Value == key {
			return c
		}
		if found := find(c, key); found != nil {
			return found
		}
	}
	return nil
}

// requests sums what the containers request; init containers need theirs one after the other.
func requests(spec *corev1.PodSpec) (sum sim.Resources, err error) {
	for i := range spec.Containers {
		c := &spec.Containers[i]
		r, within := requested(c)
		sum.CPU, sum.Memory = sum.CPU+r.CPU, sum.Memory+r.Memory
		if !within || sum.CPU > maxQuantity*1000 || sum.Memory > maxQuantity {
			return sum, tooMuch(c)
		}
	}

	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		r, within := requested(c)
		if !within {
			return sum, tooMuch(c)
		}
		sum.CPU, sum.Memory = max(sum.CPU, r.CPU), max(sum.Memory, r.Memory)
	}
	return sum, nil
}

// requested returns what a container requests, and whether it is within the bounds.
func requested(c *corev1.Container) (r sim.Resources, within bool) {
	cpu, memory := c.Resources.Requests.Cpu(), c.Resources.Requests.Memory()
	if !inBounds(cpu) || !inBounds(memory) {
		return r, false
	}
	r.CPU, r.Memory = cpu.MilliValue(), memory.Value()
	return r, true
}

// tooMuch is the error of the container with which the requests are out of bounds.
func tooMuch(c *corev1.Container) error {
	r := c.Resources.Requests
	return fmt.Errorf("container %s: requests: cpu %v, memory %v: must be from 0 to 1P in all", c.Name, r.Cpu(), r.Memory())
}
