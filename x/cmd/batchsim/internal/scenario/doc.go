// Package scenario reads the input of a simulation: manifests of Jobs and CronJobs, traces in the
// Standard Workload Format and in CSV, stages of KWOK, and scenario files that join them and
// describe nodes, control plane and pods. Each error names file and line.
package scenario
