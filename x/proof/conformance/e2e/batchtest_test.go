package e2e

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/kubernetes/batchtest"
	"github.com/batchplan/batchplan/x/proof/conformance/apiserver"
)

// TestBatchtest runs package batchtest on a real API server: one server, a namespace for each test.
func TestBatchtest(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a real API server")
	}
	c := &cluster{Server: apiserver.StartServer(t, serverFlags...)}
	c.Interface = clientOf(t, c.Config)
	t.Run("together", func(t *testing.T) {
		for name, test := range map[string]func(*place){
			"jobs": batchJobs, "by hand": batchByHand, "stages": batchStages, "deletion": batchDeletion,
			"disruptions": batchDisruptions, "restarts": batchRestarts, "compressed": batchCompressed, "cron": batchCron,
			"owners": batchOwners, "explanation": batchExplanation, "misuse": batchMisuse, "rights": batchRights,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(c.newPlace(t))
			})
		}
	})
	t.Run("names", func(t *testing.T) { batchNames(c.newPlace(t)) })
	// These run alone, since they measure.
	t.Run("ten pods", func(t *testing.T) { batchTenPods(c.newPlace(t)) })
	t.Run("many", func(t *testing.T) { batchMany(c.newPlace(t)) })
	t.Run("panic", func(t *testing.T) { batchPanic(c.newPlace(t)) })
}

func (p *place) batch(options ...batchtest.Option) *batchtest.Cluster {
	p.Helper()
	return batchtest.Start(p.T, p.Config, append([]batchtest.Option{batchtest.Namespace(p.namespace), batchtest.Patience(patience)}, options...)...)
}

// builtIn returns a job for the built-in controller.
func builtIn(name string, change func(*batchv1.JobSpec)) *batchv1.Job {
	j := jobOf(name, "", change)
	j.Spec.ManagedBy = nil
	return j
}

// batchJobs lets pods behave differently by their job, index and attempt.
func batchJobs(p *place) {
	cluster := p.batch(batchtest.Speed(100))
	cluster.Pods(batchtest.Succeed())
	cluster.Pods(batchtest.FailWith(42), batchtest.OfJob("retries"), batchtest.Attempt(0, 1))
	cluster.Pods(batchtest.FailWith(3), batchtest.OfJob("indexes"), batchtest.Index(1))
	cluster.Pods(batchtest.FailWith(1), batchtest.Labelled(map[string]string{"job-name": "fails"}))

	p.create(builtIn("plain", func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = pointTo(int32(5)), pointTo(int32(2)) }))
	p.create(builtIn("retries", nil))
	p.create(builtIn("indexes", with(indexed(3), perIndex(1))))
	p.create(builtIn("fails", limit(1)))

	if s := cluster.Wait(p.T, batchtest.Complete("plain")).Status; s.Succeeded != 5 {
		p.Errorf("plain: %+v", s)
	}
	if s := cluster.Wait(p.T, batchtest.Complete("retries")).Status; s.Succeeded != 1 || s.Failed != 2 {
		p.Errorf("retries: %+v", s)
	}
	if s := cluster.Wait(p.T, batchtest.FailedFor("indexes", batchv1.JobReasonFailedIndexes)).Status; s.CompletedIndexes != "0,2" || *s.FailedIndexes != "1" || s.Failed != 2 {
		p.Errorf("indexes: %+v", s)
	}
	if s := cluster.Wait(p.T, batchtest.FailedFor("fails", batchv1.JobReasonBackoffLimitExceeded)).Status; s.Failed != 2 {
		p.Errorf("fails: %+v", s)
	}
	for _, pod := range p.pods("job-name=indexes") {
		got := pod.Status.ContainerStatuses[0].State.Terminated.ExitCode
		if want := map[string]int32{"1": 3}[pod.Annotations[batchv1.JobCompletionIndexAnnotation]]; got != want {
			p.Errorf("pod %s exited with %d, want %d", pod.Name, got, want)
		}
	}
}

// batchByHand moves pods one by one.
func batchByHand(p *place) {
	cluster := p.batch()
	cluster.Pods(batchtest.Unready(), batchtest.OfJob("train"))
	p.create(builtIn("train", with(indexed(3), limit(0), podFailurePolicy(batchv1.PodFailurePolicyActionFailJob, 137))))
	p.await("train", "three active pods", func(j *batchv1.Job) bool { return j.Status.Active == 3 })
	if pod := cluster.Pod("train-0").Object(); pod.Annotations[batchv1.JobCompletionIndexAnnotation] != "0" {
		p.Errorf("train-0 is %s", pod.Name)
	}
	cluster.Pod("train-0").Ready(true)
	cluster.Wait(p.T, batchtest.ReadyPods("train", 1))
	cluster.Pods(batchtest.Hang(), batchtest.OfJob("train"))
	cluster.Wait(p.T, batchtest.ReadyPods("train", 3))
	cluster.Pod("train-2").Ready(false)
	cluster.Wait(p.T, batchtest.ReadyPods("train", 2))
	cluster.Pod("train-1").Succeed()
	p.await("train", "a success", func(j *batchv1.Job) bool { return j.Status.Succeeded == 1 })
	cluster.Pod("train-0").Fail(137)
	cluster.Wait(p.T, batchtest.FailedFor("train", batchv1.JobReasonPodFailurePolicy))

	p.create(builtIn("off", func(s *batchv1.JobSpec) { s.Suspend = pointTo(true) }))
	cluster.Wait(p.T, batchtest.Suspended("off"))
	p.change("off", `{"spec":{"suspend":false}}`)
	cluster.Wait(p.T, batchtest.ReadyPods("off", 1))
	p.change("off", `{"spec":{"suspend":true}}`)
	cluster.Wait(p.T, batchtest.Suspended("off"))
}

func batchTenPods(p *place) {
	cluster := p.batch()
	cluster.Pods(batchtest.Succeed())
	began := time.Now()
	p.create(builtIn("ten", indexed(10)))
	if s := cluster.Wait(p.T, batchtest.Complete("ten")).Status; s.Succeeded != 10 {
		p.Errorf("%+v", s)
	}
	p.Logf("a job of ten pods took %v", time.Since(began).Round(time.Millisecond))
}

// stages gives the pods init containers, a sidecar and a readiness gate.
func stages(s *batchv1.JobSpec) {
	always := corev1.ContainerRestartPolicyAlways
	container := func(name string) corev1.Container { return corev1.Container{Name: name, Image: "example.com/" + name} }
	sidecar := container("sidecar")
	sidecar.RestartPolicy = &always
	s.Template.Spec.InitContainers = []corev1.Container{container("first"), sidecar, container("second")}
	s.Template.Spec.Containers = append(s.Template.Spec.Containers, container("helper"))
	s.Template.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/open"}}
	s.BackoffLimit = pointTo(int32(0))
}

// batchStages follows a pod with init containers, a sidecar and a readiness gate through its
// stages.
func batchStages(p *place) {
	cluster := p.batch()
	cluster.Pods(batchtest.Pending())
	p.create(builtIn("all", stages))

	pod := cluster.Pod("all")
	name := pod.Object().Name
	pod.Behave(batchtest.Behaviour{Init: batchtest.Never, Run: batchtest.Never})
	got := p.pod(name)
	if got.Spec.NodeName == "" || got.Status.Phase != corev1.PodPending || got.Status.InitContainerStatuses[0].State.Running == nil ||
		got.Status.InitContainerStatuses[1].State.Waiting == nil || got.Status.ContainerStatuses[0].State.Waiting == nil {
		p.Errorf("first init container: %+v", got.Status)
	}

	pod.Ready(true)
	got = p.pod(name)
	if inits := got.Status.InitContainerStatuses; got.Status.Phase != corev1.PodRunning || inits[0].State.Terminated == nil ||
		inits[1].State.Running == nil || !inits[1].Ready || inits[2].State.Terminated == nil || got.Status.ContainerStatuses[1].State.Running == nil {
		p.Errorf("running: %+v", got.Status)
	}

	ready := func() bool {
		return slices.ContainsFunc(p.pod(name).Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
	}
	if ready() {
		p.Error("ready although its gate is closed")
	}

	p.patchPodStatus(name, `{"status":{"conditions":[{"type":"example.com/open","status":"True"}]}}`)
	p.until("ready", ready)
	cluster.Wait(p.T, batchtest.ReadyPods("all", 1))

	pod.Behave(batchtest.Behaviour{ExitCode: 7, Container: "helper", Message: "no disk"})
	got = p.pod(name)
	main, helper := got.Status.ContainerStatuses[0].State.Terminated, got.Status.ContainerStatuses[1].State.Terminated
	if main == nil || helper == nil || main.ExitCode != 0 || helper.ExitCode != 7 || helper.Message != "no disk" || got.Status.InitContainerStatuses[1].State.Terminated == nil {
		p.Errorf("ended: %+v", got.Status)
	}
	cluster.Wait(p.T, batchtest.Failed("all"))

	cluster.Pods(batchtest.Behaviour{ExitCode: 5, Container: "second"}, batchtest.OfJob("init"))
	p.create(builtIn("init", stages))
	cluster.Wait(p.T, batchtest.Failed("init"))
	got = &p.pods("job-name=init")[0]
	if end := got.Status.InitContainerStatuses[2].State.Terminated; end == nil || end.ExitCode != 5 || got.Status.ContainerStatuses[0].State.Waiting == nil {
		p.Errorf("an init container failed: %+v", got.Status)
	}
}

func (p *place) patchPodStatus(name, patch string) {
	p.Helper()
	_, err := p.CoreV1().Pods(p.namespace).Patch(p.Context(), name, "application/strategic-merge-patch+json", []byte(patch), metav1.PatchOptions{}, "status")
	must.OK(p, err)
}

// batchDeletion deletes pods that take their time, or have finalizers.
func batchDeletion(p *place) {
	cluster := p.batch(batchtest.Speed(10))
	slow := batchtest.Hang()
	slow.Stop = 20 * time.Second
	cluster.Pods(slow)

	grace := func(seconds int64) func(*batchv1.JobSpec) {
		return func(s *batchv1.JobSpec) {
			s.PodReplacementPolicy = pointTo(batchv1.Failed)
			s.Template.Spec.TerminationGracePeriodSeconds = &seconds
			s.Template.Finalizers = []string{"example.com/keep"}
		}
	}

	for name, of := range map[string]struct {
		grace int64
		code  int32
	}{"stops": {30, 143}, "killed": {5, 137}} {
		p.create(builtIn(name, grace(of.grace)))
		cluster.Wait(p.T, batchtest.ReadyPods(name, 1))
		pod := cluster.Pod(name).Object()

		p.deletePods("job-name=" + name)
		p.await(name, "a terminating pod", func(j *batchv1.Job) bool { return *j.Status.Terminating == 1 && j.Status.Active == 0 })
		p.await(name, "a new pod", func(j *batchv1.Job) bool { return j.Status.Failed == 1 && j.Status.Active == 1 })
		p.until("no grace left", func() bool { g := p.pod(pod.Name).DeletionGracePeriodSeconds; return g != nil && *g == 0 })

		end := p.pod(pod.Name)
		if got := end.Status.ContainerStatuses[0].State.Terminated; got == nil || got.ExitCode != of.code {
			p.Errorf("%s: %+v, want %d", name, end.Status, of.code)
		}

		p.patchPod(pod.Name, `{"metadata":{"finalizers":null}}`)
		p.until("gone", func() bool {
			_, err := p.CoreV1().Pods(p.namespace).Get(p.Context(), pod.Name, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	}
}

// batchDisruptions ends pods from outside.
func batchDisruptions(p *place) {
	cluster := p.batch(batchtest.Speed(20))
	for name, b := range map[string]batchtest.Behaviour{"evicted": batchtest.Evict(), "preempted": batchtest.Preempt(), "lost": batchtest.LoseNode(time.Minute, 10*time.Second)} {
		cluster.Pods(b, batchtest.OfJob(name), batchtest.Attempt(0))
		cluster.Pods(batchtest.Succeed(), batchtest.OfJob(name), batchtest.Attempt(1))
		p.create(builtIn(name, with(limit(0), ignoreDisruptions, func(s *batchv1.JobSpec) { s.PodReplacementPolicy = pointTo(batchv1.Failed) })))
	}
	for _, name := range []string{"evicted", "preempted", "lost"} {
		if s := cluster.Wait(p.T, batchtest.Complete(name)).Status; s.Succeeded != 1 || s.Failed != 0 {
			p.Errorf("%s: %+v", name, s)
		}
	}
	pods := p.pods("job-name=evicted")
	if !slices.ContainsFunc(pods, func(pod corev1.Pod) bool {
		return pod.Status.Reason == "Evicted" && pod.Status.Phase == corev1.PodFailed
	}) {
		p.Errorf("no evicted pod among %d", len(pods))
	}
}

// batchRestarts starts containers again in place.
func batchRestarts(p *place) {
	cluster := p.batch()
	onFailure := func(s *batchv1.JobSpec) { s.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure }
	cluster.Pods(batchtest.Behaviour{Restarts: 2}, batchtest.OfJob("twice"))
	cluster.Pods(batchtest.FailWith(9), batchtest.OfJob("ever"))
	p.create(builtIn("twice", onFailure))
	p.create(builtIn("ever", with(onFailure, limit(2))))
	if s := cluster.Wait(p.T, batchtest.Complete("twice")).Status; s.Failed != 0 {
		p.Errorf("twice: %+v", s)
	}
	if c := p.pods("job-name=twice")[0].Status.ContainerStatuses[0]; c.RestartCount != 2 || c.LastTerminationState.Terminated.ExitCode != 1 {
		p.Errorf("twice: %+v", c)
	}
	cluster.Wait(p.T, batchtest.FailedFor("ever", batchv1.JobReasonBackoffLimitExceeded))
}

// batchCompressed lets minutes pass in an instant.
func batchCompressed(p *place) {
	cluster := p.batch(batchtest.Speed(600))
	cluster.Pods(batchtest.FailWith(1))
	cluster.Pods(batchtest.Hang(), batchtest.OfJob("deadline"))
	cluster.Pods(batchtest.SucceedAfter(time.Minute), batchtest.OfJob("expires"))
	p.create(builtIn("backoff", limit(4)))
	p.create(builtIn("deadline", func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = pointTo(int64(1200)) }))
	p.create(builtIn("expires", func(s *batchv1.JobSpec) { s.TTLSecondsAfterFinished = pointTo(int32(600)) }))
	j := cluster.Wait(p.T, batchtest.FailedFor("backoff", batchv1.JobReasonBackoffLimitExceeded))
	took := conditionTime(j, batchv1.JobFailed).Sub(j.Status.StartTime.Time)
	if want := (10 + 20 + 40 + 80) * time.Second; took < want {
		p.Errorf("four backoffs took %v, want %v or more", took, want)
	}
	j = cluster.Wait(p.T, batchtest.FailedFor("deadline", batchv1.JobReasonDeadlineExceeded))
	if took := conditionTime(j, batchv1.JobFailed).Sub(j.Status.StartTime.Time); took < 1200*time.Second {
		p.Errorf("the deadline passed after %v", took)
	}
	cluster.Wait(p.T, batchtest.Gone("expires"))
	p.until("no pods", func() bool { return len(p.pods("job-name=expires")) == 0 })
}

func conditionTime(j *batchv1.Job, of batchv1.JobConditionType) time.Time {
	for _, c := range j.Status.Conditions {
		if c.Type == of {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// batchCron runs a CronJob that is due each minute.
func batchCron(p *place) {
	cluster := p.batch(batchtest.Speed(120))
	cluster.Pods(batchtest.Succeed())
	cron := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "minutely"},
		Spec: batchv1.CronJobSpec{Schedule: "* * * * *", SuccessfulJobsHistoryLimit: pointTo(int32(2)),
			JobTemplate: batchv1.JobTemplateSpec{Spec: builtIn("", nil).Spec}},
	}
	if _, err := p.BatchV1().CronJobs(p.namespace).Create(p.Context(), cron, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	first := cluster.WaitRuns(p.T, "minutely", 1)[0]
	cluster.Wait(p.T, batchtest.Gone(first)) // by the history limit
	foreground := metav1.DeletePropagationForeground
	must.OK(p, p.BatchV1().CronJobs(p.namespace).Delete(p.Context(), "minutely", metav1.DeleteOptions{PropagationPolicy: &foreground}))
	p.until("nothing left", func() bool {
		_, err := p.BatchV1().CronJobs(p.namespace).Get(p.Context(), "minutely", metav1.GetOptions{})
		jobs, err2 := p.BatchV1().Jobs(p.namespace).List(p.Context(), metav1.ListOptions{})
		return apierrors.IsNotFound(err) && err2 == nil && len(jobs.Items) == 0 && len(p.pods("")) == 0
	})
}

// batchOwners deletes owners with each propagation policy, and an owner of an unknown kind.
func batchOwners(p *place) {
	cluster := p.batch()
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
		name := strings.ToLower(string(policy))
		p.create(builtIn(name, nil))
		cluster.Wait(p.T, batchtest.ReadyPods(name, 1))
		must.OK(p, p.BatchV1().Jobs(p.namespace).Delete(p.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}))
		cluster.Wait(p.T, batchtest.Gone(name))

		if policy != metav1.DeletePropagationOrphan {
			p.until("its pods are gone", func() bool { return len(p.pods("job-name="+name)) == 0 })
			continue
		}
		p.until("its pod is free", func() bool {
			pods := p.pods("job-name=" + name)
			return len(pods) == 1 && len(pods[0].OwnerReferences) == 0 && len(pods[0].Finalizers) == 0 && pods[0].DeletionTimestamp == nil
		})
	}

	maps := p.CoreV1().ConfigMaps(p.namespace)
	owner, err := maps.Create(p.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	must.OK(p, err)

	j := builtIn("owned", nil)
	j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID}}
	p.create(j)
	cluster.Wait(p.T, batchtest.ReadyPods("owned", 1))

	must.OK(p, maps.Delete(p.Context(), "owner", metav1.DeleteOptions{}))
	cluster.Wait(p.T, batchtest.Gone("owned"))
	p.until("its pods are gone", func() bool { return len(p.pods("job-name=owned")) == 0 })
}

// failing is a test that may fail. Its Fatalf ends the goroutine by a panic with the message.
type failing struct {
	mu       sync.Mutex
	errors   []string
	cleanups []func()
}

func (f *failing) Helper()          {}
func (f *failing) Cleanup(g func()) { f.cleanups = append(f.cleanups, g) }
func (f *failing) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}
func (f *failing) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// run runs a test and its cleanups, and returns the value of its panic.
func (f *failing) run(test func()) (panicked any) {
	func() {
		defer func() { panicked = recover() }()
		test()
	}()
	for _, cleanup := range slices.Backward(f.cleanups) {
		cleanup()
	}
	return panicked
}

// batchExplanation reads the message of a wait that gives up.
func batchExplanation(p *place) {
	f := &failing{}
	text := fmt.Sprint(f.run(func() {
		cluster := batchtest.Start(f, p.Config, batchtest.Namespace(p.namespace), batchtest.Patience(2*time.Second))
		cluster.Pods(batchtest.FailWith(42), batchtest.Attempt(0))
		p.create(builtIn("held", nil))
		p.await("held", "a failure", func(j *batchv1.Job) bool { return j.Status.Failed == 1 })
		cluster.Wait(f, batchtest.Complete("held"))
	}))
	for _, want := range []string{"is not Complete after 2s", "held by backoff until", "1 failure since the last success", "main exited with 42"} {
		if !strings.Contains(text, want) {
			p.Errorf("%q is not in:\n%s", want, text)
		}
	}
	p.Logf("%s", text)

	cluster := p.batch()
	p.create(builtIn("whole", nil))
	cluster.Pod("whole").Succeed()
	cluster.Wait(p.T, batchtest.Complete("whole"))
	must.OK(p, cluster.Stop())

	for want, condition := range map[string]batchtest.Condition{
		"cannot be any more": batchtest.Failed("whole"), "there is no such job; the jobs of the namespace: held, whole": batchtest.Complete("other"),
	} {
		f := &failing{}
		text := fmt.Sprint(f.run(func() {
			short := batchtest.Start(f, p.Config, batchtest.Namespace(p.namespace), batchtest.Patience(time.Second))
			short.Wait(f, condition)
		}))
		if !strings.Contains(text, want) {
			p.Errorf("%q is not in:\n%s", want, text)
		}
	}
}

// batchMisuse makes calls that must fail.
func batchMisuse(p *place) {
	nowhere := rest.CopyConfig(p.Config)
	nowhere.Dial, nowhere.Host = nil, "https://127.0.0.1:1"

	for want, start := range map[string]func(*failing){
		"Speed(0.5): must be 1 to 100000": func(f *failing) { batchtest.Start(f, p.Config, batchtest.Speed(0.5)) },
		"a rest.Config":                   func(f *failing) { batchtest.Start(f, nil) },
		"the API server does not answer":  func(f *failing) { batchtest.Start(f, nowhere) },
		"Patience(0s): must be positive":  func(f *failing) { batchtest.Start(f, p.Config, batchtest.Patience(0)) },
		"Fail(0)": func(f *failing) {
			batchtest.Start(f, p.Config, batchtest.Namespace(p.namespace)).Pod("x").Fail(0)
		},
		"there is no such pod": func(f *failing) {
			batchtest.Start(f, p.Config, batchtest.Namespace(p.namespace), batchtest.Patience(time.Second)).Pod("x").Object()
		},
	} {
		f := &failing{}
		if text := fmt.Sprint(f.run(func() { start(f) })); !strings.Contains(text, want) {
			p.Errorf("%q is not in %q", want, text)
		}
	}

	f := &failing{}
	f.run(func() {
		cluster := batchtest.Start(f, p.Config, batchtest.Namespace(p.namespace), batchtest.Patience(patience))
		cluster.Pods(batchtest.Behaviour{Container: "sidekick"})
		p.create(builtIn("misnamed", nil))
		cluster.Wait(p.T, batchtest.ReadyPods("misnamed", 1)) // it hangs
	})
	if len(f.errors) != 1 || !strings.Contains(f.errors[0], `container "sidekick"`) {
		p.Errorf("a container that the pod does not have: %q", f.errors)
	}
}

// batchNames shows a generated name, and a cluster that serves two namespaces.
func batchNames(p *place) {
	other := p.newPlace(p.T)
	server := apiserver.StartServer(p.T) // a cluster of all namespaces needs a server of its own
	client := clientOf(p.T, server.Config)
	cluster := batchtest.Start(p.T, server.Config, batchtest.Patience(patience))
	cluster.Pods(batchtest.Succeed(), batchtest.InNamespace(p.namespace))
	cluster.Pods(batchtest.FailWith(1), batchtest.InNamespace(other.namespace))

	names := map[string]string{}
	for _, namespace := range []string{p.namespace, other.namespace} {
		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		_, err := client.CoreV1().Namespaces().Create(p.Context(), object, metav1.CreateOptions{})
		must.OK(p, err)
		j := builtIn("", limit(0))
		j.GenerateName = "train-"
		made, err := client.BatchV1().Jobs(namespace).Create(p.Context(), j, metav1.CreateOptions{})
		must.OK(p, err)
		names[namespace] = namespace + "/" + made.Name
	}
	cluster.Wait(p.T, batchtest.Complete(names[p.namespace]))
	cluster.Wait(p.T, batchtest.Failed(names[other.namespace]))
}

// batchRights runs a cluster with the rights of the package comment and no others.
func batchRights(p *place) {
	var rights []right
	add := func(group string, resources, verbs []string) {
		for _, resource := range resources {
			for _, verb := range verbs {
				rights = append(rights, right{group, resource, verb, ""})
			}
		}
	}
	add("batch", []string{"jobs", "cronjobs"}, []string{"get", "list", "watch", "create", "update", "patch", "delete"})
	add("batch", []string{"jobs/status", "cronjobs/status"}, []string{"update", "patch"})
	add("batch", []string{"jobs/finalizers", "cronjobs/finalizers"}, []string{"update"})
	add("", []string{"pods"}, []string{"get", "list", "watch", "create", "patch", "delete"})
	add("", []string{"pods/binding"}, []string{"create"})
	add("", []string{"pods/status"}, []string{"patch"})
	add("", []string{"events"}, []string{"create", "patch"})
	add("coordination.k8s.io", []string{"leases"}, []string{"get", "create", "patch", "delete"})
	p.give(rights)
	p.untilGiven(rights[0])

	config := rest.CopyConfig(p.Config)
	refused := &refusals{}
	wrap(config, as(p.user()), refused.between)
	cluster := batchtest.Start(p.T, config, batchtest.Namespace(p.namespace), batchtest.Patience(patience))
	cluster.Pods(batchtest.FailWith(1), batchtest.Attempt(0))
	cluster.Pods(batchtest.Succeed(), batchtest.Attempt(1))
	p.create(builtIn("train", nil))
	cluster.Wait(p.T, batchtest.Complete("train"))
	background := metav1.DeletePropagationBackground
	must.OK(p, p.BatchV1().Jobs(p.namespace).Delete(p.Context(), "train", metav1.DeleteOptions{PropagationPolicy: &background}))
	cluster.Wait(p.T, batchtest.Gone("train"))
	p.until("no pods", func() bool { return len(p.pods("job-name=train")) == 0 })
	refused.check(p, right{"coordination.k8s.io", "leases", "get", ""}) // needed only to serve all namespaces
}

// batchMany starts and stops clusters, every fourth with a job.
func batchMany(p *place) {
	tests := *clusters
	before := goroutines()
	began := time.Now()
	for i := range tests {
		p.Run("", func(t *testing.T) {
			cluster := batchtest.Start(t, p.Config, batchtest.Namespace(p.namespace), batchtest.Patience(patience))
			cluster.Pods(batchtest.Succeed())
			if i%4 > 0 {
				return
			}
			name := fmt.Sprintf("job-%d", i)
			p.create(builtIn(name, nil))
			cluster.Wait(t, batchtest.Complete(name))
		})
	}
	p.Logf("%d clusters, %d jobs: %v", tests, tests/4, time.Since(began).Round(time.Millisecond))
	p.noneLeft(before, max(tests/2, 50)) // some goroutines of the server come and go
}

func batchPanic(p *place) {
	before := goroutines()
	f := &failing{}
	panicked := f.run(func() {
		batchtest.Start(f, p.Config, batchtest.Namespace(p.namespace)).Pods(batchtest.Hang())
		p.create(builtIn("left", nil))
		panic("the test")
	})
	if panicked != "the test" || len(f.errors) > 0 {
		p.Errorf("panicked with %v, errors %q", panicked, f.errors)
	}
	p.noneLeft(before, 100)
}

// count is the number of goroutines: all, and those that run code of this project.
type count struct{ all, own int }

func goroutines() count {
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 2); err != nil {
		panic(err) // a buffer takes everything
	}
	c := count{all: runtime.NumGoroutine()}
	for stack := range strings.SplitSeq(b.String(), "\n\n") {
		if strings.Contains(stack, "/x/kubernetes/batchtest.") {
			c.own++
		}
	}
	return c
}

// noneLeft checks that no new goroutine of this project is left. The number of all goroutines may
// have grown, but by less than the argument more.
func (p *place) noneLeft(before count, more int) {
	p.Helper()
	var after count
	p.until("the goroutines have ended", func() bool {
		after = goroutines()
		return after.own <= before.own && after.all < before.all+more
	})
	p.Logf("goroutines before %+v, after %+v", before, after)
}
