// Package jobtest tests programs that plan jobs with package job.
//
// [TestBackend] lets random jobs live on a program's own store. It acts as users and
// kubelets, makes writes fail, loses replies, ends the program between two writes, starts it
// again with its stored memory and without, and checks the invariants of
// docs/invariants.md on each write. What goes wrong is shrunk and told as a story: what
// happened, what each plan said and why, what the store made of it, and which seed
// repeats it.
//
//	func TestMyBackend(t *testing.T) {
//		jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject {
//			store := newStore()
//			return jobtest.Subject{Store: store, Start: jobtest.Loop(env, store.Look)}
//		})
//	}
//
// [Loop] is a plain loop, for a test of the backend alone. A program with a loop of its own
// returns that from Start, and calls three methods of [Env]: Now for the time, Backend around
// the backend that it gives to an executor, and Planned with each plan.
//
// A program behind a watch has a [Cache], which the test fills late. A [LabelStore] also
// has pods that others create and relabel.
//
// Specs, Pods, Statuses, Snapshots and Memories are generators for properties of your own.
// docs/testing.md is a tutorial.
package jobtest
