// Package batchtest runs the Job, CronJob, TTL and orphan controllers and a fake kubelet against an
// API server that has none of them, such as that of envtest. No test has to write statuses by hand.
//
//	cluster := batchtest.Start(t, config) // stops with the test
//	cluster.Pods(batchtest.SucceedAfter(time.Second))
//	cluster.Wait(t, batchtest.Complete("train"))
//
// # Pods
//
// Pods get a node, run and become ready, and then run until the test ends them. A [Behaviour] sets
// that in advance, for all pods or for those that match:
//
//	cluster.Pods(batchtest.FailWith(42), batchtest.OfJob("train"), batchtest.Index(3), batchtest.Attempt(0))
//
// [Cluster.Pod] controls one pod by hand:
//
//	cluster.Pod("train-0").Fail(137)
//
// Init containers, sidecars, readiness gates, restarts in place and the grace period of a deletion
// work as with a kubelet. No program and no probe runs, there is no node, and no resource limit.
//
// # Garbage collection
//
// Objects whose owners are gone are deleted, and the finalizers of foreground deletion and of
// orphaning are handled, as by the garbage collector. This covers pods, jobs, CronJobs, their
// owners, and the kinds of [Collect].
//
// # Time
//
// By default, time is real, and the Job controller waits 10 milliseconds instead of a second for
// more changes (J43). [Speed] makes the clock of the controllers and of the kubelet run faster, and
// with it every duration here: a backoff of ten minutes passes in six seconds at Speed(100). The
// API server and the program under test stay on the real clock, which has consequences:
//
//   - Times that the controllers and the kubelet write (start and finish times, conditions) are ahead
//     of the real time, by as much as their clock has gained since the start.
//   - Times that the server writes (creation and deletion times) are real. So objects look older to
//     the controllers than they are: at Speed(60), a CronJob that was created a second ago looks a
//     minute old. A run that was due in that minute starts immediately, unless its
//     startingDeadlineSeconds is over.
//   - Events have the real time.
//
// # Servers and namespaces
//
// Any API server without these controllers will do: that of envtest, whose binaries setup-envtest
// downloads, or kube-apiserver and etcd from elsewhere.
//
// Start takes over the whole server, or one [Namespace] of it. Clusters of several servers, or of
// several namespaces of one server, can run in parallel tests. A cluster holds a lease named
// batchtest in its namespace, or batchtest-server in the namespace default. So a second cluster
// that would serve the same namespace does not start, not even in another process. If a process was
// killed, the next cluster waits six seconds for the lease to end. A namespace must exist before
// its cluster.
//
// Nothing is left when a cluster has stopped: no goroutine, no connection and no lease. It stops with
// the test, even if the test panics.
//
// # Rights
//
// A cluster of a namespace needs these rights in it. The rights on leases only serve to notice
// other clusters. To notice a cluster of the whole server, get is also needed in the namespace
// default:
//
//	batch: jobs, cronjobs                            get list watch create update patch delete
//	batch: jobs/status, cronjobs/status              update patch
//	batch: jobs/finalizers, cronjobs/finalizers      update
//	pods                                             get list watch create patch delete
//	pods/binding, pods/status                        create; patch
//	events                                           create patch
//	coordination.k8s.io: leases                      get list create patch delete
//
// To collect the dependents of owners of another kind, it also needs the rights to list and watch
// those owners.
//
// [T] never gets another method. A later feature comes as an optional interface.
package batchtest
