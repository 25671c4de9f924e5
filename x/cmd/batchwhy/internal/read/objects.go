// Package read collects Jobs, CronJobs, Pods, Events and Namespaces from what kubectl
// prints: JSON or YAML, single objects, lists and watches, from any number of inputs.
package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
)

// Objects are the objects of all inputs.
type Objects struct {
	// Jobs, CronJobs and Pods are in the order in which they came.
	Jobs     []*Job
	CronJobs []*CronJob
	Pods     []*Pod
	// Events has the events about Jobs, CronJobs, Pods and Nodes by the UID of the object. EventsOf
	// and NodeEvents look them up.
	Events map[job.UID][]Event
	// EventPods has the UIDs of the pods that events name, by NAMESPACE/NAME. A UID is a key in
	// Events.
	EventPods map[string]job.UID
	// Nodes has the nodes by their names.
	Nodes map[string]Node
	// Reports are conditions and warnings of objects of other kinds that may name a Job.
	Reports []Report
	// Well has since when objects of other kinds are well, by kind, namespace and name.
	Well map[string]time.Time
	// Volumes has the volumes that not each node can use, by NAMESPACE/NAME of their claims.
	Volumes map[string]Volume
	// Kept has the objects of other kinds by their kind, and NAMESPACE/NAME.
	Kept map[string]map[string]*Other
	// Workloads has the workloads of Kueue by the UID of their Job.
	Workloads map[job.UID]Workload
	// Complete names the kinds, such as "pods", of which the input has all objects.
	Complete map[string]bool
	// Withheld has the kinds that could not be read, and why.
	Withheld map[string]string
	// Closing has the time at which the deletion of each namespace began, for those being deleted.
	Closing map[string]time.Time
	// Others counts the objects of other kinds, which are ignored.
	Others map[string]int
	// Problems are the parts of the input that could not be read.
	Problems []manifest.Problem
	// Latest is the latest time in any object.
	Latest time.Time
	// Lenient ignores documents that are not objects of Kubernetes. The folder of a support bundle
	// has such documents.
	Lenient bool
	// Limit is the maximum number of Jobs, CronJobs and Pods that are kept; 0 means a million.
	Limit int
	// OnChange, if not nil, is called for each object that is new, changed or gone.
	OnChange func(Change)

	byUID    map[job.UID]identity
	logs     map[LogKey]string
	tooMany  bool
	problems int
	// kept and reports count the objects of other kinds and their reports, including those that are left out.
	kept, reports int
}

// Change is an object that an input has added, changed or removed.
type Change struct {
	Kind, Key string
	UID       job.UID
	// Owner is the UID of the object's controller. For an event it is the UID of the object that
	// the event is about.
	Owner job.UID
	Gone  bool
}

func (o *Objects) changed(c Change) {
	if o.OnChange != nil {
		o.OnChange(c)
	}
}

// identity describes the object that has a UID.
type identity struct {
	kind, key string
	version   int64
	at        manifest.Position
	place     int
}

// Job is a Job object.
type Job struct {
	Meta
	Object job.Job
	At     manifest.Position
	// Template is the spec of its pods.
	Template PodSpec
	// IsManifest is true if the object has no UID, because no API server has stored it.
	IsManifest bool
	// Unknown are the fields of a manifest that do not exist.
	Unknown []manifest.Unknown
	// Refused are the other problems for which an API server would refuse a manifest.
	Refused manifest.Problems
	// Spec is the spec as it is written; nil for a Job that came after many others.
	Spec json.RawMessage
}

// CronJob is a CronJob object.
type CronJob struct {
	Meta
	Object   cronjob.CronJob
	At       manifest.Position
	Template PodSpec
	// JobsSuspended is true if the CronJob creates its Jobs suspended. JobsEnd is true if its Jobs
	// have an activeDeadlineSeconds.
	JobsSuspended, JobsEnd bool
	// Jobs is the spec of its Jobs, without defaults; nil if it does not decode.
	Jobs       *job.Spec
	IsManifest bool
	Unknown    []manifest.Unknown
	Refused    manifest.Problems
	Spec       json.RawMessage
}

// Stream returns a reader of an input with this name.
func (o *Objects) Stream(file string) *manifest.Stream { return manifest.NewStream(o, file) }

// Problem notes a part of the input that cannot be read.
func (o *Objects) Problem(p manifest.Problem) {
	o.problems++
	if o.problems <= maxProblems {
		o.Problems = append(o.Problems, p)
	}
}

// PassForeign reports whether to ignore a document that is not an object of Kubernetes. It counts
// those that are ignored.
func (o *Objects) PassForeign() bool {
	if o.Lenient {
		o.pass("an unknown kind")
	}
	return o.Lenient
}

// pass counts an object that is ignored.
func (o *Objects) pass(kind string) {
	if o.Others == nil {
		o.Others = make(map[string]int)
	}
	o.Others[kind]++
}

// maxProblems is the maximum number of problems that are kept. ProblemCount counts all of them.
const maxProblems = 1000

// ProblemCount returns the number of all problems, including those that are not kept.
func (o *Objects) ProblemCount() int { return o.problems }

// Len returns the number of Jobs, CronJobs and Pods.
func (o *Objects) Len() int { return len(o.Jobs) + len(o.CronJobs) + len(o.Pods) }

func (o *Objects) limit() int {
	if o.Limit > 0 {
		return o.Limit
	}
	return 1_000_000
}

// Add adds an object, or replaces its earlier version.
func (o *Objects) Add(x *manifest.Object) error { return o.add(x, x.JSON) }

// add adds an object, or the object in an event of a watch.
func (o *Objects) add(x *manifest.Object, data []byte) error {
	var head envelope
	err := json.Unmarshal(data, &head)
	if err != nil && !isOther(err, head.Kind) {
		if isManifest := head.Metadata.UID == ""; isManifest && head.APIVersion == "batch/v1" {
			if _, wrong := x.Check(head.Kind); len(wrong) > 0 {
				return wrong
			}
		}
		return err
	}

	if head.Kind == "" && head.Object != nil {
		return o.addWatched(x, &head)
	}
	if head.Kind == "" {
		head.Type = x.Default
	}

	if err := manifest.CheckType(head.Type, head.Metadata.Key()); err != nil {
		return err
	}

	switch head.Kind {
	case "Job", "CronJob", "Pod", "Event", "Namespace":
	default:
		o.addOther(data, &head)
		return nil
	}

	m := &head.Metadata
	if m.Name == "" && m.UID == "" {
		m.Name = m.GenerateName
	}
	if m.Name == "" {
		return x.Problem("metadata.name", "is required")
	}
	return o.addKind(x, data, &head)
}

// isOther reports whether an error is only about the type of a field in an object of another kind.
// The fields of such objects may have any type.
func isOther(err error, kind string) bool {
	switch kind {
	case "", "Job", "CronJob", "Pod":
		return false
	}
	var typed *json.UnmarshalTypeError
	return errors.As(err, &typed)
}

func (o *Objects) addWatched(x *manifest.Object, e *envelope) error {
	if e.Event == "BOOKMARK" || e.Event == "ERROR" {
		return nil
	}
	if e.Event == "DELETED" {
		var gone envelope
		if err := json.Unmarshal(e.Object, &gone); err != nil {
			return err
		}
		o.forget(gone.Metadata.UID)
		o.forgetOther(gone.Kind, &gone.Metadata)
		return nil
	}
	inner := x.Inner(e.Object)
	return o.add(inner, inner.JSON)
}

func (o *Objects) addKind(x *manifest.Object, data []byte, head *envelope) error {
	at, m := x.At, &head.Metadata
	o.see(m.CreationTimestamp)
	if d := m.DeletionTimestamp; !d.IsZero() {
		o.see(d.Add(-time.Duration(m.GracePeriod) * time.Second))
	}

	switch head.Kind {
	case "Event":
		return o.addEvent(data)
	case "Namespace":
		o.addNamespace(m)
		return nil
	}

	place, ok, err := o.claim(at, head)
	if err != nil || !ok {
		return err
	}
	switch head.Kind {
	case "Job":
		err = o.addJob(x, data, head, place)
	case "CronJob":
		err = o.addCronJob(x, data, head, place)
	default:
		err = o.addPod(at, data, head, place)
	}
	if err != nil {
		return err
	}

	c := Change{Kind: head.Kind, Key: m.Key(), UID: m.UID, Owner: m.Controller().UID}
	if c.UID == "" {
		c.UID = manifestUID(at, c.Key)
	}
	o.changed(c)
	return nil
}

// claim returns where to put an object: the place of its earlier version, or -1 for the end of the
// list. It returns false if a newer version is already there, or if there is no room.
func (o *Objects) claim(at manifest.Position, head *envelope) (place int, ok bool, err error) {
	m := &head.Metadata
	id := identity{kind: head.Kind, key: m.Key(), at: at, place: -1}
	id.version, _ = strconv.ParseInt(m.ResourceVersion, 10, 64) // 0 if it is not a number
	if m.UID == "" {
		return -1, o.hasRoom(at), nil
	}
	before, seen := o.byUID[m.UID]
	isSame := before.kind == id.kind && before.key == id.key
	switch {
	case seen && !isSame:
		return 0, false, fmt.Errorf("uid: %q of %s %s belongs to %s %s at %s already; no two objects share a UID",
			m.UID, id.kind, id.key, before.kind, before.key, before.at)
	case seen && id.version < before.version:
		return 0, false, nil
	case !seen && !o.hasRoom(at):
		return 0, false, nil
	case seen:
		id.place = before.place
	default:
		id.place = o.next(id.kind)
	}

	if o.byUID == nil {
		o.byUID = make(map[job.UID]identity)
	}
	o.byUID[m.UID] = id
	if seen {
		return id.place, true, nil
	}
	return -1, true, nil
}

func (o *Objects) next(kind string) int {
	switch kind {
	case "Job":
		return len(o.Jobs)
	case "CronJob":
		return len(o.CronJobs)
	}
	return len(o.Pods)
}

// hasRoom reports whether another object can be kept. It notes a problem for the first object for
// which there is no room.
func (o *Objects) hasRoom(at manifest.Position) bool {
	if o.Len() < o.limit() {
		return true
	}
	if !o.tooMany {
		o.tooMany = true
		o.Problem(manifest.Problem{Position: at, Text: fmt.Sprintf("more than %d Jobs, CronJobs and Pods; the rest "+
			"is not read", o.limit())})
	}
	return false
}

// forget removes an object that was deleted according to a watch.
func (o *Objects) forget(uid job.UID) {
	id, ok := o.byUID[uid]
	if !ok {
		return
	}

	delete(o.byUID, uid)
	gone := Change{Kind: id.kind, Key: id.key, UID: uid, Gone: true}
	switch id.kind {
	case "Job":
		gone.Owner = o.Jobs[id.place].Controller().UID
		o.Jobs[id.place] = nil
	case "CronJob":
		o.CronJobs[id.place] = nil
	case "Pod":
		gone.Owner = o.Pods[id.place].Controller().UID
		o.Pods[id.place] = nil
	}

	o.changed(gone)
}

func (o *Objects) see(t time.Time) {
	if t.After(o.Latest) {
		o.Latest = t
	}
}

// put puts an object at a place, or at the end if the place is -1.
func put[T any](list []T, place int, object T) []T {
	if place >= 0 && place < len(list) {
		list[place] = object
		return list
	}
	return append(list, object)
}
