// Package cronjobgen draws specs, options, statuses, jobs, snapshots and memories of CronJobs, as
// inputs of properties.
//
// They are taken from [Lives], worlds in which a CronJob has lived for a while. Step, Act and
// Request make one more thing happen in a world of package internal/world.
package cronjobgen
