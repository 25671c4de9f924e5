package golden

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The size of [Decisions]: groups of lives of the same length.
const (
	groups       = 100
	livesInGroup = 4
	// LifeRounds is how many rounds a life has.
	LifeRounds = 25
)

// Decisions plays 10,000 rounds of random lives, the same at each call, and compares them with a
// file of hashes, which -update writes. Function live plays one life: for each round it passes the
// snapshot and the decision about it to function round. The first snapshot is from before any
// round. The JSON of snapshots and decisions must be the same in each run. Rapid seeds a generator
// of its own with the number of the life, so the draws are the same with another version of Go.
func Decisions(t *testing.T, file string, live func(t *rapid.T, round func(snapshot, decided any))) {
	t.Helper()

	var got strings.Builder
	for group := range groups {
		cases, rounds := sha256.New(), sha256.New()

		for i := range livesInGroup {
			n := 0
			lives := rapid.Custom(func(t *rapid.T) int {
				n = 0
				live(t, func(snapshot, decided any) {
					if n == 0 {
						add(t, cases, snapshot)
					}
					n++
					add(t, rounds, snapshot, decided)
				})
				return n
			})
			if lives.Example(group*livesInGroup + i); n != LifeRounds {
				t.Fatalf("a life has %d rounds, not %d", n, LifeRounds)
			}
		}

		const size = livesInGroup * LifeRounds
		from, to := group*size, group*size+size-1
		fmt.Fprintf(&got, "%4d-%d cases %.8x rounds %.8x\n", from, to, cases.Sum(nil), rounds.Sum(nil))
	}

	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	stored, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if difference := decisionsDiffer(string(stored), got.String()); difference != "" {
		t.Errorf("%s: %s", file, difference)
	}
}

// add adds values to a hash, as JSON.
func add(t *rapid.T, to hash.Hash, values ...any) {
	for _, v := range values {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		to.Write(append(data, '\n'))
	}
}

// decisionsDiffer describes which rounds differ from the file, and what that means.
func decisionsDiffer(stored, got string) string {
	was, is := strings.Split(stored, "\n"), strings.Split(got, "\n")
	var differ []string
	drawn := len(was) != len(is)
	for i := 0; i < len(was) && i < len(is); i++ {
		if was[i] == is[i] {
			continue
		}
		a, b := strings.Fields(was[i]+" - - - - -"), strings.Fields(is[i]+" - - - - -")
		differ = append(differ, b[0])
		drawn = drawn || a[2] != b[2]
	}
	switch {
	case drawn:
		return "the lives begin with other snapshots: the generators have changed, the JSON of snapshots, " +
			"or the version of rapid. Compare without that change, then write the file again with -update"
	case len(differ) > 0:
		const todo = "If that is intended, say so in a line under Semantics in CHANGELOG.md, " +
			"and write the file again with -update"
		return fmt.Sprintf("%d of %d groups of rounds decide differently, the first of them rounds %s. %s",
			len(differ), groups, differ[0], todo)
	}
	return ""
}
