//go:build !before132

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
