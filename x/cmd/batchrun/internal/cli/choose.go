package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// mutable are the fields of a job's spec that may change while it runs.
var mutable = []string{"parallelism", "suspend", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"}

// objects holds jobs and CronJobs of the state folder.
type objects struct {
	jobs     []store.Job
	cronJobs []store.CronJob
}

func (o *objects) len() int { return len(o.jobs) + len(o.cronJobs) }

// readKnown reads the objects of the state folder that are not being deleted.
func readKnown(s *store.Store) (known objects, err error) {
	if known.jobs, err = s.Jobs(); err != nil {
		return known, err
	}
	known.jobs = slices.DeleteFunc(known.jobs, func(j store.Job) bool { return !j.Deleted.IsZero() })
	known.cronJobs, err = s.CronJobs()
	known.cronJobs = slices.DeleteFunc(known.cronJobs, func(c store.CronJob) bool { return !c.Deleted.IsZero() })
	return known, err
}

// compare refuses a manifest that differs from the job of the same name in the state folder. A
// CronJob may change: its next runs use the new manifest.
func (k *objects) compare(given manifest.Objects) error {
	var problems []error
	for _, j := range given.Jobs {
		if c := k.findCronJob(j.Object.Namespace, j.Object.Name); c != nil {
			problems = append(problems, fmt.Errorf("%s: metadata.name: %q: a CronJob in the state folder has this "+
				"name", j.Source, j.Object.Name))
		}

		old := k.findJob(j.Object.Namespace, j.Object.Name)
		if old == nil {
			continue
		}

		fields, err := changes(old.Manifest, j.Raw)
		if err != nil {
			return err
		}
		if len(fields) > 0 {
			problems = append(problems, fmt.Errorf("%s: %s: differs from job %s in the state folder and cannot be "+
				"changed; rm %s first, or use another name",
				j.Source, strings.Join(fields, ", "), old.Key(), old.Key()))
		}
	}

	for _, c := range given.CronJobs {
		if k.findJob(c.Object.Namespace, c.Object.Name) != nil {
			problems = append(problems,
				fmt.Errorf("%s: metadata.name: %q: a job in the state folder has this name", c.Source, c.Object.Name))
		}
	}
	return errors.Join(problems...)
}

func (k *objects) findJob(namespace, name string) *store.Job {
	i := slices.IndexFunc(k.jobs, func(j store.Job) bool { return j.Namespace == namespace && j.Name == name })
	if i < 0 {
		return nil
	}
	return &k.jobs[i]
}

func (k *objects) findCronJob(namespace, name string) *store.CronJob {
	i := slices.IndexFunc(k.cronJobs, func(c store.CronJob) bool { return c.Namespace == namespace && c.Name == name })
	if i < 0 {
		return nil
	}
	return &k.cronJobs[i]
}

// changes returns the names of the fields that differ, except those that may change.
func changes(before, after []byte) ([]string, error) {
	var a, b struct {
		Spec map[string]any `json:"spec"`
	}
	if err := errors.Join(json.Unmarshal(before, &a), json.Unmarshal(after, &b)); err != nil {
		return nil, err
	}
	var fields []string
	all := make(map[string]any)
	maps.Copy(all, a.Spec)
	maps.Copy(all, b.Spec)
	for name := range all {
		if !slices.Contains(mutable, name) && !reflect.DeepEqual(a.Spec[name], b.Spec[name]) {
			fields = append(fields, "spec."+name)
		}
	}
	slices.Sort(fields)
	return fields, nil
}

// toRun returns the manifests of the jobs that are going to run, and the templates of the CronJobs.
// They come from the given objects. If none are given, they come from all objects that have not
// ended. Jobs that CronJobs have started are always included.
func (k *objects) toRun(given manifest.Objects) (all []*manifest.Job, err error) {
	all = slices.Clone(given.Jobs)
	for _, c := range given.CronJobs {
		all = append(all, c.Template)
	}

	for i := range k.jobs {
		j := &k.jobs[i]
		if finished(j) || given.Len() > 0 && j.CronJob == "" {
			continue
		}

		m, err := manifest.Load(j.Manifest)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", j.Key(), err)
		}
		m.Source = "job " + j.Key()
		all = append(all, m)
	}

	for i := 0; i < len(k.cronJobs) && given.Len() == 0; i++ {
		c := &k.cronJobs[i]

		m, err := manifest.LoadCronJob(c.Manifest)
		if err != nil {
			return nil, fmt.Errorf("CronJob %s: %w", c.Key(), err)
		}
		m.Template.Source = "CronJob " + c.Key()
		all = append(all, m.Template)
	}
	return all, nil
}

// choose stores new objects. It returns what to run, and the number of other unfinished objects. If
// no manifests are given, it chooses all unfinished jobs and all CronJobs. It leaves out the jobs
// of CronJobs, because the loops of their CronJobs find them.
func (k *objects) choose(
	s *store.Store, given manifest.Objects, now time.Time,
) (chosen objects, others int, err error) {
	all := objects{cronJobs: k.cronJobs}
	all.jobs = slices.DeleteFunc(slices.Clone(k.jobs),
		func(j store.Job) bool { return finished(&j) || j.CronJob != "" })

	if given.Len() == 0 {
		return all, 0, nil
	}

	others = all.len()
	for _, j := range given.Jobs {
		old := k.findJob(j.Object.Namespace, j.Object.Name)
		if old == nil {
			added, err := s.AddJob(
				store.Job{Namespace: j.Object.Namespace, Name: j.Object.Name, Created: now, Manifest: j.Raw})
			if err != nil {
				return chosen, 0, err
			}
			chosen.jobs = append(chosen.jobs, added)
			continue
		}

		if err := s.SetManifest(old.UID, j.Raw); err != nil {
			return chosen, 0, err
		}
		if !finished(old) {
			others--
		}
		old.Manifest = j.Raw
		chosen.jobs = append(chosen.jobs, *old)
	}

	for _, c := range given.CronJobs {
		old := k.findCronJob(c.Object.Namespace, c.Object.Name)
		if old == nil {
			added, err := s.AddCronJob(c.Object.Namespace, c.Object.Name, c.Raw, now)
			if err != nil {
				return chosen, 0, err
			}
			chosen.cronJobs = append(chosen.cronJobs, added)
			continue
		}

		if err := s.SetCronJobManifest(old.UID, c.Raw); err != nil {
			return chosen, 0, err
		}
		others--
		old.Manifest = c.Raw
		chosen.cronJobs = append(chosen.cronJobs, *old)
	}
	return chosen, others, nil
}
