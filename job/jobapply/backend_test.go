//go:build go1.25

package jobapply_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
)

var errDown = errors.New("the API server is down")

// fake is a backend and an Expectations that records the calls.
type fake struct {
	mu    sync.Mutex
	calls []string
	// fail holds the errors of calls, by the text of a call or its first word.
	fail map[string]error
	// before, if set, is called with the text of each call.
	before func(call string)
	// took, if set, is the duration of each call.
	took            time.Duration
	running, atOnce int
	// earlier holds the pods whose finalizer an earlier round has removed. No snapshot shows that
	// yet.
	earlier []job.UID
	// together is true once a status was written while another call was running.
	together bool
}

func (f *fake) call(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	f.mu.Lock()
	f.calls = append(f.calls, text)
	f.running++
	f.atOnce = max(f.atOnce, f.running)
	f.together = f.together || text == "status" && f.running > 1
	f.mu.Unlock()

	if f.before != nil {
		f.before(text)
	}
	if f.took > 0 {
		time.Sleep(f.took)
	}

	f.mu.Lock()
	f.running--
	f.mu.Unlock()

	if err := f.fail[text]; err != nil {
		return err
	}
	word, _, _ := strings.Cut(text, " ")
	return f.fail[word]
}

func (f *fake) Adopt(_ context.Context, p job.Claim) error   { return f.call("adopt %s", p.Name) }
func (f *fake) Release(_ context.Context, p job.Claim) error { return f.call("release %s", p.Name) }
func (f *fake) Delete(_ context.Context, d job.Deletion) error {
	if d.UntrackFirst {
		return f.call("delete %s, finalizer first", d.Name)
	}
	return f.call("delete %s", d.Name)
}
func (f *fake) Untrack(_ context.Context, u job.Untracking) error {
	return f.call("untrack %s", u.Name)
}
func (f *fake) WriteStatus(context.Context, job.Status) error { return f.call("status") }
func (f *fake) Expect(creations, deletions int)               { f.note("expect %d %d", creations, deletions) }
func (f *fake) Lower(creations, deletions int)                { f.note("lower %d %d", creations, deletions) }
func (f *fake) ExpectUntracked(uids ...job.UID) []job.UID {
	f.note("untracking %s", strings.Trim(fmt.Sprint(uids), "[]"))
	return slices.DeleteFunc(slices.Clone(uids), func(uid job.UID) bool { return slices.Contains(f.earlier, uid) })
}
func (f *fake) LowerUntracked(uids ...job.UID) {
	f.note("tracked %s", strings.Trim(fmt.Sprint(uids), "[]"))
}
func (f *fake) Create(_ context.Context, c job.Creation) (job.PodRef, error) {
	name := fmt.Sprintf("%sx%d", c.NamePrefix, c.Index.Int32())
	group := ""
	if c.Group.Name != "" {
		group = " in " + string(c.Group.UID)
	}
	if err := f.call("create %d%s", c.Index.Int32(), group); err != nil {
		return job.PodRef{}, err
	}
	return job.PodRef{Name: name, UID: job.UID(name)}, nil
}

func (f *fake) WriteGroup(_ context.Context, g jobgroup.Write) (job.UID, error) {
	uid, text := job.UID("new "+g.Kind.String()), "group create"
	if g.UID != "" {
		uid, text = g.UID, "group resize"
	}
	if g.Workload.UID != "" {
		text += " in " + string(g.Workload.UID)
	}
	return uid, f.call("%s %s %d", text, g.Kind, g.MinCount)
}

func (f *fake) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
}

// count returns the number of calls that begin with the word.
func (f *fake) count(word string) (n int) {
	for _, call := range f.calls {
		if first, _, _ := strings.Cut(call, " "); first == word {
			n++
		}
	}
	return n
}

func ptr[T any](v T) *T { return &v }

func at(seconds int) time.Time { return time.Date(2026, 1, 1, 0, 0, seconds, 0, time.UTC) }

// snapshot returns an Indexed job with that parallelism and these pods.
func snapshot(parallelism int32, pods ...job.Pod) job.Snapshot {
	spec := job.Spec{
		Parallelism:    &parallelism,
		Completions:    ptr[int32](1000),
		CompletionMode: job.Indexed,
		Template:       job.Template{RestartPolicy: job.RestartNever},
	}
	job.Default(&spec)
	return job.Snapshot{Job: job.Job{Name: "j", UID: "job-1", Spec: spec}, Pods: pods, Now: at(0)}
}

// ending returns a job whose deadline has passed.
func ending(pods ...job.Pod) job.Snapshot {
	s := snapshot(1, pods...)
	s.Job.Spec.ActiveDeadlineSeconds = ptr[int64](0)
	return s
}

// gang makes the pods of a new job a gang.
func gang(s job.Snapshot) job.Snapshot {
	s.Options.Gangs = true
	s.Job.Spec.Scheduling = &jobgroup.Scheduling{SchedulingPolicy: &jobgroup.SchedulingPolicy{Gang: new(jobgroup.Gang)}}
	return s
}

// resized returns the snapshot of a started job with a gang. The existing workload and pod group
// have another size.
func resized(s job.Snapshot) job.Snapshot {
	s = gang(s)
	s.Job.Status.StartTime = at(0)
	s.Groups.Workloads = []jobgroup.Workload{{Ref: jobgroup.Ref{Name: "w", UID: "w"},
		Templates: []jobgroup.Template{{Name: "t", MinCount: 9}}}}
	s.Groups.PodGroups = []jobgroup.PodGroup{{Ref: jobgroup.Ref{Name: "g", UID: "g"}, Workload: "w", MinCount: 9}}
	return s
}

func pod(name string, index int32, phase job.PodPhase) job.Pod {
	return job.Pod{Name: name, UID: job.UID(name), Index: job.IndexAt(index), Phase: phase}
}

// many returns pods with the indexes below n.
func many(n int, phase job.PodPhase) (out []job.Pod) {
	for i := range n {
		out = append(out, pod(fmt.Sprintf("p%03d", i), int32(i), phase))
	}
	return out
}

func actives(n int) []job.Pod { return many(n, job.PodRunning) }

// apply carries out one round, on a backend on which these calls fail.
func apply(t *testing.T, s job.Snapshot, fail map[string]error) (*fake, job.Conclusion, error) {
	t.Helper()
	f := &fake{fail: fail}
	end, err := jobapply.Executor{Parallel: 1}.Apply(t.Context(), f, plan(t, s))
	return f, end, err
}

func plan(t *testing.T, s job.Snapshot) *job.Plan {
	t.Helper()
	p, err := job.Reconcile(s)
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

func results(effects []job.Effect) string {
	var out []string
	for _, e := range effects {
		out = append(out, e.Result.String())
	}
	return strings.Join(out, ", ")
}

// inBubble runs a test on virtual time.
func inBubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

func withOwner(p job.Pod, o jobpod.Ownership) job.Pod {
	p.Owner = o
	return p
}

// expecting is a backend with a record of its writes.
type expecting struct {
	*fake
	record jobapply.Expectations
}

func (e expecting) Expectations() jobapply.Expectations { return e.record }
