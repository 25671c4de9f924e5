// Package object reads what all Kubernetes objects have in common: their type and their
// metadata.
package object

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Head is the first part of an object.
type Head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   Meta   `json:"metadata"`
}

// Meta is the part of the metadata that the decoders need.
type Meta struct {
	Namespace                  string            `json:"namespace"`
	Name                       string            `json:"name"`
	UID                        string            `json:"uid"`
	ResourceVersion            string            `json:"resourceVersion"`
	Generation                 int64             `json:"generation"`
	CreationTimestamp          time.Time         `json:"creationTimestamp"`
	DeletionTimestamp          time.Time         `json:"deletionTimestamp"`
	DeletionGracePeriodSeconds int64             `json:"deletionGracePeriodSeconds"`
	Labels                     map[string]string `json:"labels"`
	Annotations                map[string]string `json:"annotations"`
	Finalizers                 []string          `json:"finalizers"`
	OwnerReferences            []Owner           `json:"ownerReferences"`
	ManagedFields              []Change          `json:"managedFields"`
}

// Owner is a reference to an owner of the object.
type Owner struct {
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Controller bool   `json:"controller"`
}

// Change is a write of some fields of the object.
type Change struct {
	Time        time.Time `json:"time"`
	Subresource string    `json:"subresource"`
}

// Decode reads an object of one type. Unknown fields are ignored.
func Decode(data []byte, into interface {
	Check(apiVersion, kind string) error
}, apiVersion, kind string) error {
	if err := json.Unmarshal(data, into); err != nil {
		return err
	}
	return into.Check(apiVersion, kind)
}

// Check returns an error if the object is of another type. Typed clients and lists leave the type
// out: an object without one is accepted.
func (h *Head) Check(apiVersion, kind string) error {
	switch {
	case strings.HasSuffix(h.Kind, "List"):
		return fmt.Errorf("kind: %q is a list: decode its items one by one", h.Kind)
	case h.APIVersion != "" && h.APIVersion != apiVersion:
		return fmt.Errorf("apiVersion: %q is not %s", h.APIVersion, apiVersion)
	case h.Kind != "" && h.Kind != kind:
		return fmt.Errorf("kind: %q is not %s", h.Kind, kind)
	case h.Kind == "" && h.Metadata.Name == "":
		return errors.New("the object has neither a kind nor a name")
	}
	return nil
}

// Controller returns the UID of the object's controller, empty if there is none.
func (m *Meta) Controller() (uid string) { return m.controller().UID }

// ControllerName returns the name of the object's controller, empty if there is none.
func (m *Meta) ControllerName() string { return m.controller().Name }

func (m *Meta) controller() (last Owner) {
	for _, o := range m.OwnerReferences {
		if o.Controller {
			last = o
		}
	}
	return last
}

// SpecChanged returns the time of the last write of something other than the status; zero if the
// object does not record it.
func (m *Meta) SpecChanged() (last time.Time) {
	for _, c := range m.ManagedFields {
		if c.Subresource == "" && c.Time.After(last) {
			last = c.Time
		}
	}
	return last
}
