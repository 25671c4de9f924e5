package rounds

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// crowds: one round in this many has more pods or indexes than a round may create, delete or
// record.
const crowds = 251

func drawJob(seed uint64, number int) *Snapshot {
	d := newDraw(seed, number)
	s := &Snapshot{Number: number, Class: "small", Now: d.now}

	pods, crowd := d.IntN(9), 0
	if number%crowds == crowds-1 {
		s.Class = "crowd"
		crowd = 500 + d.IntN(800)
		pods = pick(d, 0, 3, 100, crowd, crowd, crowd+d.IntN(300))
	}

	s.Job = &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: jobUID, ResourceVersion: "1", CreationTimestamp: d.ago(5000),
		},
		Spec: d.spec(crowd),
	}
	if d.chance(5) {
		at := d.ago(d.IntN(10))
		s.Job.DeletionTimestamp = &at
	}

	k := d.kindOf()
	for i := range pods {
		s.Pods = append(s.Pods, d.pod(s.Job, &k, i))
	}
	if crowd > 0 && d.chance(70) {
		spread(s, d.chance(50))
	}
	if crowd > 0 && d.chance(25) {
		d.backingOff(s)
	}
	// In this order, the first pod that the real controller finds is the oldest.
	slices.SortFunc(s.Pods, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
	})

	d.status(s)
	d.memory(s)
	if d.chance(25) {
		d.faults(s)
	}
	if played.Has(release.WorkloadWithJob) { // last: without the gate the same snapshots are drawn
		d.groups(s)
	}
	return s
}

// spread gives each pod of a crowd its own index, in the order of the pods' creation or in the
// opposite order.
func spread(s *Snapshot, forward bool) {
	for i, p := range s.Pods {
		if _, ok := p.Annotations[batchv1.JobCompletionIndexAnnotation]; ok {
			index := i
			if forward {
				index = len(s.Pods) - 1 - i
			}
			p.Annotations[batchv1.JobCompletionIndexAnnotation] = fmt.Sprint(index)
		}
	}
}

// backingOff makes a crowd of an Indexed job in which many indexes wait for their own
// backoff and many more are missing.
func (d *draw) backingOff(s *Snapshot) {
	s.Job.Spec.CompletionMode, s.Job.Spec.BackoffLimitPerIndex = pointer(batchv1.IndexedCompletion), pointer[int32](3)
	s.Job.Spec.BackoffLimit, s.Job.Spec.MaxFailedIndexes = pointer[int32](math.MaxInt32), nil
	s.Job.Spec.Parallelism, s.Job.Spec.Suspend = s.Job.Spec.Completions, nil
	s.Job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	s.Job.DeletionTimestamp = nil
	s.Pods = s.Pods[:0]
	k := kind{phases: []corev1.PodPhase{corev1.PodFailed}, tracked: 100}
	for i := range pick(d, 20, 100, 300) {
		p := d.pod(s.Job, &k, i)
		p.Annotations[batchv1.JobCompletionIndexAnnotation] = fmt.Sprint(i * pick(d, 1, 1, 2))
		p.CreationTimestamp = d.ago(d.IntN(30))
		p.Status.Conditions, p.Status.ContainerStatuses, p.Status.InitContainerStatuses = nil, nil, nil
		s.Pods = append(s.Pods, p)
	}
}

// status draws a status that more or less fits the pods.
func (d *draw) status(s *Snapshot) {
	spec, status := &s.Job.Spec, &s.Job.Status
	if d.chance(90) {
		age := d.age()
		if deadline := spec.ActiveDeadlineSeconds; deadline != nil && d.chance(70) {
			age = int(*deadline) + pick(d, -10, -1, 0, 0, 1, 10)
		}
		at := d.ago(age)
		status.StartTime = &at
	}

	status.Active, status.Ready, status.Terminating = d.seen(s)
	status.Failed = pick[int32](d, 0, 0, 0, 1, 2, 5)
	status.Succeeded = pick[int32](d, 0, 0, 0, 0, 1, 2)

	if isIndexed(s.Job) {
		below := int(*spec.Completions)
		if d.chance(20) {
			below += 3 // completions was lowered
		}
		status.CompletedIndexes = d.indexes(below, pick(d, 0, 10, 30))
		if status.Succeeded = countIndexes(status.CompletedIndexes); d.chance(1) {
			status.Succeeded++
		}
		if spec.BackoffLimitPerIndex != nil && d.chance(80) || d.chance(3) {
			status.FailedIndexes = pointer(d.indexes(below, pick(d, 0, 0, 10)))
		}
	}

	d.uncounted(s)
	d.jobConditions(s)
}

// seen returns the numbers of active, ready and terminating pods, most often the right numbers.
func (d *draw) seen(s *Snapshot) (active int32, ready, terminating *int32) {
	var r, t int32
	for _, p := range s.Pods {
		switch {
		case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed:
		case p.DeletionTimestamp != nil:
			t++
		default:
			active++
			for _, c := range p.Status.Conditions {
				if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
					r++
				}
			}
		}
	}
	if d.chance(40) {
		active, r, t = pick(d, active, 0, 1, 2), pick(d, r, 0, 1), pick(d, t, 0, 1)
	}
	return active, some(d, 90, &r), some(d, 90, &t)
}

// uncounted draws the uncounted lists: UIDs of existing pods and of pods that are gone.
func (d *draw) uncounted(s *Snapshot) {
	if d.chance(30) {
		return
	}

	u := &batchv1.UncountedTerminatedPods{}
	s.Job.Status.UncountedTerminatedPods = u
	percent, indexed := pick(d, 0, 0, 20, 60), isIndexed(s.Job)
	for _, p := range s.Pods {
		ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed ||
			p.DeletionTimestamp != nil
		if !ended || !d.chance(percent) {
			continue
		}

		succeeded := p.Status.Phase == corev1.PodSucceeded
		if d.chance(2) {
			succeeded = !succeeded
		}
		if succeeded && indexed {
			continue // a success is recorded by its index, and never here
		}
		if succeeded {
			u.Succeeded = append(u.Succeeded, p.UID)
		} else {
			u.Failed = append(u.Failed, p.UID)
		}
	}

	for i := range pick(d, 0, 0, 0, 1, 2) {
		if gone := types.UID(fmt.Sprintf("gone%d", i)); d.chance(50) && !indexed {
			u.Succeeded = append(u.Succeeded, gone)
		} else {
			u.Failed = append(u.Failed, gone)
		}
	}

	if len(u.Succeeded) > 0 && d.chance(1) {
		u.Failed = append(u.Failed, u.Succeeded[0])
	}
}

func (d *draw) jobConditions(s *Snapshot) {
	add := func(t batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string) {
		s.Job.Status.Conditions = append(s.Job.Status.Conditions, batchv1.JobCondition{
			Type: t, Status: status, Reason: reason, Message: message,
			LastProbeTime: d.ago(100), LastTransitionTime: d.ago(100),
		})
	}
	if d.chance(3) {
		add("example.com/Checked", corev1.ConditionTrue, "Looked", "looked at")
	}
	if d.chance(30) {
		on := pick(d, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown)
		switch {
		case d.chance(25):
			add(batchv1.JobSuspended, on, pick(d, "Kueue", "JobSuspended", "JobResumed"),
				pick(d, "by another writer", "Job suspended"))
		case on == corev1.ConditionTrue:
			add(batchv1.JobSuspended, on, "JobSuspended", "Job suspended")
		default:
			add(batchv1.JobSuspended, on, "JobResumed", "Job resumed")
		}
	}
	switch n := d.IntN(100); {
	case n < 6:
		reason := pick(d, batchv1.JobReasonBackoffLimitExceeded, batchv1.JobReasonPodFailurePolicy,
			batchv1.JobReasonDeadlineExceeded)
		add(batchv1.JobFailureTarget, corev1.ConditionTrue, reason, "as it was")
		if n < 1 {
			add(batchv1.JobFailed, corev1.ConditionTrue, reason, "as it was")
		}
	case n < 12:
		reason := pick(d, batchv1.JobReasonCompletionsReached, batchv1.JobReasonSuccessPolicy)
		add(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, reason, "as it was")
		if n < 7 {
			add(batchv1.JobComplete, corev1.ConditionTrue, reason, "as it was")
		}
	}
}

// memory draws the controller's memory.
func (d *draw) memory(s *Snapshot) {
	if d.chance(40) {
		s.Failures = 1 + int32(d.IntN(8))
		// The delay ends about now, or at any time.
		delay := min(10*time.Second<<(s.Failures-1), 10*time.Minute)
		s.LastFailure = d.ago(int(delay.Seconds()) + pick(d, -100, -1, 0, 0, 1, d.age())).Time
	}
	if d.chance(15) {
		s.Creations, s.Deletions = d.IntN(3), d.IntN(2)
		s.Age = pick(d, 0, time.Second, 5*time.Minute-time.Millisecond, 5*time.Minute, 5*time.Minute+time.Millisecond)
	}
	if d.chance(25) {
		percent := pick(d, 20, 60)
		for _, p := range s.Pods {
			if len(p.Finalizers) > 0 && d.chance(percent) {
				s.Untracking = append(s.Untracking, job.UID(p.UID))
			}
		}
		if d.chance(20) {
			s.Untracking = append(s.Untracking, "gone0")
		}
	}
	s.Finished = d.chance(1)
}

// faults chooses the writes that fail. They may be of one kind or of several.
func (d *draw) faults(s *Snapshot) {
	s.Patch, s.Delete, s.Create = map[string]string{}, map[string]string{}, map[string]string{}
	s.Status = map[int]string{}

	percent := pick(d, 10, 50, 100)
	patch, remove, create, status := d.chance(40), d.chance(40), d.chance(40), d.chance(30)
	for _, p := range s.Pods {
		if patch && d.chance(percent) {
			s.Patch[p.Name] = pick(d, "error", "error", "gone", "invalid")
		}
		if remove && d.chance(percent) {
			s.Delete[p.Name] = pick(d, "error", "gone")
			if s.Delete[p.Name] == "gone" && isTracked(p) {
				s.Patch[p.Name] = "gone" // a missing pod is missing for every write
			}
		}
	}

	if create {
		if d.chance(20) {
			s.Create["all"] = "closing"
		}

		prefixes := []string{name + "-"}
		for i := range 6 {
			prefixes = append(prefixes, fmt.Sprintf("%s-%d-", name, i))
		}
		for _, prefix := range prefixes {
			for i := range 5 {
				if d.chance(percent) {
					s.Create[fmt.Sprintf("%s%d", prefix, i+1)] = "error"
				}
			}
		}
	}

	if status {
		s.Status[1+d.IntN(2)] = pick(d, "error", "conflict")
	}
	if d.chance(30) {
		s.Faults.Job = pick(d, "error", "gone", "deleted", "replaced")
	}
}

// countIndexes returns the number of indexes in a list.
func countIndexes(list string) int32 {
	var set indexset.Set
	set.AddText(list, math.MaxInt32)
	return int32(set.Len())
}

func isIndexed(j *batchv1.Job) bool {
	return j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batchv1.IndexedCompletion
}
