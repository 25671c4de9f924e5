// Package batchtest runs the Job, CronJob, TTL and orphan controllers and a fake kubelet against the
// API server of a test, which has none of them. One is the API server of envtest. No test has to write
// statuses of jobs by hand.
//
//	cluster := batchtest.Start(t, config) // stops with the test
//	cluster.Pods(batchtest.SucceedAfter(time.Second))
//	cluster.Wait(t, batchtest.Complete("train"))
//
// # Pods
//
// Pods get a node, run and become ready, and then run until the test says how they end. A [Behaviour]
// says so in advance, for all pods or for those that match:
//
//	cluster.Pods(batchtest.FailWith(42), batchtest.OfJob("train"), batchtest.Index(3), batchtest.Attempt(0))
//
// [Cluster.Pod] is one pod, by hand:
//
//	cluster.Pod("train-0").Fail(137)
//
// Init containers, sidecars, readiness gates, restarts in place and the grace period of a deletion are
// as with a kubelet. No program runs, no probe is asked, no node exists, and no resource is counted.
//
// # Garbage collection
//
// Objects whose owners are gone are deleted, and the finalizers of foreground deletion and of orphaning
// are served, as by the garbage collector. It sees pods, jobs, CronJobs, what owns these, and what
// [Collect] names.
//
// # Time
//
// By default time is real, and the delay of a second with which the Job controller waits for more
// changes (J43) is 10 milliseconds. [Speed] lets the clock of the controllers, of the kubelet and of
// every duration here run faster: a backoff of ten minutes passes in six seconds at Speed(100). The API
// server and the program under test stay on the real clock, which has consequences:
//
//   - What the controllers and the kubelet write (start and finish times, conditions) is ahead of the
//     real time, by all that was gained since the start.
//   - What the server stamps (creation and deletion times) is not. So objects look older to the
//     controllers than they are: a CronJob that was created a second ago was created a minute ago at
//     Speed(60), and a run that was due in between starts immediately, unless its
//     startingDeadlineSeconds is over.
//   - Events have the real time.
//
// # Servers and namespaces
//
// Start takes over the whole server, or one [Namespace] of it. Clusters of several servers, or of
// several namespaces of one server, can run in parallel tests. Nothing is left when a cluster has
// stopped: no goroutine and no connection. It stops with the test, also if the test panics.
//
// [T] never gets another method. A later feature comes as an optional interface.
package batchtest
