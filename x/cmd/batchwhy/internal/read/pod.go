package read

import (
	"bytes"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
)

// Pod is a Pod object.
type Pod struct {
	Meta
	Object job.Pod
	At     manifest.Position
	// StartTime is the time at which a kubelet accepted the pod.
	StartTime time.Time
	Node      string
	// Reason and Message come from the status, as in "Evicted".
	Reason, Message string
	// Conditions are the status's conditions.
	Conditions []Condition
	// Containers are the containers in the status, init containers first.
	Containers []Container
	Spec       PodSpec
}

// Condition is a condition of an object's status.
type Condition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	At      time.Time `json:"lastTransitionTime"`
	// Heartbeat is the time at which a kubelet last confirmed a node's condition.
	Heartbeat time.Time `json:"lastHeartbeatTime"`
}

// Condition returns the condition of a type, or the zero Condition.
func (p *Pod) Condition(kind string) Condition {
	for _, c := range p.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return Condition{}
}

// Container is the state of a container of a pod.
type Container struct {
	Name string
	// Init is true for an init container. Sidecar is true for an init container that keeps running
	// beside the other containers.
	Init, Sidecar bool
	// Started is false for a running container whose startup probe has not succeeded.
	Started bool
	// A container that waits or has ended may have a Reason and a Message. ExitCode is set if it
	// has ended.
	Waiting, Running, Ended bool
	// Reason is set for Waiting and Ended, and Message also for Running if a log was read. ExitCode is set
	// for Ended.
	Reason, Message string
	ExitCode        int32
	// Since is when the container started if it is Running, and when it ended if it is Ended.
	Since    time.Time
	Restarts int32
	// ImageID names the image that the node has used, with its digest.
	ImageID string
	// Last is how the container ended before its last restart, or nil.
	Last *End
}

// End is the end of a container.
type End struct {
	ExitCode   int32     `json:"exitCode"`
	Reason     string    `json:"reason"`
	Message    string    `json:"message"`
	StartedAt  time.Time `json:"startedAt"`
	FinishedAt time.Time `json:"finishedAt"`
}

// PodSpec has the fields of a pod's spec, or of a template's, that explanations need.
type PodSpec struct {
	Scheduler, ServiceAccount string
	NodeSelector              map[string]string
	// NodeAffinity is true if an affinity requires certain nodes.
	NodeAffinity bool
	// Gates are the names of the scheduling gates. Claims are the names of the volume claims.
	Gates, Claims []string
	// Modes has the file modes of the volumes that are made from ConfigMaps and Secrets, by the names
	// of the volumes.
	Modes map[string]int32
	// Group is the name of the pod group that the pod is scheduled with, or "".
	Group string
	// Priority is the priority that an API server has set.
	Priority int64
	// Deadline is activeDeadlineSeconds, or nil.
	Deadline *int64
	// Grace is terminationGracePeriodSeconds, or nil.
	Grace      *int64
	Containers []ContainerSpec
}

// ContainerSpec is a container of a spec. Its sizes have the form in which the spec writes them.
type ContainerSpec struct {
	Name, Image             string
	Init, Sidecar, Liveness bool
	CPU, Memory             string // requests
	MemoryLimit             string
	Command, Args           []string
	// Env has the names of the environment variables. It is nil if others come from elsewhere.
	Env    []string
	Mounts []Mount
	// Zone is the value of the environment variable TZ.
	Zone string
}

// Mount is where a container sees a volume.
type Mount struct {
	Volume string `json:"name"`
	Path   string `json:"mountPath"`
}

// Container returns the spec of a container, or the zero ContainerSpec.
func (s *PodSpec) Container(name string) ContainerSpec {
	for _, c := range s.Containers {
		if c.Name == name {
			return c
		}
	}
	return ContainerSpec{}
}

// Images returns the images of the containers.
func (s *PodSpec) Images() string {
	var all []string
	for _, c := range s.Containers {
		all = append(all, c.Image)
	}
	return strings.Join(all, ", ")
}

// more has the fields of an object that explanations need and the planner does not.
type more struct {
	Spec struct {
		podSpec
		Template    template `json:"template"`
		JobTemplate struct {
			Spec struct {
				Suspend  *bool    `json:"suspend"`
				Deadline *int64   `json:"activeDeadlineSeconds"`
				Template template `json:"template"`
			} `json:"spec"`
		} `json:"jobTemplate"`
	} `json:"spec"`
	Status struct {
		Reason                string          `json:"reason"`
		Message               string          `json:"message"`
		StartTime             time.Time       `json:"startTime"`
		Conditions            []Condition     `json:"conditions"`
		InitContainerStatuses []containerMore `json:"initContainerStatuses"`
		ContainerStatuses     []containerMore `json:"containerStatuses"`
	} `json:"status"`
}

type template struct {
	Spec podSpec `json:"spec"`
}

type podSpec struct {
	NodeName       string            `json:"nodeName"`
	SchedulerName  string            `json:"schedulerName"`
	ServiceAccount string            `json:"serviceAccountName"`
	NodeSelector   map[string]string `json:"nodeSelector"`
	Affinity       affinity          `json:"affinity"`
	Gates          []named           `json:"schedulingGates"`
	Group          schedulingGroup   `json:"schedulingGroup"`
	Priority       int64             `json:"priority"`
	Deadline       *int64            `json:"activeDeadlineSeconds"`
	Grace          *int64            `json:"terminationGracePeriodSeconds"`
	Volumes        []volume          `json:"volumes"`
	InitContainers []containerOfSpec `json:"initContainers"`
	Containers     []containerOfSpec `json:"containers"`
}

type named struct {
	Name string `json:"name"`
}

type affinity struct {
	Node struct {
		Required *struct{} `json:"requiredDuringSchedulingIgnoredDuringExecution"`
	} `json:"nodeAffinity"`
}

type schedulingGroup struct {
	Name string `json:"podGroupName"`
}

type volume struct {
	Name  string `json:"name"`
	Claim struct {
		Name string `json:"claimName"`
	} `json:"persistentVolumeClaim"`
	ConfigMap *files `json:"configMap"`
	Secret    *files `json:"secret"`
}

// files is the source of a volume whose files have modes.
type files struct {
	Mode  *int32     `json:"defaultMode"`
	Items []struct{} `json:"items"`
}

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type containerOfSpec struct {
	Name          string     `json:"name"`
	Image         string     `json:"image"`
	RestartPolicy string     `json:"restartPolicy"`
	Liveness      *struct{}  `json:"livenessProbe"`
	Command       []string   `json:"command"`
	Args          []string   `json:"args"`
	Env           []variable `json:"env"`
	From          []struct{} `json:"envFrom"`
	Mounts        []Mount    `json:"volumeMounts"`
	Resources     struct {
		Requests, Limits struct{ CPU, Memory quantity }
	} `json:"resources"`
}

// quantity is a size in the form in which an object writes it: a string or a number.
type quantity string

func (q *quantity) UnmarshalJSON(data []byte) error {
	*q = quantity(bytes.Trim(data, `"`))
	return nil
}

func (s *podSpec) read() PodSpec {
	out := PodSpec{
		Scheduler:      s.SchedulerName,
		ServiceAccount: s.ServiceAccount,
		NodeSelector:   s.NodeSelector,
		NodeAffinity:   s.Affinity.Node.Required != nil,
		Group:          s.Group.Name,
		Priority:       s.Priority,
		Deadline:       s.Deadline,
		Grace:          s.Grace,
	}

	for _, v := range s.Volumes {
		if v.Claim.Name != "" {
			out.Claims = append(out.Claims, v.Claim.Name)
		}
		for _, files := range []*files{v.ConfigMap, v.Secret} {
			if files == nil || len(files.Items) > 0 { // an item can have a mode of its own
				continue
			}
			if out.Modes == nil {
				out.Modes = make(map[string]int32)
			}
			out.Modes[v.Name] = 0o644
			if files.Mode != nil {
				out.Modes[v.Name] = *files.Mode
			}
		}
	}
	for _, gate := range s.Gates {
		out.Gates = append(out.Gates, gate.Name)
	}

	for i := range s.InitContainers {
		out.Containers = append(out.Containers, s.InitContainers[i].read(true))
	}
	for i := range s.Containers {
		out.Containers = append(out.Containers, s.Containers[i].read(false))
	}
	return out
}

func (c *containerOfSpec) read(init bool) ContainerSpec {
	out := ContainerSpec{
		Command:     c.Command,
		Args:        c.Args,
		Mounts:      c.Mounts,
		Name:        c.Name,
		Image:       c.Image,
		Init:        init,
		Sidecar:     init && c.RestartPolicy == "Always",
		Liveness:    c.Liveness != nil,
		CPU:         string(c.Resources.Requests.CPU),
		Memory:      string(c.Resources.Requests.Memory),
		MemoryLimit: string(c.Resources.Limits.Memory),
	}

	if len(c.From) == 0 {
		out.Env = []string{}
	}
	for _, e := range c.Env {
		if out.Env != nil {
			out.Env = append(out.Env, e.Name)
		}
		if e.Name == "TZ" {
			out.Zone = strings.TrimPrefix(e.Value, ":")
		}
	}
	return out
}

type containerMore struct {
	Name         string        `json:"name"`
	RestartCount int32         `json:"restartCount"`
	ImageID      string        `json:"imageID"`
	Started      *bool         `json:"started"`
	State        containerThen `json:"state"`
	LastState    containerThen `json:"lastState"`
}

type containerThen struct {
	Waiting *struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
	} `json:"waiting"`
	Running *struct {
		StartedAt time.Time `json:"startedAt"`
	} `json:"running"`
	Terminated *End `json:"terminated"`
}

func (o *Objects) addPod(at manifest.Position, data []byte, head *envelope, place int) error {
	m, more := &head.Metadata, &head.more
	// The Job is not known yet. The explainer sets Pod.Owner when it makes a snapshot.
	decoded, err := job.DecodePod(&job.Job{Namespace: m.Namespace}, data)
	if err != nil {
		return err
	}

	p := &Pod{
		Meta: *m, Object: decoded, At: at,
		StartTime: more.Status.StartTime, Node: more.Spec.NodeName,
		Reason: more.Status.Reason, Message: more.Status.Message,
		Conditions: more.Status.Conditions, Spec: more.Spec.read(),
	}
	if m.UID == "" {
		p.Object.UID = manifestUID(at, p.Key())
		p.UID = p.Object.UID
	}

	p.Annotations = nil // p.Object has the annotations that matter
	for i := range more.Status.InitContainerStatuses {
		c := more.Status.InitContainerStatuses[i].read()
		c.Init, c.Sidecar = true, p.Spec.Container(c.Name).Sidecar
		p.Containers = append(p.Containers, c)
	}
	for i := range more.Status.ContainerStatuses {
		p.Containers = append(p.Containers, more.Status.ContainerStatuses[i].read())
	}

	for _, c := range p.Conditions {
		o.see(c.At)
	}
	for _, c := range p.Containers {
		o.see(c.Since)
		if c.Last != nil {
			o.see(c.Last.FinishedAt)
		}
	}
	o.see(p.StartTime)

	o.Pods = put(o.Pods, place, p)
	return nil
}

func (c *containerMore) read() Container {
	out := Container{
		Name:     c.Name,
		Started:  c.Started == nil || *c.Started,
		Restarts: c.RestartCount,
		ImageID:  c.ImageID,
		Last:     c.LastState.Terminated,
	}
	switch s := &c.State; {
	case s.Running != nil:
		out.Running, out.Since = true, s.Running.StartedAt
	case s.Terminated != nil:
		out.Ended, out.Since = true, s.Terminated.FinishedAt
		out.Reason, out.Message, out.ExitCode = s.Terminated.Reason, s.Terminated.Message, s.Terminated.ExitCode
	case s.Waiting != nil:
		out.Waiting, out.Reason, out.Message = true, s.Waiting.Reason, s.Waiting.Message
	}
	return out
}
