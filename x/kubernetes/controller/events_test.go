//go:build go1.25

package controller_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// asks is a queue that records the keys that are added, as "name delay".
type asks struct{ got []string }

func (q *asks) Add(key types.NamespacedName) { q.AddAfter(key, 0) }
func (q *asks) AddAfter(key types.NamespacedName, d time.Duration) {
	q.got = append(q.got, fmt.Sprintf("%s %v", key.Name, d))
}

// take returns the records since the last call, sorted.
func (q *asks) take() string {
	slices.Sort(q.got)
	out := strings.Join(q.got, ", ")
	q.got = nil
	return out
}

// told records what the metrics of jobs receive.
type told struct {
	all    []string
	rounds []time.Duration
}

func (m *told) metrics() controller.JobMetrics {
	note := func(text string) { m.all = append(m.all, text) }
	return controller.JobMetrics{
		Round:    func(r controller.JobRound) { m.rounds = append(m.rounds, r.Took) },
		Tracking: note,
		External: note,
		Stale:    func(cache schema.GroupResource) { note(cache.String()) },
	}
}

// jobDesk is a Job controller whose caches the test fills.
type jobDesk struct {
	*cluster
	*controller.Jobs
	queue        asks
	told         told
	reports      *reports
	owners, pods cache.Indexer
	jobs, events cache.ResourceEventHandler
}

func newJobDesk(t *testing.T, o controller.JobOptions, cached ...*batchv1.Job) *jobDesk {
	t.Helper()
	c := newCluster(t)
	d := &jobDesk{cluster: c, reports: &c.events, owners: c.jobCache.GetIndexer(), pods: c.podCache.GetIndexer()}
	o.ManagedBy, o.Metrics, o.Events = mine, d.told.metrics(), d.reports
	jobs, err := controller.NewJobReconciler(kindOf(controller.BatchJobs(c, nil), c, c.jobCache, c.podCache), o)
	must.OK(t, err)
	for _, j := range cached {
		must.OK(t, errors.Join(d.owners.Add(j), c.Tracker().Add(j.DeepCopy())))
	}
	d.Jobs, d.jobs, d.events = jobs, jobs.OwnerEvents(&d.queue), jobs.PodEvents(&d.queue)
	return d
}

// put stores a pod of a job in the cache and on the server.
func (d *jobDesk) put(j *batchv1.Job, name string, changes ...func(*corev1.Pod)) {
	d.Helper()
	p := tracked(name, ownedBy(j))
	p.Labels, p.CreationTimestamp = j.Spec.Template.Labels, metav1.Now()
	for _, change := range changes {
		change(p)
	}
	must.OK(d, errors.Join(d.pods.Add(p), d.Tracker().Add(p.DeepCopy())))
}

// round runs a round of a job.
func (d *jobDesk) round(name string) (next time.Time, err error) {
	unwritten(d.T, func() {
		next, err = d.Reconcile(logged(d.T, &d.log), types.NamespacedName{Namespace: "ns", Name: name})
	}, d.jobCache, d.podCache)
	return next, err
}

// tell notifies a handler of a change: an addition if old is nil, and a deletion if cur is nil.
func tell[T any](h cache.ResourceEventHandler, old, cur *T) {
	switch {
	case old == nil:
		h.OnAdd(cur, false)
	case cur == nil:
		h.OnDelete(old)
	default:
		h.OnUpdate(old, cur)
	}
}

func (d *jobDesk) want(what, want string) {
	d.Helper()
	if got := d.queue.take(); got != want {
		d.Errorf("%s: asked for %q, want %q", what, got, want)
	}
}

// TestJ43_JobEvents: when a round of a job is due after each change of it.
func TestJ43_JobEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running := newJob("j", pointTo(mine))
		running.Generation, running.ResourceVersion = 1, "1"
		running.Status.StartTime = pointTo(metav1.NewTime(time.Now().Add(-10 * time.Second)))
		changed := func(change func(*batchv1.Job)) *batchv1.Job {
			j := running.DeepCopy()
			change(j)
			return j
		}
		deadline := func(seconds int64) func(*batchv1.Job) {
			return func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds, j.Generation = &seconds, 2 }
		}

		specified := changed(func(j *batchv1.Job) { j.Generation = 2 })
		waiting := changed(func(j *batchv1.Job) { j.Status.StartTime = nil })
		waits := waiting.DeepCopy()
		deadline(60)(waits)
		ended := changed(func(j *batchv1.Job) { complete(j, 0) })

		d := newJobDesk(t, controller.JobOptions{})
		for _, test := range []struct {
			what     string
			old, cur *batchv1.Job
			want     string
		}{
			{"a job", nil, running, "j 0s"},
			{"its status", running, running, "j 1s"},
			{"its spec", running, specified, "j 0s"},
			{"its end", running, ended, ""},
			{"a deadline", running, changed(deadline(60)), "j 0s, j 50s"},
			{"another deadline", changed(deadline(30)), changed(deadline(60)), "j 1s, j 50s"},
			{"the same deadline", changed(deadline(60)), changed(deadline(60)), "j 1s"},
			{"no deadline", changed(deadline(60)), running, "j 0s"},
			{"the deadline of a job that has not started", waiting, waits, "j 0s"},
			{"a deletion", ended, nil, "j 0s"},
		} {
			tell(d.jobs, test.old, test.cur)
			d.want(test.what, test.want)
		}

		d.jobs.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/j", Obj: ended})
		d.want("a deletion that was missed", "j 0s")
		d.jobs.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/j"})
		d.want("a deletion of an object that nobody knows", "")

		for _, by := range []*string{nil, pointTo(mine), pointTo("example.com/other")} {
			d.jobs.OnAdd(newJob("k", by), false)
		}
		if !slices.Equal(d.told.all, []string{"example.com/other"}) {
			t.Errorf("jobs of other controllers: %q", d.told.all)
		}
	})
}

// TestJ43_PodEvents: which job has a round after a change of a pod.
func TestJ43_PodEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, k, ended := newJob("j", pointTo(mine)), newJob("k", pointTo(mine)), newJob("ended", pointTo(mine))
		complete(ended, 0)
		d := newJobDesk(t, controller.JobOptions{}, j, k, ended)

		of := func(j *batchv1.Job, changes ...func(*corev1.Pod)) *corev1.Pod {
			p := podIn("ns", j, corev1.PodRunning)
			for _, change := range changes {
				change(p)
			}
			return p
		}

		free := func(p *corev1.Pod) { p.OwnerReferences = nil }
		unmatched := func(p *corev1.Pod) { p.Labels = nil }
		leaving := func(p *corev1.Pod) { p.DeletionTimestamp = pointTo(metav1.Now()) }
		for _, other := range []*batchv1.Job{j, k} { // pods that keep running
			for range 3 {
				d.events.OnAdd(of(other), false)
			}
		}
		d.queue.take()

		stranger := func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "ReplicaSet" }
		namesake := func(p *corev1.Pod) { p.OwnerReferences[0].UID = "earlier" }

		for _, test := range []struct {
			what     string
			old, cur *corev1.Pod // no old: an addition; no cur: a deletion
			want     string
		}{
			{"a pod of the job", nil, of(j), "j 1s"},
			{"a pod of an earlier job of the name", nil, of(j, namesake), ""},
			{"a pod of another kind", nil, of(j, stranger), ""},
			{"an orphan that matches", nil, of(j, free), "j 1s"},
			{"an orphan that does not", nil, of(j, free, unmatched), ""},
			{"a pod that is leaving", nil, of(j, leaving), "j 1s"},
			{"a pod of a job that has ended leaves", nil, of(ended, leaving), ""},
			{"a change", of(j), of(j), "j 1s"},
			{"a change of an orphan", of(j, free), of(j, free), ""},
			{"an orphan matches now", of(j, free, unmatched), of(j, free), "j 1s"},
			{"an orphan matches another job now", of(j, free), of(k, free), "k 1s"},
			{"a job loses it", of(j), of(j, free, unmatched), "j 1s"},
			{"a job loses it, and it matches", of(j), of(j, free), "j 1s, j 1s"},
			{"another job has it", of(j), of(k), "j 1s, k 1s"},
			{"a job takes it", of(j, free), of(j), "j 1s"},
			{"it begins to leave", of(j), of(j, leaving), "j 1s"},
			{"it leaves a job that has ended", of(ended), of(ended, leaving), ""},
			{"it is gone", of(j), nil, "j 1s"},
			{"an orphan is gone", of(j, free), nil, ""},
		} {
			tell(d.events, test.old, test.cur)
			d.want(test.what, test.want)
		}

		d.events.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/pod", Obj: of(j)})
		d.want("a deletion that was missed", "j 1s")
	})
}

// TestJ43_LastPod: a round does not wait for more changes of pods when the last pod of the job has
// ended, unless a pod that the job has created is still to be seen.
func TestJ43_LastPod(t *testing.T) {
	j, earlier := newJob("j", pointTo(mine)), newJob("j", pointTo(mine))
	j.Spec.Parallelism, j.Spec.Completions = pointTo[int32](2), pointTo[int32](2)
	earlier.UID = "earlier"
	runs, succeeds := podIn("ns", j, corev1.PodRunning), podIn("ns", j, corev1.PodSucceeded)
	fails := podIn("ns", j, corev1.PodFailed)
	old, oldEnds := podIn("ns", earlier, corev1.PodRunning), podIn("ns", earlier, corev1.PodSucceeded)
	leaves, free, freed := runs.DeepCopy(), runs.DeepCopy(), succeeds.DeepCopy()
	leaves.DeletionTimestamp, free.OwnerReferences, freed.Finalizers = pointTo(metav1.Now()), nil, nil
	free.Labels = nil
	stranger, strangerEnds := runs.DeepCopy(), succeeds.DeepCopy()
	stranger.OwnerReferences[0].Kind, strangerEnds.OwnerReferences[0].Kind = "ReplicaSet", "ReplicaSet"
	none := (*corev1.Pod)(nil)

	type change [2]*corev1.Pod
	add := change{none, runs}
	coarse := controller.JobOptions{Planner: job.Options{Quirks: jobquirk.SetOf(jobquirk.CoarseRequeue)}}

	for _, test := range []struct {
		what    string
		round   bool          // a round has created two pods before
		after   time.Duration // since then
		options controller.JobOptions
		changes []change
		want    string // what the last change asks for
	}{
		{what: "the last pod succeeds", changes: []change{add, {runs, succeeds}}, want: "j 0s"},
		{what: "the last pod fails", changes: []change{add, {runs, fails}}, want: "j 0s"},
		{what: "another pod runs", changes: []change{add, add, {runs, succeeds}}, want: "j 1s"},
		{what: "the other pod ends", changes: []change{add, add, {runs, succeeds}, {runs, fails}}, want: "j 0s"},
		{what: "it can still end", changes: []change{add, {runs, leaves}}, want: "j 1s"},
		{what: "it ends while it is leaving", changes: []change{{none, leaves}, {leaves, succeeds}}, want: "j 0s"},
		{what: "it is gone without an end", changes: []change{add, {leaves, none}}, want: "j 1s"},
		{what: "the other is gone before", changes: []change{add, add, {leaves, none}, {runs, succeeds}}, want: "j 0s"},
		{what: "it had ended before", changes: []change{{none, succeeds}, {succeeds, freed}}, want: "j 1s"},
		{what: "it had ended before it was gone", changes: []change{{none, succeeds}, {succeeds, none}}, want: "j 1s"},
		{what: "it is first seen when it has ended", changes: []change{{none, succeeds}}, want: "j 1s"},
		{what: "it is another's now", changes: []change{add, {runs, free}}, want: "j 1s"},
		{what: "the other is another's before", changes: []change{add, add, {runs, free}, {runs, succeeds}}, want: "j 0s"},
		{what: "an earlier job's pod runs", changes: []change{add, {none, old}, {runs, succeeds}}, want: "j 0s"},
		{what: "the last pod of an earlier job", changes: []change{{none, old}, {old, oldEnds}}},
		{what: "a pod of another kind", changes: []change{{none, stranger}, {stranger, strangerEnds}}},
		{what: "another pod after it", changes: []change{add, {runs, succeeds}, add}, want: "j 0s, j 1s"},
		{what: "all creations are seen", round: true, changes: []change{add, add, {runs, fails}, {runs, succeeds}},
			want: "j 0s"},
		{what: "a creation is not seen", round: true, changes: []change{add, {runs, succeeds}}, want: "j 1s"},
		{what: "a creation is not seen for long", round: true, after: expectations.Timeout - 1,
			changes: []change{add, {runs, succeeds}}, want: "j 1s"},
		{what: "a creation is not waited for any more", round: true, after: expectations.Timeout,
			changes: []change{add, {runs, succeeds}}, want: "j 0s"},
		{what: "the quirk", options: coarse, changes: []change{add, {runs, succeeds}}, want: "j 1s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			clock := testingclock.NewFakeClock(time.Now())
			test.options.Clock = clock
			d := newJobDesk(t, test.options, j)
			if test.round {
				_, err := d.round("j")
				must.OK(t, err)
			}
			clock.Step(test.after)
			for _, c := range test.changes {
				d.queue.take()
				tell(d.events, c[0], c[1])
			}
			d.want(test.what, test.want)
		})
	}
}

// TestJ43_LastPodEarly: if the last pod ends before the caches show the controller's own writes, the
// round begins as soon as they do, and only once.
func TestJ43_LastPodEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newJobDesk(t, controller.JobOptions{}, newJob("j", pointTo(mine)))
		d.version()
		_, err := d.round("j")
		must.OK(t, err)

		runs := d.pod("j-1")
		d.events.OnAdd(runs, false)
		d.queue.take()
		ended := runs.DeepCopy()
		ended.Status.Phase = corev1.PodSucceeded
		d.events.OnUpdate(runs, ended)
		d.want("the last pod", "j 0s")

		if _, err := d.round("j"); !controller.IsExpected(err) {
			t.Errorf("the status is not seen, and the round ends with %v", err)
		}
		d.events.OnUpdate(ended, ended)
		d.want("another change of the pod", "j 1s")

		written := d.job("j")
		d.jobs.OnUpdate(newJob("j", pointTo(mine)), written)
		d.want("the status", "j 0s, j 1s")
		d.show(written, ended)
		_, err = d.round("j")
		must.OK(t, err)
		d.jobs.OnUpdate(written, d.job("j"))
		d.want("the end of the job", "")
		d.events.OnUpdate(ended, d.pod("j-1"))
		d.want("the end of the pod is recorded", "j 1s")
	})
}

// TestJ42_TrackedPods: a pod counts once when it has ended with the finalizer, and once more when
// it loses the finalizer.
func TestJ42_TrackedPods(t *testing.T) {
	j := newJob("j", pointTo(mine))
	d := newJobDesk(t, controller.JobOptions{}, j)
	pod := func(phase corev1.PodPhase, tracked bool) *corev1.Pod {
		p := podIn("ns", j, phase)
		if !tracked {
			p.Finalizers = nil
		}
		return p
	}

	for _, phase := range []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed} {
		d.told.all = nil
		d.events.OnAdd(pod(corev1.PodRunning, true), false)
		d.events.OnUpdate(pod(corev1.PodRunning, true), pod(corev1.PodRunning, false))
		d.events.OnUpdate(pod(corev1.PodRunning, false), pod(phase, false))
		d.events.OnUpdate(pod(corev1.PodRunning, true), pod(phase, true))
		d.events.OnUpdate(pod(phase, true), pod(phase, true))
		d.events.OnUpdate(pod(phase, true), pod(phase, false))
		if want := []string{"add", "delete"}; !slices.Equal(d.told.all, want) {
			t.Errorf("%s: %q, want %q", phase, d.told.all, want)
		}

		d.events.OnDelete(pod(phase, false))
		d.events.OnAdd(pod(phase, false), false)
		if len(d.told.all) != 2 {
			t.Errorf("%s: %q before the finalizer comes back", phase, d.told.all)
		}

		d.events.OnAdd(pod(phase, true), false)
		d.events.OnDelete(pod(phase, true))
		if want := []string{"add", "delete", "add", "delete"}; !slices.Equal(d.told.all, want) {
			t.Errorf("%s: %q, want %q", phase, d.told.all, want)
		}
	}
}

// TestJobs_BatchDelay: the options set how long a round waits for more changes.
func TestJobs_BatchDelay(t *testing.T) {
	j := newJob("j", pointTo(mine))
	d := newJobDesk(t, controller.JobOptions{BatchDelay: 3 * time.Second}, j)
	d.jobs.OnUpdate(j, j)
	d.want("its status", "j 3s")
	d.events.OnAdd(podIn("ns", j, corev1.PodRunning), false)
	d.want("a pod", "j 3s")
}

// TestC17_CronJobEvents: when a round of a CronJob is due after each change of it and of its jobs.
func TestC17_CronJobEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, queue := newCronDesk(t, controller.CronJobOptions{}), &asks{}
		object := newCronJob("c", "0 * * * *", batchv1.AllowConcurrent)
		must.OK(t, d.cronJobs.Add(object))
		want := func(what, want string) {
			t.Helper()
			if got := queue.take(); got != want {
				t.Errorf("%s: asked for %q, want %q", what, got, want)
			}
		}
		changed := func(change func(*batchv1.CronJob)) *batchv1.CronJob {
			o := object.DeepCopy()
			change(o)
			return o
		}
		zone := func(name string) *batchv1.CronJob {
			return changed(func(o *batchv1.CronJob) { o.Spec.TimeZone = &name })
		}
		schedule := func(text string) *batchv1.CronJob {
			return changed(func(o *batchv1.CronJob) { o.Spec.Schedule = text })
		}
		every := schedule("@every 90s")
		every.Spec.StartingDeadlineSeconds = pointTo[int64](30)
		older, unstored := every.DeepCopy(), schedule("@hourly")
		older.CreationTimestamp, unstored.UID = metav1.NewTime(time.Now().Add(-10*time.Minute)), ""
		h := d.CronJobEvents(queue)
		for _, test := range []struct {
			what     string
			old, cur *batchv1.CronJob
			want     string
		}{
			{"a CronJob", nil, object, "c 0s"},
			{"its spec", object, changed(func(o *batchv1.CronJob) { o.Spec.Suspend = pointTo(true) }), "c 0s"},
			{"its schedule", object, schedule("30 * * * *"), "c 30m0.1s"},
			{"its zone", object, zone("Asia/Kathmandu"), "c 15m0.1s"},
			{"the same zone", zone("Asia/Kathmandu"), zone("Asia/Kathmandu"), "c 0s"},
			{"a schedule that does not parse", object, schedule("soon"), "c 0s"},
			{"@every with a deadline", object, every, "c 1m30.1s"},
			{"@every of an older one with a deadline", object, older, "c 30.1s"},
			{"a CronJob that no server has stored", object, unstored, ""},
			{"a deletion", object, nil, "c 0s"},
		} {
			tell(h, test.old, test.cur)
			want(test.what, test.want)
		}
		h.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/c", Obj: object})
		want("a deletion that was missed", "c 0s")

		h = d.JobEvents(queue)
		mineToo, other := jobElsewhere("j", object), newJob("j", nil)
		mineToo.Namespace = "ns"
		earlier, kind := mineToo.DeepCopy(), mineToo.DeepCopy()
		earlier.OwnerReferences[0].UID, kind.OwnerReferences[0].Kind = "earlier", "Job"
		for _, j := range []*batchv1.Job{other, earlier, kind, jobElsewhere("j", object)} {
			h.OnAdd(j, false)
			h.OnUpdate(j, j)
			h.OnDelete(j)
		}
		want("jobs of others", "")
		for _, test := range []struct {
			what     string
			old, cur *batchv1.Job
		}{
			{"a job", nil, mineToo}, {"a change", mineToo, mineToo}, {"a job that another has now", mineToo, other},
			{"a job that was another's", other, mineToo}, {"a job is gone", mineToo, nil},
		} {
			tell(h, test.old, test.cur)
			want(test.what, "c 0s")
		}
		h.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/j", Obj: mineToo})
		want("a deletion that was missed", "c 0s")
	})
}

// TestC17_Jitter: the next run of a new schedule depends on the options of the planner.
func TestC17_Jitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		delays := map[time.Duration]string{}
		for _, jitter := range []time.Duration{0, 30 * time.Minute} {
			d := newCronDesk(t, controller.CronJobOptions{Planner: cronjob.Options{Jitter: jitter}})
			queue := &asks{}
			d.CronJobEvents(queue).OnUpdate(newCronJob("c", "0 0 * * *", batchv1.AllowConcurrent), newCronJob("c", "@hourly", batchv1.AllowConcurrent))
			delays[jitter] = queue.take()
		}
		if delays[0] != "c 1h0m0.1s" || delays[30*time.Minute] == delays[0] || delays[30*time.Minute] == "" {
			t.Errorf("asked for %q", delays)
		}
	})
}

// TestPodEvents_WithoutIndex: an orphan wakes the jobs that could adopt it, even if the informer
// has no index by namespace.
func TestPodEvents_WithoutIndex(t *testing.T) {
	inStudio(t, films(), controller.JobOptions{}, film{Spec: scene(corev1.RestartPolicyNever)}, func(s *studio) {
		queue := &asks{}
		pod := tracked("p", nil)
		pod.Labels = map[string]string{batchv1.ControllerUidLabel: "uid-f"}
		s.jobs.PodEvents(queue).OnAdd(pod, false)
		if got := queue.take(); got != "f 1s" {
			t.Errorf("asked for %q", got)
		}
		pod.Namespace = "another"
		s.jobs.PodEvents(queue).OnAdd(pod, false)
		if got := queue.take(); got != "" {
			t.Errorf("in another namespace: asked for %q", got)
		}
	})
}
