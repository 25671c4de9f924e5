package sim

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

// playing plays a world and returns the engine at its end. Changes are made before the first event.
func playing(t *testing.T, w World, changes ...func(*engine)) *engine {
	t.Helper()
	must.OK(t, w.check())
	e := newEngine(t.Context(), &w)
	defer e.close()
	must.OK(t, e.begin())
	for _, change := range changes {
		change(e)
	}
	e.loop()
	if e.err != nil {
		t.Fatal(e.err)
	}
	e.conclude()
	return e
}

// Deleted jobs make room for others: the memory of a stream does not grow with its length.
func TestRun_MemoryOfAStream(t *testing.T) {
	zero := int32(0)
	sizes := map[int]int{}
	for _, n := range []int{500, 5000} {
		spec := Spec(3, 2)
		spec.TTLSecondsAfterFinished = &zero
		e := playing(t, World{Seed: 1, Summary: true, Nodes: Nodes(4, Node{Pods: 8}), Jobs: Jobs(n, 1, Every(20*time.Second), Job{
			Name: "job", Spec: spec, Pod: Pod{Duration: Exponential(20 * time.Second), Failure: 0.1},
		})})
		if got := e.result; got.JobsSubmitted != int64(n) || got.Expired != int64(n) ||
			len(got.Pods)+len(got.Jobs) > 0 {
			t.Errorf("%d jobs: %d submitted, %d deleted, %d records",
				n, got.JobsSubmitted, got.Expired, len(got.Pods)+len(got.Jobs))
		}
		sizes[n] = len(e.jobs) + len(e.pods.all) + cap(e.queue.events) + len(e.view.spare)
	}
	if sizes[5000] > 2*sizes[500] {
		t.Errorf("places of jobs, pods, events and views after 500 and 5000 jobs: %v", sizes)
	}
}

// The pods of a node that is removed have ended before they are deleted, so they get no grace period.
func TestRun_RemovedNode(t *testing.T) {
	const end = 100 * time.Second
	e := playing(t, World{
		Until: end, Nodes: Nodes(1, Node{}), Disruptions: []Disruption{{Kind: NodeLost, At: 20 * time.Second, Removed: end}},
		Jobs: Of(Job{Name: "j", Spec: Spec(1, 1), Pod: Pod{Duration: Constant(time.Hour)}}),
	})
	if p := &e.pods.all[0]; p.Phase != job.PodFailed || p.Deletion == nil || p.Deletion.GracePeriodSeconds != 0 {
		t.Errorf("%s, deletion %+v", p.Phase, p.Deletion)
	}
}

// No more than World.MaxRecords are kept, and the dropped ones are counted.
func TestRun_MaxRecords(t *testing.T) {
	w := small(1)
	w.MaxRecords = 5
	r := play(t, w)
	if len(r.Pods) != 5 || len(r.Jobs) != 5 || r.Dropped != r.PodsCreated+r.JobsSubmitted-10 {
		t.Errorf("%d pods, %d jobs, %d dropped of %d and %d",
			len(r.Pods), len(r.Jobs), r.Dropped, r.PodsCreated, r.JobsSubmitted)
	}
}

// eachSecond is a CronJob that runs each second, for a century.
func eachSecond() World {
	return World{
		Until: 100 * 365 * 24 * time.Hour, Summary: true,
		CronJobs: []CronJob{{
			Name: "tick", Spec: cronjob.Spec{Schedule: "@every 1s", ConcurrencyPolicy: cronjob.Allow},
			Job: Job{Spec: Spec(1, 1), Pod: Pod{Duration: Constant(3 * time.Second)}},
		}},
	}
}

// A run each second for a century stops at the limit of events, and the memory holds only the
// history of the CronJob. Jobs are named after the minute of their run. So one job starts in each
// minute, and the other runs of the minute find their name taken.
func TestRun_EachSecondForACentury(t *testing.T) {
	w := eachSecond()
	w.MaxEvents = 100_000
	e := playing(t, w)
	r := e.result
	if r.Stopped != "after 100000 events" || r.RunsStarted < 500 || int64(r.End/time.Minute) != r.RunsStarted-1 {
		t.Errorf("stopped %q after %d runs, at %v", r.Stopped, r.RunsStarted, r.End)
	}
	if n := len(e.jobs) + len(e.pods.all) + len(e.children); n > 60 {
		t.Errorf("%d places for jobs and pods", n)
	}
}

// The runs that were missed in a century without controllers are counted without a loop over them.
func TestRun_DownForACentury(t *testing.T) {
	w := eachSecond()
	w.Summary = false
	down := w.Until - 2*time.Minute
	w.ControlPlane.Outages = []Outage{{Window: Window{time.Minute, down}}}
	r := play(t, w)
	var missed int64
	for _, m := range r.Missed {
		missed += int64(m.Count)
	}
	if want := int64(down/time.Second) - 1; missed < want-2 || missed > want+2 || r.RunsStarted > 130 {
		t.Errorf("%d runs are missed, want about %d; %d have started", missed, want, r.RunsStarted)
	}
}
