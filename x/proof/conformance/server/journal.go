package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"github.com/batchplan/batchplan/internal/indexset"
)

// Write is a request of a controller that changes something, and its answer.
type Write struct {
	Time        time.Time
	Verb        string // create, update, patch or delete
	Resource    string
	Subresource string
	// Name is the object's name, or the prefix of a name that is still to be generated.
	Name string
	// Index is the completion index of a pod to create, if it has one.
	Index string
	// Body is the patch, or the propagation of a deletion.
	Body string
	// Unchanged is true for a write that has changed nothing.
	Unchanged bool
	// Contradicts is true for a job status in which an index or a pod has both succeeded and
	// failed. The server refuses such a status, whatever job is stored.
	Contradicts bool
	// Answer is empty for success, and otherwise the reason and the causes.
	Answer string
}

// String returns a line of the journal, without the time.
func (w Write) String() string {
	text := w.Verb + " " + w.Resource
	if w.Subresource != "" {
		text += "/" + w.Subresource
	}
	text += " " + w.Name
	if w.Body != "" {
		text += " " + w.Body
	}
	if w.Answer != "" {
		text += " -> " + w.Answer
	}
	return text
}

func describe(action clienttesting.Action) Write {
	w := Write{
		Time: time.Now(), Verb: action.GetVerb(),
		Resource: action.GetResource().Resource, Subresource: action.GetSubresource(),
	}
	switch a := action.(type) {
	case clienttesting.CreateActionImpl:
		o := a.Object.(metav1.Object)
		if w.Name = o.GetName(); w.Name == "" {
			w.Name = o.GetGenerateName()
		}
		w.Index = o.GetAnnotations()["batch.kubernetes.io/job-completion-index"]
	case clienttesting.UpdateActionImpl:
		w.Name = a.Object.(metav1.Object).GetName()
		if j, ok := a.Object.(*batchv1.Job); ok {
			w.Contradicts = contradicts(&j.Status)
		}
	case clienttesting.PatchActionImpl:
		w.Name = a.Name
		// Groups have only one field to patch, which the two sides patch in different ways.
		if w.Resource != Workloads && w.Resource != PodGroups {
			w.Body = effect(a.Patch)
		}
	case clienttesting.DeleteActionImpl:
		w.Name = a.Name
		if p := a.DeleteOptions.PropagationPolicy; p != nil {
			w.Body = string(*p)
		}
	}
	return w
}

func contradicts(s *batchv1.JobStatus) bool {
	if u := s.UncountedTerminatedPods; u != nil {
		if slices.ContainsFunc(u.Succeeded, func(uid types.UID) bool { return slices.Contains(u.Failed, uid) }) {
			return true
		}
	}
	if s.FailedIndexes == nil {
		return false
	}
	var succeeded, failed indexset.Set
	succeeded.AddText(s.CompletedIndexes, math.MaxInt32)
	failed.AddText(*s.FailedIndexes, math.MaxInt32)
	return indexset.Common(&succeeded, &failed) > 0
}

// effect returns the purpose of a controller's patch, since there are several ways
// to write the same change.
func effect(patch []byte) string {
	var p struct {
		Metadata struct {
			OwnerReferences []map[string]any `json:"ownerReferences"`
			Finalizers      []string         `json:"finalizers"`
			Removed         []string         `json:"$deleteFromPrimitiveList/finalizers"`
		} `json:"metadata"`
	}
	if json.Unmarshal(patch, &p) != nil {
		return string(patch)
	}

	var parts []string
	for _, o := range p.Metadata.OwnerReferences {
		if o["$patch"] == "delete" {
			parts = append(parts, "-owner")
		} else {
			parts = append(parts, "+owner")
		}
	}

	for _, f := range p.Metadata.Finalizers {
		parts = append(parts, "+"+f)
	}
	for _, f := range p.Metadata.Removed {
		parts = append(parts, "-"+f)
	}
	return strings.Join(parts, " ")
}

func (w *Write) err(err error) {
	if err == nil {
		return
	}
	if w.Answer = string(apierrors.ReasonForError(err)); w.Answer == "" {
		w.Answer = err.Error()
	}
	status, ok := err.(apierrors.APIStatus)
	if !ok || status.Status().Details == nil {
		return
	}
	for _, c := range status.Status().Details.Causes {
		w.Answer += fmt.Sprintf(" %s:%s", c.Field, c.Type)
	}
}

func (s *Server) record(w Write) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal = append(s.journal, w)
}

// Journal returns the writes since the last call.
func (s *Server) Journal() []Write {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.journal
	s.journal = nil
	return out
}

// reactEvent stores events unchanged, without a registry.
func (s *Server) reactEvent(action clienttesting.Action) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch a := action.(type) {
	case clienttesting.CreateActionImpl:
		// A recorder makes names from nanoseconds, which do not change while virtual time stands
		// still.
		e := a.Object.(*corev1.Event).DeepCopy()
		e.Name = fmt.Sprintf("%s-%d", e.Name, len(s.events))
		s.events[e.Name] = e
		return e, nil
	case clienttesting.PatchActionImpl:
		e := s.events[a.Name]
		if e == nil {
			return nil, apierrors.NewNotFound(action.GetResource().GroupResource(), a.Name)
		}
		e = e.DeepCopy()
		if err := json.Unmarshal(a.Patch, e); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		s.events[a.Name] = e
		return e, nil
	}
	return nil, apierrors.NewMethodNotSupported(action.GetResource().GroupResource(), action.GetVerb())
}

// Reported returns the events so far, with their counts.
func (s *Server) Reported() []*corev1.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.events))
}

// Revision returns a number that changes with every write, also of an event, and with every write
// that the server refuses.
func (s *Server) Revision() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision + int64(len(s.journal))
}
