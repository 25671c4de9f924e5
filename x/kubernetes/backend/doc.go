// Package backend carries out the plans of packages job and cronjob on an API server:
// [Job] is a jobapply.Backend and [CronJob] a cronjobapply.Backend. [Pods] is the part of
// Job that knows nothing of jobs, for resources of other kinds that run pods by the same
// rules.
//
// A backend is made for one round:
//
//	b := backend.NewJob(client, object)
//	conclusion, err := executor.Apply(ctx, b, plan)
//
// The controllers of Kubernetes send the same requests: a pod is changed by a strategic
// merge patch on condition of its UID, and a status is written by an update on condition
// of the version. Deletions are on condition of the UID, unlike theirs.
//
// The interfaces of this package never get another method. A later feature comes as an optional
// interface: a new one that embeds [ChildClient], for example, and adds a method.
package backend
