package conformance

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/conformance/ours"
	"github.com/batchplan/batchplan/internal/conformance/theirs"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// figureDivergences are the rows about metrics (J42).
var figureDivergences = []divergence{
	{
		row: "A pod cannot be created (J42)",
		show: showFigures(`
job {"parallelism":2,"completions":4,TEMPLATE}
run all
wait 3s
fault create pods quota all 5s
exit all 0
wait 20s`,
			"created 7, not created 3, ignored 0, succeeded 2",
			"created 4, not created 3, ignored 0, succeeded 2"),
	},
	{
		row: "The finalizer of a failed pod cannot be removed, and the podFailurePolicy ignores the failure (J42)",
		show: showFigures(`
job {"parallelism":1,"completions":1,"podReplacementPolicy":"Failed","podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[1]}}]},TEMPLATE}
run all
wait 3s
fault patch pods error all 8s
exit all 1
wait 20s`,
			"created 2, not created 0, ignored 4, succeeded 0",
			"created 2, not created 0, ignored 1, succeeded 0"),
	},
	{
		row: "Some finalizers of a round cannot be removed (J42)",
		show: showFigures(`
job {"parallelism":2,"completions":2,TEMPLATE}
run all
wait 3s
fault patch pods error even 8s
exit all 0
wait 20s`,
			"created 2, not created 0, ignored 0, succeeded 1",
			"created 2, not created 0, ignored 0, succeeded 2"),
	},
	{
		row: "The reply to a status write is lost (J42)",
		show: showFigures(`
job {"parallelism":2,"completions":2,"completionMode":"Indexed",TEMPLATE}
run all
wait 3s
fault update jobs/status lost all 1500ms
exit 0 0
wait 20s`,
			"created 2, not created 0, ignored 0, succeeded 0",
			"created 2, not created 0, ignored 0, succeeded 1"),
	},
}

// showFigures plays a script to the real controllers and to ours, without the quirk and
// with it, and compares what they count.
func showFigures(script, theirFigures, ourFigures string) func(*testing.T) {
	return func(t *testing.T) {
		before := theirs.Figures()
		d := divergence{script: script, look: func(*life) string { return figuresOf(before, theirs.Figures()) }}
		if got := d.live(t, theirSide); got != theirFigures {
			t.Errorf("theirs: %s, want %s", got, theirFigures)
		}
		for quirks, want := range map[jobquirk.Set]string{0: ourFigures, jobquirk.Miscount: theirFigures} {
			var told toldFigures
			d.look = func(*life) string { return told.String() }
			if got := d.live(t, ourSide(ours.Options{Watch: &told, Job: job.Options{Quirks: quirks}})); got != want {
				t.Errorf("ours with quirks %b: %s, want %s", quirks, got, want)
			}
		}
	}
}

// figuresOf is what the real controllers have counted in between.
func figuresOf(before, after map[string]float64) string {
	sum := map[string]float64{}
	for short, series := range map[string][]string{
		"created":     {"job_pods_creation_total{reason=new,status=succeeded}", "job_pods_creation_total{reason=recreate_failed,status=succeeded}"},
		"not created": {"job_pods_creation_total{reason=new,status=failed}", "job_pods_creation_total{reason=recreate_failed,status=failed}"},
		"ignored":     {"pod_failures_handled_by_failure_policy_total{action=Ignore}"},
		"succeeded":   {"job_pods_finished_total{completion_mode=NonIndexed,result=succeeded}", "job_pods_finished_total{completion_mode=Indexed,result=succeeded}"},
	} {
		for _, name := range series {
			sum[short] += after["job_controller_"+name] - before["job_controller_"+name]
		}
	}
	return fmt.Sprintf("created %v, not created %v, ignored %v, succeeded %v", sum["created"], sum["not created"], sum["ignored"], sum["succeeded"])
}

// toldFigures sums the metrics of our rounds.
type toldFigures struct {
	mu                                      sync.Mutex
	created, notCreated, ignored, succeeded int32
}

func (f *toldFigures) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Sprintf("created %d, not created %d, ignored %d, succeeded %d", f.created, f.notCreated, f.ignored, f.succeeded)
}

// Job implements [ours.Watch].
func (f *toldFigures) Job(_ *job.Snapshot, p *job.Plan, o job.Outcome) {
	metrics := p.Conclude(o).Metrics
	f.mu.Lock()
	defer f.mu.Unlock()
	f.created += metrics.PodsCreated
	f.notCreated += metrics.PodsNotCreated
	f.ignored += metrics.Policy.Ignore
	f.succeeded += metrics.PodsSucceeded
}

// The rest of [ours.Watch].
func (*toldFigures) Stale()                                                    {}
func (*toldFigures) Orphan()                                                   {}
func (*toldFigures) CronJob(*cronjob.Snapshot, *cronjob.Plan, cronjob.Outcome) {}
func (*toldFigures) TTL(*job.Job, time.Time, bool, bool, time.Time)            {}
