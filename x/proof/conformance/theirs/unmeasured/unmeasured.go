// Package unmeasured keeps the work queues of the controllers from being measured:
// each queue that is would wake up twice a second, and days of virtual time would
// cost as much time as all the rest. It changes nothing that a queue does.
package unmeasured

import "k8s.io/client-go/util/workqueue"

// Only the first call of SetProvider counts. The Prometheus provider calls it in its
// package's init, and this call comes before: of the packages that could be initialised
// next, the one with the lowest path comes first.
func init() { workqueue.SetProvider(provider) }
