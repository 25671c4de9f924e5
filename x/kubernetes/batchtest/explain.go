package batchtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// explainTimeout limits the reads of an explanation. It does not depend on the patience of the
// test, which is short in a test that expects the wait to fail.
const explainTimeout = 30 * time.Second

// Explain describes a job, the next step of the Job controller and what it waits for, each pod, and the
// latest lines that the controllers have logged.
func (c *Cluster) Explain(name string) string {
	if c.isStopped() {
		return "  the cluster has no connection any more"
	}
	key := c.key(name)
	ctx, cancel := context.WithTimeout(context.Background(), explainTimeout)
	defer cancel()

	var b strings.Builder
	j, err := c.freshJob(ctx, key)
	switch {
	case err != nil:
		fmt.Fprintf(&b, "  job: %v\n", err)
	case j == nil:
		if why := c.unserved(key.Namespace); why != "" {
			return "  there is no such job"
		}
		fmt.Fprintf(&b, "  there is no such job; the jobs of the namespace: %s\n", listed(c.jobsIn(key.Namespace)))
	default:
		c.explainJob(ctx, &b, j)
	}

	if lines := c.log.String(); lines != "" {
		fmt.Fprintf(&b, "  the controllers have logged last:\n    %s\n", strings.ReplaceAll(lines, "\n", "\n    "))
	}
	return strings.TrimRight(b.String(), "\n")
}

func (c *Cluster) explainJob(ctx context.Context, b *strings.Builder, j *batchv1.Job) {
	value := convert.Job(j)
	fmt.Fprintf(b, "  status: %s\n", value.Status)
	if deleted := j.DeletionTimestamp; deleted != nil {
		fmt.Fprintf(b, "  it is being deleted since %s UTC, finalizers: %s\n",
			clockOf(deleted.Time), listed(j.Finalizers))
	}
	if why := c.unserved(j.Namespace); why != "" {
		fmt.Fprintf(b, "  no controller acts: %s\n", why)
		return
	}

	pods, err := c.podsOf(ctx, j)
	if err != nil {
		fmt.Fprintf(b, "  pods: %v\n", err)
		return
	}
	memory, _ := c.memories.Get(ctx, keyOf(j)) // never fails
	snapshot := job.Snapshot{
		Job:        value,
		Now:        c.clock.Now(),
		Memory:     memory,
		Consistent: true,
		Options:    c.options.job,
	}
	for i := range pods {
		snapshot.Pods = append(snapshot.Pods, convert.Pod(&value, &pods[i]))
	}

	fmt.Fprintf(b, "  the controller, at %s UTC:\n", clockOf(snapshot.Now))
	if plan, err := job.Reconcile(snapshot); err != nil {
		fmt.Fprintf(b, "    cannot plan: %v\n", err)
	} else {
		for line := range strings.Lines(plan.String()) {
			b.WriteString("    " + line)
		}
	}

	b.WriteString("  pods:\n")
	for i := range pods {
		b.WriteString("    " + c.explainPod(&pods[i]) + "\n")
	}
	if len(pods) == 0 {
		b.WriteString("    none\n")
	}
}

func clockOf(t time.Time) string { return t.UTC().Format("15:04:05") }

func listed(names []string) string { return cmp.Or(strings.Join(names, ", "), "none") }

// podsOf returns the pods that the job's selector matches, by name.
func (c *Cluster) podsOf(ctx context.Context, j *batchv1.Job) ([]corev1.Pod, error) {
	selector := metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(j.Spec.Selector)}
	list, err := c.client.CoreV1().Pods(j.Namespace).List(ctx, selector)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return list.Items, nil
}

// explainPod describes a pod in one line.
func (c *Cluster) explainPod(pod *corev1.Pod) string {
	out := fmt.Sprintf("%s: %s", pod.Name, pod.Status.Phase)
	if isTrue(pod, corev1.PodReady) {
		out += ", ready"
	}
	for _, cond := range pod.Status.Conditions {
		if cond.Type == corev1.DisruptionTarget && cond.Status == corev1.ConditionTrue {
			out += ", " + strings.TrimSpace(pod.Status.Reason+" by a disruption: "+cond.Reason)
		}
	}
	for _, s := range pod.Status.ContainerStatuses {
		if end := s.State.Terminated; end != nil && end.ExitCode != 0 {
			out += fmt.Sprintf(", %s exited with %d", s.Name, end.ExitCode)
		}
		if s.RestartCount > 0 {
			out += fmt.Sprintf(", %s restarted %s", s.Name, value.Count(s.RestartCount, "time"))
		}
	}

	if pod.DeletionTimestamp != nil {
		out += ", is being deleted, finalizers: " + listed(pod.Finalizers)
	}
	if len(pod.Spec.SchedulingGates) > 0 {
		out += ", has scheduling gates"
	}

	if isOver(pod) {
		return out
	}
	return out + "; it " + c.kubelet.describe(pod)
}

// jobsIn returns the names of the jobs of a namespace.
func (c *Cluster) jobsIn(namespace string) (names []string) {
	for _, o := range c.jobs.GetIndexer().List() {
		if j := o.(*batchv1.Job); j.Namespace == namespace {
			names = append(names, j.Name)
		}
	}
	slices.Sort(names)
	return names
}

// explainCronJob describes the next step of the CronJob controller and what it waits for.
func (c *Cluster) explainCronJob(key types.NamespacedName) string {
	if why := c.unserved(key.Namespace); why != "" {
		return "  no controller acts"
	}
	ctx, cancel := context.WithTimeout(context.Background(), explainTimeout)
	defer cancel()
	object, err := c.client.BatchV1().CronJobs(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if err != nil {
		return "  " + err.Error()
	}

	value := convert.CronJob(object)
	snapshot := cronjob.Snapshot{
		CronJob:  value,
		Now:      c.clock.Now(),
		Schedule: cronjob.Compile(&value, c.options.schedule...),
		Options:  c.options.cronJob,
	}
	for _, o := range c.jobs.GetIndexer().List() {
		if j := o.(*batchv1.Job); metav1.IsControlledBy(j, object) {
			snapshot.Children = append(snapshot.Children, convert.Child(&value, j))
		}
	}

	plan, err := cronjob.Reconcile(snapshot)
	if err != nil {
		return "  cannot plan: " + err.Error()
	}
	return fmt.Sprintf("  the controller, at %s UTC:\n    %s", clockOf(snapshot.Now),
		strings.ReplaceAll(strings.TrimRight(plan.String(), "\n"), "\n", "\n    "))
}
