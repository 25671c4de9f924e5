package read

import (
	"encoding/json"
	"fmt"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
)

// check returns the unknown fields of a manifest, and an error that describes everything else that
// is wrong with it. An object with a UID is not checked, since an API server has checked it.
func (m *Meta) check(x *manifest.Object, kind string) ([]manifest.Unknown, error) {
	if m.UID != "" {
		return nil, nil
	}
	unknown, wrong := x.Check(kind)
	if len(wrong) > 0 {
		return nil, wrong
	}
	return unknown, nil
}

func (o *Objects) addJob(x *manifest.Object, data []byte, head *envelope, place int) error {
	at, m := x.At, &head.Metadata
	unknown, err := m.check(x, "Job")
	if err != nil {
		return err
	}

	decoded, err := job.DecodeJob(data)
	if err != nil {
		return err
	}

	j := &Job{Meta: *m, Object: decoded, At: at, IsManifest: m.UID == "", Template: head.Spec.Template.Spec.read()}
	if j.IsManifest {
		j.Object.Name, j.Object.UID = m.Name, manifestUID(at, j.Key())
		j.UID = j.Object.UID
		j.Unknown, j.Refused = unknown, x.Judge()
	}

	if len(o.Jobs) < maxSpecs {
		j.Spec = specOf(data)
	}
	job.Default(&j.Object.Spec)
	for _, c := range j.Object.Status.Conditions {
		o.see(c.LastTransitionTime)
	}
	o.see(j.Object.Status.StartTime)

	o.Jobs = put(o.Jobs, place, j)
	return nil
}

func (o *Objects) addCronJob(x *manifest.Object, data []byte, head *envelope, place int) error {
	at, m := x.At, &head.Metadata
	unknown, err := m.check(x, "CronJob")
	if err != nil {
		return err
	}

	decoded, err := cronjob.DecodeCronJob(data)
	if err != nil {
		return err
	}

	c := &CronJob{Meta: *m, Object: decoded, At: at, IsManifest: m.UID == ""}
	c.setTemplate(data, &head.more)
	if c.IsManifest {
		c.Object.Name, c.Object.UID = m.Name, manifestUID(at, c.Key())
		c.UID = c.Object.UID
		c.Unknown, c.Refused = unknown, x.Judge()
	}

	if len(o.CronJobs) < maxSpecs {
		c.Spec = specOf(data)
	}
	cronjob.Default(&c.Object.Spec)
	o.see(c.Object.Status.LastScheduleTime)
	o.see(c.Object.Status.LastSuccessfulTime)

	o.CronJobs = put(o.CronJobs, place, c)
	return nil
}

// setTemplate sets the fields about the template of a CronJob's Jobs.
func (c *CronJob) setTemplate(data []byte, from *more) {
	jobs := &from.Spec.JobTemplate.Spec
	c.Template = jobs.Template.Spec.read()
	c.JobsSuspended, c.JobsEnd = jobs.Suspend != nil && *jobs.Suspend, jobs.Deadline != nil
	c.Jobs = nil
	if jobs, err := manifest.JobSpecOf(data); err == nil {
		c.Jobs = jobs
	}
}

// With returns a copy of the Job with another spec. Defaults are set in Object.Spec.
func (j *Job) With(spec json.RawMessage) (*Job, error) {
	data, from, err := withSpec("Job", spec)
	if err != nil {
		return nil, err
	}
	decoded, err := job.DecodeJob(data)
	next := *j
	next.Object.Spec, next.Spec, next.Template = decoded.Spec, spec, from.Spec.Template.Spec.read()
	job.Default(&next.Object.Spec)
	return &next, err
}

// With returns a copy of the CronJob with another spec. Defaults are set in Object.Spec.
func (c *CronJob) With(spec json.RawMessage) (*CronJob, error) {
	data, from, err := withSpec("CronJob", spec)
	if err != nil {
		return nil, err
	}
	decoded, err := cronjob.DecodeCronJob(data)
	next := *c
	next.Object.Spec, next.Spec = decoded.Spec, spec
	next.setTemplate(data, &from)
	cronjob.Default(&next.Object.Spec)
	return &next, err
}

// withSpec returns an object that has only a kind and a spec.
func withSpec(kind string, spec json.RawMessage) (data []byte, from more, err error) {
	data = []byte(`{"kind":"` + kind + `","spec":` + string(spec) + "}")
	err = json.Unmarshal(data, &from)
	return data, from, err
}

// maxSpecs is the number of Jobs, and of CronJobs, whose specs are kept as they are written.
const maxSpecs = 10_000

// specOf returns the spec of an object that has been decoded already.
func specOf(data []byte) json.RawMessage {
	var object struct {
		Spec json.RawMessage `json:"spec"`
	}
	_ = json.Unmarshal(data, &object)
	return object.Spec
}

// manifestUID returns a UID for a manifest. No API server has given it one yet.
func manifestUID(at manifest.Position, key string) job.UID {
	return job.UID(fmt.Sprintf("manifest %s %s", key, at))
}
