package replica

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

// Planners are the options of the planners, as a file holds them.
type Planners struct {
	// Preset names the options to begin with: empty means the recommended ones. PresetKubernetes
	// and a release mean the behaviour of that release's built-in controllers, including quirks.
	Preset  string          `json:"preset,omitempty"`
	Job     job.Options     `json:"job,omitzero"`
	CronJob cronjob.Options `json:"cronJob,omitzero"`
}

// PresetKubernetes, followed by a release that [release.Parse] reads, names the options with which
// the planners decide like the controllers of that release: "kubernetes-1.37", or
// "kubernetes-1.33,JobManagedBy=false".
const PresetKubernetes = "kubernetes-"

// ParsePlanners reads [Planners] from YAML or JSON. A duration is a string such as "90s". Unknown
// fields are errors. The argument preset is used if the file has no preset.
func ParsePlanners(data []byte, preset string) (Planners, error) {
	p := Planners{Preset: preset}
	data, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return p, err
	}

	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		return p, err // unreachable
	}
	if err := presetOf(tree, &p); err != nil {
		return p, err
	}

	tree, err = plain(reflect.TypeFor[Planners](), "", tree)
	if err != nil {
		return p, err
	}

	if data, err = json.Marshal(tree); err != nil {
		return p, err // unreachable
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return p, err
	}
	return p, p.validate()
}

// presetOf fills in the options of the preset.
func presetOf(tree any, p *Planners) error {
	file, ok := tree.(map[string]any)
	if !ok && tree != nil {
		return fmt.Errorf("%v: want fields such as \"job:\"", tree)
	}
	var preset any = p.Preset
	if named, found := file["preset"]; found {
		preset = named
	}
	if preset == "" {
		return nil
	}

	r, err := releaseOf(preset)
	if err == nil {
		p.Job, p.CronJob = job.Kubernetes(r), cronjob.Kubernetes(r)
	}
	return err
}

// releaseOf returns the release that a preset names.
func releaseOf(preset any) (release.Release, error) {
	name, _ := preset.(string)
	text, found := strings.CutPrefix(name, PresetKubernetes)
	if !found {
		return release.Release{}, fmt.Errorf("preset: %v is not %q and a release", preset, PresetKubernetes)
	}
	r, err := release.Parse(text)
	if err != nil {
		return r, fmt.Errorf("preset: %w", err)
	}
	return r, nil
}

// schedules returns how the planner reads schedules: as the release of the preset does, if there is one.
func (p *Planners) schedules() ([]schedule.Option, error) {
	if p.Preset == "" {
		return nil, nil
	}
	r, err := releaseOf(p.Preset)
	if err != nil {
		return nil, err
	}
	return []schedule.Option{schedule.Kubernetes(r)}, nil
}

var durationType = reflect.TypeFor[time.Duration]()

// plain replaces the durations in a tree by their nanoseconds, as the JSON of the options has them.
// t is the type that the tree will be decoded into.
func plain(t reflect.Type, path string, tree any) (any, error) {
	if t == durationType {
		text, ok := tree.(string)
		if !ok {
			return nil, fmt.Errorf("%s: %v is not a duration such as \"90s\"", path, tree)
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return int64(d), nil
	}

	fields, ok := tree.(map[string]any)
	if !ok || t.Kind() != reflect.Struct {
		return tree, nil
	}
	for name, value := range fields {
		field, err := fieldOf(t, path, name)
		if err != nil {
			return nil, err
		}
		if fields[name], err = plain(field.Type, strings.TrimPrefix(path+"."+name, "."), value); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

// fieldOf returns the field of that name in JSON.
func fieldOf(t reflect.Type, path, name string) (reflect.StructField, error) {
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		known, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if known == name {
			return f, nil
		}
		names = append(names, known)
	}
	slices.Sort(names)
	return reflect.StructField{}, fmt.Errorf("%s: unknown; the fields are %s",
		strings.TrimPrefix(path+"."+name, "."), strings.Join(names, ", "))
}

// validate returns the errors that the planners would return in each round.
func (p *Planners) validate() error {
	var problems []error
	if p.Job.ControllerName != "" {
		problems = append(problems, fmt.Errorf("job.controllerName: %q: it follows from the flag -managed-by",
			p.Job.ControllerName))
	}

	probe := job.Job{Name: "probe", UID: "probe"}
	job.Default(&probe.Spec)
	if _, err := job.Reconcile(job.Snapshot{Job: probe, Now: time.Unix(1, 0), Options: p.Job}); err != nil {
		problems = append(problems, fmt.Errorf("job: %w", err))
	}

	scheduled := cronjob.CronJob{
		Name:              "probe",
		UID:               "probe",
		CreationTimestamp: time.Unix(1, 0),
		Spec:              cronjob.Spec{Schedule: "0 0 * * *"},
	}
	cronjob.Default(&scheduled.Spec)
	snapshot := cronjob.Snapshot{
		CronJob:  scheduled,
		Now:      time.Unix(1, 0),
		Schedule: cronjob.Compile(&scheduled),
		Options:  p.CronJob,
	}
	if _, err := cronjob.Reconcile(snapshot); err != nil {
		problems = append(problems, fmt.Errorf("cronJob: %w", err))
	}
	return errors.Join(problems...)
}
