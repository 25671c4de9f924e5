// Package server is an API server in memory, small and faithful: what a job, a
// CronJob or a pod goes through on its way into storage is the registry code of
// Kubernetes itself (defaults, validation of spec and status, graceful deletion,
// finalizers, preconditions, generations). Own code are only the storage under
// it, the way of a request to it, the garbage collector, and what makes two servers
// comparable:
//
//   - Names and UIDs follow from what is created, not from chance.
//   - Creation times of pods differ by nanoseconds, which a real server cuts off: it
//     leaves the controllers no ties between pods that are otherwise equal, which
//     they would break by chance.
//   - Every write is kept in a journal, with its virtual time.
//
// Package probe holds its answers against those of a real kube-apiserver.
//
// A server is reached through [Server.Client]; what kubelets, schedulers and users
// do has methods of its own. Faults can be put on writes, and watches can be held
// back.
package server
