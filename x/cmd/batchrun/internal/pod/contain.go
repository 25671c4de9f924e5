package pod

import (
	"errors"
	"fmt"
	"strings"
)

// Containment is the way in which all processes of a pod end when the pod's supervisor ends, for
// whatever reason.
type Containment string

const (
	// Namespace is a PID namespace. The supervisor is its first process. When the supervisor ends,
	// the kernel ends all other processes of the namespace. No process can leave the namespace.
	Namespace Containment = "namespace"
	// UserNamespace is a PID namespace inside a user namespace. It is for users who may not create
	// a PID namespace alone.
	UserNamespace Containment = "user-namespace"
	// Cgroup is a cgroup of version 2. A second process kills it as a whole.
	Cgroup Containment = "cgroup"
	// Watched uses neither a namespace nor a cgroup, but a second process. That process adopts and
	// ends the processes that a dead supervisor leaves.
	Watched Containment = "watcher"
)

// Containments lists all containments in the order in which they are tried, the most reliable
// first. UserNamespace comes after Cgroup, since it changes what containers see.
var Containments = []Containment{Namespace, Cgroup, UserNamespace, Watched}

// Promise describes in one sentence what the containment guarantees, and what it does not.
func (c Containment) Promise() string {
	switch c {
	case Namespace:
		return "each pod runs in a PID namespace, so all its processes end with its supervisor"
	case UserNamespace:
		return "each pod runs in a PID namespace and a user namespace, so all its processes end with its " +
			"supervisor; files of other users appear to belong to nobody, and sudo does not work"
	case Cgroup:
		return "each pod runs in a cgroup that is killed when its supervisor or its watcher dies; a process that " +
			"leaves the cgroup survives, but only root can leave it"
	case Watched:
		return "no PID namespace and no writable cgroup here: a second process ends the processes that a pod's " +
			"supervisor leaves; if both are killed together, processes can be left"
	}
	return string(c)
}

// ChooseContainment returns the wanted containment, or with "auto" the first one that works here.
// It calls try to find out whether one works. The error says why none works.
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
			return "", fmt.Errorf("%q: must be auto, %s", wanted, names(Containments))
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
	return "", fmt.Errorf("no container is started, since nothing on this machine would end its processes if its "+
		"supervisor were killed: %w", errors.Join(problems...))
}

func names(all []Containment) string {
	words := make([]string, len(all))
	for i, c := range all {
		words[i] = string(c)
	}
	return strings.Join(words, ", ")
}
