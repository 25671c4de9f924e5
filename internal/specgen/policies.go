package specgen

import (
	"fmt"
	"math"
	"strings"

	"github.com/batchplan/batchplan/internal/indexset"
)

var failurePolicy = []field{{name: "rules", percent: 100,
	small: list{several(field{percent: 100, small: list{1, 2, 3}, limits: list{0, 20}, wrong: list{21}}, failureRule)}}}

var failureRule = []field{
	{name: "action", percent: 100, small: list{"FailJob", "Ignore", "Ignore", "Count", failIndex}, wrong: list{nil, "", "Shrug", "FailIndex"}},
	{name: "onExitCodes", percent: 55, small: list{of(exitCodes)}},
	{name: "onPodConditions", small: list{several(field{percent: 100, small: list{1}, wild: list{1, 2}, limits: list{20}, wrong: list{0, 21}}, podCondition)},
		when: lacks("onExitCodes"), must: lacks("onExitCodes")},
}

// lacks is true for an object without this field.
func lacks(name string) condition { return func(_ *draw, o Object) bool { return o[name] == nil } }

// failIndex makes an action that requires a limit for each index.
func failIndex(d *draw, o Object) any {
	if hasIndexLimit(d, o) {
		return "FailIndex"
	}
	return "FailJob"
}

var exitCodes = []field{
	{name: "operator", percent: 100, small: list{"In"}, wild: list{"In", "NotIn"}, wrong: list{nil, "", "Near"}},
	{name: "containerName", percent: 50, wild: list{containerName}, wrong: list{"", "other"}},
	{name: "values", percent: 100, small: list{list{42}}, wild: list{list{1}, list{2, 42}, list{1, 137}}, limits: list{codes(1), codes(2), codes(5), codes(255)},
		wrong: list{codes(0), codes(256), list{1, 0}, list{-1, 3}, list{0, 1}, list{2, 2}, list{1, 2, 300, 4}, list{3, 2, 5}}},
}

// containerName makes the name of a container of the template.
func containerName(d *draw, _ Object) any {
	all, _ := d.podSpec()["initContainers"].(list)
	if len(all) == 0 || d.in100(60) {
		all = d.podSpec()["containers"].(list)
	}
	return all[d.IntN(len(all))].(Object)["name"]
}

// codes makes exit codes in rising order.
func codes(n int) maker {
	return func(d *draw, _ Object) any {
		all, code := list{}, 1+d.IntN(3)
		for range n {
			all = append(all, code)
			code += 1 + d.IntN(2)
		}
		return all
	}
}

var podCondition = []field{
	{name: "type", percent: 100, small: list{"DisruptionTarget"}, wild: list{"ConfigIssue", "Ready"},
		limits: list{"example.com/My_type.1", "a.b-c/d", strings.Repeat("t", 63)},
		wrong:  list{nil, "", "a b", "-a", "a-", "a/b/c", "/a", "a/", "Example.com/a", "a_b/c", "ü", strings.Repeat("t", 64), strings.Repeat("d.", 127) + "/x"}},
	{name: "status", percent: 80, wild: list{"True", "True", "False", "Unknown"}, wrong: list{"", "Perhaps", "true"},
		must: func(d *draw, _ Object) bool { return d.Statuses }},
}

var successPolicy = []field{{name: "rules", percent: 100,
	small: list{several(field{percent: 100, small: list{1, 2}, limits: list{3, 20}, wrong: list{0, 21}}, successRule)}}}

var successRule = []field{
	{name: "succeededIndexes", percent: 60, small: list{interval, interval, needs(1, "0"), needs(3, "1,2"), needs(5, "1,3", "0-2,4")},
		limits: list{"", whole, whole, needs(5, "+1", "003", "0,+2-+4")},
		wrong: list{"0,1-1,5", "1-1", "2,0", "0,0", "0-2,2", "5-2", "x", "0,x", "1,,2", ",", "-1", "1-", "0-1-2", " 0", "0, 1", "++1", "+", "1-+", "0-", "0x1", "1_0",
			"2147483648", "0-4294967296", "99999999999999999999", strings.Repeat("0,", 32*1024) + "1", over("%[1]d"), over("0-%[1]d"), over("%[2]d-%[1]d")}},
	{name: "succeededCount", percent: 40, small: list{count, count, atMost(1)}, wild: list{0}, limits: list{atMost(math.MaxInt32)},
		wrong: list{-1, 2, most(math.MaxInt32), beyond}, must: lacks("succeededIndexes")},
}

// interval makes an index or a range of indexes.
func interval(d *draw, _ Object) any {
	n := d.completions()
	if n < 1 {
		return nil
	}

	from := d.IntN(n)
	if size := 1 + d.IntN(min(n-from, 4)); size > 1 {
		return fmt.Sprintf("%d-%d", from, from+size-1)
	}
	return fmt.Sprint(from)
}

// whole makes the range of all indexes, or the empty text if there are fewer than two.
func whole(d *draw, _ Object) any {
	if d.completions() < 2 {
		return ""
	}
	return fmt.Sprintf("0-%d", d.completions()-1)
}

// needs makes one of the texts if there are enough indexes.
func needs(completions int, texts ...string) maker {
	return func(d *draw, _ Object) any {
		if d.completions() < completions {
			return nil
		}
		return texts[d.IntN(len(texts))]
	}
}

// over makes a text from the number of completions and the last index.
func over(format string) maker {
	return func(d *draw, _ Object) any { return fmt.Sprintf(format, d.completions(), d.completions()-1) }
}

// size returns how many indexes a rule names; all indexes if it names none.
func size(d *draw, o Object) int {
	text, ok := o["succeededIndexes"].(string)
	if !ok {
		return d.completions()
	}

	var set indexset.Set
	set.AddText(text, int32(d.completions()))
	return int(set.Len())
}

// atMost makes the number of indexes of a rule, or limit if that is smaller.
func atMost(limit int) maker { return func(d *draw, o Object) any { return min(limit, size(d, o)) } }

// count makes a number from one up to the number of indexes of a rule.
func count(d *draw, o Object) any { return min(size(d, o), 1+d.IntN(max(size(d, o), 1))) }
