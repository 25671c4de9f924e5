// Package server is a small and faithful API server in memory. Jobs, CronJobs and pods pass through
// the registry code of Kubernetes itself on their way into storage (defaults, validation of spec
// and status, graceful deletion, finalizers, preconditions, generations). The package adds only the
// storage, the path of a request to the registry, the garbage collector, and these properties,
// which make two servers comparable:
//
//   - Names and UIDs follow from the created objects and are not random.
//   - Creation times of pods differ by nanoseconds, which a real server cuts off. So there are no
//     ties between otherwise equal pods, which the controllers would break at random.
//   - Every write is kept in a journal, with its virtual time.
//
// Package probe compares the answers of this server with a real kube-apiserver's.
//
// Controllers use [Server.Client]; kubelets, schedulers and users have methods of
// their own. Faults can be injected into writes, and watches can be held back.
package server
