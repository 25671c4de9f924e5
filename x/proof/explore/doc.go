// Package explore visits every state that a small world can reach: every order of pod changes,
// deliveries, ticks of the clock, failing writes, lost replies and crashes. This is bounded model
// checking of the code itself: package jobmodel calls job.Reconcile and the executor, and package
// cronmodel calls those of CronJobs.
//
// The package knows nothing of jobs. A [System] defines the states in which it starts and the moves
// from a state to others; the search calls it until it finds no new state, a move breaks an
// invariant, or a limit is reached.
//
// [Breadth] searches level by level, on all cores, so the first counterexample is a shortest one.
// It keeps only a hash of 128 bits of each state. Two of n states have the same hash with a
// probability of about n²/2¹²⁹: for 10⁹ states, less than 10⁻²⁰.
package explore
