// Package controller runs the planners on informers and work queues of client-go. [NewJobs] returns
// the Job controller, and [NewCronJobs] the CronJob controller. [NewTTL] deletes finished jobs
// after their time to live. [NewOrphans] removes the finalizer from pods that have lost their job:
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
// A [Controller] implements the Runnable of a manager of controller-runtime.
//
// A round of a job reads the caches, plans, and carries the plan out. It begins only when the
// caches show the controller's own writes (E6). Creations and deletions that the caches do not show
// yet are expected (E1, E4). A change of a pod requests a round a second later, so that many
// changes lead to one round (J43). When its last pod has ended, the round begins immediately.
//
// Each constructor takes a [Kind] or a [Cron]: [BatchJobs], [BatchCronJobs], or a resource of your own.
//
// The interfaces of this package never get another method. A later feature comes as an optional
// interface, which embeds [Requests], for example, and adds a method.
package controller
