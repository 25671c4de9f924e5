package trace

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/batchplan/batchplan/internal/object"
)

// auditEvent is an event of an audit log (audit.k8s.io).
type auditEvent struct {
	Stage     string `json:"stage"`
	Verb      string `json:"verb"`
	ObjectRef struct {
		Resource        string `json:"resource"`
		Namespace       string `json:"namespace"`
		Name            string `json:"name"`
		UID             string `json:"uid"`
		APIGroup        string `json:"apiGroup"`
		Subresource     string `json:"subresource"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	RequestObject struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	} `json:"requestObject"`
	ResponseObject json.RawMessage `json:"responseObject"`
}

// resources maps a group and a resource to the kind, for the kinds that are read.
var resources = map[string]string{
	"batch/jobs":     "Job",
	"/pods":          "Pod",
	"batch/cronjobs": "CronJob",
	"/namespaces":    "Namespace",
}

// audited reads an event of an audit log. Only requests that have changed an object count.
func (s *source) audited(at Place, value []byte) {
	var a auditEvent
	if err := json.Unmarshal(value, &a); err != nil {
		s.reject(value, at.Line, err)
		return
	}

	ref := &a.ObjectRef
	kind, ok := resources[ref.APIGroup+"/"+ref.Resource]
	deletes := strings.HasPrefix(a.Verb, "delete")
	changes := a.Verb == "create" || a.Verb == "update" || a.Verb == "patch"
	isDone := a.Stage == "ResponseComplete" && a.ResponseStatus.Code/100 == 2
	isOtherPart := ref.Subresource != "" && ref.Subresource != "status"
	switch {
	case !ok || !isDone || isOtherPart, !changes && !deletes:
		s.summary.Others++
		return
	case len(a.ResponseObject) == 0:
		s.summary.Bodiless++
		return
	}

	e := &event{Place: at, audited: true, change: isModified, isStatus: ref.Subresource == "status"}
	if a.Verb == "create" {
		e.change = isAdded
	}
	if a.Verb == "update" {
		e.replaced = versionOf(a.RequestObject.Metadata.ResourceVersion, ref.ResourceVersion)
	}
	if deletes {
		s.auditDeletion(e, kind, &a)
		return
	}
	s.object(e, a.ResponseObject, kind)
}

func versionOf(texts ...string) uint64 {
	for _, text := range texts {
		if v, err := strconv.ParseUint(text, 10, 64); err == nil {
			return v
		}
	}
	return 0
}

// auditDeletion reads a deletion. The response is the object, a Status that names the object, or a
// list of objects. An object with finalizers or a grace period still exists.
func (s *source) auditDeletion(e *event, kind string, a *auditEvent) {
	var answer struct {
		object.Head
		Items   []json.RawMessage `json:"items"`
		Details struct {
			UID string `json:"uid"`
		} `json:"details"`
	}
	if err := json.Unmarshal(a.ResponseObject, &answer); err != nil {
		s.reject(a.ResponseObject, e.Line, err)
		return
	}

	e.kind, _ = kindOf(kind)
	m := &answer.Metadata
	isHeld := len(m.Finalizers) > 0 || m.DeletionGracePeriodSeconds > 0

	switch {
	case answer.Items != nil:
		for _, item := range answer.Items {
			s.object(&event{Place: e.Place, audited: true, change: isLost}, item, kind)
		}
	case answer.Kind == kind && isHeld && !m.DeletionTimestamp.IsZero():
		s.object(e, a.ResponseObject, kind)
	case answer.Kind == kind:
		e.change = isDeleted
		s.object(e, a.ResponseObject, kind)
	case answer.Details.UID != "" || a.ObjectRef.UID != "":
		e.change = isDeleted
		e.meta = object.Meta{Namespace: a.ObjectRef.Namespace, Name: a.ObjectRef.Name, UID: answer.Details.UID}
		if e.meta.UID == "" {
			e.meta.UID = a.ObjectRef.UID
		}
		s.put(e)
	default:
		s.summary.Bodiless++
	}
}
