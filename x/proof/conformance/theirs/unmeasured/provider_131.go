//go:build before132

package unmeasured

import (
	"sync"
	_ "unsafe" // for go:linkname

	"k8s.io/client-go/util/workqueue"
)

// factory holds the metrics provider of the queues.
//
//go:linkname factory k8s.io/client-go/util/workqueue.globalMetricsFactory
var factory struct {
	provider workqueue.MetricsProvider
	onlyOnce sync.Once
}

var provider = factory.provider
