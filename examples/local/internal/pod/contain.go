package pod

import (
	"errors"
	"fmt"
	"strings"
)

// Containment is how the processes of a pod are kept together, so that all of them
// end when the pod's supervisor does, however it ends.
type Containment string

const (
	// Namespace is a PID namespace. The supervisor is its first process, so the
	// kernel ends all others with it, and none can leave.
	Namespace Containment = "namespace"
	// UserNamespace is a PID namespace inside a user namespace, for those who may not
	// make the former.
	UserNamespace Containment = "user-namespace"
	// Cgroup is a cgroup of version 2, which a second process kills as a whole.
	Cgroup Containment = "cgroup"
	// Watched is a second process alone, which adopts and ends what a dead supervisor
	// leaves.
	Watched Containment = "watcher"
)

// Containments are all of them, in the order in which they are tried: the surest
// first, and before the last resort the one that changes what containers see.
var Containments = []Containment{Namespace, Cgroup, UserNamespace, Watched}

// Promise says in one sentence what the containment does and what it does not.
func (c Containment) Promise() string {
	switch c {
	case Namespace:
		return "each pod runs in a PID namespace, so all its processes end with its supervisor"
	case UserNamespace:
		return "each pod runs in a PID namespace and a user namespace, so all its processes end with its supervisor; files of other users show as nobody's, and sudo does not work"
	case Cgroup:
		return "each pod runs in a cgroup that is killed when its supervisor or its watcher dies; a process that leaves the cgroup, which takes root, is not"
	case Watched:
		return "no PID namespace and no writable cgroup here: a second process ends what the supervisor of a pod leaves; if both are killed at once, processes can be left"
	}
	return string(c)
}

// ChooseContainment returns the wanted containment, or with "auto" the first that
// works here. Try finds out whether one does. The error says why none will do.
func ChooseContainment(wanted string, try func(Containment) error) (Containment, error) {
	candidates := Containments
	if wanted != "auto" {
		candidates = nil
		for _, c := range Containments {
			if string(c) == wanted {
				candidates = []Containment{c}
			}
		}
		if candidates == nil {
			return "", fmt.Errorf("%q: is none of auto, %s", wanted, names(Containments))
		}
	}
	var problems []error
	for _, c := range candidates {
		err := try(c)
		if err == nil {
			return c, nil
		}
		problems = append(problems, fmt.Errorf("%s: %w", c, err))
	}
	return "", fmt.Errorf("nothing here ends all processes of a container whose supervisor is killed, so no container is started: %w", errors.Join(problems...))
}

func names(all []Containment) string {
	words := make([]string, len(all))
	for i, c := range all {
		words[i] = string(c)
	}
	return strings.Join(words, ", ")
}
