// Mutants changes the code of this project in small ways, one at a time, and
// reports the changes that no test notices.
//
//	make mutants                              # every mutant: this takes hours
//	make mutants SEED=1 MUTANTS=300           # a random sample of each package
//	make mutants SEED=1 MUTANTS=300 QUICK=1   # of its two passes, the first alone
//	make mutants PACKAGES="job cronjob/cronjobapply" # of these packages only
//	make mutants MATCH=job/pod.go:3           # those whose line of output matches
//	make mutants MODULE=x/kubernetes PACKAGES=convert # of a nested module
//
// A mutant is one edit of one function: a condition is negated, a boundary shifted, a statement
// removed or swapped with the next, a copy forgotten, an error dropped, and so on. The list is in
// operators.go, operators_types.go and operators_tired.go. A mutant that does not compile is not
// counted. A sample takes the operators in turn, so that those with few mutants are not lost among
// the others.
//
// All mutants go into one build of each package's tests. Each is a copy of its function,
// and the function begins with a switch that calls the copy whose number is in the
// environment. So one compilation serves thousands of mutants. The build reads the
// changed files through an overlay, so the working tree never changes. Only mutants of
// package variables and constants need a build each.
//
// Only the tests of the package itself count: a mistake that only other packages notice would be
// found late. A first run of each test alone finds out which functions it reaches and how long it
// takes. A mutant is then tried with the tests that reach its function, the quickest first. If it
// survives with few random cases, the tests that draw cases run again, with as many cases as in "go
// test".
//
// For each survivor, write a test or remove code. If no input can show the difference, give the
// reason in equivalents.txt, and the mutant is not counted. An entry that no longer names a mutant
// is an error. An entry may also name a whole function, such as a hash function, for which any
// value is right: its surviving mutants are not counted.
package main
