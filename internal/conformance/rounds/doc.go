// Package rounds compares single rounds: the real controllers and ours are given the
// same random snapshot once each, and everything that they do with it is compared.
// Rounds reach states that whole lives rarely lead to, and thousands of them fit into
// a second: there is no server, no cache and no queue.
//
// The code that calls the real controllers needs the build tag of package overlay.
package rounds
