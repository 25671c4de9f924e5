package specgen

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// TestAllFields: the tables have each field that the library reads.
func TestAllFields(t *testing.T) {
	compare(t, reflect.TypeFor[job.Spec](), append(slices.Clip(jobFields), scheduling))
	compare(t, reflect.TypeFor[job.PodFailurePolicyRule](), failureRule)
	compare(t, reflect.TypeFor[job.OnExitCodes](), exitCodes)
	compare(t, reflect.TypeFor[job.PodCondition](), podCondition)
	compare(t, reflect.TypeFor[job.SuccessPolicyRule](), successRule)
	compare(t, reflect.TypeFor[cronjob.Spec](), cronJobFields)
}

func compare(t *testing.T, of reflect.Type, table []field) {
	t.Helper()
	for _, f := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !slices.Contains(names(table), name) {
			t.Errorf("no entry for the field %s of %s", name, of)
		}
	}
}

// TestEachEntry: if a range has values for a field, several different values are drawn. Otherwise
// the field is never set.
func TestEachEntry(t *testing.T) {
	for r := Small; r <= Limits; r++ {
		for name, table := range map[string][]field{"job": append(slices.Clip(jobFields), scheduling), "CronJob": cronJobFields} {
			values := map[string]map[string]bool{}
			for seed := range uint64(4000) {
				g := Generator{Source: rand.New(rand.NewPCG(seed, 1)), Range: r}
				o := g.draw(table)
				for _, f := range table {
					text, _ := json.Marshal(o[f.name])
					if values[f.name] == nil {
						values[f.name] = map[string]bool{}
					}
					values[f.name][string(text)] = true
				}
			}
			for _, f := range table {

				if n := len(values[f.name]); (n > 1) != (f.reach(r) > 0 || f.name == "schedule") {
					t.Errorf("range %d, %s of a %s: %d values", r, f.name, name, n)
				}
			}
		}
	}
}

// TestValid: specs without wrong values are valid.
func TestValid(t *testing.T) {
	specs := rapid.Custom(func(t *rapid.T) Object {
		g := Generator{Source: Rapid(t), Range: Range(rapid.IntRange(0, 2).Draw(t, "range")),
			Gangs: rapid.Bool().Draw(t, "gangs")}
		return Object{"job": g.Job(), "cronJob": g.CronJob()}
	})
	rapid.Check(t, func(t *rapid.T) {
		drawn := Decode[struct {
			Job     job.Spec
			CronJob cronjob.Spec
		}](specs.Draw(t, "specs"))
		job.Default(&drawn.Job)
		cronjob.Default(&drawn.CronJob)
		if err := errors.Join(job.Validate(drawn.Job), cronjob.Validate(drawn.CronJob)); err != nil {
			t.Error(err)
		}
	})
}
