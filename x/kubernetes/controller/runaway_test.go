//go:build go1.25

package controller_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// TestJ3_GateIsOff: without the gate JobManagedBy, each job belongs to Kubernetes' controller,
// whatever its managedBy. This holds for rounds, handlers, and the TTL and orphan controllers.
func TestJ3_GateIsOff(t *testing.T) {
	const other = "example.com/other"
	for _, test := range []struct {
		release, managedBy, controller string
		ours                           bool
		external                       []string
	}{
		{release: "1.31", managedBy: other, controller: job.ControllerName, ours: true},
		{release: "1.34,JobManagedBy=false", managedBy: other, controller: job.ControllerName, ours: true},
		{release: "1.31", managedBy: mine, controller: mine},
		{release: "1.36", managedBy: other, controller: job.ControllerName, external: []string{other}},
		{release: "1.36", managedBy: other, controller: mine, external: []string{other}},
		{release: "1.36", managedBy: mine, controller: mine, ours: true},
		{release: "1.36", managedBy: job.ControllerName, controller: mine},
	} {
		t.Run(fmt.Sprintf("in %s, %s has a job of %s", test.release, test.controller, test.managedBy), func(t *testing.T) {
			r, err := release.Parse(test.release)
			must.OK(t, err)
			synctest.Test(t, func(t *testing.T) {
				ended, expired := newJob("ended", &test.managedBy), newJob("expired", &test.managedBy)
				expired.Spec.TTLSecondsAfterFinished = pointTo(int32(10))
				complete(ended, 0)
				complete(expired, 0)
				left := tracked("left", ownedBy(ended))
				left.Labels, left.DeletionTimestamp = ended.Spec.Template.Labels, pointTo(metav1.Now())
				c, m := newCluster(t, newJob("j", &test.managedBy), ended, expired, left), &told{}
				planner := job.Kubernetes(r)
				jobs, err := controller.NewJobs(controller.BatchJobs(c, c.factory), controller.JobOptions{
					Common: controller.Common{Events: &c.events}, ManagedBy: test.controller, Planner: planner, Metrics: m.metrics(),
				})
				must.OK(t, err)
				orphans, err := controller.NewOrphans(controller.BatchJobs(c, c.factory), controller.OrphanOptions{ManagedBy: test.controller, Planner: planner})
				must.OK(t, err)
				ttl, err := controller.NewTTL(controller.BatchJobs(c, c.factory), controller.TTLOptions{ManagedBy: test.controller, Planner: planner})
				must.OK(t, err)
				c.start(jobs, orphans, ttl)
				c.rest(time.Minute)

				want := 0
				if test.ours {
					want = 1
				}
				pods := active(c.pods(), "j-")
				if len(pods) != want {
					t.Errorf("%d pods, want %d", len(pods), want)
				}
				for _, p := range pods {
					c.end(p, corev1.PodSucceeded)
				}
				c.rest(time.Minute)
				if done := c.job("j").Status.Succeeded == 1; done != test.ours {
					t.Errorf("its success counts: %v; %s", done, c.events.take())
				}
				if gone := !slices.Contains(c.jobs(), "expired"); gone != test.ours {
					t.Errorf("the expired job is gone: %v", gone)
				}
				if free := !convert.IsTracked(c.pod("left")); free != test.ours {
					t.Errorf("the pod of the ended job has lost the finalizer: %v", free)
				}
				slices.Sort(m.all)
				isTracking := func(event string) bool { return event == "add" || event == "delete" }
				if external := slices.Compact(slices.DeleteFunc(m.all, isTracking)); !slices.Equal(external, test.external) {
					t.Errorf("jobs of others are reported: %q, want %q", external, test.external)
				}
			})
		})
	}
}

// active returns the active pods whose names begin with a prefix.
func active(pods []corev1.Pod, prefix string) []corev1.Pod {
	return slices.DeleteFunc(pods, func(p corev1.Pod) bool {
		return p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed ||
			!strings.HasPrefix(p.Name, prefix)
	})
}

// TestRunaway: whatever pods the snapshots lack, the pods that a controller has created and has not
// seen end are never more than parallelism. The test's index hides a quarter, half, three quarters
// or all of the pods from the snapshots.
func TestRunaway(t *testing.T) {
	for seed := range uint64(40) {
		draw := rand.New(rand.NewPCG(seed, 1))
		parallelism, share := 1+draw.Int32N(4), 1+draw.Uint32N(4)
		shows := func(name string) bool {
			h := fnv.New32a()
			_, _ = h.Write([]byte(name))
			return h.Sum32()>>3%4 >= share
		}

		synctest.Test(t, func(t *testing.T) {
			j := newJob("j", pointTo(mine))
			j.Spec.Parallelism, j.Spec.Completions, j.Spec.BackoffLimit = &parallelism, pointTo(int32(20)), pointTo(int32(100))
			c := newCluster(t, j)
			must.OK(t, c.podCache.AddIndexers(cache.Indexers{"batchplan/controller": func(o any) (keys []string, _ error) {
				if p := o.(*corev1.Pod); metav1.GetControllerOfNoCopy(p) != nil && shows(p.Name) {
					keys = []string{p.Namespace + "//" + string(metav1.GetControllerOfNoCopy(p).UID)}
				}
				return keys, nil
			}}))
			c.startJobs(controller.JobOptions{})
			defer c.stop()

			most := 0
			for range 10 {
				c.rest(20 * time.Second)
				running := active(c.pods(), "j-")
				if most = max(most, len(running)); len(running) > int(parallelism) {
					t.Fatalf("seed %d: %d pods are active, parallelism %d", seed, len(running), parallelism)
				}
				if len(running) == 0 {
					continue
				}
				switch draw.IntN(4) {
				case 0:
					c.end(running[0], corev1.PodSucceeded)
				case 1:
					c.end(running[0], corev1.PodFailed)
				case 2:
					must.OK(t, c.CoreV1().Pods("ns").Delete(t.Context(), running[0].Name, metav1.DeleteOptions{}))
				}
			}

			if events := c.events.take(); share == 4 && !strings.Contains(events, "Warning PodsNotSeen") {
				t.Errorf("seed %d: no word of it: %s", seed, events)
			}
			if most == 0 {
				t.Errorf("seed %d: no pod was created", seed)
			}
		})
	}
}
