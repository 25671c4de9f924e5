// Package citations checks the numbers by which code, stories and documents cite
// rules (J21), invariants (JI3), bugs (M4), faults (F2) and calendar cases (D5).
//
// Its tests fail on a number that neither docs/rules.md nor docs/invariants.md defines, on a number
// that is defined twice, and on a rule that no test cites. They also check docs/rules_index.txt
// against the sources. It lists, for each rule, the functions that decide it and the tests that
// cite it. The flag -update rewrites it.
//
// Other tests are about documents: phrases that make a reader stumble, code that is quoted from
// files, and docs/proofs.md, whose commands and paths must exist.
package citations
