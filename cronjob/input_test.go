package cronjob_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/cronjob"
)

func TestC1_ValidateWithName(t *testing.T) {
	long := strings.Repeat("n", 52)
	for _, tc := range []struct {
		name     string
		cronJob  string
		triggers []cronjob.Trigger
		fields   []string
	}{
		{"a name as long as can be", long, nil, nil},
		{"a name that makes the names of jobs too long", long + "n", nil, []string{"metadata.name"}},
		{"a name of several labels", "report.v2", nil, nil},
		{"no name", "", nil, []string{"metadata.name"}},
		{"a name that is none", "Report_1", nil, []string{"metadata.name"}},
		{"an empty label", "report..v2", nil, []string{"metadata.name"}},
		{"a trigger", "report", []cronjob.Trigger{{ID: "2026-a"}}, nil},
		{"an ID that is no label", "report", []cronjob.Trigger{{ID: "By_Hand"}, {ID: "-a"}, {ID: "a-"}, {ID: "a.b"}},
			[]string{"triggers[By_Hand].id", "triggers[-a].id", "triggers[a-].id", "triggers[a.b].id"}},
		{"no ID", "report", []cronjob.Trigger{{}}, []string{"triggers[].id"}},
		{"an ID as long as can be", "report", []cronjob.Trigger{{ID: strings.Repeat("i", 49)}}, nil},
		{"an ID that makes the job's name too long", "report", []cronjob.Trigger{{ID: strings.Repeat("i", 50)}}, []string{"triggers[" + strings.Repeat("i", 50) + "].id"}},
		{"an overlap policy that is none", "report", []cronjob.Trigger{{ID: "a", Overlap: "Replace"}}, []string{"triggers[a].overlap"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
			c.Name = tc.cronJob
			if got := fields(c.Validate(tc.triggers...)); !slices.Equal(got, tc.fields) {
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
