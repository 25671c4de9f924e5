package blackbox

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
)

// eventResources are the two kinds of events that every API serves.
var eventResources = []Resource{
	{
		GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Event"),
		Plural:           "events",
		Type:             func() any { return corev1.Event{} },
		reports:          true,
	},
	{
		GroupVersionKind: eventsv1.SchemeGroupVersion.WithKind("Event"),
		Plural:           "events",
		Type:             func() any { return eventsv1.Event{} },
		reports:          true,
	},
}

// Event is an event that the program has written, in core/v1 or events.k8s.io/v1.
type Event struct {
	// Time is when the API received the event. If an Event object of Kubernetes counts repetitions,
	// each repetition is an Event here.
	Time                  time.Time
	Type, Reason, Message string
	// Regarding is a reference to the object that the event is about.
	Regarding Object
}

// eventsOf returns the events that a write reports. A write of an Event object reports as many
// events as its count has risen by.
func eventsOf(w write) (events []Event) {
	if w.New == nil {
		return nil
	}
	message, regarding := "message", "involvedObject"
	if w.Resource.Group != "" {
		message, regarding = "note", "regarding"
	}

	about, _ := w.New.Get(regarding).(map[string]any)
	e := Event{w.Time, w.New.Text("type"), w.New.Text("reason"), w.New.Text(message), about}
	for range count(w.New) - count(w.Old) {
		events = append(events, e)
	}
	return events
}

// count returns how often an event has happened, in either API version.
func count(o Object) int {
	if o == nil {
		return 0
	}
	n := 1.0
	for _, path := range [][]string{{"count"}, {"series", "count"}} {
		if times, has := o.Get(path...).(float64); has {
			n = max(n, times)
		}
	}
	return int(n)
}
