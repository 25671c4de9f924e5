package cronjob

import (
	"testing"
	"time"
)

// C13: a name is compared as it is built.
func TestRunName_Is(t *testing.T) {
	own := names{cronJob: "report"}
	run := time.Date(2026, 1, 1, 1, 0, 59, 0, time.UTC)
	for name, want := range map[string]bool{
		"report-29453820": true, "report-29453821": false, "report-2945382": false, "report-294538200": false,
		"report29453820": false, "report": false, "report-": false, "": false, "reports-29453820": false,
	} {
		if got := own.of(run).is(name); got != want {
			t.Errorf("%q: got %t", name, got)
		}
	}
	for _, run := range []time.Time{run, time.Unix(0, 0), time.Unix(-60, 0), {}} {
		if name := JobName("report", run); !own.of(run).is(name) {
			t.Errorf("%q is not its own name", name)
		}
	}
}
