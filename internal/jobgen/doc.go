// Package jobgen draws specs, statuses, pods, snapshots and memories of jobs, as inputs of properties.
//
// They are taken from [Lives], worlds in which a job has lived for a while. Step, Act, Meddle and
// the other functions make one more thing happen in a world of package internal/world.
package jobgen
