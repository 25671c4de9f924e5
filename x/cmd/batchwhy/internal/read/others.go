package read

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
)

// Node is what explanations need of a node.
type Node struct {
	// NotReady is the time since when the node is not ready, or zero.
	NotReady time.Time
	Labels   map[string]string
	// Cordoned is true if the scheduler places no more pods on the node. CordonedAt is the time since
	// when, or zero if it is unknown.
	Cordoned   bool
	CordonedAt time.Time
	// Troubles are the other conditions that are true, such as MemoryPressure.
	Troubles []Condition
	Created  time.Time
	// Taints are those that keep pods away, as KEY=VALUE:EFFECT.
	Taints []string
	// Info has the versions of the node's software, and Allocatable what its pods can have, by name.
	Info        map[string]string
	Allocatable map[string]any
}

// Report is a condition or a warning of an object of another kind whose message may name a Job.
type Report struct {
	Kind, Namespace, Name string
	// Target is the namespace of the objects that the object keeps, or empty.
	Target string
	// Type is the type of a condition, or empty.
	Type, Reason, Message string
	At                    time.Time
}

// AdmissionCheck is the state of an admission check of a workload.
type AdmissionCheck struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Message string `json:"message"`
}

// Volume describes which nodes can use a PersistentVolume: only nodes whose label Key has one of Values.
type Volume struct {
	Name   string
	Key    string
	Values []string
}

// Other is an object of another kind.
type Other struct {
	Kind string
	Meta
	Conditions []Condition
	// Fields are all fields except the metadata. Those of a Secret have no values.
	Fields map[string]any
}

// At returns the value at a path such as "spec.replicas", or nil.
func (x *Other) At(path string) any { return At(x.Fields, path) }

// At returns the value at a path in a decoded object, or nil.
func At(value any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		fields, _ := value.(map[string]any)
		value = fields[key]
	}
	return value
}

// maxKept is the number of objects of other kinds that are kept.
const maxKept = 50_000

// keep keeps an object of another kind, in place of its earlier version.
func (o *Objects) keep(data []byte, head *envelope) {
	x := &Other{Kind: head.Kind, Meta: head.Metadata, Conditions: head.Status.Conditions}
	key := x.Key()
	all := o.Kept[head.Kind]
	if x.Name == "" || json.Unmarshal(data, &x.Fields) != nil {
		return
	}
	if _, isKnown := all[key]; !isKnown {
		if o.kept++; o.kept > maxKept {
			if o.kept == maxKept+1 {
				o.Problem(manifest.Problem{Text: fmt.Sprintf("more than %d objects of other kinds; what the rest says "+
					"is left out", maxKept)})
			}
			return
		}
	}

	x.Annotations = nil
	delete(x.Fields, "metadata")
	for _, part := range []string{"data", "stringData"} {
		values, _ := x.Fields[part].(map[string]any)
		for name := range values {
			if head.Kind == "Secret" {
				values[name] = nil
			}
		}
	}
	if o.Kept == nil {
		o.Kept = make(map[string]map[string]*Other)
	}
	if all == nil {
		all = make(map[string]*Other)
		o.Kept[head.Kind] = all
	}
	all[key] = x
}

// forgetOther removes an object of another kind that was deleted according to a watch, and what it has said.
func (o *Objects) forgetOther(kind string, m *Meta) {
	isKept := o.Kept[kind][m.Key()] != nil
	delete(o.Kept[kind], m.Key())
	if isKept && o.HasAll() {
		o.kept--
	}
	o.Reports = slices.DeleteFunc(o.Reports, func(r Report) bool {
		return r.Kind == kind && r.Namespace == m.Namespace && r.Name == m.Name
	})
	switch kind {
	case "Node":
		delete(o.Nodes, m.Name)
	case "PersistentVolume":
		maps.DeleteFunc(o.Volumes, func(_ string, v Volume) bool { return v.Name == m.Name })
	case "Workload":
		maps.DeleteFunc(o.Workloads, func(owner job.UID, _ Workload) bool { return owner == m.Controller().UID })
	}
}

// HasAll reports whether no object of another kind was left out.
func (o *Objects) HasAll() bool { return o.kept <= maxKept }

// other has the fields of objects of other kinds.
type other struct {
	Spec   otherSpec   `json:"spec"`
	Status otherStatus `json:"status"`
}

type otherSpec struct {
	Unschedulable bool `json:"unschedulable"`
	Taints        []struct {
		Key       string    `json:"key"`
		Value     string    `json:"value"`
		Effect    string    `json:"effect"`
		TimeAdded time.Time `json:"timeAdded"`
	} `json:"taints"`
	ClaimRef     subject `json:"claimRef"`
	NodeAffinity struct {
		Required struct {
			Terms []struct {
				Expressions []struct {
					Key      string   `json:"key"`
					Operator string   `json:"operator"`
					Values   []string `json:"values"`
				} `json:"matchExpressions"`
			} `json:"nodeSelectorTerms"`
		} `json:"required"`
	} `json:"nodeAffinity"`
	Target string `json:"targetNamespace"`
	Keeps  struct {
		Namespace string `json:"namespace"`
	} `json:"destination"`
}

type otherStatus struct {
	Phase string `json:"phase"`
	// Info and Allocatable are those of a node.
	Info            map[string]string `json:"nodeInfo"`
	Allocatable     map[string]any    `json:"allocatable"`
	AdmissionChecks []AdmissionCheck  `json:"admissionChecks"`
	Operation       struct {
		Phase   string    `json:"phase"`
		Message string    `json:"message"`
		Started time.Time `json:"startedAt"`
	} `json:"operationState"`
}

// addOther keeps what explanations need of an object of another kind, and counts it if that is
// nothing.
func (o *Objects) addOther(data []byte, head *envelope) {
	m, x := &head.Metadata, other{}
	if head.Kind != "Node" {
		o.keep(data, head)
	}
	o.Reports = slices.DeleteFunc(o.Reports, func(r Report) bool {
		isOfObject := r.Kind == head.Kind && r.Namespace == m.Namespace && r.Name == m.Name
		return isOfObject && r.Type != ""
	})
	switch head.Kind {
	case "Node",
		"Workload",
		"PersistentVolume",
		"Application",
		"Kustomization",
		"HelmRelease":
		_ = json.Unmarshal(data, &x) // fields of another type stay empty
	}

	r := Report{Kind: head.Kind, Namespace: m.Namespace, Name: m.Name, Target: x.Spec.Target + x.Spec.Keeps.Namespace}
	switch head.Kind {
	case "Node":
		o.addNode(head, &x)
		return
	case "Workload":
		o.addWorkload(head, &x.Status)
		return
	case "PersistentVolume":
		o.addVolume(m.Name, &x)
	case "Application":
		run := x.Status.Operation
		if run.Phase != "Succeeded" {
			r.Type, r.Reason, r.Message, r.At = "operation", run.Phase, run.Message, run.Started
			o.addReport(r)
		} else {
			o.isWell(head.Kind, m, run.Started)
		}
	}

	for _, c := range head.Status.Conditions {
		r.Type, r.Reason, r.Message, r.At = c.Type, strings.TrimSpace(c.Status+" "+c.Reason), c.Message, c.At
		o.addReport(r)
		if c.Type == "Ready" && c.Status == "True" {
			o.isWell(head.Kind, m, c.At)
		}
	}
	o.pass(head.Kind)
}

// isWell notes since when an object of another kind is well, so that what was reported before is past.
func (o *Objects) isWell(kind string, m *Meta, since time.Time) {
	if o.Well == nil {
		o.Well = make(map[string]time.Time)
	}
	o.Well[kind+" "+m.Key()] = since
}

// maxReports is the number of reports that are kept.
const maxReports = 1000

// addReport keeps a report that may name a Job.
func (o *Objects) addReport(r Report) {
	if !strings.Contains(strings.ToLower(r.Message), "job") {
		return
	}
	if o.reports++; o.reports == maxReports+1 {
		o.Problem(manifest.Problem{Text: fmt.Sprintf("more than %d reports of other objects that may name a Job; the "+
			"rest is left out", maxReports)})
	}
	if len(o.Reports) < maxReports {
		o.Reports = append(o.Reports, r)
		o.see(r.At)
	}
}

func (o *Objects) addVolume(name string, x *other) {
	spec, terms := &x.Spec, x.Spec.NodeAffinity.Required.Terms
	claim := spec.ClaimRef.Namespace + "/" + spec.ClaimRef.Name
	if o.Volumes[claim].Name == name {
		delete(o.Volumes, claim) // what an earlier version said
	}
	if len(terms) != 1 || spec.ClaimRef.Name == "" { // with several terms, each would have to be read
		return
	}
	if x.Status.Phase != "" && x.Status.Phase != "Bound" {
		return // a volume that is released keeps the name of the claim that it had
	}
	for _, e := range terms[0].Expressions {
		if e.Operator != "In" {
			continue
		}
		if o.Volumes == nil {
			o.Volumes = make(map[string]Volume)
		}
		o.Volumes[claim] = Volume{name, e.Key, e.Values}
		return
	}
}
