package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/internal/conformance/script"
	"github.com/batchplan/batchplan/internal/conformance/server"
)

// view is all that can be observed of a world, as lines.
type view struct {
	CronJobs, Jobs, Pods, Events, Writes, Figures []string
	// busy are the objects about which there are so many events that some are dropped.
	busy map[string]bool
	// refused is true if a status of a job was refused, or would have been, for what it
	// says: a conflict with another writer comes first.
	refused bool
}

// observe looks at a world. The writes are those since the last look.
func (v *view) observe(w *script.World, start time.Time) {
	grain := time.Nanosecond
	if len(server.List[*batchv1.CronJob](w.Server)) > 0 {
		grain = time.Second // a conflict is retried after milliseconds, and comes by chance
	}
	for _, c := range server.List[*batchv1.CronJob](w.Server) {
		v.CronJobs = append(v.CronJobs, line(c, cronJobStatus(c)))
	}
	for _, j := range server.List[*batchv1.Job](w.Server) {
		v.Jobs = append(v.Jobs, line(j, jobStatus(j)))
	}
	for _, p := range server.List[*corev1.Pod](w.Server) {
		v.Pods = append(v.Pods, line(p, podState(p)))
	}
	v.Events, v.busy = countEvents(w.Reported())
	for _, e := range w.Journal() {
		if isIdle(e) {
			continue
		}
		v.refused = v.refused || e.Contradicts || e.Resource == server.Jobs && e.Subresource == "status" && strings.HasPrefix(e.Answer, "Invalid")
		v.Writes = append(v.Writes, fmt.Sprintf("%v %s", e.Time.Sub(start).Truncate(grain), e))
	}
	slices.Sort(v.Writes) // the order within an instant is left to goroutines
	v.Writes = compactCronJobs(v.Writes)
}

// isIdle reports whether a write that changes nothing is not compared:
//
//   - a creation in a namespace that is going away, after which ours does not go on
//     asking,
//   - a patch of a pod that is gone or has no finalizer any more, which theirs tries
//     in the round that has deleted it,
//   - a write of a CronJob's controller whose cache has not caught up with its own
//     last write: whether it has is left to chance. Theirs also writes a status that
//     has not changed after it has deleted a job,
//   - deletions of jobs that fail: theirs stops at the first, ours tries them all.
func isIdle(w server.Write) bool {
	switch {
	case strings.Contains(w.Answer, "NamespaceTerminating"):
		return true
	case w.Verb == "patch":
		return w.Unchanged || w.Answer == "NotFound"
	case w.Resource == server.CronJobs:
		return w.Answer != "" || w.Unchanged
	}
	return w.Resource == server.Jobs && (w.Answer == "AlreadyExists" || w.Verb == "delete" && w.Answer != "")
}

// line is what all objects have, and the state of this one. Resource versions
// differ between servers, as soon as two writes of one instant change places.
func line(o metav1.Object, state any) string {
	var owners []string
	for _, r := range o.GetOwnerReferences() {
		owners = append(owners, fmt.Sprintf("%s/%s/%s controller=%v", r.Kind, r.Name, r.UID, r.Controller != nil && *r.Controller))
	}
	finalizers := slices.Sorted(slices.Values(o.GetFinalizers()))
	return fmt.Sprintf("%s uid=%s generation=%d labels=%s annotations=%s owners=%v finalizers=%v deletion=%v/%s\n%s",
		o.GetName(), o.GetUID(), o.GetGeneration(), text(o.GetLabels()), text(o.GetAnnotations()), owners, finalizers,
		o.GetDeletionTimestamp(), text(o.GetDeletionGracePeriodSeconds()), text(state))
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// jobStatus is the whole status; the lists of UIDs have no order.
func jobStatus(j *batchv1.Job) batchv1.JobStatus {
	s := *j.Status.DeepCopy()
	if u := s.UncountedTerminatedPods; u != nil {
		slices.Sort(u.Succeeded)
		slices.Sort(u.Failed)
	}
	return s
}

// cronJobStatus is the whole status; the list of active jobs has no order, and
// resource versions are not compared.
func cronJobStatus(c *batchv1.CronJob) batchv1.CronJobStatus {
	s := *c.Status.DeepCopy()
	for i := range s.Active {
		s.Active[i].ResourceVersion = ""
	}
	slices.SortFunc(s.Active, func(a, b corev1.ObjectReference) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// podState is what the controller has put into a pod, and its phase.
func podState(p *corev1.Pod) any {
	return struct {
		Phase            corev1.PodPhase
		Hostname         string
		GenerateName     string
		Init, Containers []corev1.Container
	}{p.Status.Phase, p.Spec.Hostname, p.GenerateName, p.Spec.InitContainers, p.Spec.Containers}
}

// aboutPods are the reasons of events that name pods. Many of them are combined
// into one, under the message of whichever came first, so only their number is
// compared.
var aboutPods = []string{"SuccessfulCreate", "FailedCreate", "SuccessfulDelete", "FailedDelete"}

// mostEvents is how many events about one object the recorder of Kubernetes lets
// through in a burst; which ones it drops then depends on their order.
const mostEvents = 25

func countEvents(events []*corev1.Event) (lines []string, busy map[string]bool) {
	counts, total := map[string]int32{}, map[string]int32{}
	for _, e := range events {
		if (e.Reason == "FailedDelete" || e.Reason == "FailedGet") && e.InvolvedObject.Kind == "CronJob" {
			continue // theirs stops at the first job that it cannot delete, and deletes again what its cache still shows
		}
		object := e.InvolvedObject.Kind + "/" + e.InvolvedObject.Name
		message := e.Message
		if slices.Contains(aboutPods, e.Reason) && e.InvolvedObject.Kind == "Job" {
			message = ""
		}
		line := fmt.Sprintf("%s %s %s: %s", object, e.Type, e.Reason, message)
		counts[line] += e.Count
		if e.InvolvedObject.Kind == "CronJob" {
			counts[line] = 1 // a round that meets a conflict is repeated, with its events
		}
		total[object] += e.Count
	}
	busy = map[string]bool{}
	for object, n := range total {
		busy[object] = n >= mostEvents
	}
	for line, n := range counts {
		lines = append(lines, fmt.Sprintf("%s (x%d)", line, n))
	}
	slices.Sort(lines)
	return lines, busy
}

// dropBusy drops events about objects that either side reports too much about: a
// round of a CronJob that meets a conflict is repeated with its events, which one side
// may do more often.
func dropBusy(a, b *view) {
	for _, v := range [...]*view{a, b} {
		v.Events = slices.DeleteFunc(v.Events, func(line string) bool {
			object, _, _ := strings.Cut(line, " ")
			return a.busy[object] || b.busy[object]
		})
	}
}

// compactCronJobs takes several status writes of a CronJob in one instant for one:
// ours needs two rounds where a job has gone and a run is due.
func compactCronJobs(writes []string) []string {
	return slices.CompactFunc(writes, func(a, b string) bool { return a == b && strings.Contains(a, "update cronjobs/status") })
}
