// Package conformance lets the controllers of Kubernetes, unmodified, and the
// planners of batchplan live through the same scripts, and compares everything that
// can be observed after each step: statuses, pods, jobs, events, and every write
// with its time.
//
// Both run in one bubble of testing/synctest, each on a server of its own, so hours
// pass in milliseconds. Package server is the API server, script what happens,
// theirs and ours are the controllers; package probe holds the server's answers
// against those of a real kube-apiserver.
package conformance
