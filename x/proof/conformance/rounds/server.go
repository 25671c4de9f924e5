package rounds

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// server answers the writes of one round and keeps them.
type server struct {
	snapshot *Snapshot

	mu       sync.Mutex
	created  map[string]int  // by prefix
	deleted  map[string]bool // by name
	once     map[string]bool // by write
	statuses int
	log      []string
	group    []string // the writes since the last write of the status
	ended    bool     // whether a status was written that ends the job
}

func newServer(s *Snapshot) *server {
	return &server{snapshot: s, created: map[string]int{}, deleted: map[string]bool{}, once: map[string]bool{}}
}

// wrote records a write and returns its answer.
func (s *server) wrote(what, fault string, err error) error {
	if fault == "" {
		fault = "ok"
	}
	s.group = append(s.group, what+": "+fault)
	return err
}

// repeated is like wrote, but it records a write only the first time. It is for writes that only
// one of the two sides repeats, without effect.
func (s *server) repeated(what, fault string, err error) error {
	if s.once[what] {
		return err
	}
	s.once[what] = true
	return s.wrote(what, fault, err)
}

// writes returns all recorded writes.
func (s *server) writes() []string {
	s.flush()
	return s.log
}

func (s *server) flush() {
	slices.Sort(s.group)
	s.log = append(s.log, s.group...)
	s.group = nil
}

var errInjected = errors.New("injected")

// answer returns the error of a fault.
func answer(fault, resource, name string) error {
	group := schema.GroupResource{Resource: resource}
	switch fault {
	case "":
		return nil
	case "gone":
		return apierrors.NewNotFound(group, name)
	case "conflict":
		return apierrors.NewConflict(group, name, errInjected)
	case "invalid":
		return apierrors.NewInvalid(schema.GroupKind{Kind: resource}, name,
			field.ErrorList{field.InternalError(nil, errInjected)})
	case "closing":
		err := apierrors.NewForbidden(group, name, errors.New("it is being terminated"))
		err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes,
			metav1.StatusCause{Type: corev1.NamespaceTerminatingCause})
		return err
	case "exists":
		return apierrors.NewAlreadyExists(group, name)
	}
	return errInjected
}

// readJob answers the read before an adoption.
func (s *server) readJob() (*batchv1.Job, error) {
	out := *s.snapshot.Job
	switch fault := s.snapshot.Faults.Job; fault {
	case "deleted":
		now := metav1.Now()
		out.DeletionTimestamp = &now
	case "replaced":
		out.UID = "another"
	default:
		if err := answer(fault, "jobs", out.Name); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

func (s *server) patch(verb, pod string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fault := s.snapshot.Patch[pod]
	return s.repeated(verb+" "+pod, fault, answer(fault, "pods", pod))
}

func (s *server) delete(pod string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleted[pod] = true
	fault := s.snapshot.Delete[pod]
	return s.wrote("delete "+pod, fault, answer(fault, "pods", pod))
}

// create names the pod.
func (s *server) create(pod *corev1.Pod) (*corev1.Pod, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	prefix := pod.GenerateName
	s.created[prefix]++
	made := fmt.Sprintf("%s%d", prefix, s.created[prefix])
	fault := s.snapshot.Create[made]
	if all := s.snapshot.Create["all"]; all != "" {
		// The real controller continues the batch after the refusal, which is recorded once.
		return nil, s.repeated("create", all, answer(all, "pods", made))
	}
	if err := s.wrote("create "+made+describePod(pod), fault, answer(fault, "pods", made)); err != nil {
		return nil, err
	}
	out := *pod
	out.Name, out.UID = made, types.UID(made)
	return &out, nil
}

// describePod describes everything in a new pod that differs from the template.
func describePod(p *corev1.Pod) string {
	var b strings.Builder
	for _, m := range [...]map[string]string{p.Labels, p.Annotations} {
		data, _ := json.Marshal(m) // maps are sorted
		fmt.Fprintf(&b, " %s", data)
	}
	fmt.Fprintf(&b, " %v", p.Finalizers)
	for _, o := range p.OwnerReferences {
		fmt.Fprintf(&b, " of %s %s %s %s %v %v", o.APIVersion, o.Kind, o.Name, o.UID, *o.Controller,
			*o.BlockOwnerDeletion)
	}
	fmt.Fprintf(&b, " %s%s", p.Spec.Hostname, groupOf(p))
	for _, containers := range [...][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for _, c := range containers {
			data, _ := json.Marshal(c.Env)
			fmt.Fprintf(&b, " %s%s", c.Name, data)
		}
	}
	return b.String()
}

func (s *server) writeStatus(status *batchv1.JobStatus) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	s.statuses++
	fault := s.snapshot.Status[s.statuses]
	err := s.wrote("status "+describeStatus(status), fault, answer(fault, "jobs", name))
	s.flush()
	s.ended = s.ended || err == nil && isEnd(status)
	return err
}

// describeStatus returns the status as text, with times to the nanosecond. It sorts the uncounted
// UIDs, whose order has no meaning.
func describeStatus(s *batchv1.JobStatus) string {
	var b strings.Builder

	at := func(label string, t *metav1.Time) {
		if t != nil && !t.IsZero() {
			fmt.Fprintf(&b, " %s=%s", label, t.UTC().Format("2006-01-02T15:04:05.999999999"))
		}
	}
	count := func(label string, n *int32) {
		if n != nil {
			fmt.Fprintf(&b, " %s=%d", label, *n)
		}
	}

	fmt.Fprintf(&b, "active=%d succeeded=%d failed=%d", s.Active, s.Succeeded, s.Failed)
	count("ready", s.Ready)
	count("terminating", s.Terminating)
	at("start", s.StartTime)
	at("completion", s.CompletionTime)

	if s.CompletedIndexes != "" {
		fmt.Fprintf(&b, " completedIndexes=%s", s.CompletedIndexes)
	}
	if s.FailedIndexes != nil {
		fmt.Fprintf(&b, " failedIndexes=%q", *s.FailedIndexes)
	}
	if u := s.UncountedTerminatedPods; u != nil {
		fmt.Fprintf(&b, " uncounted=%v,%v", slices.Sorted(slices.Values(u.Succeeded)),
			slices.Sorted(slices.Values(u.Failed)))
	}

	for _, c := range s.Conditions {
		fmt.Fprintf(&b, " {%s %s %s %q", c.Type, c.Status, c.Reason, c.Message)
		at("probe", &c.LastProbeTime)
		at("transition", &c.LastTransitionTime)
		b.WriteString("}")
	}
	return b.String()
}
