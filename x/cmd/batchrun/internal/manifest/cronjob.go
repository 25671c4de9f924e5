package manifest

import (
	"encoding/json"
	"errors"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// CronJob is a CronJob object whose jobs can run here.
type CronJob struct {
	Object batchv1.CronJob
	// Raw is the object as JSON.
	Raw json.RawMessage
	// Spec is the object's spec for the planner, with its defaults.
	Spec cronjob.Spec
	// Template is the job template as a job without a name.
	Template *Job
	// Ignored lists the fields that are set but have no effect here.
	Ignored []string
	// Source is the file and line of the object.
	Source string

	jobSpec json.RawMessage
}

// Key returns the name of the CronJob as users write it.
func (c *CronJob) Key() string { return c.Object.Namespace + "/" + c.Object.Name }

// jobTemplatePath is the path of the job template in a CronJob.
const jobTemplatePath = "spec.jobTemplate."

func (d *document) cronJob(object map[string]any, raw []byte) *CronJob {
	c := &CronJob{Raw: raw, Source: d.source()}
	if err := json.Unmarshal(raw, &c.Object); err != nil {
		d.reject("", "%v", err)
		return nil
	}
	if err := c.complete(); err != nil {
		d.reject("spec", "%v", err)
		return nil
	}
	spec, _ := object["spec"].(map[string]any)
	template, _ := spec["jobTemplate"].(map[string]any)
	d.base = jobTemplatePath
	d.checkJob(template, c.Template, templateHonoured)
	d.base = ""
	return c
}

// LoadCronJob decodes an object that Read has accepted.
func LoadCronJob(raw []byte) (*CronJob, error) {
	c := &CronJob{Raw: raw}
	if err := json.Unmarshal(raw, &c.Object); err != nil {
		return nil, err
	}
	return c, c.complete()
}

// complete sets the remaining fields from Raw and Object.
func (c *CronJob) complete() error {
	if c.Object.Namespace == "" {
		c.Object.Namespace = "default"
	}

	var planner struct {
		Spec *cronjob.Spec `json:"spec"`
	}
	var runner struct {
		Spec struct {
			JobTemplate struct {
				Spec json.RawMessage `json:"spec"`
			} `json:"jobTemplate"`
		} `json:"spec"`
	}

	planner.Spec = &c.Spec
	if err := errors.Join(json.Unmarshal(c.Raw, &planner), json.Unmarshal(c.Raw, &runner)); err != nil {
		return err
	}

	c.jobSpec = runner.Spec.JobTemplate.Spec
	cronjob.Default(&c.Spec)
	c.Template = &Job{Source: c.Source, base: jobTemplatePath}
	c.Template.Object.Namespace = c.Object.Namespace
	c.Template.Object.Spec = c.Object.Spec.JobTemplate.Spec
	return nil
}

// Job builds the Job object of a run from the template and the plan, with the
// CronJob as its controller (C13).
func (c *CronJob) Job(creation *cronjob.Creation, uid job.UID) (json.RawMessage, error) {
	metadata := map[string]any{
		"name":        creation.Name,
		"namespace":   c.Object.Namespace,
		"annotations": creation.Annotations,
		"ownerReferences": []map[string]any{{
			"apiVersion": "batch/v1", "kind": "CronJob", "name": c.Object.Name, "uid": uid,
			"controller": true, "blockOwnerDeletion": true,
		}},
	}
	if len(creation.Labels) > 0 {
		metadata["labels"] = creation.Labels
	}
	return json.Marshal(
		map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": c.jobSpec})
}
