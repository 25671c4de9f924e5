// Package cronjobgen draws what a CronJob can have: specs, options, statuses, jobs, snapshots and
// memories, for properties of your own.
//
// They are taken from [Lives], worlds in which a CronJob has lived for a while. Step, Act and Request
// let one more thing happen in a world of package internal/world.
package cronjobgen
