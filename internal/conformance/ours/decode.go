package ours

import (
	"encoding/json"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// decodeJob reads a job through its JSON, which the typed client leaves its type out of.
func decodeJob(o *batchv1.Job) job.Job {
	data, err := json.Marshal(o)
	must(err)
	j, err := job.DecodeJob(data)
	must(err)
	return j
}

// decodedKey is a job and a pod, by UID.
type decodedKey struct{ job, pod string }

type decodedPod struct {
	version string
	pod     job.Pod
}

// decodePod reads a pod once a version, for each job that it could be of: what it
// is to a job is part of the result.
func (c *jobs) decodePod(of *job.Job, o *corev1.Pod) job.Pod {
	key := decodedKey{of.UID, string(o.UID)}
	if d := c.decoded[key]; d.version == o.ResourceVersion {
		return d.pod
	}
	data, err := json.Marshal(o)
	must(err)
	p, err := job.DecodePod(of, data)
	must(err)
	// JSON cuts off the fraction of a second by which the server tells pods apart.
	p.Detail.CreationTimestamp = o.CreationTimestamp.Time
	c.decoded[key] = decodedPod{o.ResourceVersion, p}
	return p
}

func encodeStatus(s job.Status) (out batchv1.JobStatus) {
	data, err := json.Marshal(s)
	must(err)
	must(json.Unmarshal(data, &out))
	return out
}

func decodeCronJob(o *batchv1.CronJob) cronjob.CronJob {
	data, err := json.Marshal(o)
	must(err)
	c, err := cronjob.DecodeCronJob(data)
	must(err)
	return c
}

func decodeChild(of *cronjob.CronJob, o *batchv1.Job) cronjob.Child {
	data, err := json.Marshal(o)
	must(err)
	c, err := cronjob.DecodeChild(of, data)
	must(err)
	return c
}

func encodeCronJobStatus(s cronjob.Status) (out batchv1.CronJobStatus) {
	data, err := json.Marshal(s)
	must(err)
	must(json.Unmarshal(data, &out))
	return out
}
