package cronjobapply_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/job"
)

// TestApply_CancelledBeforeTheFirstCall: nothing is called, and all of it says so.
func TestApply_CancelledBeforeTheFirstCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	saw := func(s *cronjob.Snapshot) { s.Children[0].Finished = job.Complete }
	for name, snap := range map[string]cronjob.Snapshot{
		"creations": snapshot(cronjob.Allow, triggers("1")),
		"deletions": snapshot(cronjob.Allow, early, finished(5)),
		"look-ups":  snapshot(cronjob.Forbid, active("a", "b")),
		"a status":  snapshot(cronjob.Allow, early, running("a"), saw),
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			p := plan(t, snap)
			end, err := cronjobapply.Executor{}.Apply(ctx, f, p)
			o := end.Outcome
			if len(f.calls) > 0 || !errors.Is(err, context.Canceled) || !end.Retry {
				t.Errorf("calls %v, error %v, retry %v", f.calls, err, end.Retry)
			}
			for _, e := range append(o.Created, o.Deleted...) {
				o.Verified = append(o.Verified, e.Result)
			}
			for _, r := range append(o.Verified, o.Settled) {
				if r != cronjob.NotTried {
					t.Errorf("outcome %+v", o)
				}
			}
		})
	}
}

// TestApply_CancelledMeanwhile: what was started ends, nothing more starts.
func TestApply_CancelledMeanwhile(t *testing.T) {
	inBubble(t, "three at once", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(1500*time.Millisecond, cancel)
		f := &fake{took: time.Second}
		p := plan(t, snapshot(cronjob.Allow, finished(21)))
		end, err := cronjobapply.Executor{Parallel: 3}.Apply(ctx, f, p)
		o := end.Outcome
		if f.count("delete") != 6 || len(f.calls) != 6 || !errors.Is(err, context.Canceled) {
			t.Errorf("calls %v, error %v", f.calls, err)
		}
		done := 0
		for _, e := range o.Deleted {
			if e.Result == cronjob.Done {
				done++
			}
		}
		if done != 6 || o.Settled != cronjob.NotTried || !end.Retry {
			t.Errorf("outcome %+v", o)
		}
	})
}

// TestC14_CancelledBeforeTheLook: whose job has the name is for the next round to ask.
func TestC14_CancelledBeforeTheLook(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := &fake{fail: map[string]error{"create": cronjobapply.ErrExists}, before: func(string) { cancel() }}
	p := plan(t, snapshot(cronjob.Allow))
	end, err := cronjobapply.Executor{}.Apply(ctx, f, p)
	o := end.Outcome
	if len(f.calls) != 1 || !errors.Is(err, context.Canceled) || results(o.Created) != "unsuccessful" || !end.Retry {
		t.Errorf("calls %v, error %v, outcome %+v", f.calls, err, o)
	}
}

// cluster is a backend that holds the CronJob and its jobs. It refuses calls whose
// context has ended, as every client does.
type cluster struct {
	cronJob cronjob.CronJob
	jobs    []cronjob.Child
	memory  cronjob.Memory
	now     time.Time
	// asked are the triggers.
	asked   []cronjob.Trigger
	started map[string]int // by name
	writes  []string
	// left is how many writes may take effect before cancel is called.
	left   int
	cancel func()
}

func (c *cluster) find(name string) int {
	return slices.IndexFunc(c.jobs, func(j cronjob.Child) bool { return j.Name == name })
}

func (c *cluster) write(name string) {
	c.writes = append(c.writes, name)
	if c.left--; c.left == 0 {
		c.cancel()
	}
}

func (c *cluster) Get(ctx context.Context, name string) (cronjobapply.Job, error) {
	if err := ctx.Err(); err != nil {
		return cronjobapply.Job{}, err
	}
	i := c.find(name)
	if i < 0 {
		return cronjobapply.Job{}, cronjobapply.ErrGone
	}
	found := cronjobapply.Job{Reference: cronjob.Reference{UID: c.jobs[i].UID}}
	if c.jobs[i].Owner == cronjob.Owned {
		found.Controller = c.cronJob.UID
	}
	return found, nil
}

func (c *cluster) Delete(ctx context.Context, d cronjob.Deletion) error {
	i := c.find(d.Name)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case i < 0 || c.jobs[i].UID != d.UID:
		return cronjobapply.ErrGone
	}
	c.jobs = slices.Delete(c.jobs, i, i+1)
	c.write("delete " + d.Name)
	return nil
}

func (c *cluster) Create(ctx context.Context, creation cronjob.Creation) (cronjobapply.Job, error) {
	switch {
	case ctx.Err() != nil:
		return cronjobapply.Job{}, ctx.Err()
	case c.find(creation.Name) >= 0:
		return cronjobapply.Job{}, cronjobapply.ErrExists
	}
	c.started[creation.Name]++
	made := cronjob.Child{
		Name: creation.Name, UID: fmt.Sprintf("%s.%d", creation.Name, c.started[creation.Name]),
		CreationTimestamp: c.now, StartTime: c.now, ScheduledTime: creation.ScheduledTime,
	}
	c.jobs = append(c.jobs, made)
	c.write("create " + creation.Name)
	return cronjobapply.Job{Reference: cronjob.Reference{UID: made.UID}, CreationTimestamp: c.now}, nil
}

func (c *cluster) WriteStatus(ctx context.Context, s cronjob.Status) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.cronJob.Status = s
	c.write("status")
	return nil
}

// round is one round of the adapter; cancelled after that many writes, unless it
// is negative. What the controller sees may lack the jobs that hidden names.
func (c *cluster) round(t *rapid.T, after int, hidden ...string) cronjob.Conclusion {
	seen := slices.DeleteFunc(slices.Clone(c.jobs), func(j cronjob.Child) bool { return slices.Contains(hidden, j.Name) })
	p, err := cronjob.Reconcile(cronjob.Snapshot{
		CronJob: c.cronJob, Children: seen, Now: c.now, Schedule: cronjob.Compile(&c.cronJob), Memory: c.memory, Triggers: c.asked,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if after == 0 {
		cancel()
	}
	c.writes, c.left, c.cancel = nil, after, cancel
	end, err := cronjobapply.Executor{Parallel: 1}.Apply(ctx, c, &p)
	o := end.Outcome
	if said := said(&p, o); !slices.Equal(said, c.writes) {
		t.Fatalf("the outcome says %v, written: %v\n%s", said, c.writes, &p)
	}
	if end.Retry != (err != nil) || end.Incomplete != end.Retry {
		t.Fatalf("retry %v, incomplete %v, error %v", end.Retry, end.Incomplete, err)
	}
	c.memory = end.Memory
	c.asked = slices.DeleteFunc(slices.Clone(c.asked), func(t cronjob.Trigger) bool { return slices.Contains(end.Triggered, t.ID) })
	return end
}

// said lists the writes that took effect as the outcome has it.
func said(p *cronjob.Plan, o cronjob.Outcome) []string {
	var out []string
	for i, e := range o.Deleted {
		if e.Result == cronjob.Done {
			out = append(out, "delete "+p.Delete[i].Name)
		}
	}
	for i, e := range o.Created {
		if e.Result == cronjob.Done {
			out = append(out, "create "+p.Create[i].Name)
		}
	}
	if o.Settled == cronjob.Done {
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

// picture is what is left, without the UIDs and the order in which jobs were recorded.
func (c *cluster) picture() string {
	var jobs, active []string
	for _, j := range c.jobs {
		jobs = append(jobs, j.Name)
	}
	status := c.cronJob.Status
	for _, ref := range status.Active {
		active = append(active, ref.Name)
	}
	slices.Sort(jobs)
	slices.Sort(active)
	status.Active = nil
	return fmt.Sprint(jobs, active, status, c.started, c.asked)
}

func (c *cluster) clone() *cluster {
	out := *c
	out.jobs = slices.Clone(c.jobs)
	out.started = map[string]int{}
	return &out
}

func drawCluster(t *rapid.T) *cluster {
	policy := rapid.SampledFrom([]cronjob.ConcurrencyPolicy{cronjob.Allow, cronjob.Forbid, cronjob.Replace}).Draw(t, "policy")
	s := snapshot(policy)
	if rapid.Bool().Draw(t, "early") {
		early(&s)
	}
	c := &cluster{cronJob: s.CronJob, now: s.Now}
	for i := range rapid.IntRange(0, 6).Draw(t, "jobs") {
		j := cronjob.Child{Name: fmt.Sprint("j", i), UID: fmt.Sprint("u", i), StartTime: at(0).Add(time.Duration(i) * time.Second)}
		j.Finished = rapid.SampledFrom([]job.ConditionType{"", job.Failed, job.Complete}).Draw(t, "finished")
		if j.Finished == job.Complete {
			j.CompletionTime = at(rapid.IntRange(1, 8).Draw(t, "completed"))
		}
		if rapid.Bool().Draw(t, "listed") {
			c.cronJob.Status.Active = append(c.cronJob.Status.Active, cronjob.Reference{Name: j.Name, UID: j.UID})
		}
		if rapid.IntRange(0, 4).Draw(t, "exists") > 0 {
			c.jobs = append(c.jobs, j)
		}
	}
	switch rapid.IntRange(0, 5).Draw(t, "taken") {
	case 0: // somebody else's job has the name of the run
		c.jobs = append(c.jobs, cronjob.Child{Name: due, UID: "taken", Owner: cronjob.Foreign})
	case 1: // the run was started, and a crash came before the status
		c.jobs = append(c.jobs, cronjob.Child{Name: due, UID: "started", ScheduledTime: at(9), StartTime: at(9)})
	}
	if policy != cronjob.Forbid { // where a trigger and a run depend on which comes first
		for i := range rapid.IntRange(0, 2).Draw(t, "triggers") {
			c.asked = append(c.asked, cronjob.Trigger{ID: fmt.Sprint(i)})
		}
	}
	slices.SortFunc(c.jobs, func(a, b cronjob.Child) int { return cmp.Compare(a.Name, b.Name) })
	return c
}

// TestCI3_CancelAnywhere cancels the context after each number of writes: no further
// write is started, the outcome is true, and further rounds come to the same end,
// even if the first of them does not see the job of the run.
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
			// A run with Replace deletes what runs before it finds that its own name is taken.
			if c.cronJob.Spec.ConcurrencyPolicy != cronjob.Replace && rapid.Bool().Draw(t, "stale") {
				cut.round(t, -1, due)
			}
			cut.quiet(t)
			if got, want := cut.picture(), whole.picture(); got != want {
				t.Fatalf("cancelled after %d writes: %s\nwant %s", k, got, want)
			}
		}
	})
}
