package pod

import (
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// Spec contains everything that a supervisor needs to run a pod. Variables are already expanded.
type Spec struct {
	UID       job.UID `json:"uid"`
	Name      string  `json:"name"`
	Namespace string  `json:"namespace"`
	Job       string  `json:"job"`
	// RestartPolicy is Never or OnFailure.
	RestartPolicy job.RestartPolicy `json:"restartPolicy"`
	// GracePeriod is the time between SIGTERM and SIGKILL.
	GracePeriod time.Duration `json:"gracePeriod"`
	// RestartDelay is the delay before the second restart of a container. It doubles with each
	// further restart, up to RestartDelayMax. The first restart is immediate.
	RestartDelay    time.Duration `json:"restartDelay"`
	RestartDelayMax time.Duration `json:"restartDelayMax"`
	// MaxLog is the maximum size of the log of each stream of a container. 0 means no limit.
	MaxLog int64 `json:"maxLog,omitempty"`
	// Isolation is the way in which containers get their own mounts. It is empty if no container
	// needs them.
	Isolation Isolation `json:"isolation,omitempty"`
	// Containers holds the init containers in order, then the app containers.
	Containers []ContainerSpec `json:"containers"`
}

// ContainerSpec is one container as a process.
type ContainerSpec struct {
	Name string      `json:"name"`
	Kind jobpod.Kind `json:"kind"`
	// Argv is the command with its arguments.
	Argv []string `json:"argv"`
	// Env is the complete environment, as NAME=value.
	Env []string `json:"env"`
	// Dir is the working folder, relative to the pod's work folder. Empty means the work folder.
	Dir    string  `json:"dir,omitempty"`
	Mounts []Mount `json:"mounts,omitempty"`
	// NoNewPrivileges keeps the process and its descendants from gaining rights.
	NoNewPrivileges bool `json:"noNewPrivileges,omitempty"`
	// Drop holds the numbers of the capabilities that the process does not get.
	Drop []int `json:"drop,omitempty"`
}

// Mount makes a volume of the pod visible to a container.
type Mount struct {
	Volume  string `json:"volume"`
	SubPath string `json:"subPath,omitempty"`
	// Path is absolute, or relative to the pod's work folder.
	Path     string `json:"path"`
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// State is the recorded state of a pod.
type State struct {
	Phase   job.PodPhase `json:"phase"`
	Reason  string       `json:"reason,omitempty"`
	Message string       `json:"message,omitempty"`
	// Ready is true while every app container runs.
	Ready           bool        `json:"ready,omitempty"`
	ReadyTransition time.Time   `json:"readyTransition,omitzero"`
	Containers      []Container `json:"containers"`
	// Done is true once no process is left. Then the state is final.
	Done bool `json:"done,omitempty"`
	// Guard is a copy of guard.json, in case that file is lost.
	Guard guard `json:"guard,omitzero"`
}

// guard names what must be gone before a pod whose supervisor is dead counts as ended. A lock alone
// is not enough. The kernel frees the lock when the supervisor ends. At that moment processes of
// its PID namespace or cgroup may still run.
type guard struct {
	Containment Containment `json:"containment"`
	// PID and Start identify the supervisor as the runner sees it. No later process of the same
	// boot has both. Boot is the ID of the boot.
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
	Boot  string `json:"boot"`
	// Cgroup is the folder of the containers' cgroup.
	Cgroup string `json:"cgroup,omitempty"`
}

// Container is the recorded state of one container.
type Container struct {
	jobpod.Container
	Reason    string    `json:"reason,omitempty"`
	Message   string    `json:"message,omitempty"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	// LogCut is true once a log of the container was cut.
	LogCut bool `json:"logCut,omitempty"`
	// Exits has the ends of the last runs, at most maxExits, latest last.
	Exits []Exit `json:"exits,omitempty"`
}

// Exit is the end of one run of a container.
type Exit struct {
	Code       int32     `json:"code"`
	Reason     string    `json:"reason"`
	StartedAt  time.Time `json:"startedAt,omitzero"`
	FinishedAt time.Time `json:"finishedAt"`
}

// maxExits limits the history of a container that is restarted again and again.
const maxExits = 20

// Reasons that this package sets on pods and containers.
const (
	// ReasonCompleted and ReasonError follow from the exit code of a container.
	ReasonCompleted = "Completed"
	ReasonError     = "Error"
	// ReasonStartError: the process could not be started.
	ReasonStartError = "StartError"
	// ReasonStopped: the pod was stopped before it had ended.
	ReasonStopped = "Stopped"
	// ReasonNeverStarted: the pod was stopped before it had begun.
	ReasonNeverStarted = "NeverStarted"
	// ReasonSupervisorLost: the supervisor died without recording the end.
	ReasonSupervisorLost = "SupervisorLost"
	// ReasonRecordLost: the supervisor's record cannot be read.
	ReasonRecordLost = "RecordLost"
	// ReasonWatcherLost: the supervisor ended the pod when its watcher died.
	ReasonWatcherLost = "WatcherLost"
	// ReasonStatusUnknown: how the container ended is not known.
	ReasonStatusUnknown = "ContainerStatusUnknown"
	// ReasonBackOff: the container waits to be started again.
	ReasonBackOff = "CrashLoopBackOff"
)

// The exit codes for processes that have none. A kubelet sets the same ones.
const (
	exitStartError = 128
	exitUnknown    = 137
)

// newState returns the state of a pod that has not begun.
func newState(spec *Spec) *State {
	s := &State{}
	for _, c := range spec.Containers {
		s.Containers = append(s.Containers, Container{Container: jobpod.Container{Name: c.Name, Kind: c.Kind}})
	}
	return s
}

// fail makes the state of a pod final. The processes of the pod must be gone.
func (s *State) fail(reason, message string, now time.Time) {
	s.Done = true
	s.Phase, s.Reason, s.Message = job.PodFailed, reason, message
	s.setReady(false, now)
}

func (s *State) setReady(ready bool, now time.Time) {
	if s.Ready != ready {
		s.Ready, s.ReadyTransition = ready, now
	}
}

// Lost turns the last state of a dead supervisor into a final state. Containers that ran or may
// have run count as ended with exit code 137, since their real exit code is unknown.
func (s State) Lost(now time.Time) State {
	containers := append([]Container(nil), s.Containers...)
	for i := range containers {
		c := &containers[i]
		// A container that is recorded as waiting may have been started after that record.
		if c.State != jobpod.Terminated {
			c.State, c.ExitCode, c.FinishedAt, c.Reason = jobpod.Terminated, exitUnknown, now, ReasonStatusUnknown
		}
	}
	s.Containers = containers
	s.fail(ReasonSupervisorLost, "the pod's supervisor ended without recording how the pod ended", now)
	return s
}

// Unrecorded returns the final state of a pod that has begun and ended and whose record is lost.
// Its containers count as those of a dead supervisor; see Lost.
func (spec *Spec) Unrecorded(why error, now time.Time) State {
	s := newState(spec).Lost(now)
	s.fail(ReasonRecordLost, fmt.Sprintf("how the pod ended is not known: %v", why), now)
	return s
}

// Translate returns a copy of the state with its times translated to another clock.
func (s State) Translate(at func(time.Time) time.Time) State {
	s.ReadyTransition = at(s.ReadyTransition)
	s.Containers = slices.Clone(s.Containers)
	for i := range s.Containers {
		c := &s.Containers[i]
		c.StartedAt, c.FinishedAt = at(c.StartedAt), at(c.FinishedAt)
		c.Exits = slices.Clone(c.Exits)
		for k := range c.Exits {
			e := &c.Exits[k]
			e.StartedAt, e.FinishedAt = at(e.StartedAt), at(e.FinishedAt)
		}
	}
	return s
}
