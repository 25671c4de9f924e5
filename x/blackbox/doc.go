// Package blackbox searches for bugs in controllers that know nothing of this library: any program
// that reaches an API server through a [rest.Config] and starts things at the times of a schedule
// ([Cron]), runs things until they are done ([Batch]), or does anything else ([Operator]).
//
//	subject := blackbox.Cron{
//		Program: blackbox.Program{
//			Resources: []blackbox.Resource{
//				{GroupVersionKind: parent, Plural: "tasks", Status: true},
//				blackbox.Jobs(),
//			},
//			Start: func(ctx context.Context, config *rest.Config) error {
//				return run(ctx, config) // the manager of the program, until ctx is done
//			},
//			...
//		},
//		...
//	}
//	subject.Test(t, blackbox.Search{Seed: 1, Lives: 100})
//
// The kit is the API server, in memory and without a network; the clock, by testing/synctest; the
// caches that lag; the users; what runs the children, such as the kubelet; and the faults. The program
// is driven with its own manager, watches, predicates and queues. Each life is a list of steps. The
// search takes short lives first and lets each of their writes fail in each way ([Search].Short), then
// it plays random ones. Its findings are made as short as they can be, and printed as a story and as a
// test that plays it again. Errors that the program logs are lines of the story, if it logs with the
// logr.Logger of Start's context.
//
// # What a controller may need
//
// The kinds may come from their CRDs ([FromCRD]): then the API refuses, completes and prunes objects
// by their schemas. Without it, set [Resource].Status right, or the findings are wrong. Resource.Admit
// checks what the API does not: rules in CEL and the uniqueness of lists. Resource.Default fills in
// what a webhook would. Null fields are dropped.
//
// Make metrics and flags outside of Start, field indexes in it. Controllers of one name need SkipNameValidation from
// controller-runtime v0.19 on.
//
// [Cron].Skipped reads the events that report skipped runs. Recorders merge events: client-go's for
// core/v1 writes the latest message behind "(combined from similar events): ", and after a burst of
// 25 one event in five minutes for an object. For events.k8s.io it writes the first note of a series.
//
// # What is checked
//
// See [Check]. An [Operator] needs no model: what remains of its life is compared with what remains of the same life
// without faults, of the same life without a deletion, and of a parent that was created as it was edited.
//
// Each check can be switched off with a reason ([Program.Off]), and each action of the kit left out
// ([Program.Without]).
//
// # What goes wrong
//
// Writes are refused, conflict, or lose their reply. The program crashes before or after one
// ([Fault]), restarts with caches that are behind, runs as two replicas ([Program.Replicas]), or has a
// clock that jumps ([Program.Clock]). Watches are late, show kinds in another order ([Hold]), or begin
// again with several changes as one ([Relist]). Writes of events never fail and are kept
// ([Result].Events).
//
// # Versions
//
// This API has types of k8s.io v0.x, so this module stays at v0 when the library reaches v1.
//
// # What is not there
//
// There is neither server-side apply nor a version of a kind other than the stored one.
package blackbox
