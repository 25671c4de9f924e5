package cronjob_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

// TestOptions_IsZero: options with a Namer that cannot be compared are not zero, and cause no
// panic.
func TestOptions_IsZero(t *testing.T) {
	for _, o := range []cronjob.Options{{Punctual: true}, {Naming: cronjob.Naming{Namer: namer(nil)}}, cronjob.Kubernetes(release.V131())} {
		if o.IsZero() {
			t.Errorf("%+v is zero", o)
		}
	}
	if !(cronjob.Options{}).IsZero() {
		t.Error("no options are not zero")
	}
}

// namer is a Namer made of a function.
type namer func(parent string, run time.Time) string

func (n namer) Name(parent string, run time.Time) string { return n(parent, run) }
func (namer) Run(_, name string) (time.Time, bool) {
	seconds := int64(0)
	_, err := fmt.Sscan(name[strings.LastIndex(name, "-")+1:], &seconds)
	return time.Unix(seconds, 0), err == nil
}

func TestC1_ValidateFor(t *testing.T) {
	custom := func(n namer) cronjob.Options {
		return cronjob.Options{Naming: cronjob.Naming{Form: cronjob.NameCustom, Namer: n}}
	}
	named := func(length int) namer {
		return func(p string, run time.Time) string {
			rest := fmt.Sprint("-", run.Unix())
			return p + strings.Repeat("x", length-len("report")-len(rest)) + rest
		}
	}
	calls, domain253 := 0, strings.Repeat("d.", 126)+"d"
	seconds := cronjob.Naming{Form: cronjob.NameSeconds}

	for _, tc := range []struct {
		name, schedule string
		options        cronjob.Options
		opts           []schedule.Option
		fields         []string
	}{
		{"none", "@daily", cronjob.Options{}, nil, nil},
		{"all", "*/10 * * * * *", cronjob.Options{
			Naming: cronjob.Naming{Form: cronjob.NameSeconds, Prefix: "run-"}, ChildKind: cronjob.Kind{Kind: "Work", APIVersion: "example.com/v1"},
			Marks: cronjob.Marks{TimeIn: cronjob.InLabel, TimeKey: "example.com/run", RequestKey: "by"},
		}, []schedule.Option{schedule.WithSeconds()}, nil},
		{"names by a function", "*/10 * * * * *", custom(func(p string, run time.Time) string { return fmt.Sprint(p, "-", run.Unix()) }), []schedule.Option{schedule.WithSeconds()}, nil},
		{"stamps", "@daily", cronjob.Options{Naming: cronjob.Naming{Form: cronjob.NameCustom, Namer: cronjobgen.Stamps{}}}, nil, nil},
		{"stamps with a capital letter", "@daily", custom(func(p string, run time.Time) string { return p + run.Format("-20060102T150405") }), nil, []string{"options.naming.namer"}},
		{"seconds that are not asked for", "*/10 * * * * *", cronjob.Options{Naming: seconds}, nil, []string{"spec.schedule"}},
		{"seconds under names in minutes", "*/10 * * * * *", cronjob.Options{}, []schedule.Option{schedule.WithSeconds()}, []string{"options.naming.form"}},
		{"one second of a minute", "30 * * * * *", cronjob.Options{}, []schedule.Option{schedule.WithSeconds()}, nil},
		{"an interval, as in Kubernetes", "@every 10s", cronjob.Options{}, nil, nil},
		{"bounds without a time", "@daily", cronjob.Options{}, []schedule.Option{schedule.NotBefore(hours(2)), schedule.NotAfter(hours(1))}, []string{"spec.schedule"}},
		{"a prefix that no name has", "@daily", cronjob.Options{Naming: cronjob.Naming{Prefix: "Run_"}}, nil, []string{"options.naming.prefix"}},
		{"a prefix that is too long", "@daily", cronjob.Options{Naming: cronjob.Naming{Prefix: strings.Repeat("p", 50)}}, nil, []string{"options.naming.prefix"}},
		{"a form that is none", "@daily", cronjob.Options{Naming: cronjob.Naming{Form: 7}}, nil, []string{"options.naming.form"}},
		{"a name that changes", "@daily", custom(func(p string, run time.Time) string { calls++; return fmt.Sprint(p, "-", run.Unix()-int64(calls/4)) }), nil, []string{"options.naming.namer"}},
		{"a name that follows the location", "@daily", custom(func(p string, run time.Time) string {
			_, offset := run.Zone()
			return fmt.Sprint(p, "-", run.Unix()+int64(offset))
		}), nil, []string{"options.naming.namer"}},
		{"a name without the parent", "@daily", custom(func(_ string, run time.Time) string { return fmt.Sprint("run-", run.Unix()) }), nil, []string{"options.naming.namer"}},
		{"the longest name", "@daily", custom(named(63)), nil, nil},
		{"a name that is too long", "@daily", custom(named(64)), nil, []string{"options.naming.namer"}},
		{"a name that no server takes", "@daily", custom(func(p string, run time.Time) string { return fmt.Sprint(p, "_x-", run.Unix()) }), nil, []string{"options.naming.namer"}},
		{"a name of no run", "0 0 31 2 *", custom(func(p string, run time.Time) string {
			return strings.Repeat("x", 70*max(0, 1000-run.Year())/1000) + fmt.Sprint(p, "-", run.Unix())
		}), nil, nil},
		{"keys of a digit", "@daily", cronjob.Options{Marks: cronjob.Marks{TimeKey: "0", RequestKey: "9/0-9"}}, nil, nil},
		{"keys beside the digits", "@daily", cronjob.Options{Marks: cronjob.Marks{TimeKey: "a/", RequestKey: "a:"}}, nil, []string{"options.marks.timeKey", "options.marks.requestKey"}},
		{"keys of a letter", "@daily", cronjob.Options{Marks: cronjob.Marks{TimeKey: "example.com/z", RequestKey: "Z"}}, nil, nil},
		{"keys of the longest domain", "@daily", cronjob.Options{Marks: cronjob.Marks{
			TimeKey: domain253 + "/a", RequestKey: "x" + domain253 + "/a",
		}}, nil, []string{"options.marks.requestKey"}},
		{"a key with a bracket", "@daily", cronjob.Options{Marks: cronjob.Marks{TimeKey: "a[b"}}, nil, []string{"options.marks.timeKey"}},
		{"keys", "@daily", cronjob.Options{Marks: cronjob.Marks{TimeKey: "example.com/", RequestKey: "Ex_ample/x"}}, nil, []string{"options.marks.timeKey", "options.marks.requestKey"}},
		{"the same key in a label", "@daily", cronjob.Options{Marks: cronjob.Marks{TimeIn: cronjob.InLabel, TimeKey: "a", RequestKey: "a"}}, nil, []string{"options.marks.requestKey"}},
		{"half a kind, a way that is none, a negative limit", "@daily", cronjob.Options{CatchUp: 9, MaxActive: -1, ChildKind: cronjob.Kind{Kind: "Work"}}, nil,
			[]string{"options.maxActive", "options.childKind", "options.catchUp"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := cronjob.CronJob{Name: "report", Spec: cronjob.Spec{Schedule: tc.schedule}}
			cronjob.Default(&c.Spec)

			err := tc.options.ValidateFor(&c, tc.opts...)
			if got := fields(err); !slices.Equal(got, tc.fields) {
				t.Errorf("got %q, want %q: %v", got, tc.fields, err)
			}
		})
	}

	c := cronjob.CronJob{Name: "Report", Spec: cronjob.Spec{Schedule: "61 * * * *"}}
	cronjob.Default(&c.Spec)
	if got, want := fields(cronjob.Options{}.ValidateFor(&c)), []string{"metadata.name", "spec.schedule"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOptions_Validate has the checks that need no CronJob.
func TestOptions_Validate(t *testing.T) {
	custom := cronjob.Naming{Form: cronjob.NameCustom, Prefix: "p-", Namer: namer(nil)} // is not called

	for _, tc := range []struct {
		name    string
		options cronjob.Options
		fields  []string
	}{
		{"none", cronjob.Options{}, nil},
		{"the last way and the last form", cronjob.Options{CatchUp: cronjob.CatchUpAll, Naming: cronjob.Naming{Form: cronjob.NameCustom, Namer: namer(nil)}}, nil},
		{"all at once", cronjob.Options{
			MaxActive: -1, ChildKind: cronjob.Kind{Kind: "Work"}, Marks: cronjob.Marks{TimeIn: cronjob.InName, TimeKey: "b", RequestKey: "a b"},
			CatchUp: cronjob.CatchUpAll + 1, Naming: cronjob.Naming{Form: cronjob.NameCustom + 1},
		}, []string{"options.maxActive", "options.childKind", "options.marks.timeKey", "options.marks.requestKey", "options.catchUp", "options.naming.form"}},
		{"a prefix beside a namer", cronjob.Options{Naming: custom}, []string{"options.naming.prefix"}},
		{"no namer", cronjob.Options{Naming: cronjob.Naming{Form: cronjob.NameCustom}}, []string{"options.naming.namer"}},
	} {
		if got := fields(tc.options.Validate()); !slices.Equal(got, tc.fields) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.fields)
		}
	}
}
