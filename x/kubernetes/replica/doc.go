// Package replica runs the controllers in a process: it asks the server what it supports, waits for
// the lease, runs the controllers, and reports its health.
//
//	config := replica.Config{ManagedBy: "example.com/jobs"}
//	err := replica.Run(ctx, restConfig, config)
//
// The command batchplan-controller is this package with flags. A program of your own that runs
// CronJobs in an image without time zones must import time/tzdata. With [Config.Election], one of
// several replicas runs the controllers, and the others wait.
package replica
