// Package jobgroup has the types of jobs that are scheduled as a gang (KEP-5547): what a spec asks for
// ([Scheduling]), the workloads and pod groups that there are ([Groups]), and what a plan of package job creates or
// resizes ([Write]). Nobody needs it without job.Options.Gangs.
package jobgroup
