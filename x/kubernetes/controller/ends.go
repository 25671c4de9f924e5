package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// podController is a job by the UID in the references of its pods. The zero value is none.
type podController struct {
	namespace string
	uid       types.UID
}

// ends knows when the last pod of a job has ended. Then no more changes of pods will come that a
// round could wait for (J43).
type ends struct {
	mu      sync.Mutex
	running map[podController]int         // pods in the cache that can still end
	dues    map[types.NamespacedName]bool // jobs whose round is due immediately
}

// observe counts a change of a pod, which could end for one controller before and can end for
// another, or for none, afterwards. It reports whether the former has no such pod any more.
func (e *ends) observe(before, after podController) (wasLast bool) {
	none := podController{}
	if before == after {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()

	if after != none {
		if e.running == nil {
			e.running = map[podController]int{}
		}
		e.running[after]++
	}
	if before == none {
		return false
	}
	e.running[before]--
	if e.running[before] > 0 {
		return false
	}
	delete(e.running, before)
	return true
}

// due marks a job whose round is due immediately, until the round begins.
func (e *ends) due(key types.NamespacedName) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dues == nil {
		e.dues = map[types.NamespacedName]bool{}
	}
	e.dues[key] = true
}

func (e *ends) isDue(key types.NamespacedName) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dues[key]
}

// begun unmarks a job: its round begins, or none is needed.
func (e *ends) begun(key types.NamespacedName) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.dues, key)
}
