// Package jobtest tests programs that plan jobs with package job.
//
// [TestBackend] creates random jobs on a program's own store. It acts as users and kubelets, makes
// writes fail, loses replies, ends the program between two writes, starts it again with its stored
// memory and without, and checks the invariants of docs/invariants.md on each write. A random run
// of the test is called a life. A failing life is shrunk and told as a story: the events, each plan
// with its reasons, the effects on the store, and the seed that repeats it.
//
//	jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject {
//		store := newStore(env)
//		return jobtest.Subject{Store: store, Start: jobtest.Loop(env, store.Look)}
//	})
//
// [Loop] is a plain loop, for a test of the backend alone. A program with a loop of its own returns
// that loop from Start, and calls the methods of [Env]. [Env.Now] is its clock, and [Env.Options]
// are the options of its plans. The program passes each plan to [Env.Planned] before it carries the
// plan out. [Env.Backend] wraps the backend of an executor, and [Env.Write] any other write, such
// as a write of the memory. After the program was killed, its writes through Env fail. Nothing else
// stops it, and its round must return.
//
// [TestQueue] does the same with a program that has a queue of several jobs.
//
// A program that sees its objects through a watch has a [Cache], which the test fills late.
// Optional interfaces of a store allow more events. The jobs of a [JobDeleter] are deleted while
// they run. Other clients create and relabel pods in a [LabelStore]. An [Orphaner] removes a job
// and leaves its pods. A [GroupStore] has gangs. If a backend does not support all fields of a
// spec, use a [Test] that generates specs without these fields.
//
// [Specs], [Snapshots] and the like are generators for properties of your own. docs/testing.md is a
// tutorial.
//
// The interfaces of this package never get another method. A later feature comes as an optional
// interface that the kit asks a [Store] for, like [JobDeleter] and [Purger] now.
package jobtest
