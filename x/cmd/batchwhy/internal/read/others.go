package read

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
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
	Key    string
	Values []string
}

// Backend is a Deployment or StatefulSet. Ready is the number of its pods that are ready.
type Backend struct {
	Kind, Namespace, Name string
	Replicas, Ready       int32
	Labels                map[string]string // of its pods
}

// other has the fields of objects of other kinds.
type other struct {
	Spec     otherSpec   `json:"spec"`
	Status   otherStatus `json:"status"`
	Subjects []subject   `json:"subjects"`
}

type otherSpec struct {
	Unschedulable bool `json:"unschedulable"`
	Taints        []struct {
		Key       string    `json:"key"`
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
	Replicas *int32            `json:"replicas"`
	Selector map[string]string `json:"selector"`
	Target   string            `json:"targetNamespace"`
	Keeps    struct {
		Namespace string `json:"namespace"`
	} `json:"destination"`
	Template struct {
		Metadata Meta `json:"metadata"`
	} `json:"template"`
}

type otherStatus struct {
	Phase           string           `json:"phase"`
	ReadyReplicas   int32            `json:"readyReplicas"`
	AdmissionChecks []AdmissionCheck `json:"admissionChecks"`
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
	o.Reports = slices.DeleteFunc(o.Reports, func(r Report) bool {
		isOfObject := r.Kind == head.Kind && r.Namespace == m.Namespace && r.Name == m.Name
		return isOfObject && r.Type != ""
	})
	switch head.Kind {
	case "Node",
		"Workload",
		"PersistentVolume",
		"Deployment",
		"StatefulSet",
		"Service",
		"RoleBinding",
		"Application",
		"Kustomization",
		"HelmRelease":
		_ = json.Unmarshal(data, &x) // fields of another type stay empty
	}

	r := Report{Kind: head.Kind, Namespace: m.Namespace, Name: m.Name, Target: x.Spec.Target + x.Spec.Keeps.Namespace}
	switch head.Kind {
	case "Node":
		o.addNode(head, &x.Spec)
		return
	case "Workload":
		o.addWorkload(head, &x.Status)
		return
	case "PersistentVolume":
		o.addVolume(&x)
	case "Deployment", "StatefulSet":
		o.addBackend(m, head.Kind, &x)
	case "Service":
		if o.Services == nil {
			o.Services = make(map[string]map[string]string)
		}
		o.Services[m.Key()] = x.Spec.Selector
	case "LocalQueue":
		if o.Queues == nil {
			o.Queues = make(map[string][]string)
		}
		if !slices.Contains(o.Queues[m.Namespace], m.Name) {
			o.Queues[m.Namespace] = append(o.Queues[m.Namespace], m.Name)
		}
	case "RoleBinding":
		for _, s := range x.Subjects {
			if s.Kind == "ServiceAccount" && s.Namespace == m.Namespace {
				o.Bound = append(o.Bound, s.Namespace+"/"+s.Name)
			}
		}
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
	if strings.Contains(strings.ToLower(r.Message), "job") && len(o.Reports) < maxReports {
		o.Reports = append(o.Reports, r)
		o.see(r.At)
	}
}

func (o *Objects) addVolume(x *other) {
	spec, terms := &x.Spec, x.Spec.NodeAffinity.Required.Terms
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
		o.Volumes[spec.ClaimRef.Namespace+"/"+spec.ClaimRef.Name] = Volume{e.Key, e.Values}
		return
	}
}

func (o *Objects) addBackend(m *Meta, kind string, x *other) {
	b := Backend{Kind: kind, Namespace: m.Namespace, Name: m.Name, Replicas: 1, Labels: x.Spec.Template.Metadata.Labels}
	if x.Spec.Replicas != nil {
		b.Replicas = *x.Spec.Replicas
	}
	b.Ready = x.Status.ReadyReplicas
	if m.UID == "" { // a manifest is not in the cluster
		return
	}
	if o.Backends == nil {
		o.Backends = make(map[string]Backend)
	}
	o.Backends[kind+" "+m.Key()] = b
}
