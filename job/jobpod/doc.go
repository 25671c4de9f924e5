// Package jobpod has types that describe a pod, and that few users of package job need. [Container]
// is the state of a container, which a podFailurePolicy reads. [Ownership] is the relation of a pod
// to the job, if selectors and controllers decide it.
package jobpod
