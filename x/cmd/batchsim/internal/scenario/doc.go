// Package scenario reads the input of a simulation: manifests of Jobs and CronJobs, traces in the
// Standard Workload Format and in CSV, stages of KWOK, and scenario files. A scenario file joins
// the others, and describes nodes, control plane and pods. Each error names the file and the line.
package scenario
