package blackbox

import (
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (a *server) report(verb string, r *Resource, old, next Object, bySubject bool) {
	if a.wrote != nil {
		a.wrote(write{time.Now(), verb, r, old, next, bySubject, bySubject && a.losing})
	}
}

// create stores a new object.
func (a *server) create(r *Resource, namespace string, o Object, bySubject bool) (entry, error) {
	o = o.clone()
	dropNulls(o)

	a.born++

	if prefix := o.Text("metadata", "generateName"); o.Name() == "" && prefix != "" {
		o.Set(fmt.Sprintf("%s%05d", prefix, a.born), "metadata", "name")
	}
	if o.Name() == "" {
		return entry{}, fail(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid,
			"%s: metadata.name: is required", r.Plural)
	}
	if r.ClusterScoped {
		namespace = ""
		o.Unset("metadata", "namespace")
	} else {
		o.Set(namespace, "metadata", "namespace")
	}

	k := key{r.Plural, namespace, o.Name()}
	if _, exists := a.objects[k]; exists && r.reports {
		// Recorders name an event after its time in nanoseconds. Here many events have the same time.
		k.name = fmt.Sprintf("%s.%d", k.name, a.born)
		o.Set(k.name, "metadata", "name")
	} else if exists {
		return entry{}, fail(http.StatusConflict, metav1.StatusReasonAlreadyExists,
			"%s %q already exists", k.plural, k.name)
	}

	o["apiVersion"], o["kind"] = r.apiVersion(), r.Kind
	o.Set(fmt.Sprintf("00000000-0000-0000-0000-%012d", a.born), "metadata", "uid")
	o.Set(time.Now().UTC().Format(time.RFC3339), "metadata", "creationTimestamp")
	o.Set(float64(1), "metadata", "generation")
	if r.Status && bySubject {
		o.Unset("status")
	}

	if err := admit(r, nil, o); err != nil {
		return entry{}, err
	}

	e := a.put(r, k, o, "ADDED")
	a.report("create", r, nil, o, bySubject)
	return e, nil
}

func admit(r *Resource, old, next Object) error {
	if r.structure != nil {
		shape(map[string]any(next), r.structure.schema, true)
	}
	if r.Default != nil {
		r.Default(next)
	}

	var err error
	if r.structure != nil {
		err = r.structure.check(next)
	}
	if err == nil && r.Admit != nil {
		err = r.Admit(old, next)
	}
	if err != nil {
		return fail(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid,
			"%s %q is invalid: %v", r.Plural, next.Name(), err)
	}
	return nil
}

// whole is a subresource for the kit only, which writes an object together with its status.
const whole = "whole"

// metadataOfServer are the fields of the metadata that an update cannot change.
var metadataOfServer = []string{
	"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation",
	"resourceVersion", "namespace", "name", "selfLink",
}

// update stores the new state of an object. The argument sub is "status" for the status alone, the
// constant whole for the object with its status, or "" for what an update without a subresource
// writes: the object, without its status if the kind has a status subresource.
func (a *server) update(r *Resource, k key, next Object, sub, verb string, bySubject bool) (entry, error) {
	old, exists := a.objects[k]
	if !exists {
		return entry{}, notFound(k)
	}

	next = next.clone()
	dropNulls(next)
	was := old.object
	version := next.Text("metadata", "resourceVersion")
	if version != "" && version != was.Text("metadata", "resourceVersion") {
		return entry{}, conflict(k)
	}
	if uid := next.UID(); uid != "" && uid != was.UID() {
		return entry{}, conflict(k)
	}

	switch {
	case sub == "status":
		status := next["status"]
		next = was.clone()
		next["status"] = status
	case r.Status && sub != whole:
		if status, has := was["status"]; has {
			next["status"] = cloneValue(status)
		} else {
			next.Unset("status")
		}
	}
	for _, field := range metadataOfServer {
		if v := was.Get("metadata", field); v != nil {
			next.Set(v, "metadata", field)
		} else {
			next.Unset("metadata", field)
		}
	}

	next["apiVersion"], next["kind"] = r.apiVersion(), r.Kind
	dropNulls(next)
	if err := admit(r, was, next); err != nil {
		return entry{}, err
	}

	if equalObjects(was, next) {
		return old, nil // no new version, and no watch event
	}

	if !equalObjects(specOf(was), specOf(next)) {
		generation, _ := was.Get("metadata", "generation").(float64)
		next.Set(generation+1, "metadata", "generation")
	}

	if next.isDeleted() && len(finalizers(next)) == 0 && !isGraceful(next) {
		e := a.put(r, k, next, "DELETED")
		a.report(verb, r, was, nil, bySubject)
		return e, nil
	}

	e := a.put(r, k, next, "MODIFIED")
	a.report(verb, r, was, next, bySubject)
	return e, nil
}

// specOf returns the part of an object whose changes count as a new generation.
func specOf(o Object) Object {
	spec := make(Object, len(o))
	for field, v := range o {
		if field != "metadata" && field != "status" {
			spec[field] = v
		}
	}
	return spec
}

func finalizers(o Object) []any {
	list, _ := o.Get("metadata", "finalizers").([]any)
	return list
}

// isGraceful reports whether a pod still has time to end.
func isGraceful(o Object) bool {
	grace, _ := o.Get("metadata", "deletionGracePeriodSeconds").(float64)
	return grace > 0
}

// remove deletes an object. An object stays while it has finalizers, and a running pod stays until
// its kubelet has ended it.
func (a *server) remove(r *Resource, k key, options metav1.DeleteOptions, verb string, bySubject bool) (entry, error) {
	old, exists := a.objects[k]
	if !exists {
		return entry{}, notFound(k)
	}
	was := old.object
	if p := options.Preconditions; p != nil {
		isOther := p.UID != nil && string(*p.UID) != was.UID()
		version := p.ResourceVersion
		isChanged := version != nil && *version != was.Text("metadata", "resourceVersion")
		if isOther || isChanged {
			return entry{}, conflict(k)
		}
	}

	if policy := options.PropagationPolicy; policy != nil && *policy == metav1.DeletePropagationOrphan {
		a.orphan(was.UID())
	}

	next := was.clone()
	grace := r.Plural == "pods" && was.Text("status", "phase") == "Running" && was.Text("spec", "nodeName") != ""
	if options.GracePeriodSeconds != nil && *options.GracePeriodSeconds == 0 {
		grace = false
	}

	if len(finalizers(was)) > 0 || grace {
		if was.isDeleted() {
			return old, nil
		}
		seconds := 0.0
		if grace {
			seconds = 30
		}
		until := time.Now().Add(time.Duration(seconds) * time.Second)
		next.Set(until.UTC().Format(time.RFC3339), "metadata", "deletionTimestamp")
		next.Set(seconds, "metadata", "deletionGracePeriodSeconds")
		e := a.put(r, k, next, "MODIFIED")
		a.report(verb, r, was, next, bySubject)
		return e, nil
	}

	e := a.put(r, k, next, "DELETED")
	a.report(verb, r, was, nil, bySubject)
	return e, nil
}

// orphan removes all references to an owner.
func (a *server) orphan(uid string) {
	for _, k := range a.keys() {
		e := a.objects[k]
		if !e.object.IsOwnedBy(uid) {
			continue
		}
		next := e.object.clone()
		var refs []any
		for _, ref := range next.List("metadata", "ownerReferences") {
			if ref.Text("uid") != uid {
				refs = append(refs, map[string]any(ref))
			}
		}
		next.Set(refs, "metadata", "ownerReferences")
		a.put(a.resourceOf(e.object), k, next, "MODIFIED")
	}
}

func (a *server) resourceOf(o Object) *Resource {
	return a.kind(o.kind())
}

// finish ends a pod whose grace period is over.
func (a *server) finish(r *Resource, k key, end func(Object)) {
	was := a.objects[k].object
	next := was.clone()
	if !PodEnded(next) {
		end(next)
	}
	next.Set(0.0, "metadata", "deletionGracePeriodSeconds")
	if len(finalizers(next)) == 0 {
		a.put(r, k, next, "DELETED")
		a.report("remove", r, was, nil, false)
		return
	}
	a.put(r, k, next, "MODIFIED")
	a.report("update", r, was, next, false)
}
