package job

import (
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/controller/util/consistency"
)

func (c *Controller) keep(pods cache.Indexer) {
	c.podIndexer = pods
	c.consistencyStore = consistency.NewNoopConsistencyStore()
}
