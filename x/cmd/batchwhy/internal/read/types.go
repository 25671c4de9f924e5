package read

import (
	"encoding/json"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
)

// envelope has the fields that all objects share, and the fields of an event of a watch.
type envelope struct {
	manifest.Type
	// Event and Object are set in the output of kubectl with --output-watch-events.
	Event    string          `json:"type"`
	Object   json.RawMessage `json:"object"`
	Metadata Meta            `json:"metadata"`
	more
}

// Meta is the part of an object's metadata that explanations need.
type Meta struct {
	Namespace         string            `json:"namespace"`
	Name              string            `json:"name"`
	GenerateName      string            `json:"generateName"`
	UID               job.UID           `json:"uid"`
	ResourceVersion   string            `json:"resourceVersion"`
	CreationTimestamp time.Time         `json:"creationTimestamp"`
	DeletionTimestamp time.Time         `json:"deletionTimestamp"`
	GracePeriod       int64             `json:"deletionGracePeriodSeconds"`
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
	Finalizers        []string          `json:"finalizers"`
	Owners            []Owner           `json:"ownerReferences"`
}

// Owner is a reference to an owner of the object.
type Owner struct {
	Kind       string  `json:"kind"`
	Name       string  `json:"name"`
	UID        job.UID `json:"uid"`
	Controller bool    `json:"controller"`
}

// Controller returns the owner that controls the object, or the zero Owner.
func (m *Meta) Controller() (owner Owner) {
	for _, o := range m.Owners {
		if o.Controller {
			owner = o
		}
	}
	return owner
}

// Key returns NAMESPACE/NAME, or the name if there is no namespace.
func (m *Meta) Key() string {
	if m.Namespace == "" {
		return m.Name
	}
	return m.Namespace + "/" + m.Name
}
