package jobgroup

import "encoding/json"

// Scheduling tells how the pods of a job are scheduled together (KEP-5547). job.Options.Gangs makes
// the planner follow it.
type Scheduling struct {
	// SchedulingPolicy is basic when nil.
	SchedulingPolicy *SchedulingPolicy `json:"schedulingPolicy,omitempty"`
	// DisruptionMode tells whether pods are disrupted one by one or all together.
	DisruptionMode *DisruptionMode `json:"disruptionMode,omitempty"`
	// SchedulingConstraints and ResourceClaims do not affect the planner. An adapter copies them
	// into the workload.
	SchedulingConstraints json.RawMessage `json:"schedulingConstraints,omitempty"`
	ResourceClaims        json.RawMessage `json:"resourceClaims,omitempty"`
}

// SchedulingPolicy must have exactly one of its two fields.
type SchedulingPolicy struct {
	// Basic schedules pod by pod.
	Basic *struct{} `json:"basic,omitempty"`
	// Gang schedules all pods of the gang or none.
	Gang *Gang `json:"gang,omitempty"`
}

// Gang is the policy of pods that start together.
type Gang struct {
	// MinCount is the number of pods that must start together. Nil means parallelism, at least 1.
	MinCount *int32 `json:"minCount,omitempty"`
}

// DisruptionMode must have exactly one of its two fields. Field All requires the policy Gang.
type DisruptionMode struct {
	Single *struct{} `json:"single,omitempty"`
	All    *struct{} `json:"all,omitempty"`
}
