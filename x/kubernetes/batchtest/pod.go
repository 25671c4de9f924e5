package batchtest

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Pod controls one pod by hand. Each method waits until the pod exists and the server has its new
// status. The test fails if that takes longer than the [Patience].
type Pod struct {
	cluster *Cluster
	key     types.NamespacedName
}

// Pod returns the pod with a name, or "namespace/name". Names of pods of jobs end with five random
// characters, which may be left out: "train-0" is the newest pod of index 0 of the job train that
// has not ended.
func (c *Cluster) Pod(name string) *Pod { return &Pod{c, c.key(name)} }

// Behave gives the pod another behaviour.
func (p *Pod) Behave(b Behaviour) {
	p.cluster.t.Helper()
	p.change(func(*life) Behaviour { return b })
}

// Succeed lets all containers exit with 0.
func (p *Pod) Succeed() {
	p.cluster.t.Helper()
	p.change(func(l *life) Behaviour { return Behaviour{Stop: l.Stop} })
}

// Fail lets the first container exit with the code. With restartPolicy OnFailure, it is started
// again and fails again, until it gets another behaviour.
func (p *Pod) Fail(code int32) {
	p.cluster.t.Helper()
	if code == 0 {
		p.cluster.t.Fatalf("batchtest: pod %s: Fail(0): 0 is the code of success", p.key)
	}
	p.change(func(l *life) Behaviour { return Behaviour{ExitCode: code, Stop: l.Stop} })
}

// Ready lets the pod run, and sets whether it is ready.
func (p *Pod) Ready(is bool) {
	p.cluster.t.Helper()
	p.change(func(l *life) Behaviour {
		b := l.Behaviour
		b.Pending, b.Init, b.Unready = 0, 0, Never
		if is {
			b.Unready = 0
		}
		return b
	})
}

// Evict lets the node evict the pod. The failed pod stays.
func (p *Pod) Evict() {
	p.cluster.t.Helper()
	p.change(func(l *life) Behaviour { return Evict() })
}

// Preempt lets the scheduler delete the pod in favour of another.
func (p *Pod) Preempt() {
	p.cluster.t.Helper()
	p.change(func(l *life) Behaviour { return Preempt() })
}

// LoseNode lets the node be lost. The pod stays terminating for the duration absent.
func (p *Pod) LoseNode(absent time.Duration) {
	p.cluster.t.Helper()
	p.change(func(l *life) Behaviour { return LoseNode(0, absent) })
}

// Object returns a copy of the cached pod.
func (p *Pod) Object() *corev1.Pod {
	p.cluster.t.Helper()
	var found *corev1.Pod
	p.wait("there is no such pod", func(map[types.UID]*entry) bool {
		found = p.find()
		return found != nil
	})
	return found.DeepCopy()
}

// change gives the pod a behaviour, and waits until the kubelet has applied it.
func (p *Pod) change(to func(*life) Behaviour) {
	p.cluster.t.Helper()
	k := p.cluster.kubelet
	var uid types.UID
	var asked int
	p.wait("there is no such pod that has not ended", func(lives map[types.UID]*entry) bool {
		pod := p.find()
		if pod == nil || isOver(pod) {
			return false
		}
		e := lives[pod.UID]
		if e == nil || e.stage == ended {
			return false
		}
		k.behave(pod, e, to(&e.life))
		uid, asked = pod.UID, e.asked
		return true
	})

	p.wait("it does not do what the test asks", func(lives map[types.UID]*entry) bool {
		e := lives[uid]
		return e == nil || e.done >= asked
	})
}

// find returns the pod with the name. If there is none, it returns the best of the pods whose names
// are this name with a random end.
func (p *Pod) find() (found *corev1.Pod) {
	for _, o := range p.cluster.kubelet.pods.List() {
		pod := o.(*corev1.Pod)
		switch {
		case pod.Namespace != p.key.Namespace:
		case pod.Name == p.key.Name:
			return pod
		case !strings.HasPrefix(pod.Name, p.key.Name+"-") || strings.Contains(pod.Name[len(p.key.Name)+1:], "-"):
		case found == nil || isBetter(pod, found):
			found = pod
		}
	}
	return found
}

// isBetter prefers pods that have not ended, then those that are not being deleted, then the newest.
func isBetter(a, b *corev1.Pod) bool {
	if over := isOver(a); over != isOver(b) {
		return !over
	}
	if gone := a.DeletionTimestamp != nil; gone != (b.DeletionTimestamp != nil) {
		return !gone
	}
	return b.CreationTimestamp.Before(&a.CreationTimestamp)
}

// wait calls f after each change of the pods, until f returns true. If the patience ends before
// that, the test fails with the problem.
func (p *Pod) wait(problem string, f func(map[types.UID]*entry) bool) {
	p.cluster.t.Helper()
	give := time.NewTimer(p.cluster.options.patience)
	defer give.Stop()
	for {
		if why := p.cluster.unserved(p.key.Namespace); why != "" {
			p.cluster.t.Fatalf("pod %s: %s", p.key, why)
			return
		}
		changed := p.cluster.changes.wait()
		done := false
		moved := p.cluster.kubelet.look(func(lives map[types.UID]*entry) { done = f(lives) })
		if done {
			return
		}
		select {
		case <-changed:
		case <-moved:
		case <-p.cluster.stopped:
		case <-give.C:
			p.cluster.t.Fatalf("pod %s: %s after %v\n%s", p.key, problem, p.cluster.options.patience, p.describe())
			return
		}
	}
}

// describe lists the pods of the namespace.
func (p *Pod) describe() string {
	var b strings.Builder
	for _, o := range p.cluster.kubelet.pods.List() {
		if pod := o.(*corev1.Pod); pod.Namespace == p.key.Namespace {
			fmt.Fprintf(&b, "  %s\n", p.cluster.explainPod(pod))
		}
	}
	if b.Len() == 0 {
		return "  the namespace has no pods"
	}
	return strings.TrimRight(b.String(), "\n")
}
