// Package controller runs the planners on informers and work queues of client-go.
// [NewJobs] is the Job controller and [NewCronJobs] the CronJob controller. [NewTTL] deletes
// finished jobs when their time is over. [NewOrphans] takes the finalizer off pods that have
// lost their job:
//
//	factory := informers.NewSharedInformerFactory(client, 0)
//	kind := controller.BatchJobs(client, factory)
//	jobs, err := controller.NewJobs(kind, controller.JobOptions{ManagedBy: "example.com/jobs"})
//	if err != nil {
//		return err
//	}
//	orphans, err := controller.NewOrphans(kind, controller.OrphanOptions{ManagedBy: "example.com/jobs"})
//	if err != nil {
//		return err
//	}
//	factory.Start(ctx.Done())
//	return controller.Run(ctx, jobs, orphans)
//
// A [Controller] has the form that a manager of controller-runtime takes for a Runnable.
//
// A round of a job reads the caches, plans, and carries the plan out. It begins only when the caches
// show the controller's own writes (E6), and whatever they do not show yet is expected
// (E1, E4). Pods wake their job after a second, so that many changes are one round (J43).
//
// Each constructor takes a [Kind] or a [Cron]: [BatchJobs], [BatchCronJobs], or a resource of your own.
//
// The interfaces of this package never get another method. A later feature comes as an optional
// interface: a new one that embeds [Requests], for example, and adds a method.
package controller
