package jobadmit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobadmit"
	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
)

func defaulted(text string) job.Spec {
	s := jobgen.SpecOf(text)
	job.Default(&s)
	return s
}

func parsed(t *testing.T, text string) release.Release {
	t.Helper()
	r, err := release.Parse(text)
	must.OK(t, err)
	return r
}

var (
	midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	noon     = midnight.Add(12 * time.Hour)
)

// suspended are the conditions of a suspended job.
var suspended = []job.Condition{{Type: job.ConditionSuspended, Status: job.ConditionTrue, LastTransitionTime: noon}}

// TestValidateUpdate: only certain fields of a spec may change. x/proof/conformance/validation
// compares that with the API server's own code.
func TestValidateUpdate(t *testing.T) {
	const template = `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main"}]}}`
	const indexed = `"completionMode":"Indexed","completions":3,"parallelism":3,`
	const gangs = "1.37,WorkloadWithJob=true"
	minCount := func(n int) string {
		return fmt.Sprintf(`"scheduling":{"schedulingPolicy":{"gang":{"minCount":%d}}},`, n)
	}
	gang := func(n int) string { return `"parallelism":3,` + minCount(n) }

	for _, test := range []struct {
		name, old, next, release, want string
	}{
		{"what may change", `"parallelism":1,"backoffLimit":1,`, `"parallelism":2,"backoffLimit":3,"activeDeadlineSeconds":9,"ttlSecondsAfterFinished":0,"suspend":true,"podReplacementPolicy":"Failed",`, "1.36", ""},
		{"completions", `"completions":3,`, `"completions":4,`, "1.36", "spec.completions: \"4\": must not change from 3"},
		{"completions of an elastic job", indexed, `"completionMode":"Indexed","completions":5,"parallelism":5,`, "1.31", ""},
		{"completions apart from parallelism", indexed, `"completionMode":"Indexed","completions":5,"parallelism":3,`, "1.36", "spec.completions: 5: may only change to the value of parallelism, 3"},
		{"completions that are gone", indexed, `"completionMode":"Indexed","parallelism":1,`, "1.36", "spec.completions: <nil>: is required when completionMode is Indexed"},
		{"completionMode", `"completions":3,`, `"completionMode":"Indexed","completions":3,`, "1.36", `spec.completionMode: "\"Indexed\"": must not change from "NonIndexed"`},
		{"backoffLimitPerIndex", indexed, indexed + `"backoffLimitPerIndex":1,`, "1.36", `spec.backoffLimitPerIndex: "1": must not change from null`},
		{"a field that is dropped", indexed, indexed + `"backoffLimitPerIndex":1,"maxFailedIndexes":1,`, "1.32,JobBackoffLimitPerIndex=false", ""},
		{"managedBy", ``, `"managedBy":"example.com/a",`, "1.36", "spec.managedBy"},
		{"selector", `"selector":{"matchLabels":{"a":"b"}},`, `"selector":{"matchLabels":{"a":"c"}},`, "1.36", `must not change from {"matchLabels":{"a":"b"}}`},
		{"podFailurePolicy", ``, `"podFailurePolicy":{"rules":[]},"podReplacementPolicy":"Failed",`, "1.36", `spec.podFailurePolicy: "{}": must not change from null`},
		{"successPolicy", indexed, indexed + `"successPolicy":{"rules":[{"succeededCount":1}]},`, "1.36", "spec.successPolicy"},
		{"scheduling before 1.37, which has no such field", gang(2), gang(1) + `"parallelism":2,`, "1.36", ""},
		{"scheduling that is the same", gang(2), `"scheduling": {"schedulingPolicy": {"gang": {"minCount": 2}}},"parallelism":3,`, gangs, ""},
		{"another minCount", gang(2), gang(3), gangs, ""},
		{"another minCount without the gate", gang(2), gang(3), "1.37", `... without WorkloadWithJob`},
		{"no minCount", gang(2), `"parallelism":3,"scheduling":{"schedulingPolicy":{"gang":{}}},`, gangs, ""},
		{"scheduling that is added", `"parallelism":3,`, gang(2), gangs, `spec.scheduling: "{\"schedulingPolicy\":{\"gang\":{}}}": must not change from null, except for gang.minCount`},
		{"scheduling that is added and dropped", `"parallelism":3,`, gang(2), "1.37", ""},
		{"scheduling that is gone", gang(2), `"parallelism":3,`, gangs, `spec.scheduling: "null": must not change from {"schedulingPolicy":{"gang":{}}}`},
		{"scheduling that is gone without the gate", gang(2), `"parallelism":3,`, "1.37", `spec.scheduling: "null": must not change`},
		{"another policy", gang(2), `"scheduling":{"schedulingPolicy":{"basic":{}}},`, gangs, "spec.scheduling"},
		{"a policy that is added", `"scheduling":{},`, gang(2), gangs, "spec.scheduling"},
		{"another disruptionMode", `"scheduling":{"disruptionMode":{"single":{}}},`, `"scheduling":{},`, gangs, "spec.scheduling"},
		{"other constraints", `"scheduling":{"schedulingConstraints":{"topology":[{"key":"a"}]}},`, `"scheduling":{"schedulingConstraints":{"topology":[{"key":"b"}]}},`, gangs, "spec.scheduling"},
		{"parallelism as small as minCount", gang(2), `"parallelism":2,` + minCount(2), gangs, ""},
		{"parallelism below minCount", gang(2), `"parallelism":1,` + minCount(2), gangs, "spec.scheduling.schedulingPolicy.gang.minCount: 2: must be at most parallelism, 1"},
		{"parallelism below a stored minCount, without the gate", gang(2), `"parallelism":1,` + minCount(2), "1.37", "must be at most parallelism, 1"},
		{"what no server takes", ``, `"backoffLimit":-1,`, "1.36", "spec.backoffLimit: -1: must not be negative"},
	} {
		old := &job.Job{Spec: defaulted("{" + test.old + template + "}")}
		next := defaulted("{" + test.next + template + "}")
		err := jobadmit.ValidateUpdate(old, next, parsed(t, test.release))
		if test.want == "" && err != nil || test.want != "" &&
			(err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}

	old := &job.Job{Spec: defaulted("{" + template + "}")}
	next := old.Spec
	next.Template.RestartPolicy = job.RestartOnFailure
	if err := jobadmit.ValidateUpdate(old, next, release.Release{}); err == nil ||
		!strings.Contains(err.Error(), "spec.template") {
		t.Error(err)
	}
}

// TestValidateTemplateUpdate: the allowed changes of a template depend on the release and on the
// state of the job.
func TestValidateTemplateUpdate(t *testing.T) {
	const was = `{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"main","image":"i"}],"initContainers":[{"name":"init"}],"nodeSelector":{}}}`
	edit := func(old, next string) string { return strings.Replace(was, old, next, 1) }
	directive := edit(`"nodeSelector":{}`, `"nodeSelector":{"zone":"x"}`)
	resources := edit(`"image":"i"`, `"image":"i","resources":{"limits":{"cpu":"1"}}`)

	const (
		running = iota
		unseen  // suspended, without startTime and condition
		ran     // has run, and was suspended by 1.35 or older: with startTime and condition
		stopped // has run, and was suspended by 1.36: with the condition only
		leaving // unseen, with an active pod
		resumed // stopped, and resumed in the spec, which the controller has not seen yet
	)

	states := []func(*job.Job){
		running: func(j *job.Job) { j.Spec.Suspend = nil; j.Status.StartTime = midnight },
		unseen:  func(*job.Job) {},
		ran: func(j *job.Job) {
			j.Status.StartTime = midnight
			j.Status.Conditions = suspended
		},
		stopped: func(j *job.Job) { j.Status.Conditions = suspended },
		leaving: func(j *job.Job) { j.Status.Active = 1 },
		resumed: func(j *job.Job) {
			j.Spec.Suspend = nil
			j.Status.Conditions = suspended
		},
	}

	const gated = "1.35,MutableSchedulingDirectivesForSuspendedJobs=true,MutablePodResourcesForSuspendedJobs=true"
	for _, test := range []struct {
		name, is string
		state    int
		releases string // that accept the change
	}{
		{"nothing", was, running, "1.31 1.35 gated 1.36"},
		{"an empty field", edit(`,"nodeSelector":{}`, ``), running, "1.31 1.35 gated 1.36"},
		{"a directive of a job that runs", directive, running, ""},
		{"a directive before the first round", directive, unseen, "1.31 1.35 1.36"},
		{"a directive of a job that has run", directive, ran, "gated 1.36"},
		{"a directive after a suspension", directive, stopped, "1.31 1.35 gated 1.36"},
		{"a directive after the job is resumed", directive, resumed, ""},
		{"resources after the job is resumed", resources, resumed, ""},
		{"a directive beside an active pod", directive, leaving, "1.31 1.35"},
		{"a label", edit(`"a":"b"`, `"a":"b","c":"d"`), unseen, "1.31 1.35 1.36"},
		{"node affinity", edit(`"nodeSelector":{}`, `"affinity":{"nodeAffinity":{"x":1}}`), unseen, "1.31 1.35 1.36"},
		{"pod affinity", edit(`"nodeSelector":{}`, `"affinity":{"podAffinity":{"x":1}}`), unseen, ""},
		{"resources", resources, unseen, "1.36"},
		{"resources of a job that has run", resources, ran, "gated 1.36"},
		{"resources of an init container", edit(`"name":"init"`, `"name":"init","resources":{"limits":{"cpu":"1"}}`), stopped, "gated 1.36"},
		{"an image", edit(`"image":"i"`, `"image":"j"`), stopped, ""},
		{"a finalizer of the template", edit(`"labels"`, `"finalizers":["x"],"labels"`), stopped, "gated 1.36"},
		{"one container more", edit(`[{"name":"main"`, `[{"name":"more"},{"name":"main"`), stopped, ""},
	} {
		for _, name := range []string{"1.31", "1.35", "gated", "1.36"} {
			r := parsed(t, strings.Replace(name, "gated", gated, 1))
			old := &job.Job{Spec: job.Spec{Suspend: value.To(true)}}
			states[test.state](old)
			err := jobadmit.ValidateTemplateUpdate(old, []byte(was), []byte(test.is), r)
			if takes := strings.Contains(" "+test.releases+" ", " "+name+" "); (err == nil) != takes {
				t.Errorf("%s, %v: %v", test.name, r, err)
			}
		}
	}

	old := &job.Job{Spec: job.Spec{Suspend: value.To(true)}}
	if err := jobadmit.ValidateTemplateUpdate(old, []byte(was), []byte(edit(`"image":"i"`, `"image":"j"`)),
		release.V136()); err == nil ||
		!strings.Contains(err.Error(), "spec.template.spec.containers[0].image") {
		t.Error(err)
	}
	if err := jobadmit.ValidateTemplateUpdate(old, []byte(was), []byte("{"), release.V136()); err == nil ||
		!strings.Contains(err.Error(), `spec.template: "new": cannot be read`) {
		t.Error(err)
	}
}

// TestDropDisabled: when a job is created, a server drops the fields whose gates are off. On an
// update it keeps such a field if the old job has it.
func TestDropDisabled(t *testing.T) {
	const all = `{"managedBy":"a/b","completionMode":"Indexed","completions":2,"backoffLimitPerIndex":1,"maxFailedIndexes":1,"successPolicy":{"rules":[]},
		"podReplacementPolicy":"Failed","podFailurePolicy":{"rules":[{"action":"FailIndex"},{"action":"Count"}]}}`
	off := "1.31,JobSuccessPolicy=false,JobBackoffLimitPerIndex=false,JobPodReplacementPolicy=false"
	old := jobgen.SpecOf(all)

	for _, test := range []struct {
		release string
		old     *job.Spec
		want    string
	}{
		{"1.36", nil, ""}, {"1.31", nil, "managedBy"}, {"1.31", &old, ""}, {off, &old, ""},
		{off, nil, "managedBy, successPolicy, backoffLimitPerIndex, maxFailedIndexes, podFailurePolicy.rules with action FailIndex, podReplacementPolicy"},
		{off, &job.Spec{}, "successPolicy, backoffLimitPerIndex, maxFailedIndexes, podReplacementPolicy"},
	} {
		next := jobgen.SpecOf(all)
		was := next.PodFailurePolicy.Rules
		dropped := jobadmit.DropDisabled(test.old, &next, parsed(t, test.release))
		if got := strings.Join(dropped, ", "); got != test.want {
			t.Errorf("%s: dropped %q, want %q", test.release, got, test.want)
		}

		rules := next.PodFailurePolicy.Rules
		if rules[len(rules)-1].Action != job.CountFailure || was[0].Action != job.FailIndex ||
			was[1].Action != job.CountFailure {
			t.Errorf("%s: of the rules %v %v are left", test.release, was, rules)
		}
		if again := jobadmit.DropDisabled(test.old, &next, parsed(t, test.release)); len(again) > 0 {
			t.Errorf("%s: dropped again: %q", test.release, again)
		}
	}
}

// TestReports_Templates repeats problems that others have reported with changes of a suspended
// job's template. The status is copied by a mirror, written by a test, or made by package
// jobstatus.
func TestReports_Templates(t *testing.T) {
	spec := jobgen.SpecOf(`{"suspend":true,"template":{"spec":{"restartPolicy":"Never"}}}`)
	const was, is = `{"spec":{"containers":[{"name":"main"}]}}`, `{"spec":{"containers":[{"name":"main"}],"nodeSelector":{"zone":"a"}}}`
	const strict = "1.35,MutableSchedulingDirectivesForSuspendedJobs=true"
	suspended, err := jobstatus.Suspend(job.Status{}, spec, noon, release.V136())
	must.OK(t, err)
	for _, test := range []struct {
		name   string
		status job.Status
		// takes and refuses are the releases that accept and refuse the change.
		takes, refuses []string
	}{
		{"kueue#11649: the manager has no condition yet, as before kubernetes#139287", job.Status{}, []string{"1.34", "1.35", "1.36"}, []string{strict}},
		{"kueue#11649: the manager copies what the worker runs", job.Status{StartTime: midnight, Active: 1}, nil, []string{"1.31", "1.34", "1.35", strict, "1.36"}},
		{"kueue#11649: the manager is suspended by this package", suspended, []string{"1.31", "1.34", "1.35", strict, "1.36"}, nil},
		{"a mirror has started and shows no condition", job.Status{StartTime: midnight}, nil, []string{"1.31", "1.34", "1.35", strict, "1.36"}},
		{"kueue#12609: a test makes a job active before it is resumed", job.Status{Active: 1}, []string{"1.34", "1.35"}, []string{strict, "1.36"}},
	} {
		old := job.Job{Spec: spec, Status: test.status}
		for _, text := range append(test.takes, test.refuses...) {
			if err := jobadmit.ValidateTemplateUpdate(&old, []byte(was), []byte(is),
				parsed(t, text)); (err == nil) != slices.Contains(test.takes, text) {
				t.Errorf("%s, %s: %v", test.name, text, err)
			}
		}
	}
}
