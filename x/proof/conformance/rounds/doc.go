// Package rounds compares single rounds: the real controllers and ours get the same
// random snapshot, and everything that they do with it is compared. Rounds reach
// states that whole lives rarely reach. Without a server, a cache and a queue,
// thousands of them take one second.
//
// The code that calls the real controllers needs the build tag of package overlay.
package rounds
