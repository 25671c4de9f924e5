// Package jobtest tests programs that plan jobs with package job.
//
// [TestBackend] lets random jobs live on a program's own store. It acts as users and
// kubelets, makes writes fail, loses replies, ends the program between two writes, starts it
// again with its stored memory and without, and checks the invariants of
// docs/invariants.md on each write. What goes wrong is shrunk and told as a story: what
// happened, what each plan said and why, what the store made of it, and which seed
// repeats it.
//
//	jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject {
//		store := newStore(env)
//		return jobtest.Subject{Store: store, Start: jobtest.Loop(env, store.Look)}
//	})
//
// [Loop] is a plain loop, for a test of the backend alone. A program with a loop of its own
// returns that from Start, and calls the methods of [Env]: Now is its clock, Options are what it
// plans with, Planned sees each plan before it is carried out, Backend stands around the backend that
// an executor gets, and Write around any other write, such as a write of the memory. After
// the program was killed, whatever it still writes through Env fails; nothing stops it
// otherwise, and its round is expected to return.
//
// [TestQueue] does the same to a program with a queue of several jobs.
//
// A program behind a watch has a [Cache], which the test fills late. What else a store can
// do is in interfaces of its own, and more happens on it: on a [JobDeleter] jobs are deleted
// while they run, on a [LabelStore] others create and relabel pods, on an [Orphaner] a job goes and
// its pods stay; a [GroupStore] has gangs. A backend that does not support all fields of a spec leaves
// these out with [Test].
//
// [Specs], [Snapshots] and the like are generators for properties of your own. docs/testing.md is a tutorial.
//
// The interfaces of this package never get another method. A later feature comes as an optional
// interface that the kit asks a [Store] for, like [JobDeleter] and [Purger] now.
package jobtest
