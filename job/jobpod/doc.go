// Package jobpod has the parts of package job's pods that few programs need: the state of the
// containers, which a podFailurePolicy reads ([Container]), and the relation of a pod to the job,
// if selectors and controllers decide it ([Ownership]).
package jobpod
