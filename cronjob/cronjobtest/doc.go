// Package cronjobtest tests programs that plan CronJobs with package cronjob.
//
// [TestBackend] lets random CronJobs live on a program's own store. It acts as users, lets jobs
// end, makes writes fail, loses replies, ends the program between two writes, starts it again with
// its stored memory and without, and checks the invariants of docs/invariants.md on each
// write. What goes wrong is shrunk and told as a story.
//
//	cronjobtest.TestBackend(t, func(env *cronjobtest.Env) cronjobtest.Subject {
//		store := newStore(env)
//		return cronjobtest.Subject{Store: store, Start: cronjobtest.Loop(env, store.Look)}
//	})
//
// A program behind a watch has a [Cache], which the test fills late. On a [Requester], users also
// ask for jobs beside the schedule and for backfills; on a [SharedStore], jobs of other owners take the
// names of runs. Half of the lives choose [Env.Options], which a program with options of its own
// may ignore.
//
// [Specs], [Snapshots] and the like are generators for properties of your own. This package is the
// counterpart of job/jobtest, which says more, as does docs/testing.md.
//
// The interfaces of this package never get another method. A later feature comes as an optional
// interface that the kit asks a [Store] for, like [Requester] now.
package cronjobtest
