// Package world is a small API server in memory, with a virtual clock: a [Job] with its
// pods, or a [CronJob] with its jobs, a controller of this library, and an environment
// that does what kubelets and users do. A [Cluster] is many jobs on one clock.
//
// A world draws no random numbers, starts no goroutine and never waits: the caller
// decides what happens next, and when. Faults can be put between any two writes. The
// invariants of docs/invariants.md are checked on each write that the world accepts, and
// Err returns the first that did not hold. Texts are made only when they are requested,
// and Clone is cheap, so a search can try millions of ways for a small world to continue.
//
// Property tests of this library use these worlds, and so can simulations, and tests of programs
// that use the library. Package job/jobtest tests other backends.
package world
