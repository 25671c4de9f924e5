package costs

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/releases"
	"github.com/batchplan/batchplan/x/trace"
)

var (
	transitions = flag.Int("transitions", 100, "steps of objects that a log of TestTraces must have, for each side")
	logs        = flag.String("logs", "", "folder for the logs of TestTraces")
	planting    = flag.Bool("plant", false, "also plant bugs into the logs of TestTraces")
	traceSeed   = flag.Uint64("seed", 1, "seed of what users and pods do in TestTraces")
)

// TestTraces checks logs of a real API server with the controllers of Kubernetes, and with ours,
// while pods fail and are deleted, the controllers restart, users suspend, scale and delete jobs,
// and namespaces end. Package x/trace must find nothing in these logs. With -plant, bugs are
// planted into the logs, and x/trace must find each bug. A binary with an older release of Kubernetes
// records only its controllers, since ours are the same.
func TestTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a real API server")
	}

	l := newLab(t)
	for _, s := range sides {
		if s != reference && compiled(t) != release.Newest() {
			continue
		}
		t.Run(string(s), func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			r := l.record(t, s)
			var found []trace.Finding
			summary := r.check(t, func(f trace.Finding) {
				if !isRestart(f) { // the test restarts it
					found = append(found, f)
				}
			})
			t.Logf("%d transitions of %d jobs, %d pods and %d CronJobs in %v: %+v", summary.Transitions, summary.Jobs, summary.Pods, summary.CronJobs,
				time.Since(began).Round(time.Second), summary)

			for _, f := range found {
				t.Errorf("%v", f)
			}
			if len(found) == 0 && *planting {
				r.plantAll(t)
			}
			if summary.Transitions < *transitions || summary.Unreadable > 0 || summary.CronJobs == 0 {
				t.Errorf("too little was read: %+v", summary)
			}
		})
	}
}

// recording is a folder of logs, one for each kind.
type recording struct {
	folder string
	lines  atomic.Int64
}

// watched holds the API path of each kind.
var watched = map[string]string{
	"jobs":       "/apis/batch/v1",
	"cronjobs":   "/apis/batch/v1",
	"pods":       "/api/v1",
	"namespaces": "/api/v1",
}

// start watches a kind in a namespace, or all namespaces, until the context ends. It writes the
// server's lines to the log.
func (r *recording) start(ctx context.Context, t *testing.T, config *rest.Config, namespace, resource string) (done chan error) {
	t.Helper()
	config = rest.CopyConfig(config)
	config.ContentConfig = rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json", NegotiatedSerializer: scheme.Codecs.WithoutConversion()}

	client, err := rest.UnversionedRESTClientFor(config)
	must.OK(t, err)
	request := client.Get().AbsPath(watched[resource]).NamespaceIfScoped(namespace, resource != "namespaces")
	in, err := request.Resource(resource).Param("watch", "true").Stream(ctx)
	must.OK(t, err)

	out, err := os.Create(filepath.Join(r.folder, resource+".json"))
	must.OK(t, err)

	done = make(chan error, 1)
	go func() {
		defer in.Close()
		defer out.Close()
		lines := bufio.NewReader(in)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				if ctx.Err() != nil || err == io.EOF {
					err = nil
				}
				done <- err
				return
			}
			if _, err := out.Write(line); err != nil {
				done <- err
				return
			}
			r.lines.Add(1)
		}
	}()

	return done
}

// kinds names the logs of a recording.
var kinds = []string{"cronjobs", "jobs", "namespaces", "pods"}

func (r *recording) check(t *testing.T, report func(trace.Finding)) trace.Summary {
	t.Helper()
	var inputs []trace.Log
	for _, resource := range kinds {
		f, err := os.Open(filepath.Join(r.folder, resource+".json"))
		must.OK(t, err)
		defer f.Close()
		inputs = append(inputs, trace.Log{Name: resource + ".json", Reader: f})
	}
	return checkLogs(t, inputs, report)
}

func checkLogs(t *testing.T, inputs []trace.Log, report func(trace.Finding)) trace.Summary {
	t.Helper()
	o := trace.Options{Release: compiled(t), Controllers: []string{*recommended.managedBy()}}
	summary, err := trace.Check(o, report, inputs...)
	must.OK(t, err)
	return summary
}

// compiled returns the release of Kubernetes that the binary has.
func compiled(t *testing.T) release.Release {
	t.Helper()
	r, err := releases.Choose("", nil)
	must.OK(t, err)
	return r
}

// isRestart reports whether a restart of the controller explains a finding.
func isRestart(f trace.Finding) bool { return strings.Contains(f.Unless, "restarted") }

// record runs a side with random jobs until the log is long enough.
func (l *lab) record(t *testing.T, s side) *recording {
	t.Helper()
	r := &recording{folder: t.TempDir()}
	if *logs != "" {
		r.folder = filepath.Join(*logs, string(s))
		must.OK(t, os.MkdirAll(r.folder, 0o755))
	}
	namespace := s.namespaceOf("traces")
	l.makeNamespace(t, namespace)
	ctx, cancel := context.WithCancel(t.Context())
	var ended []chan error
	for resource := range watched {
		ended = append(ended, r.start(ctx, t, l.Config, namespace, resource))
	}
	p := l.start(t, s, namespace, 5)
	life := &randomLife{lab: l, T: t, side: s, namespace: namespace, rand: rand.New(rand.NewPCG(*traceSeed, 0))}
	// An object's first and last version are in the log, but are not transitions.
	for r.lines.Load() < int64(*transitions)*3/2+200 {
		if life.isOneOf(1000) { // it is restarted
			p.stop()
			p = l.start(t, s, namespace, 5)
		}
		life.step()
		time.Sleep(100 * time.Millisecond)
	}
	p.stop()
	cancel()
	for _, done := range ended {
		if err := <-done; err != nil {
			t.Errorf("watch: %v", err)
		}
	}
	return r
}

// randomLife plays kubelets and users, who act at random in a namespace.
type randomLife struct {
	*lab
	*testing.T
	side      side
	namespace string
	rand      *rand.Rand
	made      int
	// ending counts the steps since the deletion of the namespace, or is 0.
	ending int
}

// specs are the beginnings of specs of jobs.
var specs = []string{
	`"parallelism":3,"completions":6,`,
	`"parallelism":2,"completions":4,"backoffLimit":1,`,
	`"parallelism":4,"completions":8,"completionMode":"Indexed",`,
	`"parallelism":5,"completions":5,"completionMode":"Indexed","backoffLimitPerIndex":1,"maxFailedIndexes":3,`,
	`"parallelism":4,"completions":5,"podReplacementPolicy":"Failed",`,
	`"parallelism":3,`,
	`"parallelism":2,"completions":3,"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[3]}}]},`,
	`"parallelism":4,"completions":6,"completionMode":"Indexed","successPolicy":{"rules":[{"succeededCount":3}]},`,
	`"parallelism":2,"completions":4,"activeDeadlineSeconds":8,`,
	`"parallelism":2,"completions":3,"suspend":true,`,
	`"parallelism":2,"completions":2,"ttlSecondsAfterFinished":5,`,
	`"parallelism":10,"completions":20,`,
	`"parallelism":3,"completions":3,"completionMode":"Indexed",`, // elastic, as user changes it
	`"parallelism":3,"completions":4,"podFailurePolicy":{"rules":[` +
		`{"action":"Ignore","onExitCodes":{"operator":"In","values":[1,2]}},{"action":"FailJob","onExitCodes":{"operator":"In","values":[3]}}]},`,
	`"parallelism":4,"completions":4,"completionMode":"Indexed","backoffLimitPerIndex":1,"podFailurePolicy":{"rules":[` +
		`{"action":"FailIndex","onExitCodes":{"operator":"In","values":[1]}},{"action":"Ignore","onExitCodes":{"operator":"In","values":[2]}}]},`,
}

func (x *randomLife) isOneOf(n int) bool { return x.rand.IntN(n) == 0 }

// step makes one round of random changes.
func (x *randomLife) step() {
	all, crons := x.jobsOf(x.namespace), x.cronJobsOf()
	pods := x.podsOf(x.namespace)

	owners := make(map[types.UID]bool)
	for _, c := range crons {
		owners[c.UID] = c.DeletionTimestamp == nil
		x.cronUser(&c)
	}
	running := 0
	for _, j := range all {
		owners[j.UID] = j.DeletionTimestamp == nil
		if !hasEnded(j) {
			running++
		}
		x.user(j)
		if x.isLeft(j, owners) {
			x.deleteJob(j)
		}
	}
	for _, pod := range pods {
		if x.isLeft(pod, owners) {
			x.check(x.CoreV1().Pods(pod.Namespace).Delete(x.Context(), pod.Name, metav1.DeleteOptions{}))
		}
		x.check(x.kubelet(pod))
	}

	if x.ending > 0 || x.isOneOf(1000) {
		x.endNamespace(len(all) + len(crons) + len(pods))
		return
	}
	if len(crons) < 6 {
		x.makeCronJobs()
	}
	if running < 16 {
		x.made++
		j := jobOf(x.T, x.side, specs[x.rand.IntN(len(specs))])
		j.Name = fmt.Sprintf("job-%04d", x.made)
		_, err := x.BatchV1().Jobs(x.namespace).Create(x.Context(), j, metav1.CreateOptions{})
		x.check(err)
	}
}

// isLeft reports whether the garbage collector deletes an object, since the object's owner is gone
// or waits for the object to go.
func (x *randomLife) isLeft(o metav1.Object, owners map[types.UID]bool) bool {
	ref := metav1.GetControllerOf(o)
	return ref != nil && o.GetDeletionTimestamp() == nil && !owners[ref.UID]
}

// endNamespace deletes the namespace, and what is in it some steps later, as the namespace
// controller does. Meanwhile the server refuses creations. Once nothing is left, it makes the
// namespace again.
func (x *randomLife) endNamespace(left int) {
	ctx, namespaces := x.Context(), x.CoreV1().Namespaces()
	switch x.ending++; {
	case x.ending == 1:
		x.check(namespaces.Delete(ctx, x.namespace, metav1.DeleteOptions{}))
	case x.ending < 30:
	case left > 0:
		what := metav1.ListOptions{}
		x.check(x.BatchV1().CronJobs(x.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, what))
		x.check(x.BatchV1().Jobs(x.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, what))
		x.check(x.CoreV1().Pods(x.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, what))
	default:
		n, err := namespaces.Get(ctx, x.namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			x.makeNamespace(x.T, x.namespace)
			x.ending = 0
			return
		}
		x.check(err)
		n.Spec.Finalizers = nil
		_, err = namespaces.Finalize(ctx, n, metav1.UpdateOptions{})
		x.check(err)
	}
}

// check fails the test, unless the error means that the object has changed, is gone or exists, or
// that the namespace ends.
func (x *randomLife) check(err error) {
	has := apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
	ends := apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
	if err != nil && !has && !ends {
		x.Errorf("%v", err)
	}
}

func hasEnded(j *batchv1.Job) bool {
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// kubelet moves a pod by one step.
func (x *randomLife) kubelet(pod *corev1.Pod) error {
	ctx := x.Context()
	switch {
	case pod.DeletionTimestamp != nil && isOver(pod):
		return x.collect(ctx, pod)
	case pod.DeletionTimestamp != nil && x.isOneOf(5):
		return x.exit(ctx, pod, int32(x.rand.IntN(2))*137)
	case pod.DeletionTimestamp != nil || isOver(pod):
		return nil
	case pod.Spec.NodeName == "":
		return x.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: "node"},
		}, metav1.CreateOptions{})
	case pod.Status.Phase == corev1.PodPending && x.isOneOf(3):
		return x.run(ctx, pod)
	case pod.Status.Phase == corev1.PodRunning && x.isOneOf(10):
		code := int32(0)
		if x.isOneOf(4) {
			code = 1 + int32(x.rand.IntN(3))
		}
		return x.exit(ctx, pod, code)
	case x.isOneOf(300):
		return x.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})
	}
	return nil
}

// user changes a job now and then.
func (x *randomLife) user(j *batchv1.Job) {
	var patch string
	switch suspended := j.Spec.Suspend != nil && *j.Spec.Suspend; {
	case j.DeletionTimestamp != nil:
		x.collectJob(j)
		return
	case hasEnded(j) && x.isOneOf(100), x.isOneOf(2000):
		x.deleteJob(j)
		return
	case hasEnded(j):
		return
	case suspended && x.isOneOf(30), x.isOneOf(300):
		patch = fmt.Sprintf(`{"spec":{"suspend":%t}}`, !suspended)
	case isElastic(j) && x.isOneOf(100):
		n := 1 + x.rand.IntN(6)
		patch = fmt.Sprintf(`{"spec":{"parallelism":%d,"completions":%[1]d}}`, n)
	case x.isOneOf(300):
		patch = fmt.Sprintf(`{"spec":{"parallelism":%d}}`, 1+x.rand.IntN(6))
	default:
		return
	}
	_, err := x.BatchV1().Jobs(j.Namespace).Patch(x.Context(), j.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	x.check(err)
}

func (x *randomLife) deleteJob(j *batchv1.Job) {
	how := x.propagation()
	x.check(x.BatchV1().Jobs(j.Namespace).Delete(x.Context(), j.Name, metav1.DeleteOptions{PropagationPolicy: &how}))
}

// propagation draws a way of deletion: the object is gone before what it owns, or after it.
func (x *randomLife) propagation() metav1.DeletionPropagation {
	if x.isOneOf(2) {
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}

// isElastic reports whether completions may change, together with parallelism.
func isElastic(j *batchv1.Job) bool {
	s := &j.Spec
	isIndexed := s.CompletionMode != nil && *s.CompletionMode == batchv1.IndexedCompletion
	isBound := s.BackoffLimitPerIndex != nil || s.SuccessPolicy != nil
	return isIndexed && *s.Completions == *s.Parallelism && !isBound
}

// collectJob removes a job that is being deleted once its pods are gone, as the garbage collector does.
func (x *randomLife) collectJob(j *batchv1.Job) {
	for _, pod := range x.podsOf(x.namespace) {
		if ref := metav1.GetControllerOfNoCopy(pod); ref != nil && ref.UID == j.UID {
			return
		}
	}
	patch := []byte(`{"metadata":{"finalizers":null}}`)
	_, err := x.BatchV1().Jobs(j.Namespace).Patch(x.Context(), j.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	x.check(err)
}

func (x *randomLife) cronJobsOf() []batchv1.CronJob {
	list, err := x.BatchV1().CronJobs(x.namespace).List(x.Context(), metav1.ListOptions{})
	x.check(err)
	return list.Items
}

// cronUser suspends, resumes or deletes a CronJob, or changes its history, now and then.
func (x *randomLife) cronUser(c *batchv1.CronJob) {
	var patch string
	switch {
	case c.DeletionTimestamp != nil: // as the garbage collector does
		if !slices.ContainsFunc(x.jobsOf(x.namespace), func(j *batchv1.Job) bool { return metav1.IsControlledBy(j, c) }) {
			patch = `{"metadata":{"finalizers":null}}`
		}
	case x.isOneOf(3000):
		how := x.propagation()
		x.check(x.BatchV1().CronJobs(c.Namespace).Delete(x.Context(), c.Name, metav1.DeleteOptions{PropagationPolicy: &how}))
	case *c.Spec.Suspend && x.isOneOf(100), x.isOneOf(1000):
		patch = fmt.Sprintf(`{"spec":{"suspend":%t}}`, !*c.Spec.Suspend)
	case x.isOneOf(1000):
		patch = fmt.Sprintf(`{"spec":{"successfulJobsHistoryLimit":%d,"failedJobsHistoryLimit":%d}}`, x.rand.IntN(4), x.rand.IntN(4))
	}
	if patch == "" {
		return
	}
	_, err := x.BatchV1().CronJobs(c.Namespace).Patch(x.Context(), c.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	x.check(err)
}

func (x *randomLife) makeCronJobs() {
	for i, policy := range []batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent} {
		for k, schedule := range []string{"* * * * *", "@every 7s"} {
			j := jobOf(x.T, x.side, `"parallelism":1,"completions":1,`)
			limit := int32(1)
			c := &batchv1.CronJob{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("cron-%d-%d", i, k)},
				Spec: batchv1.CronJobSpec{
					Schedule: schedule, ConcurrencyPolicy: policy, SuccessfulJobsHistoryLimit: &limit, JobTemplate: batchv1.JobTemplateSpec{Spec: j.Spec},
				},
			}
			_, err := x.BatchV1().CronJobs(x.namespace).Create(x.Context(), c, metav1.CreateOptions{})
			x.check(err)
		}
	}
}
