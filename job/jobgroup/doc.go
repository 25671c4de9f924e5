// Package jobgroup has the types for jobs that are scheduled as a gang (KEP-5547): the request in a
// spec ([Scheduling]), the existing workloads and pod groups ([Groups]), and those that a plan of
// package job creates or resizes ([Write]). It is needed only with job.Options.Gangs.
package jobgroup
