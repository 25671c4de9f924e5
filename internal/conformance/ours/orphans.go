package ours

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/job"
)

var everything = labels.Everything()

// orphan names pods that may carry the finalizer without a job that would remove
// it (J36): one pod, or all that the selector of a job matches.
type orphan struct{ pod, job, selector string }

func (c *jobs) workOrphans(context.Context) {
	for process(c.orphans, c.cleanUp) {
	}
}

func (c *jobs) cleanUp(o orphan) error {
	if o.pod != "" {
		namespace, name, err := cache.SplitMetaNamespaceKey(o.pod)
		must(err)
		pod, err := c.pods.Pods(namespace).Get(name)
		if err != nil {
			return nil // gone
		}
		return c.cleanUpPod(pod)
	}
	namespace, _, err := cache.SplitMetaNamespaceKey(o.job)
	must(err)
	selector, err := labels.Parse(o.selector)
	must(err)
	pods, err := c.pods.Pods(namespace).List(selector)
	must(err)
	for _, pod := range pods {
		_ = c.cleanUpPod(pod) // the pod's own notifications repeat it
	}
	return nil
}

// cleanUpPod removes the finalizer unless a job needs it.
func (c *jobs) cleanUpPod(pod *corev1.Pod) error {
	if !hasFinalizer(pod) || !c.isFree(pod) {
		return nil
	}
	c.options.Watch.Orphan()
	data, err := json.Marshal(map[string]any{"metadata": patchMeta{UID: string(pod.UID), Removed: []string{job.Finalizer}}})
	must(err)
	_, err = c.client.CoreV1().Pods(pod.Namespace).Patch(context.Background(), pod.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// isFree reports whether nothing is to be counted any more.
func (c *jobs) isFree(pod *corev1.Pod) bool {
	ref := metav1.GetControllerOf(pod)
	switch {
	case ref == nil:
		return true
	case ref.Kind != "Job" || ref.APIVersion != "batch/v1":
		return false
	}
	owner := c.jobOf(pod)
	if owner == nil {
		return job.MayUntrack(nil, &job.Pod{Untracked: !hasFinalizer(pod)}, c.options.Job)
	}
	decoded := decodeJob(owner)
	p := decodeOnce(&decoded, pod)
	return job.MayUntrack(&decoded, &p, c.options.Job)
}

func decodeOnce(of *job.Job, pod *corev1.Pod) job.Pod {
	data, err := json.Marshal(pod)
	must(err)
	p, err := job.DecodePod(of, data)
	must(err)
	return p
}
