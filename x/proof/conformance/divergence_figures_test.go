package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/series"
)

// figureDivergences are the rows about metrics (J42).
var figureDivergences = []divergence{
	{row: "A pod cannot be created (J42)",
		show: showFigures(`job {"parallelism":2,"completions":4,TEMPLATE}; run all; tick 3s; fault create pods quota all 5s; succeed all; tick 20s`,
			"created 7, not created 3, ignored 0, succeeded 2",
			"created 4, not created 3, ignored 0, succeeded 2")},
	{row: "The finalizer of a failed pod cannot be removed, and the podFailurePolicy ignores the failure (J42)",
		show: showFigures(`job {"parallelism":1,"completions":1,"podReplacementPolicy":"Failed","podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[1]}}]},TEMPLATE}
run all; tick 3s; fault patch pods error all 8s; fail all code=1; tick 20s`,
			"created 2, not created 0, ignored 4, succeeded 0",
			"created 2, not created 0, ignored 1, succeeded 0")},
	{row: "Some finalizers of a round cannot be removed (J42)",
		show: showFigures(`job {"parallelism":2,"completions":2,TEMPLATE}; run all; tick 3s; fault patch pods error even 8s; succeed all; tick 20s`,
			"created 2, not created 0, ignored 0, succeeded 1",
			"created 2, not created 0, ignored 0, succeeded 2")},
	{row: "The reply to a status write is lost (J42)",
		show: showFigures(`job {"parallelism":2,"completions":2,"completionMode":"Indexed",TEMPLATE}; run all; tick 3s; fault update jobs/status lost all 1500ms; succeed 0; tick 20s`,
			"created 2, not created 0, ignored 0, succeeded 0",
			"created 2, not created 0, ignored 0, succeeded 1")},
}

// showFigures plays a script to the real controllers, to ours without the quirk and to
// ours with it, and compares their metrics. With CoarseRequeue, rounds are as many as theirs.
func showFigures(script, theirFigures, ourFigures string) func(*testing.T) {
	return func(t *testing.T) {
		before := series.Reference()
		d := divergence{script: script, look: func(*life) string { return figuresOf(series.Reference().Since(before)) }}
		if got := d.live(t, theirSide); got != theirFigures {
			t.Errorf("theirs: %s, want %s", got, theirFigures)
		}
		asTheirs := jobquirk.SetOf(jobquirk.Miscount, jobquirk.CoarseRequeue)
		for quirks, want := range map[jobquirk.Set]string{{}: ourFigures, asTheirs: theirFigures} {
			var told ours.Figures
			d.look = func(*life) string { return figuresOf(told.Counts()) }
			if got := d.live(t, ourSide(ours.Options{Figures: &told, Job: job.Options{Quirks: quirks}})); got != want {
				t.Errorf("ours with quirks %v: %s, want %s", quirks, got, want)
			}
		}
	}
}

// figuresOf sums up the metrics that the cases are about.
func figuresOf(counts series.Counts) string {
	sum := func(name, label string) (n float64) {
		for series, count := range counts {
			if strings.HasPrefix(series, "job_controller_"+name+"{") && strings.Contains(series, label) {
				n += count
			}
		}
		return n
	}
	return fmt.Sprintf("created %v, not created %v, ignored %v, succeeded %v",
		sum("job_pods_creation_total", "status=succeeded"), sum("job_pods_creation_total", "status=failed"),
		sum("pod_failures_handled_by_failure_policy_total", "action=Ignore"), sum("job_pods_finished_total", "result=succeeded"))
}
