package conformance

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
)

// shrink looks for smaller scripts that show a difference, beginning with the script of the seed.
// It returns the last one found.
func shrink(t *testing.T, scripts *rapid.Generator[*script.Script], seed uint64, s *script.Script, difference string) (*script.Script, string) {
	defer set("rapid.seed", strconv.FormatUint(seed, 10))()
	defer set("rapid.checks", "1")()
	defer set("rapid.nofailfile", "true")()
	defer set("rapid.shrinktime", effort.String())()
	rapid.Check(silent{t}, func(r *rapid.T) {
		smaller := scripts.Draw(r, "script")
		if result := Play(t, smaller, ours.Kubernetes(played)); result.Difference != "" {
			s, difference = smaller, result.Difference
			r.Fatal("a difference") // the same text for all, so that rapid treats them as one failure
		}
	})
	return s, difference
}

// set sets a flag, and returns a function that restores it.
func set(name, value string) func() {
	f := flag.Lookup(name)
	old := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		panic(err)
	}
	return func() { _ = f.Value.Set(old) }
}

// silent is a test whose failures have no effect: the difference is already known when rapid looks
// for a smaller script.
type silent struct{ *testing.T }

func (silent) Logf(string, ...any)   {}
func (silent) Log(...any)            {}
func (silent) Errorf(string, ...any) {}
func (silent) Error(...any)          {}
func (silent) Fatalf(string, ...any) {}
func (silent) Fatal(...any)          {}
func (silent) Fail()                 {}
func (silent) FailNow()              {}
func (silent) Failed() bool          { return false }
