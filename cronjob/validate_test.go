package cronjob_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

func TestC1_Validate(t *testing.T) {
	for _, tc := range []struct {
		name   string
		spec   cronjob.Spec
		fields []string
	}{
		{"a valid spec", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("Asia/Shanghai")}, nil},
		{"no schedule", cronjob.Spec{}, []string{"spec.schedule"}},
		{"six fields", cronjob.Spec{Schedule: "0 0 0 * * *"}, []string{"spec.schedule"}},
		{"a zone in the schedule", cronjob.Spec{Schedule: "TZ=UTC @daily"}, []string{"spec.schedule"}},
		{"the machine's zone", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("local")}, []string{"spec.timeZone"}},
		{"a zone with a point as a part", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("Europe/./Berlin")}, []string{"spec.timeZone"}},
		{"a zone with two slashes", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("Europe//Berlin")}, []string{"spec.timeZone"}},
		{"a zone with a part of 14 letters", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("America/Port-au-Prince")}, nil},
		{"an empty zone", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("")}, []string{"spec.timeZone"}},
		{"an unknown zone", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("Mars/Base")}, []string{"spec.timeZone"}},
		{"all at once", cronjob.Spec{
			Schedule: "61 * * * *", TimeZone: ptr("x"), ConcurrencyPolicy: "Maybe", StartingDeadlineSeconds: ptr[int64](-1),
			SuccessfulJobsHistoryLimit: ptr[int32](-1), FailedJobsHistoryLimit: ptr[int32](-2),
		}, []string{
			"spec.schedule", "spec.timeZone", "spec.concurrencyPolicy", "spec.startingDeadlineSeconds",
			"spec.successfulJobsHistoryLimit", "spec.failedJobsHistoryLimit",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_ = cronjob.Validate(tc.spec) // must not panic without the defaults
			cronjob.Default(&tc.spec)
			if got := fields(cronjob.Validate(tc.spec)); !slices.Equal(got, tc.fields) {
				t.Errorf("got %q, want %q", got, tc.fields)
			}
			if err := cronjob.Validate(tc.spec); tc.name == "an empty zone" && !strings.Contains(err.Error(), "must not be empty") {
				t.Error(err)
			}
		})
	}
}

// fields lists the fields that an error names. It adds a word if value and problem are exchanged.
func fields(err error) (all []string) {
	for _, input := range job.InputErrors(err) {
		all = append(all, input.Field)
		if value := strings.Trim(input.Value, "\""); strings.HasPrefix(value, "must ") || strings.HasPrefix(value, "is ") || strings.HasPrefix(value, "makes ") || input.Problem == "" {
			all = append(all, "value and problem are exchanged, or there is none")
		}
	}
	return all
}

// TestC1_ParseError: if a schedule or a zone cannot be read, the error of the field wraps the error
// of the parser.
func TestC1_ParseError(t *testing.T) {
	for field, spec := range map[string]cronjob.Spec{
		"day-of-week": {Schedule: "0 0 * * 9"},
		"zone":        {Schedule: "@daily", TimeZone: ptr("Mars/Olympus")},
	} {
		var parse *schedule.ParseError
		err := cronjob.Validate(spec)
		if !errors.As(err, &parse) || parse.Field != field || !strings.Contains(err.Error(), ": "+field+": ") {
			t.Errorf("%s: %v, %v", field, err, parse)
		}
	}
}

func TestC1_ValidateWithName(t *testing.T) {
	long := strings.Repeat("n", 52)

	for _, tc := range []struct {
		name    string
		cronJob string
		fields  []string
	}{
		{"a name as long as can be", long, nil},
		{"a name that makes the names of jobs too long", long + "n", []string{"metadata.name"}},
		{"a name of several labels", "report.v2", nil},
		{"no name", "", []string{"metadata.name"}},
		{"a name that is none", "Report_1", []string{"metadata.name"}},
		{"an empty label", "report..v2", []string{"metadata.name"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
			c.Name = tc.cronJob
			if got := fields(c.Validate()); !slices.Equal(got, tc.fields) {
				t.Errorf("got %q, want %q", got, tc.fields)
			}
		})
	}

	c := newCronJob(cronjob.Spec{Schedule: "soon"})
	c.Name = ""
	if got := fields(c.Validate()); !slices.Equal(got, []string{"metadata.name", "spec.schedule"}) {
		t.Errorf("all at once: %q", got)
	}
}

func TestC1_Default(t *testing.T) {
	var spec cronjob.Spec
	cronjob.Default(&spec)
	want := cronjob.Spec{
		ConcurrencyPolicy: cronjob.Allow, Suspend: ptr(false),
		SuccessfulJobsHistoryLimit: ptr[int32](3), FailedJobsHistoryLimit: ptr[int32](1),
	}
	if diff := cmp.Diff(want, spec); diff != "" {
		t.Error(diff)
	}
}

// TestValidateUpdate: invalid values of the old spec may stay.
func TestValidateUpdate(t *testing.T) {
	midnight, inUTC, onMars := cronjob.Spec{Schedule: "0 0 * * *"}, cronjob.Spec{Schedule: "TZ=UTC 0 0 * * *"}, cronjob.Spec{Schedule: "0 0 * * *", TimeZone: ptr("Mars/Base")}

	for _, test := range []struct {
		name      string
		old, next cronjob.Spec
		want      []string
	}{
		{"any field", midnight, cronjob.Spec{Schedule: "@hourly", TimeZone: ptr("Europe/Berlin"), Suspend: ptr(true)}, nil},
		{"a zone that was in the schedule", inUTC, cronjob.Spec{Schedule: "CRON_TZ=UTC 1 0 * * *"}, nil},
		{"a zone that comes into the schedule", midnight, inUTC, []string{"spec.schedule"}},
		{"both zones", inUTC, cronjob.Spec{Schedule: "TZ=UTC 0 0 * * *", TimeZone: ptr("UTC")}, []string{"spec.schedule"}},
		{"a schedule that does not parse", inUTC, cronjob.Spec{Schedule: "TZ=UTC 0 0"}, []string{"spec.schedule"}},
		{"an unknown zone that stays", onMars, cronjob.Spec{Schedule: "1 0 * * *", TimeZone: ptr("Mars/Base")}, nil},
		{"an unknown zone", cronjob.Spec{Schedule: "0 0 * * *", TimeZone: ptr("UTC")}, onMars, []string{"spec.timeZone"}},
		{"a negative limit", midnight, cronjob.Spec{Schedule: "0 0 * * *", FailedJobsHistoryLimit: ptr[int32](-1)}, []string{"spec.failedJobsHistoryLimit"}},
	} {
		cronjob.Default(&test.old)
		cronjob.Default(&test.next)
		if err := cronjob.ValidateUpdate(&cronjob.CronJob{Spec: test.old}, test.next, release.Newest()); !slices.Equal(fields(err), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestOptions_ValidateTrigger: the naming prefix counts towards the length of the job's name.
func TestOptions_ValidateTrigger(t *testing.T) {
	c := cronjob.CronJob{Name: "report"}
	for _, test := range []struct {
		prefix, id string
		overlap    cronjob.ConcurrencyPolicy
		want       []string
	}{
		{"", "2026-a", "", nil},
		{"nightly-", "now", cronjob.Forbid, nil},
		{"nightly-", "Now", "", []string{"triggers[Now].id"}},
		{"", "By_Hand", "Replace", []string{"triggers[By_Hand].id", "triggers[By_Hand].overlap"}},
		{"", "-a", "", []string{"triggers[-a].id"}},
		{"", "a-", "", []string{"triggers[a-].id"}},
		{"", "a.b", "", []string{"triggers[a.b].id"}},
		{"", "", "", []string{"triggers[].id"}},
		{"", strings.Repeat("x", 49), cronjob.Allow, nil},
		{"", strings.Repeat("x", 50), "", []string{"triggers[" + strings.Repeat("x", 50) + "].id"}},
		{"p-", strings.Repeat("x", 47), "", nil},
		{"p-", strings.Repeat("x", 48), "", []string{"triggers[" + strings.Repeat("x", 48) + "].id"}},
	} {
		o := cronjob.Options{Naming: cronjob.Naming{Prefix: test.prefix}}
		trigger := cronjob.Trigger{ID: test.id, Overlap: test.overlap}
		if err := o.ValidateTrigger(&c, trigger); !slices.Equal(fields(err), test.want) {
			t.Errorf("%q with prefix %q, %d bytes: %v", test.id, test.prefix, len(o.Naming.TriggerName(c.Name, trigger)), err)
		}
	}
}
