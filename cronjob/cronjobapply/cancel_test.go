package cronjobapply_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
)

// TestApply_CancelledBeforeTheFirstCall: nothing is called, and all results are ResultNotTried.
func TestApply_CancelledBeforeTheFirstCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	saw := func(s *cronjob.Snapshot) { s.Children[0].Finished = job.ConditionComplete }

	for name, snap := range map[string]cronjob.Snapshot{
		"creations": snapshot(cronjob.Allow, triggers("1")),
		"deletions": snapshot(cronjob.Allow, early, finished(5)),
		"look-ups":  snapshot(cronjob.Forbid, active("a", "b")),
		"a status":  snapshot(cronjob.Allow, early, running("a"), saw),
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			end, err := cronjobapply.Executor{}.Apply(ctx, f, plan(t, snap))

			if len(f.calls) > 0 || !errors.Is(err, context.Canceled) || !end.Retry {
				t.Errorf("calls %v, error %v, retry %v", f.calls, err, end.Retry)
			}

			o := end.Outcome
			for _, e := range append(o.Created, o.Deleted...) {
				o.Verified = append(o.Verified, cronjob.Reply{Result: e.Result})
			}
			for _, r := range append(o.Verified, o.Settled) {
				if r.Result != cronjobreason.ResultNotTried {
					t.Errorf("outcome %+v", o)
				}
			}
		})
	}
}

// TestApply_CancelledMeanwhile: calls that have started come to their end, and no further call
// starts.
func TestApply_CancelledMeanwhile(t *testing.T) {
	inBubble(t, "three at once", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(1500*time.Millisecond, cancel)
		f := &fake{took: time.Second}
		end, err := cronjobapply.Executor{Parallel: 3}.Apply(ctx, f, plan(t, snapshot(cronjob.Allow, finished(21))))
		if f.count("delete") != 6 || len(f.calls) != 6 || !errors.Is(err, context.Canceled) {
			t.Errorf("calls %v, error %v", f.calls, err)
		}
		if o := end.Outcome; strings.Count(results(o.Deleted), "done") != 6 || o.Settled.Result != cronjobreason.ResultNotTried || !end.Retry {
			t.Errorf("outcome %+v", o)
		}
	})
}

// TestC14_CancelledBeforeTheLook: a creation finds that the job exists, and the context is
// cancelled. The next round finds out who owns that job.
func TestC14_CancelledBeforeTheLook(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := &fake{fail: map[string]error{"create": cronjobapply.ErrExists}, before: func(string) { cancel() }}
	end, err := cronjobapply.Executor{}.Apply(ctx, f, plan(t, snapshot(cronjob.Allow)))
	if len(f.calls) != 1 || !errors.Is(err, context.Canceled) || results(end.Outcome.Created) != "unsuccessful" || !end.Retry {
		t.Errorf("calls %v, error %v, outcome %+v", f.calls, err, end.Outcome)
	}
}

// World renames the type, since an embedded field CronJob would hide the world's own field CronJob.
type World = world.CronJob

// cluster is a world that records the writes of a round.
type cluster struct {
	*World
	writes []string
}

// round runs one round of the adapter. It cancels the round after the given number of writes,
// unless the number is negative. The snapshot lacks the jobs in hidden.
func (c *cluster) round(t *rapid.T, after int, hidden ...string) cronjob.Conclusion {
	s := c.Snapshot()
	s.Children = slices.DeleteFunc(s.Children, func(j cronjob.Child) bool { return slices.Contains(hidden, j.Name) })
	p, err := cronjob.Reconcile(s)
	must.OK(t, err)

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if after == 0 {
		cancel()
	}

	c.writes = nil
	c.Written = func(write world.Write) {
		if c.writes = append(c.writes, write.String()); len(c.writes) == after {
			cancel()
		}
	}

	end, err := c.CarryOut(ctx, &p)
	if said := said(&p, end.Outcome); !slices.Equal(said, c.writes) {
		t.Fatalf("the outcome says %v, written: %v\n%s", said, c.writes, &p)
	}
	if end.Retry != (err != nil) {
		t.Fatalf("retry %v, error %v", end.Retry, err)
	}
	must.OK(t, c.Err())
	return end
}

// said returns the list of writes that took effect according to the outcome.
func said(p *cronjob.Plan, o cronjob.Outcome) []string {
	var out []string
	for i, e := range o.Deleted {
		if e.Result == cronjobreason.ResultDone {
			out = append(out, "delete "+p.Delete[i].Name)
		}
	}
	for i, e := range o.Created {
		if e.Result == cronjobreason.ResultDone {
			out = append(out, "create "+p.Create[i].Name)
		}
	}
	if o.Settled.Result == cronjobreason.ResultDone {
		out = append(out, "status")
	}
	return out
}

// quiet runs rounds until nothing is written.
func (c *cluster) quiet(t *rapid.T) {
	for rounds := 0; ; rounds++ {
		if c.round(t, -1); len(c.writes) == 0 {
			return
		}
		if rounds > 20 {
			t.Fatalf("no end: %v", c.writes)
		}
	}
}

// picture returns the state as text, without the UIDs and the order in which jobs were recorded.
func (c *cluster) picture() string {
	var jobs, active []string
	for _, j := range c.Children() {
		jobs = append(jobs, j.Name)
	}
	status := c.CronJob.Status
	for _, ref := range status.Active {
		active = append(active, ref.Name)
	}
	slices.Sort(active)
	status.Active = nil
	return fmt.Sprint(jobs, active, status, c.Triggers)
}

func (c *cluster) clone() *cluster { return &cluster{World: c.Clone()} }

func drawCluster(t *rapid.T) *cluster {
	policy := rapid.SampledFrom([]cronjob.ConcurrencyPolicy{cronjob.Allow, cronjob.Forbid, cronjob.Replace}).Draw(t, "policy")
	s := snapshot(policy)
	if rapid.Bool().Draw(t, "early") {
		early(&s)
	}
	c := &cluster{World: world.NewCronJob(s.CronJob, cronjob.Options{})}
	c.Now = s.Now

	for i := range rapid.IntRange(0, 6).Draw(t, "jobs") {
		j := cronjob.Child{Name: fmt.Sprint("j", i), UID: job.UID(fmt.Sprint("u", i)), StartTime: at(0).Add(time.Duration(i) * time.Second)}
		j.Finished = rapid.SampledFrom([]job.ConditionType{"", job.ConditionFailed, job.ConditionComplete}).Draw(t, "finished")
		if j.Finished == job.ConditionComplete {
			j.CompletionTime = at(rapid.IntRange(1, 8).Draw(t, "completed"))
		}
		if rapid.Bool().Draw(t, "listed") {
			c.CronJob.Status.Active = append(c.CronJob.Status.Active, cronjob.Reference{Name: j.Name, UID: j.UID})
		}
		if rapid.IntRange(0, 4).Draw(t, "exists") > 0 {
			c.Add(j)
		}
	}

	switch rapid.IntRange(0, 5).Draw(t, "taken") {
	case 0: // a job of another owner has the name of the run
		c.Add(cronjob.Child{Name: due, UID: "taken", Foreign: true})
	case 1: // the run was started, and a crash prevented the status write
		c.Add(cronjob.Child{Name: due, UID: "started", ScheduledTime: at(9), StartTime: at(9)})
	}

	if policy != cronjob.Forbid { // with Forbid, a trigger and a run exclude each other, and the first one wins
		for i := range rapid.IntRange(0, 2).Draw(t, "triggers") {
			c.Triggers = append(c.Triggers, cronjob.Trigger{ID: fmt.Sprint(i)})
		}
	}
	return c
}

// TestCI3_CancelAnywhere cancels the context after each number of writes. No further write starts,
// and the outcome shows the writes that took effect. The next rounds reach the same state as a
// round without a cancellation, even if the first of them does not see the job of the run.
func TestCI3_CancelAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		whole := c.clone()
		whole.round(t, -1)
		writes := whole.writes
		whole.quiet(t)

		for k := range len(writes) + 1 {
			cut := c.clone()
			end := cut.round(t, k)
			if diff := gocmp.Diff(append([]string{}, writes[:k]...), append([]string{}, cut.writes...)); diff != "" {
				t.Fatalf("cancelled after %d writes (-want +got):\n%s", k, diff)
			}
			if !end.Retry && k < len(writes) {
				t.Fatalf("cancelled after %d of %d writes, and there is no retry", k, len(writes))
			}

			// With Replace, running jobs are deleted before the creation finds that the name of the
			// run is taken.
			if c.CronJob.Spec.ConcurrencyPolicy != cronjob.Replace && rapid.Bool().Draw(t, "stale") {
				cut.round(t, -1, due)
			}

			cut.quiet(t)
			if got, want := cut.picture(), whole.picture(); got != want {
				t.Fatalf("cancelled after %d writes: %s\nwant %s", k, got, want)
			}
		}
	})
}
