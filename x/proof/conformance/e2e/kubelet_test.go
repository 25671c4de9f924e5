package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/kubernetes/pkg/fieldpath"
)

// exitsAnnotation defines how the pods of a job end: it has a letter for each pod, in the order in
// which they start. The pods of each index are counted separately, and an index can have letters of
// its own: the lists of the indexes are separated by commas. The last letter is also for all
// further pods.
//
//	0  exits with 0
//	1  exits with 1; other digits likewise
//	r  runs until it is deleted
//	p  never starts
//	d  is evicted: it fails with the condition DisruptionTarget
//	s  its container fails once and is started again, and then runs
//	x  runs its command as a process, and exits as that does
//	k  the same, and the process is killed
const exitsAnnotation = "example.com/exits"

// kubelet moves all pods of a cluster: it binds, starts and ends them, and removes deleted ones.
type kubelet struct {
	client kubernetes.Interface
	pods   corelisters.PodLister
	queue  workqueue.TypedRateLimitingInterface[types.NamespacedName]

	mu     sync.Mutex
	starts map[string]int       // pods that have started, by controller and index
	plan   map[types.UID]string // how a pod ends
	exited map[types.UID]int32  // how the process of a pod has exited

	// node is a folder. It has the programs of all images, and a folder for each namespace, which
	// has a folder for each claim.
	node string
}

// kubeletWorkers is the number of pods that move concurrently.
const kubeletWorkers = 8

func startKubelet(t *testing.T, client kubernetes.Interface) *kubelet {
	t.Helper()
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Pods()
	k := &kubelet{
		client: client, pods: informer.Lister(), starts: map[string]int{}, plan: map[types.UID]string{},
		exited: map[types.UID]int32{}, node: t.TempDir(),
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](10*time.Millisecond, time.Second)),
	}

	add := func(o any) {
		if pod, ok := o.(*corev1.Pod); ok {
			k.queue.Add(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
		}
	}
	if _, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, o any) { add(o) }}); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	factory.StartWithContext(ctx)
	var working sync.WaitGroup
	for range kubeletWorkers {
		working.Go(func() {
			for k.work(ctx) {
			}
		})
	}

	t.Cleanup(func() {
		cancel()
		k.queue.ShutDown()
		working.Wait()
		factory.Shutdown()
	})

	return k
}

func (k *kubelet) work(ctx context.Context) bool {
	key, quit := k.queue.Get()
	if quit {
		return false
	}
	defer k.queue.Done(key)
	pod, err := k.pods.Pods(key.Namespace).Get(key.Name)
	if err != nil {
		return true // gone
	}
	if err := k.move(ctx, pod); err != nil && !apierrors.IsNotFound(err) {
		k.queue.AddRateLimited(key)
		return true
	}
	k.queue.Forget(key)
	return true
}

// move makes the next step in the life of a pod.
func (k *kubelet) move(ctx context.Context, pod *corev1.Pod) error {
	over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	switch {
	case pod.DeletionTimestamp != nil && over:
		return k.collect(ctx, pod)
	case pod.DeletionTimestamp != nil:
		return k.end(ctx, pod, 137)
	case over:
		return nil
	case pod.Spec.NodeName == "":
		return k.bind(ctx, pod)
	case pod.Status.Phase == corev1.PodPending:
		return k.run(ctx, pod)
	}
	switch how := k.planOf(pod); how {
	case "r", "p", "s":
		return nil
	case "d":
		return k.evict(ctx, pod)
	case "x", "k":
		code, err := k.process(ctx, pod, how == "k")
		if err != nil {
			return err
		}
		return k.end(ctx, pod, code)
	default:
		return k.end(ctx, pod, int32(how[0]-'0'))
	}
}

// planOf returns how a pod is to end.
func (k *kubelet) planOf(pod *corev1.Pod) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if how, known := k.plan[pod.UID]; known {
		return how
	}
	exits, found := pod.Annotations[exitsAnnotation]
	if !found || exits == "" {
		exits = "0"
	}
	group := pod.Annotations[batchv1.JobCompletionIndexAnnotation] + "/" + pod.Namespace
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		group += string(ref.UID)
	}
	if of := strings.Split(exits, ","); len(of) > 1 { // a list for each index
		exits = of[indexOf(pod)%len(of)]
	}
	n := min(k.starts[group], len(exits)-1)
	k.starts[group]++
	k.plan[pod.UID] = exits[n : n+1]
	return exits[n : n+1]
}

func indexOf(pod *corev1.Pod) int {
	n, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return 0
	}
	return n
}

// bind gives a pod a node, so that its deletion takes time.
func (k *kubelet) bind(ctx context.Context, pod *corev1.Pod) error {
	if k.planOf(pod) == "p" {
		return nil
	}
	return k.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: "node"},
	}, metav1.CreateOptions{})
}

func (k *kubelet) run(ctx context.Context, pod *corev1.Pod) error {
	status := pod.Status.DeepCopy()
	status.Phase = corev1.PodRunning
	status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	main := corev1.ContainerStatus{Name: pod.Spec.Containers[0].Name, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}
	if k.planOf(pod) == "s" {
		main.RestartCount = 1
	}
	status.ContainerStatuses = []corev1.ContainerStatus{main}
	return k.write(ctx, pod, status)
}

func (k *kubelet) end(ctx context.Context, pod *corev1.Pod, code int32) error {
	status := pod.Status.DeepCopy()
	status.Phase = corev1.PodSucceeded
	if code != 0 {
		status.Phase = corev1.PodFailed
	}
	status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Now()}}
	status.ContainerStatuses = []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.Now()},
	}}}
	return k.write(ctx, pod, status)
}

// process runs the command of a pod once, with the environment of the pod and in the folder of its
// claim, and returns its exit code.
func (k *kubelet) process(ctx context.Context, pod *corev1.Pod, kill bool) (code int32, err error) {
	k.mu.Lock()
	code, known := k.exited[pod.UID]
	k.mu.Unlock()
	if known {
		return code, nil
	}

	main := pod.Spec.Containers[0]
	cmd := exec.CommandContext(ctx, filepath.Join(k.node, main.Command[0]), main.Command[1:]...)
	cmd.Dir = filepath.Join(k.node, pod.Namespace, pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName)
	cmd.Env, cmd.Stderr = []string{}, os.Stderr

	for _, e := range main.Env {
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil {
			if e.Value, err = fieldpath.ExtractFieldPathAsString(pod, e.ValueFrom.FieldRef.FieldPath); err != nil {
				return 0, err
			}
		}
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}

	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if kill {
		if err := cmd.Process.Kill(); err != nil {
			return 0, err
		}
	}

	var exit *exec.ExitError
	switch err := cmd.Wait(); {
	case kill:
		code = 137
	case errors.As(err, &exit):
		code = int32(exit.ExitCode())
	case err != nil:
		return 0, err
	}

	k.mu.Lock()
	k.exited[pod.UID] = code
	k.mu.Unlock()
	return code, ctx.Err()
}

func (k *kubelet) evict(ctx context.Context, pod *corev1.Pod) error {
	status := pod.Status.DeepCopy()
	status.Phase = corev1.PodFailed
	status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Now()},
		{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", LastTransitionTime: metav1.Now()},
	}
	return k.write(ctx, pod, status)
}

func (k *kubelet) write(ctx context.Context, pod *corev1.Pod, status *corev1.PodStatus) error {
	out := pod.DeepCopy()
	out.Status = *status
	_, err := k.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, out, metav1.UpdateOptions{})
	return err
}

// collect removes a deleted pod that has ended; its finalizers may still hold it.
func (k *kubelet) collect(ctx context.Context, pod *corev1.Pod) error {
	if pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0 {
		return nil
	}
	return k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: pointTo(int64(0)), Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
}
