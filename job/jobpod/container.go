package jobpod

import (
	"time"

	"github.com/batchplan/batchplan/internal/enum"
)

// Container is the state of one container of a pod.
type Container struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind,omitempty"`
	// Restarts is the number of times that the container was restarted.
	Restarts int32 `json:"restarts,omitempty"`
	State    State `json:"state,omitempty"`
	// ExitCode and FinishedAt are set once the container has terminated.
	ExitCode   int32     `json:"exitCode,omitempty"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
}

// Kind distinguishes app containers from init containers.
type Kind uint8

const (
	// App is a regular container. The pod ends when all its app containers have ended.
	App Kind = iota
	// Init runs to its end before the app containers start.
	Init
	// RestartableInit is an init container with restartPolicy Always,
	// also called a sidecar (KEP-753).
	RestartableInit
)

const containerKinds = "App|Init|RestartableInit"

// String returns the name of the constant.
func (k Kind) String() string { return enum.String(containerKinds, int(k), "Kind") }

// MarshalText is [Kind.String].
func (k Kind) MarshalText() ([]byte, error) { return enum.Text(containerKinds, int(k), "Kind") }

// UnmarshalText reads what MarshalText writes; the empty text is App. Any other text is an error
// and changes nothing.
func (k *Kind) UnmarshalText(text []byte) error { return enum.Read(k, containerKinds, text, "kind") }

// State is the state of a container.
type State uint8

// The states of a container.
const (
	Waiting State = iota
	Running
	Terminated
)

const containerStates = "Waiting|Running|Terminated"

// String returns the state as Kubernetes names it.
func (s State) String() string { return enum.String(containerStates, int(s), "State") }

// MarshalText is [State.String].
func (s State) MarshalText() ([]byte, error) { return enum.Text(containerStates, int(s), "State") }

// UnmarshalText reads what MarshalText writes; the empty text is Waiting. Any other text is an
// error and changes nothing.
func (s *State) UnmarshalText(text []byte) error { return enum.Read(s, containerStates, text, "state") }
