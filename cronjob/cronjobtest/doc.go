// Package cronjobtest tests programs that plan CronJobs with package cronjob.
//
// [TestBackend] lets random CronJobs live on a program's own store. It acts as users, lets jobs
// end, makes writes fail, loses replies, ends the program between two writes, starts it again with
// its stored memory and without, and checks the invariants of docs/invariants.md on each
// write. What goes wrong is shrunk and told as a story.
//
//	func TestMyBackend(t *testing.T) {
//		cronjobtest.TestBackend(t, func(env *cronjobtest.Env) cronjobtest.Subject {
//			store := newStore()
//			return cronjobtest.Subject{Store: store, Start: cronjobtest.Loop(env, store.Look)}
//		})
//	}
//
// It is the counterpart of job/jobtest, which says more, as does docs/testing.md. Triggers and
// backfills are not part of these lives.
package cronjobtest
