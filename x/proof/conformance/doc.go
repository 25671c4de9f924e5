// Package conformance plays the same scripts to the unmodified controllers of
// Kubernetes and to the planners of batchplan. After each step it compares
// everything that can be observed: statuses, pods, jobs, events, and every write
// with its time.
//
// Both run in one bubble of testing/synctest, each on its own server, so hours pass
// in milliseconds. Package server is the API server, package script says what
// happens, and theirs and ours are the controllers. Package probe compares the
// server's answers with a real kube-apiserver's.
package conformance
