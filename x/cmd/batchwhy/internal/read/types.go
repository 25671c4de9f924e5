package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
)

// typeOf is the type of an object.
type typeOf struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

func (t typeOf) String() string { return t.Kind + " of " + t.APIVersion }

// itemType is the type of a list's items: a JobList holds Jobs. A List holds anything.
func (t typeOf) itemType() typeOf {
	return typeOf{t.APIVersion, strings.TrimSuffix(t.Kind, "List")}
}

// itemTypeOf reads the type from the beginning of a list, closed with brackets.
func itemTypeOf(head []byte) typeOf {
	t, err := readType(head)
	if err != nil {
		return typeOf{}
	}
	return t.itemType()
}

func readType(object []byte) (t typeOf, err error) {
	err = json.Unmarshal(object, &t)
	return t, err
}

// envelope is what all objects have in common, and the event of a watch.
type envelope struct {
	typeOf
	// Type and Object are set in what kubectl prints with --output-watch-events.
	Type     string          `json:"type"`
	Object   json.RawMessage `json:"object"`
	Metadata Meta            `json:"metadata"`
	more
}

// errNoKind says that an object does not tell its kind.
var errNoKind = errors.New("the object has no kind; expected a Job, CronJob, Pod, Event, Namespace, Node or a List of them, as kubectl get -o json or -o yaml prints them (kubectl describe does not)")

// Meta is the part of an object's metadata that explanations need.
type Meta struct {
	Namespace         string            `json:"namespace"`
	Name              string            `json:"name"`
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

// Key is the name as users write it.
func (m *Meta) Key() string {
	if m.Namespace == "" {
		return m.Name
	}
	return m.Namespace + "/" + m.Name
}

// offsetOf is where in the object an error of the JSON decoder is, 0 if it does not tell.
func offsetOf(err error) int64 {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return syntax.Offset
	case errors.As(err, &typed):
		return typed.Offset
	}
	return 0
}

// jsonText is the text of a decoding error, in the words of a manifest.
func jsonText(err error) string {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		return fmt.Sprintf("%s: is a %s, expected %s", typed.Field, typed.Value, plainType(typed.Type.String()))
	}
	return err.Error()
}

// plainType is the name of a Go type for people who do not write Go.
func plainType(name string) string {
	switch {
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"):
		return "a whole number"
	case name == "string":
		return "a string"
	case name == "bool":
		return "true or false"
	case strings.HasPrefix(name, "[]"):
		return "a list"
	}
	return "an object"
}
