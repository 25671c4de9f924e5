package trace_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/trace"
)

// TestVerdict: an end must follow from what its status counts.
func TestVerdict(t *testing.T) {
	const (
		success = "SuccessCriteriaMet"
		failure = "FailureTarget"
	)
	const template = `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main"}]}}`
	deadline := plain + `,"activeDeadlineSeconds":60`
	indexes := `"parallelism":2,"completions":3,"completionMode":"Indexed","backoffLimitPerIndex":1,"maxFailedIndexes":1`
	manyIndexes := `"parallelism":2,"completions":900,"completionMode":"Indexed","backoffLimit":150`
	hundred := strings.TrimSuffix(strings.Repeat(`"x",`, 100), ",")
	policy := indexed + `,"successPolicy":{"rules":[{"succeededIndexes":"0"}]}`

	for _, test := range []struct {
		name, spec, kind, reason, counters string
		seconds                            int
		want                               bool // the end is possible
	}{
		{"two of two successes", plain, success, "CompletionsReached", `"succeeded":2`, 0, true},
		{"of another controller", plain + `,"managedBy":"example.com/own"`, success, "CompletionsReached", `"succeeded":2`, 0, true},
		{"one of two successes of another controller", plain + `,"managedBy":"example.com/own"`, success,
			"CompletionsReached", `"succeeded":1`, 0, false},
		{"one of two successes", plain, success, "CompletionsReached", `"succeeded":1`, 0, false},
		{"two successes, one of them listed", plain, success, "CompletionsReached",
			`"succeeded":1,"uncountedTerminatedPods":{"succeeded":["x"]}`, 0, true},
		{"all indexes", indexed, success, "CompletionsReached", `"succeeded":3,"completedIndexes":"0-2"`, 0, true},
		{"two of three indexes", indexed, success, "CompletionsReached", `"succeeded":2,"completedIndexes":"0,1"`, 0, false},
		{"any success of a queue", `"parallelism":2,"backoffLimit":6`, success, "CompletionsReached", `"succeeded":1`, 0, true},
		{"no success of a queue", `"parallelism":2,"backoffLimit":6`, success, "CompletionsReached", `"succeeded":0`, 0, false},
		{"the index of the policy", policy, success, "SuccessPolicy", `"succeeded":1,"completedIndexes":"0"`, 0, true},
		{"another index", policy, success, "SuccessPolicy", `"succeeded":1,"completedIndexes":"1"`, 0, false},
		{"failures beyond the limit", plain, failure, "BackoffLimitExceeded", `"failed":7`, 0, true},
		{"failures beyond the limit, one of them listed", plain, failure, "BackoffLimitExceeded",
			`"failed":6,"uncountedTerminatedPods":{"failed":["x"]}`, 0, true},
		{"failures at the limit", plain, failure, "BackoffLimitExceeded", `"failed":6`, 0, false},
		{"restarts are not known", plain + `,"template":{"spec":{"restartPolicy":"OnFailure","containers":[{"name":"main"}]}}`,
			failure, "BackoffLimitExceeded", `"failed":0`, 0, true},
		{"at the deadline", deadline, failure, "DeadlineExceeded", `"failed":1`, 60, true},
		{"before the deadline", deadline, failure, "DeadlineExceeded", `"failed":1`, 58, false},
		{"without a deadline", plain, failure, "DeadlineExceeded", `"failed":1`, 3600, false},
		{"too many failed indexes", indexes, failure, "MaxFailedIndexesExceeded", `"failed":4,"failedIndexes":"0,1"`, 0, true},
		{"too many, and pods that still ran are counted with them", indexes + `,"backoffLimit":3`, failure,
			"MaxFailedIndexesExceeded", `"failed":2,"failedIndexes":"0,1","uncountedTerminatedPods":{"failed":["x","y","z"]}`, 0, true},
		{"hundreds of new indexes leave no room for failures", manyIndexes, failure, "BackoffLimitExceeded",
			`"succeeded":400,"completedIndexes":"0-399","uncountedTerminatedPods":{"failed":[` + hundred + `]}`, 0, true},
		{"not too many", indexes, failure, "MaxFailedIndexesExceeded", `"failed":2,"failedIndexes":"0"`, 0, false},
		{"an index failed, and all have ended", indexes, failure, "FailedIndexes",
			`"failed":2,"failedIndexes":"0","succeeded":2,"completedIndexes":"1,2"`, 0, true},
		{"an index is left", indexes, failure, "FailedIndexes",
			`"failed":2,"failedIndexes":"0","succeeded":1,"completedIndexes":"1"`, 0, false},
		{"a pod decided it", plain, failure, "PodFailurePolicy", `"failed":1`, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStory(t)
			s.job("j", template+","+test.spec)
			s.started("j", 1)
			s.wait(time.Duration(test.seconds) * time.Second)
			s.status("j", `%s,"conditions":[{"type":%q,"status":"True","reason":%q,"lastTransitionTime":%q}]`,
				test.counters, test.kind, test.reason, s.time(0))
			_, all, _ := s.check(trace.Options{Controllers: []string{"example.com/own", job.ControllerName}})

			found := slices.ContainsFunc(all, func(f trace.Finding) bool {
				return strings.Contains(f.String(), "does not follow")
			})
			if found == test.want {
				t.Errorf("found %v, possible %v: %v", found, test.want, all)
			}
		})
	}
}

// TestVerdict_Gates: without its gate, a stored successPolicy decides nothing.
func TestVerdict_Gates(t *testing.T) {
	for text, want := range map[string]string{"1.31,JobSuccessPolicy=false": "[]", "1.31": "[J26]"} {
		r, err := release.Parse(text)
		must.OK(t, err)
		s := newStory(t)
		s.job("j", indexed+`,"successPolicy":{"rules":[{"succeededIndexes":"0"}]}`)
		s.started("j", 1)
		s.status("j", `"succeeded":3,"completedIndexes":"0-2","conditions":[{"type":"SuccessCriteriaMet","status":"True",
			"reason":"CompletionsReached","lastTransitionTime":%q}]`, s.time(0))
		if rules, all, _ := s.check(trace.Options{Release: r}); fmt.Sprint(rules) != want {
			t.Errorf("%s: %v, want %s", text, all, want)
		}
	}
}

// TestOptions: a controller of this library can have options by which it lists fewer pods in a
// status, or counts ignored failures.
func TestOptions(t *testing.T) {
	for _, test := range []struct {
		name    string
		options job.Options
		want    string
		tell    func(s *story)
	}{
		{"two of three successes", job.Options{}, "[J26]", completeBeyond},
		{"two of three successes, and the list of one is full", job.Options{MaxUncounted: 1}, "[]", completeBeyond},
		{"an ignored failure", job.Options{}, "[J10]", countIgnored},
		{"an ignored failure, of which some are to be counted", job.Options{MaxIgnoredFailures: 1}, "[]", countIgnored},
		{"a pod that may not terminate for long", job.Options{TerminatingTimeout: time.Minute}, "[]", countTerminating},
		{"a pod that may terminate for ever", job.Options{}, "[J7]", countTerminating},
	} {
		s := newStory(t)
		test.tell(s)
		if rules, all, _ := s.check(trace.Options{Jobs: test.options}); fmt.Sprint(rules) != test.want {
			t.Errorf("%s: %v, want %s", test.name, all, test.want)
		}
	}
}

func completeBeyond(s *story) {
	first(s, `"parallelism":1,"completions":2`, "")
	s.ends("a", "Succeeded")
	s.status("j", `"uncountedTerminatedPods":{"succeeded":[%q]},"active":null,
		"conditions":[{"type":"SuccessCriteriaMet","status":"True","reason":"CompletionsReached"}]`, s.uid("Pod/a"))
}

func countIgnored(s *story) {
	first(s, ignoring, "")
	s.exits("a", 2)
	s.list("j", "a", "failed")
}

func countTerminating(s *story) {
	first(s, plain+`,"podReplacementPolicy":"Failed"`, "")
	s.remove("a")
	s.list("j", "a", "failed")
}

// TestUnshown: nothing is concluded from pods that the log may lack.
func TestUnshown(t *testing.T) {
	for _, test := range []struct {
		name string
		want string
		logs func(s *story) []string
	}{
		{"one log", "[JI22]", func(s *story) []string { return []string{lines(s.lines)} }},
		{"pods have a log of their own, which may have begun later", "[]", func(s *story) []string {
			return []string{lines(s.lines[:1], s.lines[2:3], s.lines[5:6]), lines(s.lines[3:5], s.lines[6:])}
		}},
		{"a pod is not new", "[]", func(s *story) []string { return []string{lines(s.lines[:3], s.lines[4:])} }},
		{"no pods", "[]", func(s *story) []string { return []string{lines(s.lines[:3], s.lines[5:])} }},
	} {
		s := newStory(t)
		s.job("other", plain)
		s.pod("o", "other", "")
		s.job("j", plain)
		s.pod("a", "j", "")
		s.runs("a")
		s.status("j", `"active":2,"startTime":%q,"uncountedTerminatedPods":{"failed":["nobody"]}`, s.time(0))
		s.pod("z", "j", "")

		rules, logs := []string{}, []trace.Log{}
		for i, text := range test.logs(s) {
			logs = append(logs, trace.Log{Name: fmt.Sprint(i), Reader: strings.NewReader(text)})
		}
		_, err := trace.Check(trace.Options{}, func(f trace.Finding) {
			if f.Rule == "JI22" {
				rules = append(rules, f.Rule)
			}
		}, logs...)
		must.OK(t, err)
		if fmt.Sprint(rules) != test.want {
			t.Errorf("%s: %v, want %s", test.name, rules, test.want)
		}
	}
}

func lines(parts ...[]string) string { return strings.Join(slices.Concat(parts...), "\n") + "\n" }

// TestUnannounced: in a release that does not announce a failure by a condition, a failed job
// deletes its pods and lists them while its status has no conditions yet.
func TestUnannounced(t *testing.T) {
	for text, want := range map[string]string{
		"1.31,JobPodReplacementPolicy=false":                   "[]",
		"1.31,JobPodReplacementPolicy=false,JobManagedBy=true": "[J7]",
		"1.31": "[J7]",
	} {
		r, err := release.Parse(text)
		must.OK(t, err)
		for _, phase := range [...]string{"", "Succeeded"} {
			s := newStory(t)
			first(s, `"parallelism":2,"completions":2,"backoffLimit":0,"podFailurePolicy":{"rules":[
				{"action":"Ignore","onExitCodes":{"operator":"In","values":[2]}}]}`, "")
			s.pod("b", "j", "")
			s.runs("b")
			s.exits("a", 1)
			if phase != "" {
				s.ends("b", phase)
			}
			s.remove("b")
			s.status("j", `"active":null,"uncountedTerminatedPods":{"failed":[%q,%q]}`, s.uid("Pod/a"), s.uid("Pod/b"))

			expect := want
			if phase != "" && want != "[]" {
				expect = "[JI1]"
			}
			if rules, all, _ := s.check(trace.Options{Release: r}); fmt.Sprint(rules) != expect {
				t.Errorf("%s, %q: %v, want %s", text, phase, all, expect)
			}
		}
	}
}

// TestUnless: a finding names each fault that makes the step possible, and its words fit the job.
func TestUnless(t *testing.T) {
	for _, test := range []struct {
		name, want, lacks string
		tell              func(s *story)
	}{
		{"refused creations", "terminating namespace", "", func(s *story) { refused(s, func() {}) }},
		{"no deletion", "selector", "", func(s *story) { s.gone("Job", history(s, 5, "")[4]) }},
		{"a deletion", "another client", "selector", func(s *story) {
			name := history(s, 5, "")[4]
			s.put("MODIFIED", "Job", name, s.parse(`"metadata":{"deletionTimestamp":%q,"finalizers":["foregroundDeletion"]}`, s.time(0)))
		}},
		{"no policy", "does not count so", "podFailurePolicy", func(s *story) {
			first(s, indexed, "")
			s.ends("a", "Failed")
			s.list("j", "a", "failed")
		}},
		{"a policy", "podFailurePolicy", "", countIgnored},
	} {
		s := newStory(t)
		test.tell(s)
		_, all, _ := s.check(trace.Options{})
		text := fmt.Sprint(all)
		isWrong := test.lacks != "" && strings.Contains(text, test.lacks)
		if len(all) == 0 || !strings.Contains(text, test.want) || isWrong {
			t.Errorf("%s: %v, want %q", test.name, all, test.want)
		}
	}
}
