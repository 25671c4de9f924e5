// Package unmeasured keeps the work queues of the controllers from being measured:
// each queue that is would wake up twice a second, and days of virtual time would
// cost as much time as all the rest. It changes nothing that a queue does.
package unmeasured

import (
	_ "unsafe" // for go:linkname

	"k8s.io/client-go/util/workqueue"
)

// provider is the provider of metrics that queues take. Until another one is
// set, they count nothing. There is no other way to reach its value.
//
//go:linkname provider k8s.io/client-go/util/workqueue.globalMetricsProvider
var provider workqueue.MetricsProvider

// Only the first call of SetProvider counts. The Prometheus provider calls it in its
// package's init, and this call comes before: of the packages that could be initialised
// next, the one with the lowest path comes first.
func init() { workqueue.SetProvider(provider) }
