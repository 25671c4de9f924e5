package controller_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/batchplan/batchplan/examples/kubernetes/controller"
	"github.com/batchplan/batchplan/job"
)

// brokenFor panics when it is asked for one job.
type brokenFor struct {
	stored
	name  string
	asked *atomic.Int32
}

func (b brokenFor) Get(key types.NamespacedName) job.Memory {
	if key.Name == b.name {
		b.asked.Add(1)
		panic("broken")
	}
	return b.stored.Get(key)
}

// TestController_Panic: a round that panics ends neither the process nor the rounds of other
// jobs, and is not repeated without a pause.
func TestController_Panic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		c := start(t, jobsAndOrphans(controller.JobOptions{
			Common: controller.Common{Workers: 1}, ManagedBy: mine, Memories: brokenFor{stored{}, "bad", &asked},
		}), newJob("bad", pointTo(mine)), newJob("good", pointTo(mine)))
		defer c.stop()
		c.rest(time.Minute)
		if pods := c.pods(); len(pods) != 1 || pods[0].Labels["job"] != "good" {
			t.Errorf("pods %v", pods)
		}
		if n := asked.Load(); n < 3 || n > 10 {
			t.Errorf("%d rounds in a minute", n)
		}
	})
}

// TestController_Namespaces: a replica leaves the namespaces of others alone, takes one over
// when it is told to, and then forgets what it knew when it loses the namespace.
func TestController_Namespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mineNow atomic.Bool
		memories := stored{}
		var jobs *controller.Controller[types.NamespacedName]
		c := start(t, func(client kubernetes.Interface, factory informers.SharedInformerFactory) (_ []starter, err error) {
			jobs, err = controller.NewJobs(client, factory, controller.JobOptions{
				Common:    controller.Common{Workers: 1, Namespace: func(string) bool { return mineNow.Load() }},
				ManagedBy: mine, Memories: memories,
			})
			return []starter{jobs}, err
		}, newJob("j", pointTo(mine)))
		defer c.stop()
		turn := func(on bool) {
			mineNow.Store(on)
			jobs.Enqueue(func(namespace string) bool { return namespace == "ns" })
			c.rest(time.Second)
		}
		c.rest(time.Minute)
		if n := len(c.pods()); n != 0 {
			t.Fatalf("%d pods in the namespace of another replica", n)
		}
		turn(true)
		if n := len(c.pods()); n != 1 || len(memories) != 1 {
			t.Fatalf("%d pods, %d memories", n, len(memories))
		}
		turn(false)
		if len(memories) != 0 {
			t.Error("a memory is left, and would be old when the namespace comes back")
		}
		if err := c.CoreV1().Pods("ns").Delete(t.Context(), c.pods()[0].Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.rest(time.Minute)
		if n := len(c.pods()); n != 0 {
			t.Fatalf("%d pods in a namespace that was lost", n)
		}
		turn(true)
		c.rest(time.Minute)
		if n := len(c.pods()); n != 1 {
			t.Errorf("%d pods in a namespace that has come back", n)
		}
	})
}
