//go:build !before132

package unmeasured

import (
	_ "unsafe" // for go:linkname

	"k8s.io/client-go/util/workqueue"
)

// provider is the metrics provider of the queues. Until another one is set, it counts nothing.
// There is no other way to get its value.
//
//go:linkname provider k8s.io/client-go/util/workqueue.globalMetricsProvider
var provider workqueue.MetricsProvider
