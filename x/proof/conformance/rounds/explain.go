package rounds

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/job"
)

// explanation is a known difference: its name in the documentation, and how to recognise it.
type explanation struct {
	row     string
	applies func(s *Snapshot, theirs, ours *Result) bool
}

// explanations holds all known differences for jobs. Each has a line in the package comment.
var explanations = []explanation{
	{"A failed index whose other pod succeeds in the same round (J16)", func(s *Snapshot, theirs, _ *Result) bool {
		return slices.ContainsFunc(theirs.Writes, hasIndexTwice) ||
			hasIndexTwice("status "+describeStatus(&s.Job.Status))
	}},
	{"A UID is in both uncounted lists (JI2)", func(s *Snapshot, theirs, _ *Result) bool {
		return slices.ContainsFunc(theirs.Writes, hasUIDTwice) || hasUIDTwice("status "+describeStatus(&s.Job.Status))
	}},
	{"The status holds an index list that is not in order", func(s *Snapshot, _, _ *Result) bool {
		return !isInOrder(s.Job.Status.CompletedIndexes) ||
			s.Job.Status.FailedIndexes != nil && !isInOrder(*s.Job.Status.FailedIndexes)
	}},
	{
		"A pod is recorded as failed and has succeeded, or the other way round (J8)",
		func(s *Snapshot, _, _ *Result) bool {
			u := s.Job.Status.UncountedTerminatedPods
			return u != nil && slices.ContainsFunc(s.Pods, func(p *corev1.Pod) bool {
				return p.Status.Phase == corev1.PodSucceeded && slices.Contains(u.Failed, p.UID) ||
					p.Status.Phase != corev1.PodSucceeded && slices.Contains(u.Succeeded, p.UID)
			})
		},
	},
	{
		"Of several failed pods of an index, one has more failures and another has ended later (J17)",
		func(s *Snapshot, _, _ *Result) bool {
			return s.Job.Spec.BackoffLimitPerIndex != nil && hasRivals(s)
		},
	},
	{"A workload of another size has no pod group yet (J45)", func(_ *Snapshot, theirs, ours *Result) bool {
		return createsResized(theirs, ours)
	}},
	{"A suspended job ends (J38, J39)", func(s *Snapshot, theirs, _ *Result) bool {
		return s.Job.Spec.Suspend != nil && *s.Job.Spec.Suspend &&
			slices.ContainsFunc(theirs.Writes, func(w string) bool {
				ends := strings.Contains(w, "{Complete True") || strings.Contains(w, "{Failed True")
				return ends && strings.HasPrefix(w, "status ") && !strings.Contains(w, " start=")
			})
	}},
	{"Which pods are recorded, if too many end in a round", func(s *Snapshot, theirs, ours *Result) bool {
		return isFull(theirs) && isFull(ours)
	}},
	{
		"Which pod the message of a FailJob rule names, once more than one pod has failed",
		func(s *Snapshot, theirs, ours *Result) bool {
			return s.Job.Spec.PodFailurePolicy != nil && slices.Equal(withoutCulprit(theirs), withoutCulprit(ours))
		},
	},
	{"Some finalizers of a round can be removed and others cannot (J42)", func(s *Snapshot, theirs, ours *Result) bool {
		return hasStuckFinalizer(theirs) &&
			compare(theirs, ours).kinds() == "metric job_controller_job_pods_finished_total"
	}},
	{"A ready pod is gone before its finalizer could be removed (J11)", func(s *Snapshot, theirs, ours *Result) bool {
		rest := compare(withoutReady(s, theirs), withoutReady(s, ours)).kinds()
		known := rest == "" || rest == "metric job_controller_job_pods_finished_total" && hasStuckFinalizer(theirs)
		return known &&
			slices.ContainsFunc(s.Pods, func(p *corev1.Pod) bool { return s.Patch[p.Name] == "gone" && isReady(p) })
	}},
	{"The start time lies in the future (JI17)", func(s *Snapshot, _, _ *Result) bool {
		return s.Job.Status.StartTime != nil && s.Job.Status.StartTime.After(s.Now)
	}},
	{"A failed pod has no time at all, not even a creation time (J32)", func(s *Snapshot, _, _ *Result) bool {
		return slices.ContainsFunc(s.Pods, hasNoTime)
	}},
	{"`status.succeeded` is not the number of completed indexes", func(s *Snapshot, _, _ *Result) bool {
		return isIndexed(s.Job) && s.Job.Status.Succeeded != countIndexes(s.Job.Status.CompletedIndexes)
	}},
	{
		"Orphans, where caches do not show own writes (as before 1.36)",
		func(s *Snapshot, _, _ *Result) bool { return adoptsAgain(s) },
	},
}

// hasNoTime reports whether a failed pod has no time at which it may have finished.
func hasNoTime(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed && p.CreationTimestamp.IsZero() && p.DeletionTimestamp == nil
}

// few is the number of pods up to which other orders are tried out.
const few = 100

// orders yields the snapshot with its pods in other orders.
func (s *Snapshot) orders() iter.Seq[subject] {
	return func(yield func(subject) bool) {
		d := rand.New(rand.NewPCG(1, 1))
		for range 100 {
			other := *s
			other.Pods = slices.Clone(s.Pods)
			d.Shuffle(len(other.Pods), func(i, j int) { other.Pods[i], other.Pods[j] = other.Pods[j], other.Pods[i] })
			if !yield(&other) || len(s.Pods) > few {
				return
			}
		}
	}
}

func (s *Snapshot) explain(theirs, ours *Result) string {
	for _, e := range explanations {
		if e.applies(s, theirs, ours) {
			return e.row
		}
	}
	return ""
}

// hasRivals reports whether two pods of an index carry different numbers of failures, and a cache
// could list the two in an order that cannot be tried here: one of the pods is an orphan, which is
// always listed last, or the snapshot has too many pods. Each of the two pods has failed or is
// terminating.
func hasRivals(s *Snapshot) bool {
	first := map[int32]*corev1.Pod{}
	for _, p := range s.Pods {
		var pod job.Pod
		pod.ReadAnnotations(p.Annotations)
		index := pod.Index.Int32()
		if index < 0 || p.Status.Phase != corev1.PodFailed && p.DeletionTimestamp == nil {
			continue
		}
		rival := first[index]
		switch {
		case rival == nil, failuresOf(p) == failuresOf(rival):
		case len(s.Pods) > few, metav1.GetControllerOf(p) == nil, metav1.GetControllerOf(rival) == nil:
			return true
		}
		if rival == nil {
			first[index] = p
		}
	}
	return false
}

func failuresOf(p *corev1.Pod) [2]string {
	return [2]string{
		p.Annotations[batchv1.JobIndexFailureCountAnnotation],
		p.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation],
	}
}

// isFull reports whether the round has recorded as many pods as it can, even if the status could
// not be written or finalizers remain.
func isFull(r *Result) bool {
	untracked := 0
	for _, w := range r.Writes {
		if strings.HasPrefix(w, "untrack ") {
			untracked++
		}
	}
	return untracked >= 500 || slices.ContainsFunc(r.Writes, func(w string) bool {
		lists := uidLists.FindStringSubmatch(w)
		return lists != nil && len(strings.Fields(lists[1]))+len(strings.Fields(lists[2])) >= 500
	})
}

func hasStuckFinalizer(r *Result) bool {
	return slices.ContainsFunc(r.Writes, func(w string) bool {
		return strings.HasPrefix(w, "untrack ") && !strings.HasSuffix(w, ": ok") && !strings.HasSuffix(w, ": gone")
	})
}

var culprit = regexp.MustCompile(
	`(Container \S+ for pod|Pod) \S+ (failed with exit code \d+|has condition \S+) matching FailJob rule at index \d+`)

// withoutCulprit returns the lines of a result without the name of the pod that fails the job.
func withoutCulprit(r *Result) []string {
	lines := r.lines()
	for i := range lines {
		lines[i] = culprit.ReplaceAllString(lines[i], "a pod")
	}
	return lines
}

var readyCount = regexp.MustCompile(`ready=\d+`)

// withoutReady returns the result without the number of ready pods. It leaves out a status that
// differs from the snapshot's only in that number.
func withoutReady(s *Snapshot, r *Result) *Result {
	strip := func(write string) string {
		return strings.Replace(readyCount.ReplaceAllString(write, "ready"), " uncounted=[],[]", "", 1)
	}
	same := strip("status " + describeStatus(&s.Job.Status) + ": ok")
	out := *r
	out.Writes = nil
	for _, w := range r.Writes {
		if w = strip(w); w != same {
			out.Writes = append(out.Writes, w)
		}
	}
	return &out
}

func isReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

var indexLists = regexp.MustCompile(`^status .*completedIndexes=(\S+) failedIndexes="([^"]*)"`)

// hasIndexTwice reports whether a write sets a status in which an index is both completed and
// failed.
func hasIndexTwice(write string) bool {
	lists := indexLists.FindStringSubmatch(write)
	if lists == nil {
		return false
	}
	var completed, failed indexset.Set
	completed.AddText(lists[1], math.MaxInt32)
	failed.AddText(lists[2], math.MaxInt32)
	return indexset.Common(&completed, &failed) > 0
}

var uidLists = regexp.MustCompile(`^status .*uncounted=\[([^]]*)\],\[([^]]*)\]`)

// hasUIDTwice reports whether a write sets a status in which a UID is in both uncounted lists.
func hasUIDTwice(write string) bool {
	lists := uidLists.FindStringSubmatch(write)
	if lists == nil {
		return false
	}
	failed := strings.Fields(lists[2])
	return slices.ContainsFunc(strings.Fields(lists[1]), func(uid string) bool { return slices.Contains(failed, uid) })
}

// isInOrder reports whether the pieces of an index list increase.
func isInOrder(list string) bool {
	before := -1
	for piece := range strings.SplitSeq(list, ",") {
		var first, last int
		if n, _ := fmt.Sscanf(piece, "%d-%d", &first, &last); n == 1 {
			last = first
		}
		if (first <= before || last < first) && list != "" {
			return false
		}
		before = last
	}
	return true
}

// adoptsAgain reports whether there is an orphan whose finalizer the controller has
// just removed.
func adoptsAgain(s *Snapshot) bool {
	for _, p := range s.Pods {
		if metav1.GetControllerOf(p) == nil && p.Labels[labelKey] == labelValue &&
			slices.Contains(s.Untracking, job.UID(p.UID)) {
			return true
		}
	}
	return false
}
