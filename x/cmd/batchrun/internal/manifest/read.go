// Package manifest reads manifests of Jobs and CronJobs, refuses what this machine
// cannot honour, and turns pod templates into processes.
package manifest

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
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
	// base is the path of the job template in a CronJob, and ends with a dot.
	base string
}

// Key returns the name of the job as users write it.
func (j *Job) Key() string { return j.Object.Namespace + "/" + j.Object.Name }

// Read reads all objects of a stream. The error joins all problems, each with file, line and field.
func Read(file string, in io.Reader) (all Objects, err error) {
	err = manifest.Read(file, in, func(o *manifest.Object) error {
		d := &document{object: o}
		one := d.read()
		if len(d.problems) > 0 {
			return d.problems
		}
		all.Add(one)
		return nil
	})
	return all, err
}

// ReadCronJobs reads the CronJobs of a stream to show their schedules. It does not check whether
// their jobs can run here.
func ReadCronJobs(file string, in io.Reader) (all []*CronJob, err error) {
	err = manifest.Read(file, in, func(o *manifest.Object) error {
		t, err := o.Type()
		if err != nil || t.Kind != "CronJob" {
			return err
		}
		c, err := LoadCronJob(bytes.Clone(o.JSON))
		if err != nil {
			return err
		}
		if wrong := o.Refused("", cronjob.Validate(c.Spec)); len(wrong) > 0 {
			return wrong
		}
		all = append(all, c)
		return nil
	})
	return all, err
}

// document is one object that is being checked.
type document struct {
	object   *manifest.Object
	problems manifest.Problems
	ignored  []string
	// base is written before the path of each field. It is "", or the path of the job template
	// while that is checked.
	base string
}

// reject notes a problem of a field. An empty path means the whole document.
func (d *document) reject(path, format string, args ...any) {
	if path != "" {
		path = d.base + path
	}
	d.problems = append(d.problems, d.object.Problem(path, format, args...))
}

func (d *document) read() (one Objects) {
	raw := d.object.JSON
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		d.reject("", "%v", err)
		return one
	}
	d.checkStrings("", object)
	for _, p := range d.object.Judge() {
		if !strings.HasSuffix(p.Text, ".image: is required") { // this runner uses no image
			d.problems = append(d.problems, p)
		}
	}

	// An object with generateName gets a name, as on an API server.
	metadata, _ := object["metadata"].(map[string]any)
	if prefix, _ := metadata["generateName"].(string); prefix != "" && isUnset(metadata["name"]) {
		metadata["name"] = manifest.NameFrom(prefix, Suffix())
		raw, _ = json.Marshal(object)
	}

	if t, _ := d.object.Type(); t.Kind == "CronJob" {
		one.CronJobs = []*CronJob{d.cronJob(object, bytes.Clone(raw))}
	} else {
		one.Jobs = []*Job{d.job(object, bytes.Clone(raw))}
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
func (d *document) source() string { return d.object.At.String() }

func (d *document) job(object map[string]any, raw []byte) *Job {
	j := &Job{Raw: raw, Source: d.source()}
	if err := json.Unmarshal(raw, &j.Object); err != nil {
		d.reject("", "%v", err)
		return nil
	}
	if j.Object.Namespace == "" {
		j.Object.Namespace = "default"
	}
	d.checkJob(object, j, jobHonoured)
	return j
}

// Suffix returns a random ending for a name. It has no vowels and no letters that look like digits.
func Suffix() string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	out := make([]byte, 5)
	for i := range out {
		out[i] = letters[rand.IntN(len(letters))]
	}
	return string(out)
}
