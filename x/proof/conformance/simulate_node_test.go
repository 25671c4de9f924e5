package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
	"github.com/batchplan/batchplan/x/proof/conformance/theirs"
	"github.com/batchplan/batchplan/x/sim"
)

// node plays the scheduler and the kubelet for the real controllers.
type node struct {
	*server.Server
	w     *workload
	start time.Time
	wg    sync.WaitGroup

	mu     sync.Mutex
	jobs   map[string]*jobOutcome
	born   map[string]int32 // pods by job
	tries  map[string]int32 // pods by job and index
	begun  map[string]bool
	going  map[string]bool
	events []string
}

// playReal plays the workload under the unmodified controllers.
func (w *workload) playReal() outcome {
	n := &node{Server: server.New(), w: w, jobs: map[string]*jobOutcome{}, born: map[string]int32{}, tries: map[string]int32{}, begun: map[string]bool{}, going: map[string]bool{}}
	stop := n.startControllers()

	ctx, cancel := context.WithCancel(context.Background())
	pods, err := n.Client().CoreV1().Pods("").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		panic(err)
	}
	jobs, err := n.Client().BatchV1().Jobs("").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		panic(err)
	}

	time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
	n.start = time.Now()
	n.wg.Go(func() { n.each(pods, n.podEvent) })
	n.wg.Go(func() { n.each(jobs, n.jobEvent) })
	n.Fault = n.refuse
	n.create()

	for time.Since(n.start) < w.until {
		n.sleep(100*time.Millisecond, &stop)
		n.Collect()
		n.editDue()
	}

	pods.Stop()
	jobs.Stop()
	cancel()
	stop()
	n.wg.Wait()
	return n.outcome()
}

// startControllers starts all controllers, with empty memories and caches.
func (n *node) startControllers() (stop func()) {
	phases, stop := theirs.New(n.Client(), theirs.Which{Jobs: true, CronJobs: true, TTL: true})
	for _, start := range phases {
		start()
		synctest.Wait()
	}
	return stop
}

// sleep sleeps, and stops or starts the controllers when an outage begins or ends meanwhile.
func (n *node) sleep(d time.Duration, stop *func()) {
	end := time.Now().Add(d)
	for _, o := range n.w.outages {
		if o.Of != sim.Controllers {
			continue
		}
		if begin := n.start.Add(o.From); begin.After(time.Now()) && !begin.After(end) {
			time.Sleep(time.Until(begin))
			(*stop)()
			*stop = func() {}
		}
		if back := n.start.Add(o.From + o.For); back.After(time.Now()) && !back.After(end) {
			time.Sleep(time.Until(back))
			*stop = n.startControllers()
		}
	}
	time.Sleep(time.Until(end))
}

// refuse refuses the requests of controllers while the API server is down.
func (n *node) refuse(server.Write) (error, bool) {
	for _, o := range n.w.outages {
		if at := time.Since(n.start); o.Of == sim.APIServer && at >= o.From && at < o.From+o.For {
			return errors.New("the API server is down"), false
		}
	}
	return nil, false
}

func (n *node) create() {
	var err error
	if n.w.cron {
		c := &batchv1.CronJob{}
		n.w.object(c)
		err = n.Create(c)
	} else {
		j := &batchv1.Job{}
		n.w.object(j)
		err = n.Create(j)
	}
	if err != nil {
		panic(err)
	}
}

// editDue makes the edits that became due in the last tenth of a second.
func (n *node) editDue() {
	for _, e := range n.w.edits {
		if d := time.Since(n.start) - e.After; d < 0 || d >= 100*time.Millisecond {
			continue
		}
		err := server.Change(n.Server, "default", "w", func(j *batchv1.Job) {
			var spec job.Spec
			e.Change(&spec)
			if spec.Parallelism != nil {
				j.Spec.Parallelism = spec.Parallelism
			}
			if spec.Suspend != nil {
				j.Spec.Suspend = spec.Suspend
			}
		})
		if err != nil {
			panic(err)
		}
	}
}

func (n *node) each(w watch.Interface, handle func(watch.Event)) {
	for e := range w.ResultChan() {
		handle(e)
	}
}

func (n *node) at() int { return int(time.Since(n.start) / time.Second) }

func (n *node) jobEvent(e watch.Event) {
	j := e.Object.(*batchv1.Job)
	n.mu.Lock()
	defer n.mu.Unlock()
	o := n.jobs[j.Name]
	if o == nil {
		o = &jobOutcome{Name: j.Name, Created: int(j.CreationTimestamp.Sub(n.start) / time.Second), Deleted: -1}
		n.jobs[j.Name] = o
	}
	data, err := json.Marshal(j.Status)
	if err != nil {
		panic(err)
	}
	o.Status = n.describe(data)
	if e.Type == watch.Deleted {
		o.Deleted = n.at()
	}
}

// describe prints a status with times since the beginning.
func (n *node) describe(data []byte) string {
	var s job.Status
	if err := json.Unmarshal(data, &s); err != nil {
		panic(err)
	}
	return describeStatus(s, n.start)
}

func describeStatus(s job.Status, start time.Time) string {
	var b strings.Builder
	since := func(t time.Time) string {
		if t.IsZero() {
			return "never"
		}
		return t.Sub(start).String()
	}
	fmt.Fprintf(&b, "start %s, completion %s, active %d, succeeded %d, failed %d, completed %q",
		since(s.StartTime), since(s.CompletionTime), s.Active, s.Succeeded, s.Failed, s.CompletedIndexes)
	if s.FailedIndexes != nil {
		fmt.Fprintf(&b, ", failed %q", *s.FailedIndexes)
	}
	for _, c := range s.Conditions {
		fmt.Fprintf(&b, "; %s %s %s at %s", c.Type, c.Status, c.Reason, since(c.LastTransitionTime))
	}
	return b.String()
}

func (n *node) podEvent(e watch.Event) {
	p := e.Object.(*corev1.Pod)
	owner := p.Labels["batch.kubernetes.io/job-name"]
	n.mu.Lock()
	defer n.mu.Unlock()
	key := string(p.UID)
	switch {
	case e.Type == watch.Added && !n.begun[key]:
		n.begun[key] = true
		index := int32(-1)
		if text, ok := p.Annotations[job.IndexLabel]; ok {
			fmt.Sscan(text, &index)
		}
		number, try := n.born[owner], fmt.Sprintf("%s/%d", owner, index)
		earlier := n.tries[try]
		n.born[owner]++
		n.tries[try]++
		n.events = append(n.events, fmt.Sprintf("%d %s created, index %d", int(p.CreationTimestamp.Sub(n.start)/time.Second), owner, index))
		n.wg.Go(func() { n.run(p, n.w.life(number, index, earlier)) })
	case e.Type == watch.Modified && p.DeletionTimestamp != nil && !n.going[key]:
		n.going[key] = true
		if p.Status.Phase == corev1.PodRunning {
			n.wg.Go(func() { n.terminate(p) })
		}
	}
}

// run binds and starts a pod, and ends it at the end of its life.
func (n *node) run(p *corev1.Pod, life sim.Life) {
	if err := n.Bind(p.Namespace, p.Name, "node"); err != nil {
		panic(err)
	}
	n.status(p, func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodRunning
		now := metav1.Now()
		p.Status.StartTime = &now
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "i", ImageID: "i", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}}}
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now})
	})
	time.Sleep(life.For)
	n.end(p, life.ExitCode)
}

// terminate ends a pod that is being deleted, and removes it.
func (n *node) terminate(p *corev1.Pod) {
	time.Sleep(n.w.stop)
	n.end(p, 143)
	none := int64(0)
	_ = n.Delete(server.Pods, p.Namespace, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &none}) // it may be gone
}

// end ends the containers of a running pod.
func (n *node) end(p *corev1.Pod, code int32) {
	if time.Since(n.start) > n.w.until {
		return // both sides are over
	}

	ended := false
	n.status(p, func(p *corev1.Pod) {
		if ended = p.Status.Phase == corev1.PodRunning; !ended {
			return
		}
		p.Status.Phase = corev1.PodSucceeded
		if code != 0 {
			p.Status.Phase = corev1.PodFailed
		}

		now := metav1.Now()
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: now}}
		p.Status.Conditions[len(p.Status.Conditions)-1] = corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: now}
	})

	if ended {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.events = append(n.events, fmt.Sprintf("%d %s ended with %d", n.at(), p.Labels["batch.kubernetes.io/job-name"], code))
	}
}

func (n *node) status(p *corev1.Pod, how func(*corev1.Pod)) {
	if now := server.Get[*corev1.Pod](n.Server, p.Namespace, p.Name); now == nil || now.UID != p.UID {
		return
	}
	if err := server.ChangeStatus(n.Server, p.Namespace, p.Name, how); err != nil {
		panic(err)
	}
}

func (n *node) outcome() outcome {
	o := outcome{Pods: n.events}
	for _, name := range slices.Sorted(maps.Keys(n.jobs)) {
		o.Jobs = append(o.Jobs, *n.jobs[name])
	}
	return o.sorted()
}
