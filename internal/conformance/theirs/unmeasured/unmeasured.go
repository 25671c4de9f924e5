// Package unmeasured keeps the work queues of the controllers from being measured:
// each queue that is would wake up twice a second, and days of virtual time would
// cost as much time as all the rest. It changes nothing that a queue does.
package unmeasured

import (
	_ "unsafe" // for go:linkname

	"k8s.io/client-go/util/workqueue"
)

// provider is the provider of metrics that queues take. As long as nobody has set
// another one, they do not count anything; there is no other way to its value.
//
//go:linkname provider k8s.io/client-go/util/workqueue.globalMetricsProvider
var provider workqueue.MetricsProvider

// Only the first call of SetProvider counts. This one comes before that of the
// Prometheus provider, also in its package's init: packages that could be
// initialised next are in the order of their paths.
func init() { workqueue.SetProvider(provider) }
