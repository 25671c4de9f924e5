// Package cronjobtest tests programs that plan CronJobs with package cronjob.
//
// [TestBackend] creates random CronJobs on a program's own store. It acts as users, ends jobs,
// makes writes fail, loses replies, ends the program between two writes, starts it again with its
// stored memory and without, and checks the invariants of docs/invariants.md on each write. A
// failure is shrunk and printed as a story.
//
//	cronjobtest.TestBackend(t, func(env *cronjobtest.Env) cronjobtest.Subject {
//		store := newStore(env)
//		return cronjobtest.Subject{Store: store, Start: cronjobtest.Loop(env, store.Look)}
//	})
//
// A program that sees its objects through a watch has a [Cache], which the test fills late. If the
// store is a [Requester], users also request triggers and backfills; if it is a [SharedStore], jobs
// of other owners take the names of runs. A random run of the test is called a life. In half of the
// lives [Env.Options] are not the zero value. A program with its own options need not call it.
//
// [Specs], [Snapshots] and others are generators for your own properties. Package job/jobtest is
// the counterpart for jobs. Its documentation and docs/testing.md explain more.
//
// The interfaces of this package never get another method. A later feature would be an optional
// interface of a [Store], like [Requester].
package cronjobtest
