package jobapply_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

// cluster is a backend that holds the job and its pods. It refuses writes whose
// context has ended, as every client does.
type cluster struct {
	job    job.Job
	pods   []job.Pod
	memory job.Memory
	now    int // seconds
	made   int // pods
	writes []string
	// left is the number of writes that may take effect before cancel is called.
	left   int
	cancel func()
}

func (c *cluster) write(ctx context.Context, name string, uid job.UID, do func(p *job.Pod)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	i := slices.IndexFunc(c.pods, func(p job.Pod) bool { return p.UID == uid })
	if uid != "" && i < 0 {
		return jobapply.ErrGone
	}
	c.writes = append(c.writes, name)
	switch {
	case do == nil:
	case i >= 0:
		do(&c.pods[i])
	default:
		do(nil)
	}
	if c.left--; c.left == 0 {
		c.cancel()
	}
	return nil
}

func (c *cluster) Adopt(ctx context.Context, p job.Claim) error {
	return c.write(ctx, "adopt "+p.Name, p.UID, func(p *job.Pod) { p.Owner, p.Untracked = jobpod.Owned, false })
}

func (c *cluster) Release(ctx context.Context, p job.Claim) error {
	return c.write(ctx, "release "+p.Name, p.UID, func(p *job.Pod) { p.Owner, p.Untracked = jobpod.Foreign, true })
}

func (c *cluster) Delete(ctx context.Context, d job.Deletion) error {
	err := c.write(ctx, "delete "+d.Name, d.UID, func(p *job.Pod) {
		p.Deletion, p.Untracked = &job.PodDeletion{Timestamp: at(c.now)}, p.Untracked || d.UntrackFirst
	})
	c.collect()
	return err
}

func (c *cluster) Untrack(ctx context.Context, u job.Untracking) error {
	err := c.write(ctx, "untrack "+u.Name, u.UID, func(p *job.Pod) { p.Untracked = true })
	c.collect()
	return err
}

// collect removes the pods that are deleted and carry no finalizer.
func (c *cluster) collect() {
	c.pods = slices.DeleteFunc(c.pods, func(p job.Pod) bool { return p.Deletion != nil && p.Untracked })
}

func (c *cluster) Create(ctx context.Context, creation job.Creation) (ref job.PodRef, err error) {
	name := fmt.Sprintf("%s%d", creation.NamePrefix, c.made)
	err = c.write(ctx, "create "+name, "", func(*job.Pod) {
		c.made++
		ref = job.PodRef{Name: name, UID: job.UID(name)}
		c.pods = append(c.pods, job.Pod{Name: name, UID: job.UID(name), Index: creation.Index})
	})
	return ref, err
}

func (c *cluster) WriteStatus(ctx context.Context, s job.Status) error {
	return c.write(ctx, "status", "", func(*job.Pod) { c.job.Status = s })
}

// round runs one round of the adapter. It cancels the round after the given number of writes, or
// never if the number is negative.
func (c *cluster) round(t *rapid.T, after int) (*job.Plan, job.Conclusion) {
	p, err := job.Reconcile(job.Snapshot{Job: c.job, Pods: slices.Clone(c.pods), Now: at(c.now), Memory: c.memory,
		Consistent: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if after == 0 {
		cancel()
	}
	c.writes, c.left, c.cancel = nil, after, cancel
	conclusion, err := jobapply.Executor{Parallel: 1}.Apply(ctx, c, &p)
	if conclusion.Retry != (err != nil) {
		t.Fatalf("retry %v, error %v", conclusion.Retry, err)
	}
	c.memory = conclusion.Memory
	return &p, conclusion
}

// quiet runs rounds until one writes nothing, and returns the number of those that wrote something.
func (c *cluster) quiet(t *rapid.T) (rounds int) {
	for c.round(t, -1); len(c.writes) > 0; c.round(t, -1) {
		if rounds++; rounds > 20 {
			t.Fatalf("no end: %v", c.writes)
		}
	}
	return rounds
}

// end lets pods succeed and time pass whenever the controller has nothing left to do, and returns
// the end of the job.
func (c *cluster) end(t *rapid.T) string {
	c.quiet(t)
	for more := true; more; more = c.quiet(t) > 0 {
		c.now += 3600 // every backoff is over
		for i := range c.pods {
			if p := &c.pods[i]; p.Phase < job.PodSucceeded && p.Owner == jobpod.Owned {
				p.Phase = job.PodSucceeded
			}
		}
	}
	s := c.job.Status
	return fmt.Sprintf("%s %d %d %s", s.Finished(), s.Succeeded, s.Failed, s.CompletedIndexes)
}

func drawCluster(t *rapid.T) *cluster {
	s := snapshot(rapid.Int32Range(0, 3).Draw(t, "parallelism"))
	completions := rapid.Int32Range(1, 5).Draw(t, "completions")
	s.Job.Spec.Completions = &completions
	s.Job.Spec.BackoffLimit = ptr[int32](100)
	if !rapid.Bool().Draw(t, "indexed") {
		s.Job.Spec.CompletionMode = job.NonIndexed
	}
	s.Job.Spec.Suspend = ptr(rapid.IntRange(0, 4).Draw(t, "suspended") == 0)
	c := &cluster{job: s.Job}
	for i := range rapid.IntRange(0, 6).Draw(t, "pods") {
		p := pod(fmt.Sprint("p", i), rapid.Int32Range(-1, 5).Draw(t, "index"), rapid.SampledFrom([]job.PodPhase{
			job.PodPending, job.PodRunning, job.PodSucceeded, job.PodFailed}).Draw(t, "phase"))
		p.Owner = rapid.SampledFrom([]jobpod.Ownership{jobpod.Owned, jobpod.Owned, jobpod.Owned, jobpod.OwnedUnmatched,
			jobpod.Orphan, jobpod.Foreign}).Draw(t, "owner")
		p.Untracked = p.Owner == jobpod.Orphan || rapid.IntRange(0, 4).Draw(t, "tracked") == 0
		c.pods = append(c.pods, p)
	}
	return c
}

func (c *cluster) clone() *cluster {
	out := *c
	out.pods = slices.Clone(c.pods)
	return &out
}

// TestJI26_CancelAnywhere cancels the context after each number of writes: no further write is
// started, the outcome shows the writes that took effect, and further rounds come to the same end.
func TestJI26_CancelAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		whole := c.clone()
		whole.round(t, -1)
		writes := whole.writes
		want := whole.end(t)

		for k := range len(writes) + 1 {
			cut := c.clone()
			p, conclusion := cut.round(t, k)
			o := conclusion.Outcome

			if diff := cmp.Diff(writes[:k], cut.writes,
				cmp.Transformer("", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
				t.Fatalf("cancelled after %d writes (-want +got):\n%s", k, diff)
			}
			if got := said(p, o); !slices.Equal(got, cut.writes) &&
				(o.Claimed.Result == jobreason.ResultDone || len(got) > 0) {
				t.Fatalf("cancelled after %d writes, the outcome says %v\nwritten: %v\n%s", k, got, cut.writes, p)
			}
			if !conclusion.Retry && k < len(writes) {
				t.Fatalf("cancelled after %d of %d writes, and there is no retry", k, len(writes))
			}
			if got := cut.end(t); got != want {
				t.Fatalf("cancelled after %d writes the job ends as %s\nwant %s", k, got, want)
			}
		}
	})
}

// said lists the writes that took effect according to the outcome. All claims have one common
// result, so they are listed only if all are done.
func said(p *job.Plan, o job.Outcome) []string {
	var out []string
	add := func(r jobreason.Result, format string, args ...any) {
		if r == jobreason.ResultDone {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}

	for _, ref := range p.Adopt {
		add(o.Claimed.Result, "adopt %s", ref.Name)
	}
	for _, ref := range p.Release {
		add(o.Claimed.Result, "release %s", ref.Name)
	}
	for i, e := range o.Deleted {
		add(e.Result, "delete %s", p.Delete[i].Name)
	}
	for _, e := range o.Created {
		add(e.Result, "create %s", e.Pod.Name)
	}

	add(o.Recorded.Result, "status")
	untrack := p.Record(o.Writes).Untrack
	for i, r := range o.Untracked {
		add(r.Result, "untrack %s", untrack[i].Name)
	}
	add(o.Settled.Result, "status")
	return out
}
