package scenario

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"reflect"
	"time"

	"go.yaml.in/yaml/v3"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/x/sim"
)

// loaded is what the files of a scenario contain.
type loaded struct {
	cronJobs []sim.CronJob
	// streams has functions that return the jobs for a seed.
	streams []func(seed uint64) iter.Seq2[sim.Job, error]
	stages  []stage
	// jobs and cronSpec are the changes that the scenario makes to specs, as JSON.
	jobs, cronSpec json.RawMessage
}

// load reads the files that the scenario names.
func (s *Scenario) load() (err error) {
	if err := s.check(); err != nil {
		return err
	}
	if s.loaded.jobs, err = specJSON[job.Spec](s.file, "jobs", &s.Jobs,
		reflect.TypeFor[batchv1.JobSpec]()); err != nil {
		return err
	}
	if s.loaded.cronSpec, err = specJSON[cronjob.Spec](s.file, "cronJobs", &s.CronJobs,
		reflect.TypeFor[batchv1.CronJobSpec]()); err != nil {
		return err
	}

	for _, file := range s.Stages {
		stages, err := readStages(s.path(file))
		if err != nil {
			return err
		}
		s.loaded.stages = append(s.loaded.stages, stages...)
	}

	for i := range s.Load {
		if err := s.loadSource(i, &s.Load[i]); err != nil {
			return err
		}
	}
	return nil
}

// specJSON returns the fields of a spec as JSON, or nil if there are none. It refuses fields that
// the API does not have, and values that a field cannot have.
func specJSON[Spec any](file, path string, n *yaml.Node, api reflect.Type) (json.RawMessage, error) {
	if n.Kind == 0 {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:%d: %s: is not a map of fields of the spec", file, n.Line, path)
	}
	if err := checkKnown(file, path+".", n, reflect.StructField{Type: api}, "json"); err != nil {
		return nil, err
	}

	plain(n)
	var value any
	if err := n.Decode(&value); err != nil {
		return nil, located(file, "", err)
	}

	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, n.Line, err)
	}

	var spec Spec
	if err := json.Unmarshal(data, &spec); err != nil {
		return nil, fmt.Errorf("%s:%d: %s: %w", file, n.Line, path, err)
	}
	return data, nil
}

func (s *Scenario) loadSource(i int, src *Source) error {
	named := 0
	for _, file := range []string{src.Manifest, src.SWF, src.CSV} {
		if file == "" {
			continue
		}
		named++
		if _, err := os.Stat(s.path(file)); err != nil {
			return fmt.Errorf("%s: load.%d: %w", s.file, i, err)
		}
	}

	// Refuse fields that cannot be combined.
	a, trace := &src.Arrivals, src.Manifest == ""
	arrives := 0
	for _, given := range []bool{a.Every > 0, a.Mean > 0, !a.Between.IsZero()} {
		if given {
			arrives++
		}
	}
	swings := a.Swing > 0 || a.Peak > 0
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%s: load.%d%s", s.file, i, fmt.Sprintf(format, args...))
	}
	switch {
	case named != 1:
		return refuse(": names %s; expected one of manifest, swf and csv", value.Count(named, "file"))
	case trace && src.Count.n != nil:
		return refuse(".count: %d: is for manifests: a trace has its jobs", *src.Count.n)
	case trace && *a != (Arrivals{}):
		return refuse(".arrivals: are for manifests: a trace has its times")
	case !trace && src.Limit > 0:
		return refuse(".limit: %d: is for traces", src.Limit)
	case !trace && src.MaxPods > 0:
		return refuse(".maxPods: %d: is for traces", src.MaxPods)
	case arrives > 1:
		return refuse(".arrivals: expected one of every, between and mean")
	case swings && a.Mean == 0:
		return refuse(".arrivals: swing and peak need mean")
	case !trace:
		return s.loadManifest(i, src)
	}
	s.loaded.streams = append(s.loaded.streams, func(uint64) iter.Seq2[sim.Job, error] { return s.trace(src) })
	return nil
}

// finish applies the settings that a scenario has for all jobs to one job.
func (s *Scenario) finish(j *sim.Job, name string) error {
	if s.loaded.jobs != nil {
		if err := json.Unmarshal(s.loaded.jobs, &j.Spec); err != nil {
			return fmt.Errorf("%s: jobs: %w", s.file, err)
		}
	}

	for _, size := range []struct {
		name string
		n    *int32
		most int32
	}{{"parallelism", j.Spec.Parallelism, maxCount}, {"completions", j.Spec.Completions, maxTracePods}} {
		if size.n != nil && *size.n > size.most {
			return fmt.Errorf("%s: %s: spec.%s: %d: must not be above %d", cmpOr(j.Source, s.file), name, size.name,
				*size.n, size.most)
		}
	}

	for _, st := range s.loaded.stages {
		st.shape(&j.Pod)
	}
	for i := range s.Pods {
		s.Pods[i].shape(&j.Pod, name)
	}

	if err := checkQuorum(j.Pod.Quorum, j.Spec); err != nil {
		return fmt.Errorf("%s: %s: %w", cmpOr(j.Source, s.file), name, err)
	}

	j.Options = s.Options.jobOptions()
	if why := s.unsimulated(j.Spec.Scheduling); why != "" {
		return fmt.Errorf("%s: %s: spec.scheduling.%s", cmpOr(j.Source, s.file), name, why)
	}
	return nil
}

// checkQuorum refuses a quorum that the pods of a job never reach. The spec is final, since no
// scenario edits a job later.
func checkQuorum(quorum int32, spec job.Spec) error {
	job.Default(&spec)
	most, field := *spec.Parallelism, "parallelism"
	if c := spec.Completions; c != nil && *c < most {
		most, field = *c, "completions"
	}
	if quorum > most {
		return fmt.Errorf("quorum: %d: must not be above spec.%s, %d: no more pods run together", quorum, field, most)
	}
	return nil
}

// unsimulated describes a part of spec.scheduling that the simulation does not support. It returns
// "" if there is no such part.
func (s *Scenario) unsimulated(scheduling *jobgroup.Scheduling) string {
	gangs := s.Options.Gangs
	switch {
	case scheduling == nil, gangs != nil && !*gangs:
		return ""
	case len(scheduling.SchedulingConstraints) > 0:
		return "schedulingConstraints: are not simulated"
	case len(scheduling.ResourceClaims) > 0:
		return "resourceClaims: are not simulated"
	case scheduling.DisruptionMode != nil && scheduling.DisruptionMode.All != nil:
		return "disruptionMode.all: is not simulated"
	case gangs == nil && asksForGang(scheduling):
		return "schedulingPolicy.gang: needs options.gangs, true or false, in a scenario or with --set"
	}
	return ""
}

func asksForGang(s *jobgroup.Scheduling) bool {
	return s != nil && s.SchedulingPolicy != nil && s.SchedulingPolicy.Gang != nil
}

// loadManifest reads jobs and CronJobs. It makes as many copies as the source requests.
func (s *Scenario) loadManifest(place int, src *Source) error {
	objects, err := ReadManifest(s.path(src.Manifest))
	if err != nil {
		return err
	}

	count := src.Count.or1()
	if total := len(s.loaded.cronJobs) + count*len(objects.CronJobs); total > maxCount {
		return fmt.Errorf("%s: load.%d.count: %d: makes %d CronJobs in all; expected at most %d", s.file, place,
			count, total, maxCount)
	}

	for i := range objects.Jobs {
		j := objects.Jobs[i]
		if err := s.finish(&j, j.Name); err != nil {
			return err
		}

		spec := j.Spec
		if job.Default(&spec); true {
			if err := job.Validate(spec); err != nil {
				return fmt.Errorf("%s: %s: %w", j.Source, j.Name, err)
			}
		}

		s.loaded.streams = append(s.loaded.streams, func(seed uint64) iter.Seq2[sim.Job, error] {
			if count == 1 && src.Arrivals == (Arrivals{}) {
				return sim.Of(j)
			}
			like := j
			like.Submit = time.Duration(src.Arrivals.From)
			return sim.Jobs(count, seed+uint64(place)<<32, src.Arrivals.times(), like)
		})
	}

	for _, c := range objects.CronJobs {
		if s.loaded.cronSpec != nil {
			if err := json.Unmarshal(s.loaded.cronSpec, &c.Spec); err != nil {
				return fmt.Errorf("%s: cronJobs: %w", s.file, err)
			}
		}
		if err := s.finish(&c.Job, c.Name); err != nil {
			return err
		}
		if c.Job.Options.Gangs && asksForGang(c.Job.Spec.Scheduling) {
			return fmt.Errorf("%s: %s: jobTemplate.spec.scheduling.schedulingPolicy.gang: the jobs of a CronJob are "+
				"in no gang (J44)", c.Source, c.Name)
		}

		c.Options = s.Options.cronOptions()
		if s.Options.Kubernetes {
			c.Schedule = append(c.Schedule, kubernetesSchedule)
		}
		c.Create = time.Duration(src.Arrivals.From)

		spec := c.Spec
		cronjob.Default(&spec)
		if err := cronjob.Validate(spec); err != nil {
			return fmt.Errorf("%s: %s: %w", c.Source, c.Name, err)
		}

		for n := range count {
			one := c
			if count > 1 {
				one.Name = fmt.Sprintf("%s-%d", c.Name, n)
			}
			s.loaded.cronJobs = append(s.loaded.cronJobs, one)
		}
	}
	return nil
}

// times returns the arrivals. By default, all jobs arrive together.
func (a Arrivals) times() sim.Arrivals {
	switch {
	case a.Mean > 0:
		return sim.Diurnal(time.Duration(a.Mean), a.Swing, time.Duration(a.Peak))
	case !a.Between.IsZero():
		return sim.Between(a.Between.Dist)
	case a.Every > 0:
		return sim.Every(time.Duration(a.Every))
	}
	return func(before time.Duration, _ *rand.Rand) time.Duration { return before }
}
