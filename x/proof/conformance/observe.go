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

	"github.com/batchplan/batchplan/x/proof/conformance/script"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

// view is everything that can be observed of a world, as lines.
type view struct {
	CronJobs, Jobs, Groups, Pods, Events, Writes, Figures []string
	// busy holds the objects with so many events that some are dropped.
	busy map[string]bool
	// refused is true if a status of a job was refused for its content, or would have been: the
	// server checks for a conflict with another writer first.
	refused bool
}

// observe fills in the view of a world, with the writes since the last view.
func (g *game) observe(v *view, w *script.World) {
	// The notifications of one instant come a microsecond apart, in the order of their writes,
	// which depends on goroutines. So the round that a notification causes may be a few
	// microseconds earlier or later.
	grain := time.Millisecond
	if len(server.List[*batchv1.CronJob](w.Server)) > 0 {
		grain = time.Second // conflicts occur by chance, and are retried after milliseconds
	}

	for _, c := range server.List[*batchv1.CronJob](w.Server) {
		v.CronJobs = append(v.CronJobs, g.line(c, func() any { return cronJobStatus(c) }))
	}
	for _, j := range server.List[*batchv1.Job](w.Server) {
		v.Jobs = append(v.Jobs, g.line(j, func() any {
			status := jobStatus(j)
			g.relaxJob(&status)
			return status
		}))
	}
	for _, o := range w.Groups() {
		v.Groups = append(v.Groups, g.line(o, func() any { return server.SpecOf(o) }))
	}
	for _, p := range server.List[*corev1.Pod](w.Server) {
		v.Pods = append(v.Pods, g.line(p, func() any { return podState(p) }))
	}

	v.Events, v.busy = countEvents(w.Reported())
	for _, e := range w.Journal() {
		if isIdle(e) {
			continue
		}

		isStatus := e.Resource == server.Jobs && e.Subresource == "status"
		isRefused := isStatus && strings.HasPrefix(e.Answer, "Invalid")
		v.refused = v.refused || e.Contradicts || isRefused
		v.Writes = append(v.Writes, fmt.Sprintf("%v %s", e.Time.Sub(g.start).Truncate(grain), e))
	}

	slices.Sort(v.Writes) // the order within an instant depends on goroutines
	v.Writes = compactCronJobs(v.Writes)
}

// isIdle reports whether a write changes nothing and is not compared:
//
//   - a creation in a namespace that is being deleted, after which our controller stops,
//   - a patch of a pod that is gone or has lost its finalizer, which the real controller
//     tries in the round that has deleted it,
//   - a write of a CronJob's controller whose cache has not caught up with its own
//     last write, which depends on chance. The real controller also writes an unchanged
//     status after it has deleted a job,
//   - deletions of jobs that fail: the real controller stops at the first, ours tries them
//     all.
func isIdle(w server.Write) bool {
	switch {
	case strings.Contains(w.Answer, "NamespaceTerminating"):
		return true
	case w.Verb == "patch":
		return w.Unchanged || w.Answer == "NotFound"
	case w.Resource == server.CronJobs:
		return w.Answer != "" || w.Unchanged
	case w.Resource != server.Jobs:
		return false
	}
	return w.Answer == "AlreadyExists" || w.Verb == "delete" && w.Answer != ""
}

// line returns the line of an object. Stored objects never change, so it makes each line only once.
func (g *game) line(o metav1.Object, state func() any) string {
	text, known := g.lines[o]
	if !known {
		text = line(o, state())
		g.lines[o] = text
	}
	return text
}

// line describes the common fields of an object and its state. Resource versions
// differ between servers as soon as two writes of one instant change places.
func line(o metav1.Object, state any) string {
	var owners []string
	for _, r := range o.GetOwnerReferences() {
		owners = append(owners,
			fmt.Sprintf("%s/%s/%s controller=%v", r.Kind, r.Name, r.UID, r.Controller != nil && *r.Controller))
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

// jobStatus returns the whole status. It sorts the lists of UIDs, whose order has no meaning.
func jobStatus(j *batchv1.Job) batchv1.JobStatus {
	s := *j.Status.DeepCopy()
	if u := s.UncountedTerminatedPods; u != nil {
		slices.Sort(u.Succeeded)
		slices.Sort(u.Failed)
	}
	return s
}

// cronJobStatus returns the whole status. It sorts the list of active jobs, whose order has no
// meaning, and drops resource versions.
func cronJobStatus(c *batchv1.CronJob) batchv1.CronJobStatus {
	s := *c.Status.DeepCopy()
	for i := range s.Active {
		s.Active[i].ResourceVersion = ""
	}
	slices.SortFunc(s.Active, func(a, b corev1.ObjectReference) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// podState returns the phase of a pod, and the fields that the controller has set.
func podState(p *corev1.Pod) any {
	return struct {
		Phase            corev1.PodPhase
		Group            any
		Hostname         string
		GenerateName     string
		Init, Containers []corev1.Container
	}{p.Status.Phase, server.GroupOf(p), p.Spec.Hostname, p.GenerateName, p.Spec.InitContainers, p.Spec.Containers}
}

// aboutPods holds the reasons of events that name pods. Many of them are combined
// into one, with the message of the first, so only their number is compared.
var aboutPods = []string{"SuccessfulCreate", "FailedCreate", "SuccessfulDelete", "FailedDelete"}

// mostEvents is the number of events about one object that the recorder of Kubernetes lets through
// in a burst. Which further events it drops depends on their order.
const mostEvents = 25

func countEvents(events []*corev1.Event) (lines []string, busy map[string]bool) {
	counts, total := map[string]int32{}, map[string]int32{}
	for _, e := range events {
		object := e.InvolvedObject.Kind + "/" + e.InvolvedObject.Name
		total[object] += e.Count
		if (e.Reason == "FailedDelete" || e.Reason == "FailedGet") && e.InvolvedObject.Kind == "CronJob" {
			// Theirs stops at the first job that it cannot delete, and deletes again what its cache
			// still shows.
			continue
		}

		message := e.Message
		if slices.Contains(aboutPods, e.Reason) && e.InvolvedObject.Kind == "Job" {
			message = ""
		}

		line := fmt.Sprintf("%s %s %s: %s", object, e.Type, e.Reason, message)
		counts[line] += e.Count
		if e.InvolvedObject.Kind == "CronJob" {
			counts[line] = 1 // a round with a conflict is repeated, with its events
		}
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

// dropBusy drops events about objects that have too many events on either side. After a conflict, a
// round of a CronJob is repeated with its events, and one side may repeat it more often.
func dropBusy(a, b *view) {
	for _, v := range [...]*view{a, b} {
		v.Events = slices.DeleteFunc(v.Events, func(line string) bool {
			object, _, _ := strings.Cut(line, " ")
			return a.busy[object] || b.busy[object]
		})
	}
}

// compactCronJobs merges equal status writes of a CronJob that follow each other in one instant.
// Ours needs two rounds, and so two writes, if a job is gone while a run is due.
func compactCronJobs(writes []string) []string {
	return slices.CompactFunc(writes,
		func(a, b string) bool { return a == b && strings.Contains(a, "update cronjobs/status") })
}
