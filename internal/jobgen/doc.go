// Package jobgen draws what a job can have: specs, statuses, pods, snapshots and memories, for
// properties of your own.
//
// They are taken from [Lives], worlds in which a job has lived for a while. Step, Act, Meddle and the
// other functions let one more thing happen in a world of package internal/world.
package jobgen
