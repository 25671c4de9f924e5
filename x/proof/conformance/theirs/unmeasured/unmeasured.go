// Package unmeasured switches off the metrics of the controllers' work queues: a measured queue
// wakes up twice a second, and over days of virtual time that would take as much processor time as
// all the rest. It does not change what a queue does.
package unmeasured

import "k8s.io/client-go/util/workqueue"

// Only the first call of SetProvider counts. The package of the Prometheus provider calls it in its
// init function. The call below comes earlier: of the packages that can be initialised next, Go
// takes the one with the lowest path.
func init() { workqueue.SetProvider(provider) }
