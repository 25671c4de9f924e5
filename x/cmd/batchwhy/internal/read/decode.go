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
		j.Unknown, j.Refused, j.Spec = unknown, x.Judge(), specOf(data)
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

	c := &CronJob{
		Meta:       *m,
		Object:     decoded,
		At:         at,
		IsManifest: m.UID == "",
		Template:   head.Spec.JobTemplate.Spec.Template.Spec.read(),
	}

	jobs := &head.Spec.JobTemplate.Spec
	c.JobsSuspended, c.JobsEnd = jobs.Suspend != nil && *jobs.Suspend, jobs.Deadline != nil
	if jobs, err := manifest.JobSpecOf(data); err == nil {
		c.Jobs = jobs
	}

	if c.IsManifest {
		c.Object.Name, c.Object.UID = m.Name, manifestUID(at, c.Key())
		c.UID = c.Object.UID
		c.Unknown, c.Refused, c.Spec = unknown, x.Judge(), specOf(data)
	}

	cronjob.Default(&c.Object.Spec)
	o.see(c.Object.Status.LastScheduleTime)
	o.see(c.Object.Status.LastSuccessfulTime)

	o.CronJobs = put(o.CronJobs, place, c)
	return nil
}

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
