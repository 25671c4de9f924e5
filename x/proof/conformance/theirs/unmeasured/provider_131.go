//go:build before132

package unmeasured

import (
	"sync"
	_ "unsafe" // for go:linkname

	"k8s.io/client-go/util/workqueue"
)

// factory holds the provider of metrics that queues take.
//
//go:linkname factory k8s.io/client-go/util/workqueue.globalMetricsFactory
var factory struct {
	provider workqueue.MetricsProvider
	onlyOnce sync.Once
}

var provider = factory.provider
