//go:build go1.25

package controller_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// keys is a queue that records whole keys.
type keys []types.NamespacedName

func (q *keys) Add(key types.NamespacedName)                       { *q = append(*q, key) }
func (q *keys) AddAfter(key types.NamespacedName, _ time.Duration) { q.Add(key) }

// take returns the keys without duplicates, and forgets them.
func (q *keys) take() string {
	out := fmt.Sprint(slices.Compact(*q))
	*q = nil
	return out
}

// TestScope_Cron: parents and children have a namespace, or neither have one, or only the children
// have one. Children run, are kept as history, are named in the status, and wake their parent. The
// namespace of the children decides whether they belong to a replica.
func TestScope_Cron(t *testing.T) {
	work := func(*beat) string { return "work" }

	for _, test := range []struct {
		name, parent, children string
		namespace              func(*beat) string
	}{
		{"namespaced", "ns", "ns", nil},
		{"without a namespace", "", "", nil},
		{"with children in one", "", "work", work},
	} {
		for _, label := range []string{"", "example.com/beat-uid"} {
			t.Run(test.name+" "+label, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					parents, tasks, events := newShelf[*beat](&beat{}), newShelf[*task](&task{}), &reports{}
					var askedFor []string
					kind, o := storing(nil), controller.CronJobOptions{}
					kind.OwnerLabel, kind.Namespace = label, test.namespace
					kind.Parents = func(namespace string) backend.ParentClient[*beat] {
						askedFor = append(askedFor, "parent "+namespace)
						return parents
					}
					kind.Children = func(namespace string) backend.ChildClient[*task] {
						askedFor = append(askedFor, "child "+namespace)
						return tasks
					}
					serves := true
					o.Events = events
					o.Namespace = func(namespace string) bool { return serves && namespace == test.children }
					r, err := controller.NewCronJobReconciler(cronOf(kind, parents.informer, tasks.informer), o)
					must.OK(t, err)
					if n := len(parents.informer.GetIndexer().GetIndexers()); (n > 0) != (label != "") {
						t.Errorf("%d indexes of parents; only a label needs one", n)
					}
					b := hourly
					b.ObjectMeta = metav1.ObjectMeta{Name: "b", Namespace: test.parent, UID: "uid-b", CreationTimestamp: metav1.Now()}
					_, err = parents.put("create", &b)
					must.OK(t, err)
					key := types.NamespacedName{Namespace: test.parent, Name: "b"}
					queue := &keys{}
					for range 4 {
						time.Sleep(time.Hour)
						next, err := r.Reconcile(quiet(t), key)
						if must.OK(t, err); next.IsZero() {
							t.Fatal("no round is due")
						}
						for _, o := range tasks.all() {
							if o.Namespace != test.children {
								t.Errorf("a task in the namespace %q, want %q", o.Namespace, test.children)
							}
							r.JobEvents(queue).OnAdd(o, false)
							if got, want := queue.take(), fmt.Sprint([]types.NamespacedName{key}); got != want {
								t.Errorf("a task wakes %s, want %s", got, want)
							}
							if o.Phase == "" {
								ended := o.DeepCopyObject().(*task)
								ended.Phase, ended.End = "SUCCEEDED", metav1.Now()
								tasks.put("end", ended)
							}
						}
						active := parents.all()[0].All.Active
						if len(active) != 1 || active[0].Namespace != test.children {
							t.Errorf("active %+v", active)
						}
						_, err = r.Reconcile(quiet(t), key)
						must.OK(t, err)
					}
					if n := len(tasks.all()); n != 1 {
						t.Errorf("%d tasks are kept, want 1: %q", n, tasks.writes)
					}
					slices.Sort(askedFor)
					if got := strings.Join(slices.Compact(askedFor), ", "); got != "child "+test.children+", parent "+test.parent {
						t.Errorf("clients of %s", got)
					}
					stranger := tasks.all()[0].DeepCopyObject().(*task)
					stranger.Name, stranger.Namespace = "stranger", "elsewhere"
					if r.JobEvents(queue).OnAdd(stranger, false); len(*queue) > 0 {
						t.Errorf("a task of another namespace wakes %s", queue.take())
					}
					if got := r.Compiled(); got != 1 {
						t.Errorf("%d schedules are kept", got)
					}
					serves = false
					_, err = r.Reconcile(quiet(t), key)
					if must.OK(t, err); r.Compiled() != 0 {
						t.Error("the schedule of another replica is kept")
					}
				})
			})
		}
	}
}

// TestScope_CronName: another owner's task with the name of a run is found.
func TestScope_CronName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parents, tasks, events := newShelf[*beat](&beat{}), newShelf[*task](&task{}), &reports{}
		kind := storing(nil)
		kind.Namespace = func(*beat) string { return "work" }
		kind.Parents = func(string) backend.ParentClient[*beat] { return parents }
		kind.Children = func(string) backend.ChildClient[*task] { return tasks }

		var seen cronjob.Snapshot
		o := controller.CronJobOptions{Common: controller.Common{Events: events}}
		o.Hooks.Round = func(r controller.CronJobRound) { seen = *r.Snapshot }
		r, err := controller.NewCronJobReconciler(cronOf(kind, parents.informer, tasks.informer), o)
		must.OK(t, err)

		b := hourly
		b.ObjectMeta = metav1.ObjectMeta{Name: "b", UID: "uid-b", CreationTimestamp: metav1.Now()}
		_, err = parents.put("create", &b)
		must.OK(t, err)
		for _, namespace := range []string{"work", "elsewhere"} {
			_, err = tasks.put("create", &task{ObjectMeta: metav1.ObjectMeta{Name: "b-1", Namespace: namespace, UID: types.UID(namespace)}})
			must.OK(t, err)
		}

		time.Sleep(time.Second)
		_, err = r.Reconcile(quiet(t), types.NamespacedName{Name: "b"})
		must.OK(t, err)
		if len(seen.Children) != 1 || seen.Children[0].UID != "work" || !seen.Children[0].Foreign {
			t.Errorf("children %+v", seen.Children)
		}
	})
}

// TestScope_Kind: the pods of objects without a namespace are in the namespace that the kind
// returns. They are created, seen, adopted, counted and forgotten there, the object ends and
// expires, and its remaining pods lose the finalizer.
func TestScope_Kind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, shelf := newCluster(t), newShelf[*film](&film{})
		kind := films()
		kind.Objects = func(namespace string) backend.OwnerClient[*film] {
			if namespace != "" {
				t.Errorf("a client of the namespace %q", namespace)
			}
			return shelf
		}
		common := controller.Common{Events: &c.events, Namespace: func(namespace string) bool { return namespace == "ns" }}
		kind.Namespace = func(*film) string { return "ns" }
		jobs, err := controller.NewJobReconciler(kindOf(kind, c, shelf.informer, c.podCache), controller.JobOptions{Common: common})
		must.OK(t, err)
		ttl, err := controller.NewTTLReconciler(kindOf(kind, nil, shelf.informer, nil), controller.TTLOptions{Common: common})
		must.OK(t, err)
		orphans, err := controller.NewOrphanReconciler(kindOf(kind, c, shelf.informer, c.podCache), controller.OrphanOptions{Common: common})
		must.OK(t, err)
		c.start()
		f := &film{ObjectMeta: metav1.ObjectMeta{Name: "f", UID: "uid-f", CreationTimestamp: metav1.Now()}, Spec: scene(corev1.RestartPolicyNever)}
		f.Spec.Completions, f.Spec.Parallelism, f.Spec.TTLSecondsAfterFinished = pointTo[int32](2), pointTo[int32](2), pointTo[int32](60)
		_, err = shelf.put("create", f)
		must.OK(t, err)
		stray := tracked("stray", nil)
		stray.Labels, stray.Finalizers = map[string]string{batchv1.ControllerUidLabel: "uid-f"}, nil
		_, err = c.CoreV1().Pods("ns").Create(t.Context(), stray, metav1.CreateOptions{})
		must.OK(t, err)

		key, queue := types.NamespacedName{Name: "f"}, &keys{}
		round := func() {
			t.Helper()
			synctest.Wait()
			jobs.OwnerEvents(queue).OnAdd(shelf.all()[0], false)
			for _, p := range c.pods() {
				jobs.PodEvents(queue).OnAdd(&p, false)
			}
			if got, want := queue.take(), fmt.Sprint([]types.NamespacedName{key}); got != want {
				t.Errorf("asked for %s, want %s", got, want)
			}
			_, err := jobs.Reconcile(quiet(t), key)
			must.OK(t, err)
		}
		round()
		round()
		round()
		if status := shelf.all()[0].Status; status.Active != 2 || jobs.Known() != 2 || !metav1.IsControlledBy(c.pod("stray"), f) {
			t.Errorf("status %+v, %d pods are known, the stray is of %v, events %s", status, jobs.Known(), c.pod("stray").OwnerReferences, c.events.take())
		}
		for _, p := range c.pods() {
			c.end(p, corev1.PodSucceeded)
		}
		for range 4 {
			round()
		}
		if status := shelf.all()[0].Status; status.Succeeded != 2 || len(status.Conditions) != 2 || jobs.Known() != 0 {
			t.Errorf("status %+v, %d pods are known", status, jobs.Known())
		}

		if ttl.OwnerEvents(queue).OnAdd(shelf.all()[0], false); queue.take() != fmt.Sprint([]types.NamespacedName{key}) {
			t.Error("its time to live is not looked at")
		}
		time.Sleep(2 * time.Minute)
		_, err = ttl.Reconcile(quiet(t), key)
		if must.OK(t, err); len(shelf.all()) != 0 {
			t.Error("it has not expired")
		}
		left := c.pod("stray")
		left.Finalizers = tracked("", nil).Finalizers
		_, err = c.CoreV1().Pods("ns").Update(t.Context(), left, metav1.UpdateOptions{})
		must.OK(t, err)
		synctest.Wait()
		var asked orphanKeys
		orphans.OwnerEvents(&asked).OnDelete(f)
		for _, o := range asked {
			_, err := orphans.Reconcile(quiet(t), o)
			must.OK(t, err)
		}
		if convert.IsTracked(c.pod("stray")) {
			t.Errorf("a pod that is left keeps its finalizer: asked for %v", asked)
		}
	})
}

type orphanKeys []controller.Orphan

func (q *orphanKeys) Add(o controller.Orphan)                       { *q = append(*q, o) }
func (q *orphanKeys) AddAfter(o controller.Orphan, _ time.Duration) { q.Add(o) }

// TestScope_KindWithout: an object is reported if neither it nor its pods have a namespace.
func TestScope_KindWithout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, shelf := newCluster(t), newShelf[*film](&film{})
		kind := films()
		kind.Objects = func(string) backend.OwnerClient[*film] { return shelf }
		jobs, err := controller.NewJobReconciler(kindOf(kind, c, shelf.informer, c.podCache), controller.JobOptions{Common: controller.Common{Events: &c.events}})
		must.OK(t, err)
		_, err = shelf.put("create", &film{ObjectMeta: metav1.ObjectMeta{Name: "f", UID: "uid-f"}, Spec: scene(corev1.RestartPolicyNever)})
		must.OK(t, err)
		_, err = jobs.Reconcile(quiet(t), types.NamespacedName{Name: "f"})
		if err == nil || !strings.HasPrefix(err.Error(), "film f: metadata.namespace: is missing") {
			t.Errorf("error %v", err)
		}
		if got := c.events.take(); !strings.Contains(got, "Warning InvalidFilm metadata.namespace: is missing") || len(c.Actions()) > 0 {
			t.Errorf("events %s, calls %s", got, c.calls())
		}
	})
}
