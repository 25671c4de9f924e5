// Package sim runs Kubernetes' Job, CronJob and TTL controllers against simulated nodes in
// virtual time.
//
// A [World] describes the nodes, the jobs and CronJobs, how long pods take and how they fail, and
// the faults of the control plane. [Run] plays it, event by event, and returns a [Result]. The
// planners of packages job and cronjob decide, and the executors of jobapply and cronjobapply carry
// the plans out. Of a controller, only the work queue and the cache are modelled here.
//
//	completions := int32(20)
//	result, err := sim.Run(ctx, sim.World{
//		Nodes: sim.Nodes(500, sim.Node{Pods: 8}),
//		Jobs:  sim.Jobs(10_000, 1, sim.Every(time.Second), sim.Job{Spec: job.Spec{Completions: &completions}}),
//	})
//
// # Time
//
// Objects store whole seconds, as in Kubernetes; everything else happens to the nanosecond. A job
// is planned immediately when it is submitted or its spec changes, one second after a change of its
// pods or its status (also if its last pod has ended, as in Kubernetes), and when its plan asks for
// it. A CronJob is planned when it or one of its jobs changes, and when its plan asks for it.
//
// # Gangs
//
// A job with job.Options.Gangs whose spec asks for a gang starts whole or not at all (J44, J45), as
// with the scheduler of Kubernetes 1.37: a pod gets a node only if at least minCount of the pods
// have nodes afterwards. So the scheduler waits until enough pods fit at the same moment. Until
// then the gang occupies nothing. Later pods, such as replacements, follow the same rule. Pods that
// have ended do not count, so a replacement waits until the end if too few other pods are left;
// [Open].Why reports this. With [Pod].Quorum, pods do no work before enough of them run, with or
// without a gang.
//
// # Autoscaler
//
// Nodes with a [Scale] are added when pods wait, and removed when they are idle, with the delays of
// the Cluster Autoscaler.
//
// # Chance
//
// Every draw follows from the seed and from its subject: the pod's job, its number in the job, and
// the purpose. So the same pod runs for the same time in every variant of a world, which makes
// comparisons precise. A run uses one core and is the same on each machine; [Compare] runs many
// concurrently, with the same results on any number of cores.
//
// # Memory
//
// A run holds the jobs and pods that exist at the moment, and the records of the result: 80 bytes
// for each pod and 150 for each job that has ever existed, at most World.MaxRecords of each.
// Without records (World.Summary) it holds only what exists.
//
// The interfaces of this package never get another method. A later feature comes as an optional
// interface: a new one that embeds [Admission], [Scheduler] or [Watcher] and adds a method.
//
// From v1 of the module on, this package may still change with each minor version.
package sim
