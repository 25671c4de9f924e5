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
// The kit plays the API server (in memory, without a network), the clock (testing/synctest), the
// lag of caches, the users, the faults, and whatever runs the children, such as the kubelet. The
// program runs with its own manager, watches, predicates and queues. Each life is a list of steps.
// The search first plays short lives, without faults and then with faults in all of their
// writes ([Search].Short). Then it plays random ones. It makes its findings as short as it can, and
// prints each as a story and as a test that plays it again. Errors and messages are lines of the
// story if the program logs them with the logr.Logger of Start's context, or passes them to
// HandleError of apimachinery. So is a panic ([Panics]).
//
// Some lives have several parents ([Life].Beside), whose names are easily confused. They show what
// one parent does to another: a child that is taken for that of another parent, a failing parent
// that keeps the others waiting, or a limit over all.
//
// # What a controller may need
//
// The kinds may come from their CRDs ([FromCRD]): then the API refuses, completes and prunes
// objects by their schemas. Without a CRD, set [Resource].Status correctly, or the findings are
// wrong. Resource.Admit can check what the API does not: CEL rules and the uniqueness of list
// items. Resource.Default fills in what a webhook would. Null fields are dropped.
//
// Create metrics and flags outside of Start, and field indexes in it. From controller-runtime v0.19
// on, controllers with the same name need SkipNameValidation. klog.SetLogger(logr.Discard()) keeps
// what recorders print about a killed program out of the output.
//
// [Cron].Skipped reads the events that report skipped runs. Recorders merge events. For core/v1,
// client-go puts "(combined from similar events): " before the latest message, and after a burst of
// 25 it writes one event in five minutes for an object. For events.k8s.io it keeps the first note
// of a series.
//
// # What is checked
//
// See [Check]. An [Operator] needs no model. The objects after its life are compared with those
// after other lives: the same life without faults, the same life without a user's deletion, the
// life of a parent that was created in its edited form, and the lives of several parents each
// alone. Edits that the operator does not support must be refused, by Resource.Admit, unless it
// writes nothing for a parent that was created in this form. Errors that it logs again and again
// without a fault are logged by the test: the API may lack a kind that it needs.
//
// Each check can be switched off with a reason ([Program.Off]), and each action of the kit left out
// ([Program.Without]).
//
// # What goes wrong
//
// Writes are refused, conflict, or lose their reply. The program crashes before or after a write
// ([Fault]), restarts with caches that are behind, runs as two replicas ([Program.Replicas]), or
// has a clock that jumps ([Program.Clock]). Children that have ended expire ([Expire]). Watches are
// late, show the kinds in another order ([Hold]), or restart and show several changes as one
// ([Relist]). Writes of events never fail and are kept ([Result].Events).
//
// # Versions
//
// This API has types of k8s.io v0.x, so this module stays at v0 when the library reaches v1.
//
// # What is not there
//
// There is no version of a kind other than the stored one. Deployments, StatefulSets and DaemonSets
// have no pods. Server-side apply never conflicts with another manager, and replaces the lists of a
// kind without a [Resource].Type as a whole.
package blackbox
