package validation

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator makes manifests. What it makes follows from its source alone.
type generator struct {
	*rand.Rand
	// wrong is how many of a hundred values are drawn from the wrong ones.
	wrong int
}

// newGenerator makes the generator of one case. Some cases have many wrong values; most
// have few, so that one does not hide another.
func newGenerator(seed uint64, number int) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, uint64(number)))}
	g.wrong = [...]int{0, 1, 3, 3, 10, 30}[g.IntN(6)]
	return g
}

func (g *generator) in100(percent int) bool { return g.IntN(100) < percent }

// one draws one of the good values, or now and then one of the bad ones.
func one[T any](g *generator, good, bad []T) T {
	if len(bad) > 0 && (len(good) == 0 || g.in100(g.wrong)) {
		return bad[g.IntN(len(bad))]
	}
	return good[g.IntN(len(good))]
}

type object map[string]any

// set sets a field, or leaves it out if the value is nil.
func (o object) set(field string, value any) {
	if value != nil {
		o[field] = value
	}
}

func (o object) json() []byte {
	out, err := json.Marshal(o)
	if err != nil {
		panic(err) // unreachable: there are only plain values
	}
	return out
}

const tooMuch = 100_001

// jobSpec draws the spec of a job.
func (g *generator) jobSpec() object {
	o := object{}
	indexed := g.in100(65)
	if mode := one(g, []any{"Indexed"}, []any{"Elastic", "indexed"}); indexed {
		o.set("completionMode", mode)
	} else {
		o.set("completionMode", one(g, []any{nil, "NonIndexed"}, []any{"Elastic"}))
	}
	completions := one(g, []int{0, 1, 3, 5, 5, 12, 100_000, tooMuch, 200_000, 1<<31 - 1}, []int{-1})
	if indexed && !g.in100(g.wrong/2) || !indexed && g.in100(70) {
		o.set("completions", completions)
	}
	o.set("parallelism", one(g, []any{nil, 0, 1, 3, max(0, min(completions, 10_000)), 10_000}, []any{-1, 10_001, 100_000, tooMuch}))
	o.set("backoffLimit", one(g, []any{nil, 0, 6}, []any{-1}))
	o.set("activeDeadlineSeconds", one(g, []any{nil, nil, 0, 60}, []any{-1}))
	o.set("ttlSecondsAfterFinished", one(g, []any{nil, nil, 0, 60}, []any{-1}))
	o.set("suspend", one(g, []any{nil, nil, true, false}, nil))
	perIndex := indexed && g.in100(50) || g.in100(g.wrong/2)
	if perIndex {
		o.set("backoffLimitPerIndex", one(g, []any{0, 1, 3}, []any{-1}))
	}
	if perIndex && (completions > 100_000 || g.in100(50)) || g.in100(g.wrong/2) {
		o.set("maxFailedIndexes", one(g, []any{0, min(1, completions), min(completions, 10_000)}, []any{-1, min(completions+1, 1<<31-1), 10_001, 100_000, tooMuch}))
	}
	g.policies(o, indexed, perIndex, completions)
	o.set("managedBy", g.managedBy())
	g.selector(o)
	return o
}

func (g *generator) managedBy() any {
	long := strings.Repeat("q", 51)
	return one(g, []any{nil, nil, nil, "kubernetes.io/job-controller", "example.com/a", "a/b", "a-1.b/c/d", "example.com/-._~%!$&'()*+,;=:", "example.com/" + long},
		[]any{"", "queue", "/", "/a", "a/", "Example.com/a", "-a/b", "a-/b", "a..b/c", "a_b/c", "a.b/c d", "a.b/c?", "a.b/c#d", "a.b/ü", "a/b\n", " a/b", "example.com/" + long + "q"})
}

// labels are the labels of the template; a selector that is well formed selects them.
var labels = object{"app": "a", "example.com/x": "", "under_score": "A.b-c"}

func (g *generator) selector(o object) {
	meta := object{}
	if g.in100(30) {
		meta["labels"] = labels
		o["manualSelector"] = true
		o["selector"] = g.wellFormed()
	}
	spec := object{"containers": containers("main", "side"), "initContainers": containers("setup")}
	good := []any{"Never", "OnFailure"}
	if o["podFailurePolicy"] != nil {
		good = good[:1]
	}
	spec.set("restartPolicy", one(g, good, []any{nil, "", "Always", "Sometimes", "OnFailure"}))
	o["template"] = object{"metadata": meta, "spec": spec}
}

func (g *generator) wellFormed() object {
	key := func() string {
		return one(g, []string{"app"}, []string{"", "a b", "-a", "a-", "a/b/c", "/a", "a/", "Ü", "A.example/x", strings.Repeat("k", 64), strings.Repeat("d", 254) + "/x"})
	}
	value := func() string { return one(g, []string{"a"}, []string{"-", "a b", "a/b", strings.Repeat("v", 64)}) }
	out := object{"matchLabels": object{"under_score": "A.b-c", key(): value()}}
	var expressions []object
	for range g.IntN(3) {
		e := one(g, []object{
			{"key": "app", "operator": "In", "values": []string{"a", "zzz"}},
			{"key": "app", "operator": "NotIn", "values": []string{"b", ""}},
			{"key": "example.com/x", "operator": "Exists"},
			{"key": "other", "operator": "DoesNotExist"},
		}, []object{
			{"key": "app", "operator": "In"}, {"key": "app", "operator": "NotIn", "values": []string{}},
			{"key": "app", "operator": "Exists", "values": []string{"a"}},
			{"key": "other", "operator": "DoesNotExist", "values": []string{"a"}},
			{"key": "app", "operator": "Near"}, {"key": "app", "operator": ""},
			{"key": key(), "operator": "Exists"}, {"key": "app", "operator": "In", "values": []string{"a", value()}},
		})
		expressions = append(expressions, e)
	}
	if expressions != nil {
		out["matchExpressions"] = expressions
	}
	return out
}

func containers(names ...string) (all []object) {
	for _, name := range names {
		all = append(all, object{"name": name, "image": "i"})
	}
	return all
}

func (g *generator) policies(o object, indexed, perIndex bool, completions int) {
	if g.in100(35) {
		rules := []object{}
		for range one(g, []int{0, 1, 2, 3, 20}, []int{21}) {
			rules = append(rules, g.failureRule(perIndex))
		}
		o["podFailurePolicy"] = object{"rules": rules}
	}
	replacement := []any{nil, "Failed", "TerminatingOrFailed"}
	if o["podFailurePolicy"] != nil {
		replacement = replacement[:2]
	}
	o.set("podReplacementPolicy", one(g, replacement, []any{"Never", "TerminatingOrFailed"}))
	if indexed && g.in100(35) || g.in100(g.wrong/2) {
		rules := []object{}
		for range one(g, []int{1, 1, 2, 3, 20}, []int{0, 21}) {
			rules = append(rules, g.successRule(completions))
		}
		o["successPolicy"] = object{"rules": rules}
	}
}

func (g *generator) failureRule(perIndex bool) object {
	actions := []any{"FailJob", "Ignore", "Count"}
	if perIndex {
		actions = append(actions, "FailIndex")
	}
	o := object{}
	o.set("action", one(g, actions, []any{nil, "", "Shrug", "FailIndex"}))
	if g.in100(50) || g.in100(g.wrong/3) {
		o["onExitCodes"] = g.exitCodes()
	}
	if o["onExitCodes"] == nil && !g.in100(g.wrong/3) || g.in100(g.wrong/3) {
		patterns := []object{}
		for range one(g, []int{1, 1, 2, 20}, []int{0, 21}) {
			p := object{}
			p.set("type", one(g, []any{"DisruptionTarget", "Ready", "example.com/My_type.1", "a.b-c/d", strings.Repeat("t", 63)},
				[]any{nil, "", "a b", "-a", "a-", "a/b/c", "/a", "a/", "Example.com/a", "a_b/c", "ü", strings.Repeat("t", 64), strings.Repeat("d.", 127) + "/x"}))
			p.set("status", one(g, []any{nil, "True", "False", "Unknown"}, []any{"", "Perhaps", "true"}))
			patterns = append(patterns, p)
		}
		o["onPodConditions"] = patterns
	}
	return o
}

func (g *generator) exitCodes() object {
	o := object{}
	o.set("operator", one(g, []any{"In", "NotIn"}, []any{nil, "", "Near"}))
	o.set("containerName", one(g, []any{nil, "main", "side", "setup"}, []any{"", "other"}))
	values := []int32{}
	code := int32(1 + g.IntN(3))
	for range one(g, []int{1, 2, 5, 255}, []int{0, 256}) {
		values = append(values, code)
		code += int32(1 + g.IntN(2))
	}
	if n := len(values); n > 0 && g.in100(g.wrong) {
		values[g.IntN(n)] = one(g, nil, []int32{0, -1, values[0], 300, 2})
	}
	o["values"] = values
	return o
}

func (g *generator) successRule(completions int) object {
	o := object{}
	last := max(completions-1, 0)
	whole := fmt.Sprintf("0-%d", last)
	if last == 0 {
		whole = ""
	}
	count := completions
	if g.in100(60) {
		texts := []any{"", whole}
		if completions >= 5 {
			texts = append(texts, "0", "1,3", "0-2,4", "+1", "007"[:2]+"3", "0,+2-+4")
		}
		text := one(g, texts, []any{
			"0,1-1,5", "1-1", "2,0", "0,0", "0-2,2", "5-2", "x", "0,x", "1,,2", ",", "-1", "1-", "0-1-2", " 0", "0, 1", "++1", "+", "1-+", "0-", "0x1", "1_0",
			fmt.Sprint(completions), fmt.Sprintf("0-%d", completions), fmt.Sprintf("%d-%d", max(completions-1, 0), completions), "2147483648", "0-4294967296", "99999999999999999999",
			strings.Repeat("0,", 32*1024) + "1",
		})
		o.set("succeededIndexes", text)
		if text == "" || text != whole {
			count = 0
		}
	}
	if o["succeededIndexes"] == nil && !g.in100(g.wrong) || g.in100(30) {
		o.set("succeededCount", one(g, []any{0, min(1, count), count}, []any{-1, 2, completions, min(completions+1, 1<<31-1)}))
	}
	return o
}

// manifest is the manifest of a job with a spec and, unless it is nil, a status.
func manifest(spec, status object) object {
	o := object{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": object{"name": "j", "namespace": "default", "uid": "8c5e1d4a-0f5b-4c8e-9d7e-0123456789ab", "resourceVersion": "1"},
		"spec":     spec,
	}
	if status != nil {
		o["status"] = status
	}
	return o
}
