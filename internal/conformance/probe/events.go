package probe

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// eventClient gives events the shape of other kinds.
type eventClient struct{ typedv1.EventInterface }

func (eventClient) UpdateStatus(context.Context, *corev1.Event, metav1.UpdateOptions) (*corev1.Event, error) {
	return nil, errors.New("events have no status")
}

// newEvent is one as the recorder of a controller sends it.
func newEvent(name string, j *batchv1.Job) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: j.Namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "batch/v1", Kind: "Job", Namespace: j.Namespace, Name: j.Name, UID: j.UID, ResourceVersion: "7",
		},
		Reason: "SuccessfulCreate", Message: "Created pod", Type: corev1.EventTypeNormal,
		Source:         corev1.EventSource{Component: "job-controller"},
		FirstTimestamp: *at(0), LastTimestamp: *at(0), Count: 1,
		ReportingController: "job-controller",
	}
}

var events = []Probe{
	{"event: recorded and repeated", func(s *script) {
		j := s.jobs.create(newJob("j"))
		all := s.client().CoreV1().Events("")
		e, err := all.CreateWithEventNamespaceWithContext(s.ctx, newEvent("j.1", j))
		s.events.tell("record", e, err)
		e, err = all.PatchWithEventNamespaceWithContext(s.ctx, e, []byte(`{"count":2,"lastTimestamp":"2026-01-02T03:05:05Z"}`))
		s.events.tell("repeat", e, err)
		_, err = all.PatchWithEventNamespaceWithContext(s.ctx, newEvent("j.2", j), []byte(`{"count":2}`))
		s.events.tell("repeat one that is missing", nil, err)
	}},
	{"event: name taken, deleted", func(s *script) {
		j := s.jobs.create(newJob("j"))
		s.events.create(newEvent("j.1", j))
		s.events.create(newEvent("j.1", j))
		s.events.delete("j.1", "")
	}},
	{"event: invalid", func(s *script) {
		j := s.jobs.create(newJob("j"))
		s.events.refuses("about another namespace", changed(newEvent("a", j), func(e *corev1.Event) { e.InvolvedObject.Namespace = "elsewhere" }))
		s.events.refuses("without a reason", changed(newEvent("b", j), func(e *corev1.Event) { e.Reason = "" }))
		s.events.refuses("of an unknown type", changed(newEvent("c", j), func(e *corev1.Event) { e.Type = "Odd" }))
		s.events.refuses("without a name", newEvent("", j))
	}},
}

func changed(e *corev1.Event, how func(*corev1.Event)) *corev1.Event {
	how(e)
	return e
}
