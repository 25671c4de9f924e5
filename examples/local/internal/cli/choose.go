package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/examples/local/internal/manifest"
	"github.com/batchplan/batchplan/examples/local/internal/store"
)

// mutable are the fields of a job's spec that may change while it runs.
var mutable = []string{"parallelism", "suspend", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"}

// compare refuses manifests that are not those of the jobs which the state
// folder knows under their names.
func compare(known []store.Job, jobs []*manifest.Job) error {
	var problems []error
	for _, j := range jobs {
		old := find(known, j)
		if old == nil {
			continue
		}
		fields, err := changes(old.Manifest, j.Raw)
		if err != nil {
			return err
		}
		if len(fields) > 0 {
			problems = append(problems, fmt.Errorf("%s: %s: not what the job %s of the state folder was made from, and cannot be changed; rm %s first, or use another name",
				j.Source, strings.Join(fields, ", "), old.Key(), old.Key()))
		}
	}
	return errors.Join(problems...)
}

func find(known []store.Job, j *manifest.Job) *store.Job {
	i := slices.IndexFunc(known, func(k store.Job) bool {
		return k.Namespace == j.Object.Namespace && k.Name == j.Object.Name
	})
	if i < 0 {
		return nil
	}
	return &known[i]
}

// changes names the fields that differ and must not.
func changes(before, after []byte) ([]string, error) {
	var a, b struct {
		Spec map[string]any `json:"spec"`
	}
	if err := errors.Join(json.Unmarshal(before, &a), json.Unmarshal(after, &b)); err != nil {
		return nil, err
	}
	var fields []string
	for name := range merge(a.Spec, b.Spec) {
		if !slices.Contains(mutable, name) && !reflect.DeepEqual(a.Spec[name], b.Spec[name]) {
			fields = append(fields, "spec."+name)
		}
	}
	slices.Sort(fields)
	return fields, nil
}

func merge(maps ...map[string]any) map[string]bool {
	keys := map[string]bool{}
	for _, m := range maps {
		for key := range m {
			keys[key] = true
		}
	}
	return keys
}

// choose stores the jobs that are new and returns those to run, with the number
// of other unfinished ones. Without manifests, all unfinished jobs are chosen.
func choose(s *store.Store, known []store.Job, jobs []*manifest.Job) (chosen []store.Job, others int, err error) {
	if len(jobs) == 0 {
		return slices.DeleteFunc(known, func(j store.Job) bool { return finished(&j) }), 0, nil
	}
	for _, j := range jobs {
		old := find(known, j)
		if old == nil {
			added, err := s.AddJob(j.Object.Namespace, j.Object.Name, j.Raw, time.Now())
			if err != nil {
				return nil, 0, err
			}
			chosen = append(chosen, added)
			continue
		}
		if err := s.SetManifest(old.UID, j.Raw); err != nil {
			return nil, 0, err
		}
		old.Manifest = j.Raw
		chosen = append(chosen, *old)
	}
	for i := range known {
		if !finished(&known[i]) && !slices.ContainsFunc(chosen, func(j store.Job) bool { return j.UID == known[i].UID }) {
			others++
		}
	}
	return chosen, others, nil
}
