package costs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/proof/conformance/apiserver"
)

// patience is the longest time that a test waits for something that must happen. Only failures
// reach it.
const patience = 30 * time.Minute

// lab is an API server, with stand-ins for scheduler, kubelets and users.
type lab struct {
	*apiserver.Server
	kubernetes.Interface
	pods corelisters.PodLister
	jobs batchlisters.JobLister
	// quick holds the namespaces whose pods succeed as soon as they exist.
	quick sync.Map
	queue workqueue.TypedInterface[*corev1.Pod]
	// ends holds when each job was seen complete first, by its namespace and name.
	ends sync.Map
	etcd *clientv3.Client
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{Server: apiserver.StartServer(t), queue: workqueue.NewTyped[*corev1.Pod]()}

	client, err := kubernetes.NewForConfig(l.Config)
	must.OK(t, err)
	l.Interface, l.etcd = client, dial(t, l.Etcd)

	factory := informers.NewSharedInformerFactory(client, 0)
	l.pods, l.jobs = factory.Core().V1().Pods().Lister(), factory.Batch().V1().Jobs().Lister()
	_, err = factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(o any) {
		pod := o.(*corev1.Pod)
		if _, quick := l.quick.Load(pod.Namespace); quick {
			l.queue.Add(pod)
		}
	}})
	must.OK(t, err)
	_, err = factory.Batch().V1().Jobs().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, o any) {
		if j := o.(*batchv1.Job); isComplete(j) {
			l.ends.LoadOrStore(j.Namespace+"/"+j.Name, time.Now())
		}
	}})
	must.OK(t, err)

	ctx, cancel := context.WithCancel(context.Background())
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())

	var working sync.WaitGroup
	for range hands {
		working.Go(func() {
			for {
				pod, quit := l.queue.Get()
				if quit {
					return
				}
				if err := l.exit(ctx, pod, 0); err != nil && ctx.Err() == nil {
					t.Errorf("kubelet: %v", err)
				}
				l.queue.Done(pod)
			}
		})
	}

	t.Cleanup(func() {
		cancel()
		l.queue.ShutDown()
		working.Wait()
		factory.Shutdown()
	})

	return l
}

// hands is the number of pods that move concurrently.
const hands = 16

func (l *lab) makeNamespace(t *testing.T, name string) {
	t.Helper()
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := l.CoreV1().Namespaces().Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// podsOf returns the pods of a namespace, in the order of their names.
func (l *lab) podsOf(namespace string) []*corev1.Pod {
	pods, err := l.pods.Pods(namespace).List(labels.Everything())
	if err != nil {
		panic(err) // unreachable: it is a cache
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return pods
}

func (l *lab) jobsOf(namespace string) []*batchv1.Job {
	jobs, err := l.jobs.Jobs(namespace).List(labels.Everything())
	if err != nil {
		panic(err) // unreachable: it is a cache
	}
	return jobs
}

// each calls do for each pod, and makes many of the calls concurrently.
func each(t *testing.T, pods []*corev1.Pod, do func(context.Context, *corev1.Pod) error) {
	t.Helper()
	many(t, len(pods), func(i int) error {
		if err := do(t.Context(), pods[i]); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("pod %s: %w", pods[i].Name, err)
		}
		return nil
	})
}

// run makes a pod run, and be ready.
func (l *lab) run(ctx context.Context, pod *corev1.Pod) error {
	if isOver(pod) {
		return nil
	}
	return l.write(ctx, pod, statusOf(pod, corev1.PodRunning, corev1.ConditionTrue, running()))
}

func (l *lab) exit(ctx context.Context, pod *corev1.Pod, code int32) error {
	if isOver(pod) {
		return nil
	}
	return l.write(ctx, pod, ended(pod, code))
}

func (l *lab) write(ctx context.Context, pod *corev1.Pod, status corev1.PodStatus) error {
	out := pod.DeepCopy()
	out.Status = status
	_, err := l.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, out, metav1.UpdateOptions{})
	return err
}

func running() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
}

// ended returns the status of a pod whose container has ended with a code.
func ended(pod *corev1.Pod, code int32) corev1.PodStatus {
	phase := corev1.PodSucceeded
	if code != 0 {
		phase = corev1.PodFailed
	}
	return statusOf(pod, phase, corev1.ConditionFalse, corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.Now()},
	})
}

// statusOf returns a status as a kubelet would fill it.
func statusOf(pod *corev1.Pod, phase corev1.PodPhase, ready corev1.ConditionStatus, state corev1.ContainerState) corev1.PodStatus {
	now := metav1.Now()
	s := *pod.Status.DeepCopy()
	s.Phase, s.HostIP, s.PodIP, s.PodIPs = phase, "10.0.0.1", "10.1.0.1", []corev1.PodIP{{IP: "10.1.0.1"}}
	s.HostIPs, s.StartTime = []corev1.HostIP{{IP: "10.0.0.1"}}, &now
	s.Conditions = nil
	for _, kind := range []corev1.PodConditionType{
		corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
	} {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: kind, Status: ready, LastTransitionTime: now})
	}
	s.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", Ready: ready == corev1.ConditionTrue, State: state, Image: "example.com/main:1",
		ImageID:     "example.com/main@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		ContainerID: "containerd://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	}}
	return s
}

func isOver(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// collect removes a pod that is being deleted.
func (l *lab) collect(ctx context.Context, pod *corev1.Pod) error {
	if pod.DeletionTimestamp == nil {
		return nil
	}
	now := int64(0)
	return l.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
}

// pick returns the pods that an argument of a script means, as package script does.
func (l *lab) pick(namespace, arg string) []*corev1.Pod {
	pods := l.podsOf(namespace)
	if arg == "all" || len(pods) == 0 {
		return pods
	}
	from, to, ok := strings.Cut(arg, "-")
	if !ok {
		to = from
	}
	first, err := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if err := errors.Join(err, err2); err != nil {
		panic(fmt.Sprintf("argument %q: %v", arg, err))
	}
	return pods[min(first, len(pods)):min(last+1, len(pods))]
}

// await waits until a namespace has n jobs and the function accepts all of them.
func (l *lab) await(t *testing.T, namespace string, n int, is func(*batchv1.Job) bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		all := l.jobsOf(namespace)
		if len(all) == n && !slices.ContainsFunc(all, func(j *batchv1.Job) bool { return !is(j) }) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not what is expected after %v: %+v", namespace, patience, all[0].Status)
		}
	}
}

func isComplete(j *batchv1.Job) bool {
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue
	})
}
