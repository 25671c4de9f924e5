package batchtest

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Pod is one pod, to be moved by hand. Each method waits until there is such a pod and until the
// server has its new status; the [Patience] ends the test.
type Pod struct {
	cluster *Cluster
	key     types.NamespacedName
}

// Pod returns the pod of a name or "namespace/name". Names of pods of jobs end with five random
// characters, which may be left out: "train-0" is the newest pod of index 0 of the job train that has
// not ended.
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

// Fail lets the first container exit with the code. With restartPolicy OnFailure it is started again,
// once, and runs on.
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

// Evict lets the node evict the pod. It stays there, as failed.
func (p *Pod) Evict() {
	p.cluster.t.Helper()
	p.change(func(l *life) Behaviour { return Evict() })
}

// Preempt lets the scheduler delete the pod for the sake of another.
func (p *Pod) Preempt() {
	p.cluster.t.Helper()
	p.change(func(l *life) Behaviour { return Preempt() })
}

// LoseNode lets the node be lost. The pod stays terminating for the time absent.
func (p *Pod) LoseNode(absent time.Duration) {
	p.cluster.t.Helper()
	p.change(func(l *life) Behaviour { return LoseNode(0, absent) })
}

// Object returns the pod as the cache has it.
func (p *Pod) Object() *corev1.Pod {
	p.cluster.t.Helper()
	var found *corev1.Pod
	p.wait("there is no such pod", func(map[types.UID]*entry) bool {
		found = p.find()
		return found != nil
	})
	return found.DeepCopy()
}

// change gives the pod a behaviour, and waits until it shows.
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

// find returns the pod of the name, or the newest with a random end, one that has not ended first.
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

func isBetter(a, b *corev1.Pod) bool {
	if over := isOver(a); over != isOver(b) {
		return !over
	}
	if gone := a.DeletionTimestamp != nil; gone != (b.DeletionTimestamp != nil) {
		return !gone
	}
	return b.CreationTimestamp.Before(&a.CreationTimestamp)
}

// wait looks at the pods until the function returns true.
func (p *Pod) wait(problem string, f func(map[types.UID]*entry) bool) {
	p.cluster.t.Helper()
	give := time.NewTimer(p.cluster.options.patience)
	defer give.Stop()
	for {
		changed := p.cluster.changes.wait()
		done := false
		moved := p.cluster.kubelet.look(func(lives map[types.UID]*entry) { done = f(lives) })
		if done {
			return
		}
		select {
		case <-changed:
		case <-moved:
		case <-give.C:
			p.cluster.t.Fatalf("pod %s: %s after %v\n%s", p.key, problem, p.cluster.options.patience, p.describe())
			return
		}
	}
}

// describe lists the existing pods.
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
