package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/must"
)

// specOf sets the fields in the text on a minimal spec, and then the defaults.
func specOf(t rapid.TB, text string) Spec {
	t.Helper()
	s := Spec{Template: Template{RestartPolicy: RestartNever, Containers: []string{"main"}}}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	Default(&s)
	return s
}

func TestJ2_Refusals(t *testing.T) {
	indexed := func(more string) string {
		return `{"completionMode": "Indexed", "completions": 3, ` + more + `}`
	}
	rule := func(more string) string { return `{"podFailurePolicy": {"rules": [` + more + `]}}` }
	codes := func(more string) string { return rule(`{"action": "FailJob", "onExitCodes": {` + more + `}}`) }
	success := func(more string) string {
		return indexed(`"successPolicy": {"rules": [` + more + `]}`)
	}
	many := func(more string) string {
		return `{"completionMode": "Indexed", "completions": 100001, "backoffLimitPerIndex": 1, ` + more + `}`
	}

	for _, test := range []struct{ name, spec, want string }{
		{"parallelism is negative", `{"parallelism": -1}`, "parallelism: -1: must not be negative"},
		{"completions are negative", `{"completions": -2}`, "completions: -2: must not be negative"},
		{"the backoff limit is negative", `{"backoffLimit": -3}`, "backoffLimit: -3: must not be negative"},
		{"the deadline is negative", `{"activeDeadlineSeconds": -4}`, "activeDeadlineSeconds: -4: must not be negative"},
		{"the TTL is negative", `{"ttlSecondsAfterFinished": -5}`, "ttlSecondsAfterFinished: -5: must not be negative"},
		{"the limit for each index is negative", indexed(`"backoffLimitPerIndex": -6`), "backoffLimitPerIndex: -6: must not be negative"},
		{"the limit of failed indexes is negative", indexed(`"backoffLimitPerIndex": 1, "maxFailedIndexes": -7`), "maxFailedIndexes: -7: must not be negative"},
		{"the completion mode is unknown", `{"completionMode": "Elastic"}`, `completionMode: "Elastic": must be NonIndexed or Indexed`},
		{"the replacement policy is unknown", `{"podReplacementPolicy": "Never"}`, `podReplacementPolicy: "Never": must be Failed or TerminatingOrFailed`},
		{"pods always restart", `{"template": {"spec": {"restartPolicy": "Always"}}}`, `template.spec.restartPolicy: "Always": must be Never or OnFailure`},
		{"pods have no restart policy", `{"template": {"spec": {}}}`, `template.spec.restartPolicy: "": must be Never or OnFailure`},
		{"an Indexed job has no completions", `{"completionMode": "Indexed", "parallelism": 1}`, "completions: <nil>: is required when completionMode is Indexed"},
		{"an Indexed job is too parallel", indexed(`"parallelism": 100001`), "parallelism: 100001: must be at most 100000 when completionMode is Indexed"},
		{"a NonIndexed job limits its indexes", `{"backoffLimitPerIndex": 1}`, "backoffLimitPerIndex: 1: needs completionMode Indexed"},
		{"a NonIndexed job limits failed indexes", `{"maxFailedIndexes": 1}`,
			"maxFailedIndexes: 1: needs completionMode Indexed; backoffLimitPerIndex: <nil>: is required when maxFailedIndexes is set"},
		{"a NonIndexed job has a success policy", `{"successPolicy": {"rules": [{"succeededCount": 1}]}}`, `successPolicy: "1 rule": needs completionMode Indexed`},
		{"failed indexes are limited and retries are not", indexed(`"maxFailedIndexes": 1`),
			"backoffLimitPerIndex: <nil>: is required when maxFailedIndexes is set"},
		{"more indexes may fail than there are", indexed(`"backoffLimitPerIndex": 1, "maxFailedIndexes": 4`), "maxFailedIndexes: 4: must be at most completions, 3"},
		{"indexes may fail, and there is no number of them", `{"completionMode": "Indexed", "parallelism": 1, "backoffLimitPerIndex": 1, "maxFailedIndexes": 4}`,
			"completions: <nil>: is required when completionMode is Indexed"},
		{"too many indexes may fail", `{"completionMode": "Indexed", "completions": 200000, "backoffLimitPerIndex": 1, "maxFailedIndexes": 100001}`,
			"maxFailedIndexes: 100001: must be at most 100000; maxFailedIndexes: 100001: must be at most 10000 when completions is over 100000 and backoffLimitPerIndex is set"},
		{"a very large job does not limit failed indexes", many(`"parallelism": 1`),
			"maxFailedIndexes: <nil>: is required when completions is over 100000 and backoffLimitPerIndex is set"},
		{"a very large job limits failed indexes too loosely", many(`"maxFailedIndexes": 10001`),
			"maxFailedIndexes: 10001: must be at most 10000 when completions is over 100000 and backoffLimitPerIndex is set"},
		{"a very large job is too parallel", many(`"maxFailedIndexes": 1, "parallelism": 10001`),
			"parallelism: 10001: must be at most 10000 when completions is over 100000 and backoffLimitPerIndex is set"},
		{"a failure policy and restarts in place", `{"podFailurePolicy": {"rules": []}, "template": {"spec": {"restartPolicy": "OnFailure"}}}`,
			`template.spec.restartPolicy: "OnFailure": must be Never when podFailurePolicy is set`},
		{"a failure policy and replacement before the end", `{"podFailurePolicy": {"rules": []}, "podReplacementPolicy": "TerminatingOrFailed"}`,
			`podReplacementPolicy: "TerminatingOrFailed": must be Failed when podFailurePolicy is set`},
		{"too many failure rules", rule(repeated(`{"action": "Count", "onPodConditions": [{"type": "X"}]}`, 21)),
			"podFailurePolicy.rules: 21: must be at most 20"},
		{"a rule looks at nothing", rule(`{"action": "Ignore"}`), `podFailurePolicy.rules[0]: "Ignore": must have exactly one of onExitCodes and onPodConditions`},
		{"a rule looks at both", rule(`{"action": "Ignore", "onPodConditions": [{"type": "X"}], "onExitCodes": {"operator": "In", "values": [1]}}`),
			`podFailurePolicy.rules[0]: "Ignore": must have exactly one of onExitCodes and onPodConditions`},
		{"a rule has an unknown action", rule(`{"action": "Shrug", "onPodConditions": [{"type": "X"}]}`),
			`podFailurePolicy.rules[0].action: "Shrug": must be FailJob, FailIndex, Ignore or Count`},
		{"an index fails where indexes are not limited", rule(`{"action": "FailIndex", "onPodConditions": [{"type": "X"}]}`),
			`podFailurePolicy.rules[0].action: "FailIndex": needs backoffLimitPerIndex`},
		{"a rule has no exit codes", codes(`"operator": "In", "values": []`), "podFailurePolicy.rules[0].onExitCodes.values: 0: must have 1 to 255 values"},
		{"a rule has too many exit codes", codes(`"operator": "NotIn", "values": [` + numbers(256) + `]`),
			"podFailurePolicy.rules[0].onExitCodes.values: 256: must have 1 to 255 values"},
		{"exit codes are out of order", codes(`"operator": "In", "values": [3, 1]`),
			"podFailurePolicy.rules[0].onExitCodes.values[1]: 1: must be in increasing order"},
		{"a duplicate exit code", codes(`"operator": "In", "values": [1, 1]`), "podFailurePolicy.rules[0].onExitCodes.values[1]: 1: must not appear twice"},
		{"success is a failure", codes(`"operator": "In", "values": [0, 1]`), "podFailurePolicy.rules[0].onExitCodes.values[0]: 0: must not be 0 with operator In"},
		{"the operator is unknown", codes(`"operator": "Near", "values": [1]`), `podFailurePolicy.rules[0].onExitCodes.operator: "Near": must be In or NotIn`},
		{"a rule names no container of the template", codes(`"containerName": "other", "operator": "In", "values": [1]`),
			`podFailurePolicy.rules[0].onExitCodes.containerName: "other": must name a container of the template`},
		{"too many condition patterns", rule(`{"action": "Count", "onPodConditions": [` + repeated(`{"type": "X"}`, 21) + `]}`),
			"podFailurePolicy.rules[0].onPodConditions: 21: must be at most 20"},
		{"a condition has no type", rule(`{"action": "Count", "onPodConditions": [{"status": "True"}]}`),
			`podFailurePolicy.rules[0].onPodConditions[0].type: "": is required`},
		{"a condition type is not a name", rule(`{"action": "Count", "onPodConditions": [{"type": "a b"}, {"type": "Example.com/x"}, {"type": "a/b/c"}]}`),
			`podFailurePolicy.rules[0].onPodConditions[0].type: "a b": must be a qualified name, such as Ready or example.com/ready; ` +
				`podFailurePolicy.rules[0].onPodConditions[1].type: "Example.com/x": must be a qualified name, such as Ready or example.com/ready; ` +
				`podFailurePolicy.rules[0].onPodConditions[2].type: "a/b/c": must be a qualified name, such as Ready or example.com/ready`},
		{"a condition has a strange status", rule(`{"action": "Count", "onPodConditions": [{"type": "X", "status": "Perhaps"}]}`),
			`podFailurePolicy.rules[0].onPodConditions[0].status: "Perhaps": must be True, False or Unknown`},
		{"a success policy without rules", indexed(`"successPolicy": {"rules": []}`), "successPolicy.rules: 0: must have 1 to 20 rules"},
		{"too many success rules", success(repeated(`{"succeededCount": 1}`, 21)), "successPolicy.rules: 21: must have 1 to 20 rules"},
		{"a success rule asks for nothing", success(`{}`), "successPolicy.rules[0]: <nil>: must have succeededIndexes or succeededCount"},
		{"a success rule has a range of one index", success(`{"succeededIndexes": "0,1-1,2"}`),
			`successPolicy.rules[0].succeededIndexes: "0,1-1,2": "1-1" must end after its beginning`},
		{"a success rule names an index that there is not", success(`{"succeededIndexes": "1-3"}`),
			`successPolicy.rules[0].succeededIndexes: "1-3": must hold indexes below completions, 3`},
		{"a success rule names an index twice", success(`{"succeededIndexes": "0,1,1"}`),
			`successPolicy.rules[0].succeededIndexes: "0,1,1": must be in increasing order`},
		{"a success rule is out of order", success(`{"succeededIndexes": "2,0"}`), `successPolicy.rules[0].succeededIndexes: "2,0": must be in increasing order`},
		{"a success rule does not hold a list of indexes", success(`{"succeededIndexes": "0,x"}`),
			`successPolicy.rules[0].succeededIndexes: "0,x": "x" is neither an index nor a range`},
		{"a success rule wants less than no success", success(`{"succeededCount": -1}`), "successPolicy.rules[0].succeededCount: -1: must be from 0 to 3"},
		{"a success rule asks for nothing of a job that cannot be",
			`{"completions": -1, "completionMode": "Indexed", "successPolicy": {"rules": [{"succeededIndexes": "", "succeededCount": 0}]}}`,
			"completions: -1: must not be negative; successPolicy.rules[0].succeededCount: 0: must be from 0 to -1"},
		{"a success rule wants more than it names", success(`{"succeededIndexes": "0-1", "succeededCount": 3}`),
			"successPolicy.rules[0].succeededCount: 3: must be from 0 to 2"},
		{"a success rule wants more than its later range names", success(`{"succeededIndexes": "1-2", "succeededCount": 3}`),
			"successPolicy.rules[0].succeededCount: 3: must be from 0 to 2"},
		{"managedBy has no domain", `{"managedBy": "queue"}`, `managedBy: "queue": must be a domain-prefixed path, such as example.com/controller`},
		{"managedBy has upper-case letters in its domain", `{"managedBy": "Example.com/queue"}`,
			`managedBy: "Example.com/queue": must be a domain-prefixed path, such as example.com/controller`},
		{"managedBy has a domain that ends with a mark", `{"managedBy": "example.com-/queue"}`,
			`managedBy: "example.com-/queue": must be a domain-prefixed path, such as example.com/controller`},
		{"managedBy has a domain that begins with a mark", `{"managedBy": "-example.com/queue"}`,
			`managedBy: "-example.com/queue": must be a domain-prefixed path, such as example.com/controller`},
		{"managedBy has a query", `{"managedBy": "example.com/queue?a"}`,
			`managedBy: "example.com/queue?a": must be a domain-prefixed path, such as example.com/controller`},
		{"the selector is malformed", `{"selector": {"matchLabels": {"b": "-", "a b": "x"}, "matchExpressions": [
			{"key": "a", "operator": "In"}, {"key": "a", "operator": "Exists", "values": ["x"]}, {"key": "/a", "operator": "Near"},
			{"key": "a", "operator": "NotIn", "values": ["x", "y z"]}]}}`,
			`selector.matchLabels: "a b": must be a label key: a qualified name, such as app or example.com/app; ` +
				`selector.matchLabels: "-": must be a label value: at most 63 letters, digits, and -_. between them; ` +
				`selector.matchExpressions[0].values: 0: must not be empty with operator In; ` +
				`selector.matchExpressions[1].values: 1: must be empty with operator Exists; ` +
				`selector.matchExpressions[2].operator: "Near": must be In, NotIn, Exists or DoesNotExist; ` +
				`selector.matchExpressions[2].key: "/a": must be a label key: a qualified name, such as app or example.com/app; ` +
				`selector.matchExpressions[3].values: "y z": must be a label value: at most 63 letters, digits, and -_. between them`},
		{"managedBy is too long", `{"managedBy": "example.com/` + strings.Repeat("q", 52) + `"}`,
			`managedBy: "example.com/` + strings.Repeat("q", 52) + `": must be at most 63 characters`},
		{"many problems are reported together", `{"parallelism": -1, "backoffLimitPerIndex": 1, "managedBy": "/"}`,
			`parallelism: -1: must not be negative; backoffLimitPerIndex: 1: needs completionMode Indexed; ` +
				`managedBy: "/": must be a domain-prefixed path, such as example.com/controller`},
	} {
		if got := must.Problems(t, Validate(specOf(t, test.spec)), "spec."); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// repeated returns a list with the element n times.
func repeated(element string, n int) string {
	return strings.TrimSuffix(strings.Repeat(element+",", n), ",")
}

// numbers returns "0,1,..." with n numbers.
func numbers(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(i))
	}
	return strings.Join(out, ",")
}

func TestJ2_RequiredAfterDefault(t *testing.T) {
	err := Validate(Spec{CompletionMode: NonIndexed, PodReplacementPolicy: ReplaceFailed,
		Template: Template{RestartPolicy: RestartNever}})
	const want = "parallelism: <nil>: is required; Default sets it; backoffLimit: <nil>: is required; Default sets it"
	if got := must.Problems(t, err, "spec."); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestJ2_Accepted: Validate accepts specs like those in the documentation of Kubernetes, and specs
// exactly at the limits.
func TestJ2_Accepted(t *testing.T) {
	for _, test := range []struct{ name, spec string }{
		{"the smallest job", `{}`},
		{"pi: a backoff limit", `{"backoffLimit": 4, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "pi"}]}}}`},
		{"an Indexed job", `{"completions": 5, "parallelism": 3, "completionMode": "Indexed", "template": {"spec": {"restartPolicy": "Never"}}}`},
		{"a limit for each index", `{"completions": 10, "parallelism": 3, "completionMode": "Indexed", "backoffLimitPerIndex": 1, "maxFailedIndexes": 5}`},
		{"indexes fail by exit code", `{"completions": 4, "parallelism": 4, "completionMode": "Indexed", "backoffLimitPerIndex": 2, "maxFailedIndexes": 4,
			"podFailurePolicy": {"rules": [{"action": "FailIndex", "onExitCodes": {"containerName": "main", "operator": "NotIn", "values": [0, 1]}}]}}`},
		{"a failure policy", `{"completions": 8, "parallelism": 2, "backoffLimit": 6, "podFailurePolicy": {"rules": [
			{"action": "FailJob", "onExitCodes": {"containerName": "main", "operator": "In", "values": [42]}},
			{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
			{"action": "Count", "onPodConditions": [{"type": "ConfigIssue", "status": "False"}, {"type": "Ready", "status": "Unknown"}]}]}}`},
		{"a failure policy for an init container", `{"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"containerName": "setup", "operator": "In", "values": [1]}}]},
			"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main"}], "initContainers": [{"name": "setup"}]}}}`},
		{"a success policy", `{"completions": 10, "parallelism": 10, "completionMode": "Indexed", "successPolicy": {"rules": [
			{"succeededIndexes": "0,2-3", "succeededCount": 1}, {"succeededIndexes": "9"}, {"succeededCount": 10}]}}`},
		{"a success rule names no index", `{"completions": 3, "completionMode": "Indexed", "successPolicy": {"rules": [{"succeededIndexes": ""}, {"succeededIndexes": "+0,01-2"}]}}`},
		{"a success rule that the first success meets (J25)", `{"completions": 3, "completionMode": "Indexed", "successPolicy": {"rules": [{"succeededCount": 0}]}}`},
		{"a condition type with a domain", `{"podFailurePolicy": {"rules": [{"action": "Count", "onPodConditions": [{"type": "example.com/My_type.1"}]}]}}`},
		{"a selector", `{"selector": {"matchLabels": {"example.com/app": ""}, "matchExpressions": [{"key": "a", "operator": "DoesNotExist"}, {"key": "b", "operator": "In", "values": ["x"]}]}}`},
		{"255 exit codes", `{"podFailurePolicy": {"rules": [{"action": "Count", "onExitCodes": {"operator": "NotIn", "values": [` + numbers(255) + `]}}]}}`},
		{"the most that Indexed jobs may", `{"completions": 100000, "parallelism": 100000, "completionMode": "Indexed", "backoffLimitPerIndex": 0, "maxFailedIndexes": 100000}`},
		{"the most that very large jobs may", `{"completions": 2147483647, "parallelism": 10000, "completionMode": "Indexed", "backoffLimitPerIndex": 0, "maxFailedIndexes": 10000}`},
		{"another controller with a name of 63 characters", `{"managedBy": "example.com/` + strings.Repeat("q", 51) + `"}`},
		{"managedBy has each mark that a path may have", `{"managedBy": "example.com/-._~%!$&'()*+,;=:"}`},
		{"managedBy has a path of two parts", `{"managedBy": "example.com/team/queue"}`},
		{"as many success rules as there may be", `{"completions": 3, "completionMode": "Indexed", "successPolicy": {"rules": [` + repeated(`{"succeededCount": 1}`, 20) + `]}}`},
		{"managedBy has marks next to its first and last letters", `{"managedBy": "a-b.c-d/queue"}`},
		{"nothing at all to do", `{"completions": 0, "parallelism": 0, "backoffLimit": 0, "activeDeadlineSeconds": 0, "ttlSecondsAfterFinished": 0}`},
	} {
		if err := Validate(specOf(t, test.spec)); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestJ2_InputErrorIsReadable: an error has the form "field: value: problem".
func TestJ2_InputErrorIsReadable(t *testing.T) {
	err := invalid("spec.parallelism", int32(-1), "must not be negative")
	e, ok := err.(*InputError)
	if !ok || e.Field != "spec.parallelism" || e.Value != "-1" ||
		!slices.Equal(strings.Split(err.Error(), ": "), []string{e.Field, e.Value, e.Problem}) {
		t.Errorf("%#v", err)
	}
}

// TestInputErrors: InputErrors finds all input errors that an error joins or wraps, in their order.
func TestInputErrors(t *testing.T) {
	one, two := invalid("a", 1, "is one"), invalid("b", 2, "is two")
	other := errors.New("something else")
	joined := fmt.Errorf("all: %w", errors.Join(one, other, fmt.Errorf("and %w", errors.Join(two, one))))
	if got, want := fmt.Sprint(InputErrors(joined)), fmt.Sprint([]error{one, two, one}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, err := range []error{nil, other, fmt.Errorf("no %w", other)} {
		if got := InputErrors(err); got != nil {
			t.Errorf("%v: %v", err, got)
		}
	}
}

// TestJ2_LongSucceededIndexes: a list of more than 65536 bytes is refused, even if all its indexes
// are valid.
func TestJ2_LongSucceededIndexes(t *testing.T) {
	text := "1000"
	for i := range 10_922 {
		text += fmt.Sprintf(",%d", 10_001+2*i)
	}
	for text, refused := range map[string]bool{text: false, text + ",99999": true} {
		spec := specOf(t, `{"completionMode": "Indexed", "completions": 100000, "successPolicy": {"rules": [{}]}}`)
		spec.SuccessPolicy.Rules[0].SucceededIndexes = &text
		err := Validate(spec)
		if (err != nil) != refused || refused && !strings.HasSuffix(err.Error(), ": must be at most 65536 bytes") {
			t.Errorf("a list of %d bytes: %v", len(text), err)
		}
	}
}
