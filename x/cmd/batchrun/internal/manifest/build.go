package manifest

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
)

// Load decodes an object that Read has accepted.
func Load(raw []byte) (*Job, error) {
	j := &Job{Raw: raw}
	if err := json.Unmarshal(raw, &j.Object); err != nil {
		return nil, err
	}
	if j.Object.Namespace == "" {
		j.Object.Namespace = "default"
	}
	var in struct{ Spec *job.Spec }
	in.Spec = &j.Spec
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	job.Default(&j.Spec)
	return j, nil
}

// Settings holds the settings of the runner for the pods of all jobs.
type Settings struct {
	RestartDelay    time.Duration
	RestartDelayMax time.Duration
	Isolation       pod.Isolation
	MaxLog          int64
}

// defaultGraceSeconds is the default grace period of a pod.
const defaultGraceSeconds = 30

// GraceSeconds returns the grace period of the job's pods.
func GraceSeconds(j *batchv1.Job) int64 {
	if s := j.Spec.Template.Spec.TerminationGracePeriodSeconds; s != nil {
		return min(max(*s, 0), 1<<30)
	}
	return defaultGraceSeconds
}

// Pod builds a pod with this name and UID from the job's template and from what the plan adds
// (J33).
func (j *Job) Pod(c *job.Creation, jobUID job.UID, name string, uid job.UID, settings Settings) pod.Spec {
	template := &j.Object.Spec.Template
	b := builder{
		job:         j,
		creation:    c,
		name:        name,
		uid:         uid,
		hostname:    name,
		labels:      maps.Clone(template.Labels),
		annotations: maps.Clone(template.Annotations),
	}

	if template.Spec.Hostname != "" {
		b.hostname = template.Spec.Hostname
	}
	if c.Hostname != "" {
		b.hostname = c.Hostname
	}

	b.labels = merged(b.labels, map[string]string{
		batchv1.JobNameLabel: j.Object.Name, batchv1.ControllerUidLabel: string(jobUID),
		"job-name": j.Object.Name, "controller-uid": string(jobUID),
	}, c.Labels())
	b.annotations = merged(b.annotations, c.Annotations())

	spec := pod.Spec{
		UID: uid, Name: name, Namespace: j.Object.Namespace, Job: j.Object.Name,
		RestartPolicy:   job.RestartPolicy(template.Spec.RestartPolicy),
		GracePeriod:     time.Duration(GraceSeconds(&j.Object)) * time.Second,
		RestartDelay:    settings.RestartDelay,
		RestartDelayMax: settings.RestartDelayMax,
		Isolation:       settings.Isolation,
		MaxLog:          settings.MaxLog,
	}

	for i := range template.Spec.InitContainers {
		kind := jobpod.Init
		if template.Spec.InitContainers[i].RestartPolicy != nil {
			kind = jobpod.RestartableInit
		}
		spec.Containers = append(spec.Containers, b.container(&template.Spec.InitContainers[i], kind))
	}
	for i := range template.Spec.Containers {
		spec.Containers = append(spec.Containers, b.container(&template.Spec.Containers[i], jobpod.App))
	}
	return spec
}

func merged(into map[string]string, others ...map[string]string) map[string]string {
	if into == nil {
		into = map[string]string{}
	}
	for _, m := range others {
		maps.Copy(into, m)
	}
	return into
}

// builder builds the containers of one pod.
type builder struct {
	job                 *Job
	creation            *job.Creation
	name, hostname      string
	uid                 job.UID
	labels, annotations map[string]string
}

func (b *builder) container(c *corev1.Container, kind jobpod.Kind) pod.ContainerSpec {
	vars, env := b.environment(c)
	out := pod.ContainerSpec{Name: c.Name, Kind: kind, Env: env, Dir: expand(c.WorkingDir, vars)}
	for _, word := range c.Command {
		out.Argv = append(out.Argv, expand(word, vars))
	}
	for _, word := range c.Args {
		out.Argv = append(out.Argv, expand(word, vars))
	}
	for _, m := range c.VolumeMounts {
		out.Mounts = append(out.Mounts,
			pod.Mount{Volume: m.Name, SubPath: m.SubPath, Path: m.MountPath, ReadOnly: m.ReadOnly})
	}
	giveUp(c, &out)
	return out
}

// inherited are the variables of the runner that every process on this machine needs. Containers
// inherit no other variables.
var inherited = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR"}

// environment returns the variables that $(NAME) can refer to, and the whole environment of the
// process.
func (b *builder) environment(c *corev1.Container) (vars map[string]string, env []string) {
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	env = append(env, "HOSTNAME="+b.hostname)
	vars = map[string]string{}
	add := func(name, value string) {
		vars[name] = value
		env = append(env, name+"="+value)
	}
	for i := range c.Env {
		add(c.Env[i].Name, b.value(&c.Env[i], vars))
	}
	if _, ok := vars[job.IndexVariable]; !ok && b.creation.Index.Int32() >= 0 {
		add(job.IndexVariable, b.labels[job.IndexLabel])
	}
	return vars, lastOf(env)
}

// lastOf keeps the last value of each variable, as Kubernetes does.
func lastOf(env []string) []string {
	at := map[string]int{}
	var out []string
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if i, ok := at[name]; ok {
			out[i] = e
			continue
		}
		at[name] = len(out)
		out = append(out, e)
	}
	return out
}

func (b *builder) value(e *corev1.EnvVar, vars map[string]string) string {
	if e.ValueFrom == nil {
		return expand(e.Value, vars)
	}
	switch path := e.ValueFrom.FieldRef.FieldPath; {
	case path == "metadata.name":
		return b.name
	case path == "metadata.namespace":
		return b.job.Object.Namespace
	case path == "metadata.uid":
		return string(b.uid)
	case path == "spec.nodeName":
		name, _ := os.Hostname()
		return name
	case strings.HasPrefix(path, "metadata.labels["):
		return b.labels[metadataKey(path)]
	default:
		return b.annotations[metadataKey(path)]
	}
}

// expand replaces $(NAME) by the value of the variable. $$ means a dollar sign. If the variable is
// unknown, $(NAME) stays as it is.
func expand(text string, vars map[string]string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, after, closed := strings.Cut(strings.TrimPrefix(rest, "("), ")")
		value, known := vars[name]
		switch {
		case strings.HasPrefix(rest, "$"):
			out.WriteString("$")
			text = rest[1:]
		case strings.HasPrefix(rest, "(") && closed && known:
			out.WriteString(value)
			text = after
		default:
			out.WriteString("$")
			text = rest
		}
	}
}
