// Package jobpod has types that describe pods. Few users of package job need them. [Container] is
// the state of a container, which a podFailurePolicy reads. [Ownership] is the relation of a pod to
// the job, for adapters whose pods can have another owner or none, or no longer match the job's
// selector.
package jobpod
