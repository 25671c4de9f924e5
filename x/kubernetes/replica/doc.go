// Package replica is one process of the controllers: it asks the server what it can do, waits
// for its turn, runs the controllers, and reports its health.
//
//	config := replica.Config{ManagedBy: "example.com/jobs"}
//	err := replica.Run(ctx, restConfig, config)
//
// The command batchplan-controller is this package with flags. A program of your own that runs
// CronJobs in an image without time zones imports time/tzdata.
// With [Config.Election], one of several replicas runs the controllers, and the others wait.
package replica
