// Package citations checks the numbers by which code, stories and documents cite
// rules (J21), invariants (JI3), bugs (M4), faults (F2) and calendar cases (D5).
//
// Its tests fail on a number that neither docs/rules.md nor docs/invariants.md
// defines, on a number that is defined twice, and on a rule that no test cites.
// They also hold the index at the end of docs/rules.md, which says for each rule
// in which functions it is decided and which tests cite it, against the sources;
// the flag -update writes it anew.
package citations
