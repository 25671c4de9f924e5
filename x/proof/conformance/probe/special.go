package probe

import (
	"context"
	"errors"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// special holds the probes that check what JSON does not show, or that are not about one object.
var special = map[string]func(*script){
	"the usual event, in full": func(s *script) {
		s.events.usual(newEvent("usual-1",
			&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "usual", Namespace: s.namespace, UID: strange}}))
	},
	"pod create: generated names": func(s *script) {
		from := func(prefix string) *corev1.Pod {
			return changed(newPod(""), func(o *corev1.Pod) { o.GenerateName = prefix })
		}
		a, b := s.pods.create(from("p-")), s.pods.create(from("p-"))
		s.say("the names differ: %t", a.Name != b.Name)
		s.pods.try("with a name and a prefix", changed(newPod("named"), func(o *corev1.Pod) { o.GenerateName = "p-" }))
		s.pods.refuses("from a prefix that is not a name", from("P_"))
		s.pods.refuses("without a name", from(""))
	},
	"pod create: from a long prefix": func(s *script) {
		long := s.pods.try("from a prefix of 70 letters",
			changed(newPod(""), func(o *corev1.Pod) { o.GenerateName = strings.Repeat("x", 70) }))
		s.say("the name has %d letters", len(long.Name))
	},
	"pod create: empty is nothing": func(s *script) {
		o := s.pods.create(changed(newPod("p"), func(o *corev1.Pod) {
			o.Labels, o.Annotations = map[string]string{}, map[string]string{}
			o.OwnerReferences = []metav1.OwnerReference{}
		}))
		s.say("nil: labels %t, annotations %t, finalizers %t, owners %t",
			o.Labels == nil, o.Annotations == nil, o.Finalizers == nil, o.OwnerReferences == nil)
	},
	"pod update: bind": func(s *script) {
		s.pods.create(changed(newPod("p"), func(o *corev1.Pod) { o.Finalizers = []string{tracking} }))
		for range 2 {
			err := s.client().CoreV1().Pods(s.namespace).Bind(s.ctx, &corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Kind: "Node", Name: "node"},
			}, metav1.CreateOptions{})
			if err != nil {
				s.say("bind -> %s", s.rec.failure(err))
			}
			s.pods.get("p")
		}
	},
	"pod patch: release the last finalizer and the last owner": func(s *script) {
		j := s.jobs.create(newJob("j"))
		s.pods.create(changed(newPod("p"), func(o *corev1.Pod) {
			o.OwnerReferences, o.Finalizers = []metav1.OwnerReference{controllerRef("Job", j)}, []string{tracking}
		}))
		o := s.pods.patch("p", "release", types.StrategicMergePatchType, s.resolve(`{"metadata":{"uid":"<U2>",`+
			`"ownerReferences":[{"$patch":"delete","uid":"<U1>"}],`+
			`"$deleteFromPrimitiveList/finalizers":["<tracking>"]}}`))
		s.say("nil: owners %t, finalizers %t", o.OwnerReferences == nil, o.Finalizers == nil)
	},
	"job status: times are cut to seconds": func(s *script) {
		s.jobs.create(newJob("j"))
		o := s.jobs.report("j", "started at half past", func(o *batchv1.Job) *batchv1.Job {
			o.Status.StartTime = atHalf()
			o.Status.Conditions = []batchv1.JobCondition{{Type: "Mine", Status: "True", LastTransitionTime: *atHalf()}}
			return o
		})
		times := func(o *batchv1.Job) []any {
			return []any{o.Status.StartTime.Sub(then), o.Status.Conditions[0].LastTransitionTime.Sub(then)}
		}
		s.say("start %v, transition %v after the second", times(o)...)
		s.say("read again: start %v, transition %v after the second", times(s.jobs.live("j"))...)
		s.jobs.report("j", "the same half",
			func(o *batchv1.Job) *batchv1.Job { o.Status.StartTime = atHalf(); return o })
	},
	"job status: what is empty": func(s *script) {
		s.jobs.create(newJob("j"))
		o := s.jobs.report("j", "empty lists", func(o *batchv1.Job) *batchv1.Job {
			o.Status.Conditions = []batchv1.JobCondition{}
			o.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{
				Succeeded: []types.UID{},
				Failed:    []types.UID{},
			}
			return o
		})
		s.say("nil: conditions %t, uncounted %t, succeeded %t", o.Status.Conditions == nil,
			o.Status.UncountedTerminatedPods == nil, o.Status.UncountedTerminatedPods.Succeeded == nil)
		s.jobs.report("j", "nothing uncounted",
			func(o *batchv1.Job) *batchv1.Job { o.Status.UncountedTerminatedPods = nil; return o })
		s.jobs.create(s.jobs.made("indexed",
			`{spec: {completionMode: Indexed, completions: 2, parallelism: 2, backoffLimitPerIndex: 1}}`))
		s.jobs.report("indexed", "no failed index",
			func(o *batchv1.Job) *batchv1.Job { o.Status.FailedIndexes = new(string); return o })
		s.jobs.report("indexed", "failed indexes unset",
			func(o *batchv1.Job) *batchv1.Job { o.Status.FailedIndexes = nil; return o })
	},
	"job delete: made again": func(s *script) {
		background, foreground := metav1.DeletePropagationBackground, metav1.DeletePropagationForeground
		first := s.jobs.create(newJob("j"))
		s.jobs.delete("j", "Background", metav1.DeleteOptions{PropagationPolicy: &background})
		again := s.jobs.create(newJob("j"))
		s.say("another UID: %t", first.UID != again.UID)
		first.ResourceVersion = ""
		s.jobs.updateStatus("of the first", first)
		s.jobs.delete("j", "the first",
			metav1.DeleteOptions{PropagationPolicy: &foreground, Preconditions: &metav1.Preconditions{UID: &first.UID}})
	},
	"cronjob update: an empty list": func(s *script) {
		s.cronJobs.create(newCronJob("c"))
		o := s.cronJobs.report("c", "empty list", func(o *batchv1.CronJob) *batchv1.CronJob {
			o.Status.Active = []corev1.ObjectReference{}
			return o
		})
		s.say("nil: active %t", o.Status.Active == nil)
	},
	"cronjob update: times are cut to seconds": func(s *script) {
		s.cronJobs.create(newCronJob("c"))
		o := s.cronJobs.report("c", "at half past",
			func(o *batchv1.CronJob) *batchv1.CronJob { o.Status.LastScheduleTime = atHalf(); return o })
		s.say("%v after the second", o.Status.LastScheduleTime.Sub(then))
		s.say("read again: %v after the second", s.cronJobs.live("c").Status.LastScheduleTime.Sub(then))
	},
	"namespace terminating: events": func(s *script) {
		j := s.jobs.create(newJob("j"))
		s.close()
		s.events.refuses("about a job", newEvent("e", j))
	},
	"namespace terminating: how a controller knows": func(s *script) {
		s.close()
		_, err := s.client().CoreV1().Pods(s.namespace).Create(s.ctx, newPod("p"), metav1.CreateOptions{})
		s.say("forbidden %t, with the cause %t", apierrors.IsForbidden(err),
			apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause))
	},
	"event: recorded and repeated": func(s *script) {
		j := s.jobs.create(newJob("j"))
		all := s.client().CoreV1().Events("")
		e, err := all.CreateWithEventNamespaceWithContext(s.ctx, newEvent("j.1", j))
		s.events.tell("record", e, err)
		e, err = all.PatchWithEventNamespaceWithContext(s.ctx, e,
			[]byte(`{"count":2,"lastTimestamp":"2026-01-02T03:05:05Z"}`))
		s.events.tell("repeat", e, err)
		_, err = all.PatchWithEventNamespaceWithContext(s.ctx, newEvent("j.2", j), []byte(`{"count":2}`))
		s.events.tell("repeat one that is missing", nil, err)
	},
	"event: name taken, deleted": func(s *script) {
		j := s.jobs.create(newJob("j"))
		s.events.create(newEvent("j.1", j))
		s.events.create(newEvent("j.1", j))
		s.events.delete("j.1", "", metav1.DeleteOptions{})
	},
	"event: invalid": func(s *script) {
		j := s.jobs.create(newJob("j"))
		s.events.refuses("about another namespace",
			changed(newEvent("a", j), func(e *corev1.Event) { e.InvolvedObject.Namespace = "elsewhere" }))
		s.events.refuses("without a reason", changed(newEvent("b", j), func(e *corev1.Event) { e.Reason = "" }))
		s.events.refuses("of an unknown type", changed(newEvent("c", j), func(e *corev1.Event) { e.Type = "Odd" }))
		s.events.refuses("without a name", newEvent("", j))
	},
}

func changed[O any](o O, how func(O)) O {
	how(o)
	return o
}

// eventClient adds a method that the clients of other kinds have and the client of events lacks.
type eventClient struct{ typedv1.EventInterface }

func (eventClient) UpdateStatus(context.Context, *corev1.Event, metav1.UpdateOptions) (*corev1.Event, error) {
	return nil, errors.New("events have no status")
}
