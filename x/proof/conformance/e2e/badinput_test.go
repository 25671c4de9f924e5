package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/replica"
)

// badJob is a job that no server of today would accept, but that an older server may have stored.
type badJob struct {
	change func(*batchv1.Job)
	// reported is the reason of the event that warns of the job; empty if the job can be served
	// nevertheless.
	reported string
}

var badJobs = map[string]badJob{
	"negative parallelism": {func(j *batchv1.Job) { j.Spec.Parallelism = pointTo(int32(-1)) }, "InvalidJob"},
	"negative completions": {func(j *batchv1.Job) { j.Spec.Completions = pointTo(int32(-1)) }, "InvalidJob"},
	"negative deadline":    {func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = pointTo(int64(-1)) }, "InvalidJob"},
	"negative limit":       {func(j *batchv1.Job) { j.Spec.BackoffLimit = pointTo(int32(-1)) }, "InvalidJob"},
	"negative counter":     {func(j *batchv1.Job) { j.Status.Failed = -3 }, "InvalidJob"},
	"no indexes": {func(j *batchv1.Job) {
		j.Spec.CompletionMode, j.Spec.Completions = pointTo(batchv1.IndexedCompletion), nil
	}, "InvalidJob"},
	"other labels": {func(j *batchv1.Job) { j.Spec.Template.Labels = nil }, "InvalidJob"},
	"no selector":  {func(j *batchv1.Job) { j.Spec.Selector = nil }, "InvalidJob"},
	"unknown operator": {func(j *batchv1.Job) {
		j.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
	}, "InvalidJob"},
	"container without name": {func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].Name = "" }, "FailedCreate"},
	"label of 64 letters":    {func(j *batchv1.Job) { j.Spec.Template.Labels["a"] = strings.Repeat("a", 64) }, "FailedCreate"},

	"unreadable indexes": {func(j *batchv1.Job) {
		indexed(2)(&j.Spec)
		j.Status.CompletedIndexes, j.Status.StartTime = "7-3,x", &j.CreationTimestamp
	}, ""},
	"unknown mode":        {func(j *batchv1.Job) { j.Spec.CompletionMode = pointTo(batchv1.CompletionMode("Sideways")) }, "UnknownCompletionMode"},
	"unknown replacement": {func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = pointTo(batchv1.PodReplacementPolicy("Never")) }, ""},
	"unknown action":      {func(j *batchv1.Job) { podFailurePolicy("Explode", 3)(&j.Spec) }, ""},
	"unknown conditions": {func(j *batchv1.Job) {
		j.Status.Conditions = []batchv1.JobCondition{{Type: "Odd", Status: "Maybe"}, {Type: "Odd"}, {Type: batchv1.JobComplete, Status: "Maybe"}}
	}, ""},
	"uncounted twice": {func(j *batchv1.Job) {
		j.Status.StartTime = &j.CreationTimestamp
		j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{"a", "a", ""}, Failed: []types.UID{"a"}}
	}, ""},
	"unreadable annotations": {func(j *batchv1.Job) {
		indexed(2)(&j.Spec)
		perIndex(1)(&j.Spec)
		j.Spec.Template.Annotations = map[string]string{"batch.kubernetes.io/job-index-failure-count": "x", "batch.kubernetes.io/job-completion-index": "-"}
	}, ""},
	"the finalizer twice": {func(j *batchv1.Job) { j.Spec.Template.Finalizers = []string{job.Finalizer, job.Finalizer} }, ""},
	"owner that is gone": {func(j *batchv1.Job) {
		j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: "gone", UID: "gone", Controller: pointTo(true)}}
		j.Annotations = map[string]string{batchv1.CronJobScheduledTimestampAnnotation: "yesterday"}
	}, ""},
	"foreign finalizer": {func(j *batchv1.Job) { j.Finalizers = []string{"example.com/keep"} }, ""},
}

// badCronJob is a CronJob that only an older server may have stored.
type badCronJob struct {
	change   func(*batchv1.CronJob)
	reported string
}

var badCronJobs = map[string]badCronJob{
	"schedule":        {func(c *batchv1.CronJob) { c.Spec.Schedule = "every day" }, "UnparseableSchedule"},
	"zone":            {func(c *batchv1.CronJob) { c.Spec.TimeZone = pointTo("Mars/Base") }, "UnknownTimeZone"},
	"policy":          {func(c *batchv1.CronJob) { c.Spec.ConcurrencyPolicy = "Sometimes" }, "InvalidCronJob"},
	"deadline":        {func(c *batchv1.CronJob) { c.Spec.StartingDeadlineSeconds = pointTo(int64(-1)) }, "InvalidCronJob"},
	"history":         {func(c *batchv1.CronJob) { c.Spec.FailedJobsHistoryLimit = pointTo(int32(-1)) }, "InvalidCronJob"},
	"template":        {func(c *batchv1.CronJob) { c.Spec.JobTemplate.Spec.Parallelism = pointTo(int32(-1)) }, "FailedCreate"},
	"containers":      {func(c *batchv1.CronJob) { c.Spec.JobTemplate.Spec.Template.Spec.Containers = nil }, "FailedCreate"},
	"too-long-a-name": {func(c *batchv1.CronJob) { c.Name += strings.Repeat("-so", (62-len(c.Name))/3) }, "FailedCreate"},
	"active": {func(c *batchv1.CronJob) {
		c.Spec.JobTemplate.Spec.Template.Annotations = map[string]string{exitsAnnotation: "r"}
		c.Status.Active = []corev1.ObjectReference{{}, {UID: "a"}, {UID: "a", Name: "b", Namespace: "other", Kind: "Pod"}}
	}, ""},
	"future": {func(c *batchv1.CronJob) {
		c.Status.LastScheduleTime = &metav1.Time{Time: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}
	}, ""},
}

// testBadInput: each bad object is named in an event and in the log, no round repeats without end,
// and all other objects are served.
func testBadInput(t *testing.T, c *cluster) {
	p := c.newPlace(t)
	store := p.newStore()
	config := p.config()
	config.Controllers = replica.Controllers
	var requests atomic.Int32
	r := p.start(config, counts(&requests, func(q *http.Request) bool { return !isWatch(q) && !isEvent(q) }))

	reported := map[string]string{} // reasons, by the names of objects
	for what, bad := range badJobs {
		j := store.newJob(strings.ReplaceAll(what, " ", "-"))
		bad.change(j)
		store.put("jobs", j)
		reported[j.Name] = bad.reported
	}

	for what, bad := range badCronJobs {
		o := store.newCronJob("cron-" + what)
		bad.change(o)
		store.put("cronjobs", o)
		reported[o.Name] = bad.reported
	}

	store.putPods()
	p.deleteKept()
	p.badExpiry(reported)
	p.finishesGood()

	t.Run("each", func(t *testing.T) {
		for name, reason := range reported {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				(&place{t, c, p.namespace}).isReported(r, name, reason)
			})
		}
		for _, name := range []string{"of-nobody", "of-a-job-that-is-gone"} {
			t.Run("pod "+name, func(t *testing.T) {
				t.Parallel()
				p := &place{t, c, p.namespace}
				p.until("it has lost the finalizer", func() bool { return !slices.Contains(p.pod(name).Finalizers, job.Finalizer) })
			})
		}
	})

	p.isQuiet(r, &requests, len(reported))
	p.finishesGood()
}

// isReported waits until an event and a line of the log name a bad object. If the object is a job
// that can be served, isReported waits for the end of the job instead.
func (p *place) isReported(r *process, name, reason string) {
	p.Helper()
	if reason == "" && !strings.HasPrefix(name, "cron-") {
		p.awaitEnd(name)
	}
	if reason == "" {
		return
	}
	p.until("event "+reason, func() bool { return p.reports(name, reason) })
	p.until("a line of the log", func() bool {
		return r.log.count(p.namespace+"/"+name, "failed") > 0 || r.log.count(p.namespace+"/"+name, reason) > 0
	})
}

// isQuiet checks that a controller does not work on bad objects all the time.
func (p *place) isQuiet(r *process, requests *atomic.Int32, objects int) {
	p.Helper()
	const window = 10 * time.Second
	before, retried := requests.Load(), r.retries()
	<-time.After(window)
	made, again := int(requests.Load()-before), r.retries()-retried
	p.Logf("%d objects: %d requests and %v repeated rounds in %v", objects, made, again, window)
	if made > 2*objects {
		p.Errorf("%d requests for %d bad objects in %v", made, objects, window)
	}
	if again > float64(2*objects) {
		p.Errorf("%v repeated rounds for %d bad objects in %v", again, objects, window)
	}
}

// retries returns how often rounds were repeated, according to the metric of the work queues.
func (r *process) retries() (n float64) {
	r.Helper()
	families, err := r.Registry.Gather()
	must.OK(r, err)
	for _, family := range families {
		if family.GetName() == "workqueue_retries_total" {
			for _, m := range family.Metric {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}

// finishesGood runs a valid job and a valid CronJob.
func (p *place) finishesGood() {
	p.Helper()
	name := "good-" + string(uuid.NewUUID())[:8]
	p.create(jobOf(name, "0,10,0", indexed(3)))
	p.createMissed(name, 3, nil)
	p.awaitSuccess(name, 3, 1)
	p.until("the CronJob's job has ended", func() bool { return p.cronJob(name).Status.LastSuccessfulTime != nil })
}

// badExpiry creates a finished job without the time of its end.
func (p *place) badExpiry(reported map[string]string) {
	p.Helper()
	p.create(jobOf("never-expires", "", func(s *batchv1.JobSpec) {
		s.TTLSecondsAfterFinished, s.ManagedBy = pointTo(int32(0)), pointTo(name)
		s.Suspend = pointTo(true)
	}))
	p.finish("never-expires", metav1.Time{})
	reported["never-expires"] = "UnknownExpiry"
}

// deleteKept deletes a running job that another client's finalizer keeps.
func (p *place) deleteKept() {
	p.Helper()
	j := jobOf("kept", "r", nil)
	j.Finalizers = []string{"example.com/keep"}
	p.create(j)
	p.await("kept", "a running pod", running(1))
	background := metav1.DeletePropagationBackground
	must.OK(p, p.BatchV1().Jobs(p.namespace).Delete(p.Context(), "kept", metav1.DeleteOptions{PropagationPolicy: &background}))
}

// reports reports whether an event warns of an object.
func (p *place) reports(name, reason string) bool {
	p.Helper()
	list, err := p.CoreV1().Events(p.namespace).List(p.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + name + ",reason=" + reason})
	must.OK(p, err)
	return len(list.Items) > 0 && list.Items[0].Type == corev1.EventTypeWarning
}

// store writes objects into the server's storage, without its validation.
type store struct {
	*place
	etcd *clientv3.Client
}

func (p *place) newStore() *store {
	p.Helper()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{p.Server.Etcd}})
	must.OK(p, err)
	p.Cleanup(func() { etcd.Close() })
	return &store{p, etcd}
}

// put stores an object as a server without validation would.
func (s *store) put(resource string, o metav1.Object) {
	s.Helper()
	data, err := json.Marshal(o)
	must.OK(s, err)
	if _, err := s.etcd.Put(s.Context(), path.Join("/registry", resource, s.namespace, o.GetName()), string(data)); err != nil {
		s.Fatal(err)
	}
}

func (s *store) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: s.namespace, UID: uuid.NewUUID(), CreationTimestamp: metav1.Now(), Generation: 1}
}

// newJob returns a job as the server stores it.
func (s *store) newJob(name string) *batchv1.Job {
	j := jobOf(name, "0", nil)
	j.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
	j.ObjectMeta = s.meta(name)
	labels := map[string]string{"batch.kubernetes.io/controller-uid": string(j.UID)}
	j.Spec.Selector, j.Spec.Template.Labels = &metav1.LabelSelector{MatchLabels: labels}, map[string]string{"batch.kubernetes.io/controller-uid": string(j.UID), "job-name": name}
	j.Spec.Parallelism, j.Spec.Completions, j.Spec.BackoffLimit = pointTo(int32(1)), pointTo(int32(1)), pointTo(int32(6))
	return j
}

func (s *store) newCronJob(name string) *batchv1.CronJob {
	return &batchv1.CronJob{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "CronJob"},
		ObjectMeta: s.meta(name),
		Spec:       batchv1.CronJobSpec{Schedule: "0 0 1 1 *", ConcurrencyPolicy: batchv1.AllowConcurrent, JobTemplate: batchv1.JobTemplateSpec{Spec: jobOf("", "0", nil).Spec}},
		Status:     batchv1.CronJobStatus{LastScheduleTime: &metav1.Time{Time: time.Now().AddDate(-1, 0, -1)}},
	}
}

// putPods stores pods without an owner, and pods with an odd owner.
func (s *store) putPods() {
	s.Helper()
	pod := func(name string, change func(*corev1.Pod)) {
		o := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: s.meta(name), Spec: jobOf("", "", nil).Spec.Template.Spec}
		o.Finalizers, o.Annotations = []string{job.Finalizer}, map[string]string{exitsAnnotation: "p"}
		change(o)
		s.put("pods", o)
	}

	owner := func(version string, uid types.UID) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: version, Kind: "Job", Name: "gone", UID: uid, Controller: pointTo(true)}
	}

	pod("of-nobody", func(o *corev1.Pod) {})
	pod("of-a-job-that-is-gone", func(o *corev1.Pod) {
		o.OwnerReferences = []metav1.OwnerReference{owner("batch/v1", "gone")}
		now := metav1.Now()
		o.DeletionTimestamp, o.DeletionGracePeriodSeconds = &now, pointTo(int64(0))
		o.Finalizers = append(o.Finalizers, "example.com/keep")
	})
	pod("of-a-later-version", func(o *corev1.Pod) { o.OwnerReferences = []metav1.OwnerReference{owner("batch/v9", "gone")} })
	pod("of-two", func(o *corev1.Pod) {
		o.OwnerReferences = []metav1.OwnerReference{owner("batch/v1", "a"), owner("batch/v1", "b")}
	})

	// The server refuses every change of this pod.
	pod("without-uid", func(o *corev1.Pod) { o.UID = "" })
	pod("of-an-odd-phase", func(o *corev1.Pod) { o.Status.Phase = "Zombie" })
}

// testUnknownFields: the server has a field of templates that the client does not know, as a server
// of a later version may. Jobs run nevertheless, and the field stays in the job.
func testUnknownFields(t *testing.T, c *cluster) {
	p := c.newPlace(t)
	var seen atomic.Int32
	p.start(p.config(), func(q *http.Request, server http.RoundTripper) (*http.Response, error) {
		q = q.Clone(q.Context())
		q.Header.Set("Accept", "application/json")
		response, err := server.RoundTrip(q)
		if err == nil && strings.Contains(q.URL.Path, "/jobs") {
			response.Body = newLater(response.Body, &seen)
			response.ContentLength = -1
			response.Header.Del("Content-Length")
		}
		return response, err
	})
	p.create(jobOf("job", "0,10,0", indexed(3)))
	p.awaitSuccess("job", 3, 1)
	if seen.Load() == 0 {
		t.Error("no template had the unknown field")
	}
}

// later is a body in which each template has a field of a later version.
type later struct {
	io.Closer
	*io.PipeReader
}

func newLater(body io.ReadCloser, seen *atomic.Int32) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		in := bufio.NewReader(body)
		for {
			line, err := in.ReadBytes('\n')
			known, unknown := []byte(`"restartPolicy":"Never"`), []byte(`"restartPolicy":"Never","futureField":{"a":[1,null]}`)
			seen.Add(int32(bytes.Count(line, known)))
			if _, e := w.Write(bytes.ReplaceAll(line, known, unknown)); e != nil {
				return
			}
			if err != nil {
				w.CloseWithError(err)
				return
			}
		}
	}()
	return &later{body, r}
}

// Close implements io.Closer.
func (l *later) Close() error {
	l.PipeReader.Close()
	return l.Closer.Close()
}
