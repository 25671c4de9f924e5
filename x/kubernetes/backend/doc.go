// Package backend carries out the plans of packages job and cronjob on an API server: [Job] is a
// jobapply.Backend and [CronJob] a cronjobapply.Backend. [Pods] is the part of Job that writes
// pods, also for owners of other kinds.
//
// A backend is made for one round:
//
//	b := backend.NewJob(client, object)
//	conclusion, err := executor.Apply(ctx, b, plan)
//
// The controllers of Kubernetes send the same requests: a pod is changed by a strategic merge patch
// on condition of its UID, and a status is written by an update on condition of the version. Unlike
// them, this package also deletes on condition of the UID.
//
// The interfaces of this package never get another method. A later feature comes as an optional
// interface, which embeds [ChildClient], for example, and adds a method.
package backend
