package read

import (
	"encoding/json"
	"time"

	"github.com/batchplan/batchplan/job"
)

// Event is an event about an object.
type Event struct {
	Type, Reason, Message string
	First, Last           time.Time
	Count                 int
	// Host is the node whose kubelet has reported it, or "".
	Host string
}

// EventsOf returns the events about an object, including those that have its name and no UID.
func (o *Objects) EventsOf(kind string, m *Meta) []Event {
	events := o.Events[m.UID]
	if more := o.Events[unnamed(kind, m.Namespace, m.Name)]; len(more) > 0 {
		events = append(events[:len(events):len(events)], more...)
	}
	return events
}

// NodeEvents returns the events about a node.
func (o *Objects) NodeEvents(name string) []Event { return o.Events[unnamed("Node", "", name)] }

// unnamed returns the key in Objects.Events for an object whose UID the event does not contain.
func unnamed(kind, namespace, name string) job.UID {
	return job.UID(kind + " " + namespace + "/" + name)
}

// subject is the object that an event is about.
type subject struct {
	Kind      string  `json:"kind"`
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	UID       job.UID `json:"uid"`
}

// decodeEvent reads an event of either API group, and the object that it is about.
func decodeEvent(data []byte) (Event, subject, error) {
	var e struct {
		Type    string `json:"type"`
		Reason  string `json:"reason"`
		Message string `json:"message"`
		// Note, Regarding and the deprecated fields belong to events.k8s.io.
		Note           string    `json:"note"`
		Count          int       `json:"count"`
		OldCount       int       `json:"deprecatedCount"`
		FirstTimestamp time.Time `json:"firstTimestamp"`
		LastTimestamp  time.Time `json:"lastTimestamp"`
		OldFirst       time.Time `json:"deprecatedFirstTimestamp"`
		OldLast        time.Time `json:"deprecatedLastTimestamp"`
		EventTime      time.Time `json:"eventTime"`
		Series         *struct {
			Count            int       `json:"count"`
			LastObservedTime time.Time `json:"lastObservedTime"`
		} `json:"series"`
		Source struct {
			Host string `json:"host"`
		} `json:"source"`
		InvolvedObject subject `json:"involvedObject"`
		Regarding      subject `json:"regarding"`
	}

	if err := json.Unmarshal(data, &e); err != nil {
		return Event{}, subject{}, err
	}

	about := e.InvolvedObject
	if about.Kind == "" {
		about = e.Regarding
	}

	event := Event{
		Type:    e.Type,
		Reason:  e.Reason,
		Message: e.Message,
		Count:   max(e.Count, e.OldCount, 1),
		Host:    e.Source.Host,
	}
	if event.Message == "" {
		event.Message = e.Note
	}
	event.First = firstTime(e.FirstTimestamp, e.OldFirst, e.EventTime)
	event.Last = firstTime(e.LastTimestamp, e.OldLast, e.EventTime)

	if e.Series != nil {
		event.Count, event.Last = e.Series.Count, e.Series.LastObservedTime
	}
	return event, about, nil
}

func (o *Objects) addEvent(data []byte) error {
	event, about, err := decodeEvent(data)
	if err != nil {
		return err
	}

	switch about.Kind {
	case "Job", "CronJob", "Pod":
		if about.UID == "" {
			about.UID = unnamed(about.Kind, about.Namespace, about.Name)
		}
		if about.Kind == "Pod" {
			if o.EventPods == nil {
				o.EventPods = make(map[string]job.UID)
			}
			o.EventPods[about.Namespace+"/"+about.Name] = about.UID
		}
	case "Node": // the UID in a kubelet's event about a Node is not that of the Node
		about.UID = unnamed("Node", "", about.Name)
	default:
		if event.Type == "Warning" {
			o.addReport(Report{
				Kind:      about.Kind,
				Namespace: about.Namespace,
				Name:      about.Name,
				Reason:    event.Reason,
				Message:   event.Message,
				At:        event.Last,
			})
		} else if about.Kind != "PersistentVolumeClaim" {
			return nil
		}
		about.UID = unnamed(about.Kind, about.Namespace, about.Name)
	}

	o.see(event.Last)
	if o.Events == nil {
		o.Events = make(map[job.UID][]Event)
	}
	o.Events[about.UID] = append(o.Events[about.UID], event)
	o.changed(Change{Kind: "Event", Key: event.Reason, Owner: o.concerned(about.UID)})
	return nil
}

// concerned returns the UID of the object whose explanation an event may change: the object that the
// event is about or, if that is a pod, the controller of the pod.
func (o *Objects) concerned(about job.UID) job.UID {
	if id, ok := o.byUID[about]; ok && id.kind == "Pod" && o.Pods[id.place] != nil {
		return o.Pods[id.place].Controller().UID
	}
	return about
}

func firstTime(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// addNamespace notes a namespace if it is being deleted.
func (o *Objects) addNamespace(m *Meta) {
	if m.DeletionTimestamp.IsZero() {
		return
	}
	if o.Closing == nil {
		o.Closing = make(map[string]time.Time)
	}
	o.Closing[m.Name] = m.DeletionTimestamp
}

// addNode notes the labels and the state of a node.
func (o *Objects) addNode(head *envelope, x *other) {
	if o.Nodes == nil {
		o.Nodes = make(map[string]Node)
	}
	n := Node{
		Labels:      head.Metadata.Labels,
		Cordoned:    x.Spec.Unschedulable,
		Created:     head.Metadata.CreationTimestamp,
		Info:        x.Status.Info,
		Allocatable: x.Status.Allocatable,
	}
	for _, t := range x.Spec.Taints {
		if t.Key == "node.kubernetes.io/unschedulable" {
			n.CordonedAt = t.TimeAdded
		}
		if t.Effect != "PreferNoSchedule" {
			n.Taints = append(n.Taints, t.Key+"="+t.Value+":"+t.Effect)
		}
	}
	for _, c := range head.Status.Conditions {
		if c.Type == "Ready" && c.Status != "True" {
			n.NotReady = c.At
		}
		if c.Type != "Ready" && c.Status == "True" {
			n.Troubles = append(n.Troubles, c)
		}
		o.see(c.At)
		o.see(c.Heartbeat)
	}
	o.Nodes[head.Metadata.Name] = n
}

// addWorkload notes why Kueue holds a Job back.
func (o *Objects) addWorkload(head *envelope, status *otherStatus) {
	owner := head.Metadata.Controller()
	if owner.Kind != "Job" {
		return
	}

	w := Workload{Name: head.Metadata.Name}
	for _, c := range head.Status.Conditions {
		switch {
		case c.Type == "Admitted" && c.Status == "True":
			w.Admitted = true
		case c.Type == "QuotaReserved" && c.Status == "False", c.Type == "Evicted" && c.Status == "True":
			w.Why = c.Message
		}
		switch {
		case c.Type != "QuotaReserved":
		case c.Status == "True":
			w.Reserved = c.At
		default:
			w.Since = c.At
		}
		o.see(c.At)
	}

	for _, c := range status.AdmissionChecks {
		if c.State != "Ready" {
			w.Checks = append(w.Checks, c)
		}
	}

	if o.Workloads == nil {
		o.Workloads = make(map[job.UID]Workload)
	}
	o.Workloads[owner.UID] = w
}

// Workload is the object that Kueue creates for a Job.
type Workload struct {
	Name     string
	Admitted bool
	// Why is the reason why the workload is not admitted.
	Why string
	// Since is the time since when no quota is reserved for the workload, or zero.
	Since time.Time
	// Reserved is the time at which quota was reserved for the workload, or zero.
	Reserved time.Time
	// Checks are the admission checks that are not ready.
	Checks []AdmissionCheck
}
