package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
	"github.com/batchplan/batchplan/x/sim"
)

var kubernetesSchedule = schedule.Kubernetes(release.Newest())

// Objects are the jobs and CronJobs of a manifest.
type Objects struct {
	Jobs     []sim.Job
	CronJobs []sim.CronJob
}

// ReadManifest reads the Jobs and CronJobs of a file. Each problem names file, line and field.
func ReadManifest(file string) (all Objects, err error) {
	in, err := os.Open(file)
	if err != nil {
		return Objects{}, err
	}
	defer in.Close()
	err = manifest.Read(file, in, func(o *manifest.Object) error {
		t, err := o.Type()
		wrong := o.Judge()
		switch {
		case err != nil:
			return err
		case len(wrong) > 0:
			return wrong
		case t.Kind == "Job":
			j, err := readJob(o)
			if err == nil {
				all.Jobs = append(all.Jobs, j)
			}
			return err
		}
		c, err := readCronJob(o)
		if err == nil {
			all.CronJobs = append(all.CronJobs, c)
		}
		return err
	})
	return all, err
}

// plain turns times into strings, so that YAML does not convert them.
func plain(n *yaml.Node) {
	if n.Tag == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, c := range n.Content {
		plain(c)
	}
}

func readJob(o *manifest.Object) (sim.Job, error) {
	var object batchv1.Job
	var planned struct{ Spec job.Spec }
	if err := errors.Join(json.Unmarshal(o.JSON, &object), json.Unmarshal(o.JSON, &planned)); err != nil {
		return sim.Job{}, err
	}
	j := sim.Job{Name: cmpOr(object.Name, object.GenerateName, "job"), Spec: planned.Spec, Source: o.At.String()}
	var err error
	j.Pod, err = readPod(o, "spec.template.spec", &object.Spec.Template.Spec,
		annotated{"metadata", object.Annotations},
		annotated{"spec.template.metadata", object.Spec.Template.Annotations})
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

func readCronJob(o *manifest.Object) (sim.CronJob, error) {
	var object batchv1.CronJob
	var planned struct {
		Spec struct {
			JobTemplate struct{ Spec job.Spec } `json:"jobTemplate"`
		}
	}
	decoded, err := cronjob.DecodeCronJob(o.JSON)
	if err := errors.Join(err, json.Unmarshal(o.JSON, &object), json.Unmarshal(o.JSON, &planned)); err != nil {
		return sim.CronJob{}, err
	}
	template := &object.Spec.JobTemplate
	c := sim.CronJob{Name: cmpOr(object.Name, "cronjob"), Spec: decoded.Spec, Source: o.At.String()}
	c.Job = sim.Job{Spec: planned.Spec.JobTemplate.Spec, Source: c.Source}
	c.Job.Pod, err = readPod(o, "spec.jobTemplate.spec.template.spec", &template.Spec.Template.Spec,
		annotated{"metadata", object.Annotations},
		annotated{"spec.jobTemplate.metadata", template.Annotations},
		annotated{"spec.jobTemplate.spec.template.metadata", template.Spec.Template.Annotations})
	return c, err
}

// defaultDuration is how long a pod runs if its manifest sets no duration.
const defaultDuration = time.Minute

// annotated has the annotations of the metadata at a path.
type annotated struct {
	path        string
	annotations map[string]string
}

// readPod returns how the pods of the spec at a path behave. If two metadata have the same
// annotation, the later one counts.
func readPod(o *manifest.Object, path string, spec *corev1.PodSpec, all ...annotated) (sim.Pod, error) {
	p := sim.Pod{Duration: sim.Constant(defaultDuration)}
	if s := spec.TerminationGracePeriodSeconds; s != nil {
		if *s < 0 || *s > maxGrace {
			return p, o.Problem(path+".terminationGracePeriodSeconds", "%d: must be from 0 to %d", *s, maxGrace)
		}
		grace(&p, time.Duration(*s)*time.Second)
	}

	var err error
	if p.Resources, err = requests(spec); err != nil {
		return p, o.Problem(path, "%v", err)
	}

	for _, of := range all {
		for _, key := range slices.Sorted(maps.Keys(of.annotations)) {
			name, ok := strings.CutPrefix(key, Prefix)
			if !ok {
				continue
			}
			if err := apply(&p, name, of.annotations[key]); err != nil {
				return p, manifest.Problem{
					Position: o.Place(of.path + ".annotations." + key),
					Text:     fmt.Sprintf("annotation %s%v", Prefix, err),
				}
			}
		}
	}
	return p, nil
}

// requests returns the CPU and the memory that a pod requests. Each is the sum over the containers,
// or the largest request of an init container if that is more. Init containers run one by one
// before the others.
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

// tooMuch returns the error for a container whose requests make the sum exceed the bounds.
func tooMuch(c *corev1.Container) error {
	r := c.Resources.Requests
	return fmt.Errorf("container %s: requests: cpu %v, memory %v: must be from 0 to 1P in all", c.Name, r.Cpu(),
		r.Memory())
}
