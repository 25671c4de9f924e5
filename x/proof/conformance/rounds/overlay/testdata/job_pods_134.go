package job

import "k8s.io/client-go/tools/cache"

func (c *Controller) keep(pods cache.Indexer) {
	c.podIndexer = pods
	c.patchJobHandler = c.patchJob
}
