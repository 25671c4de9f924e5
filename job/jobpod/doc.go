// Package jobpod has what few need to say of a pod of package job: the state of its containers, which a
// podFailurePolicy reads ([Container]), and whose it is, where selectors and controllers decide ([Ownership]).
package jobpod
