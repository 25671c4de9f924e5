package specgen

import (
	"math"
	"strings"
)

// tooMuch is more than an Indexed job may have of anything.
const tooMuch = 100_001

// jobFields are the fields of a job's spec. Later ones may depend on earlier ones.
var jobFields = []field{
	{name: "completionMode", percent: 75, small: list{mode}, wrong: list{"Elastic", "indexed", "Sorted"}, must: func(d *draw, _ Object) bool { return d.Indexed }},
	{name: "completions", percent: 60, small: list{1, 0, 2, 3, 1, 2, 4, 5}, wild: list{0, 6}, limits: list{12, 100_000, tooMuch, 200_000, math.MaxInt32}, wrong: list{-1}, must: isIndexed},
	{name: "parallelism", percent: 85, small: list{1, 2, 0, 1, 2, 3, 4, most(10_000)}, wild: list{5, 8}, limits: list{10_000}, wrong: list{-1, tooMany}},
	{name: "template", percent: 100, small: list{of([]field{{name: "spec", percent: 100, small: list{of(podFields)}}})}},
	{name: "backoffLimitPerIndex", percent: 50, small: list{0, 1, 2}, wild: list{3}, wrong: list{-1}, when: isIndexed},
	{name: "maxFailedIndexes", percent: 50, small: list{0, most(1), most(2), most(10_000)}, wrong: list{-1, beyond, 10_001, 100_000, tooMuch},
		when: hasIndexLimit, must: func(d *draw, _ Object) bool { return d.completions() >= tooMuch }},
	{name: "backoffLimit", percent: 65, small: list{0, 1, 0, 1, 2, 3}, wild: list{6, math.MaxInt32}, wrong: list{-1}},
	{name: "activeDeadlineSeconds", percent: 20, small: list{60, 0, 5, forever}, wild: list{1, 8, 30, 600, 600}, wrong: list{-1}},
	{name: "ttlSecondsAfterFinished", percent: 10, wild: list{0, 4, 60, 100}, wrong: list{-1}},
	{name: "suspend", percent: 25, small: list{false, true}, wild: list{true}},
	{name: "podFailurePolicy", percent: 45, small: list{of(failurePolicy)}, when: func(d *draw, _ Object) bool { return d.podSpec()["restartPolicy"] == "Never" }},
	{name: "podReplacementPolicy", percent: 40, small: list{"Failed", replacement}, wrong: list{"Never", "TerminatingOrFailed"}},
	{name: "successPolicy", percent: 25, small: list{of(successPolicy)}, when: isIndexed},
	{name: "managedBy", percent: 4, wild: list{"kubernetes.io/job-controller", "example.com/other"},
		limits: list{"example.com/a", "a/b", "a-1.b/c/d", "example.com/-._~%!$&'()*+,;=:", "example.com/" + strings.Repeat("q", 51)},
		wrong: list{"", "nobody", "queue", "/", "/a", "a/", "Example.com/a", "-a/b", "a-/b", "a..b/c", "a_b/c", "a.b/c d", "a.b/c?", "a.b/c#d", "a.b/ü", "a/b\n",
			" a/b", "example.com/" + strings.Repeat("q", 52)}},
	{name: "selector", percent: 0, limits: list{selector}},
}

// scheduling is a field for servers with the gate WorkloadWithJob.
var scheduling = field{name: "scheduling", percent: 75,
	small: list{gang(Object{}), maker(fixedGang), Object{}, Object{"schedulingPolicy": Object{"basic": Object{}}}},
	wild:  list{gang(Object{}), maker(fixedGang), Object{"schedulingPolicy": gangOf(Object{}), "disruptionMode": Object{"all": Object{}}}},
	wrong: list{gang(Object{"minCount": 0}), gang(Object{"minCount": tooMuch}), Object{"disruptionMode": Object{"all": Object{}}}}}

func gangOf(fields Object) Object { return Object{"gang": fields} }

func gang(fields Object) Object { return Object{"schedulingPolicy": gangOf(fields)} }

// fixedGang makes a gang of a size up to parallelism.
func fixedGang(d *draw, _ Object) any {
	parallelism, ok := d.spec["parallelism"].(int)
	if !ok {
		parallelism = 1
	}
	if parallelism <= 0 {
		return nil
	}
	return gang(Object{"minCount": 1 + d.IntN(min(parallelism, 3))})
}

var podFields = []field{
	{name: "restartPolicy", percent: 100, small: list{"Never", "Never", "OnFailure"}, wrong: list{nil, "", "Always", "Sometimes"}},
	{name: "containers", percent: 100, small: list{list{container("main")}}, wild: list{list{container("main")}, list{container("main"), side}}},
	{name: "initContainers", percent: 40, wild: list{list{container("init")}, list{sidecar("init")}, list{sidecar("proxy")}, list{container("init"), sidecar("proxy")}}},
	{name: "terminationGracePeriodSeconds", percent: 20, wild: list{0, 5}},
}

var side = Object{"name": "side", "image": "i", "env": list{Object{"name": "JOB_COMPLETION_INDEX", "value": "own"}}}

func container(name string) Object { return Object{"name": name, "image": "i"} }

func sidecar(name string) Object {
	return Object{"name": name, "image": "i", "restartPolicy": "Always"}
}

func mode(d *draw, _ Object) any {
	if d.Indexed || d.IntN(3) > 0 {
		return "Indexed"
	}
	return "NonIndexed"
}

func isIndexed(d *draw, _ Object) bool { return d.spec["completionMode"] == "Indexed" }

func hasIndexLimit(d *draw, _ Object) bool { return d.spec["backoffLimitPerIndex"] != nil }

func (d *draw) podSpec() Object { return d.spec["template"].(Object)["spec"].(Object) }

// completions returns the number of completions, or a default if there is none.
func (d *draw) completions() int {
	if n, ok := d.spec["completions"].(int); ok {
		return n
	}
	return 3
}

// most makes the number of completions, but at most limit.
func most(limit int) maker { return func(d *draw, _ Object) any { return min(limit, d.completions()) } }

// beyond makes the number of completions plus one.
func beyond(d *draw, _ Object) any { return min(d.completions(), math.MaxInt32-1) + 1 }

// tooMany makes more pods than an Indexed job may have. Other jobs may have them, but no controller
// should have to create them.
func tooMany(d *draw, o Object) any {
	if d.Range < Limits && !isIndexed(d, o) {
		return -1
	}
	return []int{10_001, 100_000, tooMuch}[d.IntN(3)]
}

// forever is a deadline that never comes. The controller of Kubernetes computes with it and overflows.
func forever(d *draw, _ Object) any {
	if d.Range == Wild {
		return 600
	}
	return int64(1 << 62)
}

// replacement makes a pod replacement policy. A job with a pod failure policy gets none, since a
// server would refuse the value.
func replacement(d *draw, _ Object) any {
	if d.spec["podFailurePolicy"] != nil {
		return nil
	}
	return "TerminatingOrFailed"
}

// selector makes a selector for the labels that it adds to the template.
func selector(d *draw, o Object) any {
	o["manualSelector"] = true
	o["template"].(Object)["metadata"] = Object{"labels": Object{"app": "a", "example.com/x": "", "under_score": "A.b-c"}}
	key, value := d.value(&labelKey, nil).(string), d.value(&labelValue, nil).(string)

	out := Object{"matchLabels": Object{"under_score": "A.b-c", key: value}}
	if n := d.IntN(3); n > 0 {
		expressions := make(list, n)
		for i := range expressions {
			expressions[i] = d.value(&labelExpression, nil)
		}
		out["matchExpressions"] = expressions
	}
	return out
}

var (
	labelKey = field{percent: 100, limits: list{"app"}, wrong: list{"", "a b", "-a", "a-", "a/b/c", "/a", "a/", "Ü", "A.example/x",
		strings.Repeat("k", 64), strings.Repeat("d", 254) + "/x"}}
	labelValue      = field{percent: 100, limits: list{"a"}, wrong: list{"-", "a b", "a/b", strings.Repeat("v", 64)}}
	labelExpression = field{percent: 100, limits: list{
		Object{"key": "app", "operator": "In", "values": list{"a", "zzz"}}, Object{"key": "app", "operator": "NotIn", "values": list{"b", ""}},
		Object{"key": "example.com/x", "operator": "Exists"}, Object{"key": "other", "operator": "DoesNotExist"},
	}, wrong: list{
		Object{"key": "app", "operator": "In"}, Object{"key": "app", "operator": "NotIn", "values": list{}},
		Object{"key": "app", "operator": "Exists", "values": list{"a"}}, Object{"key": "other", "operator": "DoesNotExist", "values": list{"a"}},
		Object{"key": "app", "operator": "Near"}, Object{"key": "app", "operator": ""},
		maker(func(d *draw, _ Object) any { return Object{"key": d.value(&labelKey, nil), "operator": "Exists"} }),
		maker(func(d *draw, _ Object) any {
			return Object{"key": "app", "operator": "In", "values": list{"a", d.value(&labelValue, nil)}}
		}),
	}}
)
