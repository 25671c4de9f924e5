//go:build go1.25

package cronjobapply_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

var errDown = errors.New("the API server is down")

// fake is a backend that records the calls.
type fake struct {
	mu    sync.Mutex
	calls []string
	// fail holds the errors to return, by the text of the call or the first word of that text.
	fail map[string]error
	// jobs are the jobs that Get finds, by name.
	jobs map[string]cronjobapply.Job
	// made returns the result of Create; by default a job with only a UID.
	made func(c cronjob.Creation) cronjobapply.Job
	// before, if set, is called with the text of each call.
	before func(call string)
	// took is the duration of each call.
	took            time.Duration
	running, atOnce int
	status          cronjob.Status
}

func (f *fake) call(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	f.mu.Lock()
	f.calls = append(f.calls, text)
	f.running++
	f.atOnce = max(f.atOnce, f.running)
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

func (f *fake) Get(_ context.Context, name string) (cronjobapply.Job, error) {
	if err := f.call("look %s", name); err != nil {
		return cronjobapply.Job{}, err
	}
	if j, ok := f.jobs[name]; ok {
		return j, nil
	}
	return cronjobapply.Job{}, fmt.Errorf("look: %w", cronjobapply.ErrGone)
}

func (f *fake) Delete(_ context.Context, d cronjob.Deletion) error {
	if d.Foreground {
		return f.call("delete %s, pods first", d.Name)
	}
	return f.call("delete %s", d.Name)
}

func (f *fake) Create(_ context.Context, c cronjob.Creation) (cronjobapply.Job, error) {
	if err := f.call("create %s", c.Name); err != nil {
		return cronjobapply.Job{}, err
	}
	if f.made != nil {
		return f.made(c), nil
	}
	return cronjobapply.Job{Reference: cronjob.Reference{UID: job.UID("uid-of-" + c.Name)}}, nil
}

func (f *fake) WriteStatus(_ context.Context, s cronjob.Status) error {
	f.status = s
	return f.call("status")
}

func (f *fake) count(word string) (n int) {
	for _, call := range f.calls {
		if first, _, _ := strings.Cut(call, " "); first == word {
			n++
		}
	}
	return n
}

func at(hour int) time.Time { return time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC) }

// due is the name of the due run's job in the snapshots.
var due = cronjob.Naming{}.JobName("c", at(9))

// snapshot returns an hourly CronJob at nine o'clock. Its last run was at eight.
func snapshot(policy cronjob.ConcurrencyPolicy, change ...func(s *cronjob.Snapshot)) cronjob.Snapshot {
	c := cronjob.CronJob{Namespace: "ns", Name: "c", UID: "cron-1", Spec: cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: policy}}
	cronjob.Default(&c.Spec)
	c.Status.LastScheduleTime = at(8)
	s := cronjob.Snapshot{CronJob: c, Now: at(9), Schedule: cronjob.Compile(&c)}
	for _, f := range change {
		f(&s)
	}
	return s
}

// early sets a time at which nothing is due.
func early(s *cronjob.Snapshot) { s.Now = at(9).Add(-time.Minute) }

// active adds jobs to the active list, but not to the children.
func active(names ...string) func(s *cronjob.Snapshot) {
	return func(s *cronjob.Snapshot) {
		for _, name := range names {
			s.CronJob.Status.Active = append(s.CronJob.Status.Active,
				cronjob.Reference{Kind: "Job", APIVersion: "batch/v1", Namespace: "ns", Name: name, UID: job.UID("uid-of-" + name)})
		}
	}
}

// running adds jobs to the active list and to the children.
func running(names ...string) func(s *cronjob.Snapshot) {
	return func(s *cronjob.Snapshot) {
		active(names...)(s)
		for _, name := range names {
			s.Children = append(s.Children, cronjob.Child{Name: name, UID: job.UID("uid-of-" + name), StartTime: at(8)})
		}
	}
}

// finished adds n failed jobs. The history keeps one of them.
func finished(n int) func(s *cronjob.Snapshot) {
	return func(s *cronjob.Snapshot) {
		for i := range n {
			name := fmt.Sprintf("old-%03d", i)
			s.Children = append(s.Children, cronjob.Child{
				Name: name, UID: job.UID("uid-of-" + name), Finished: job.ConditionFailed, StartTime: at(0).Add(time.Duration(i) * time.Second)})
		}
	}
}

func triggers(ids ...string) func(s *cronjob.Snapshot) {
	return func(s *cronjob.Snapshot) {
		for _, id := range ids {
			s.Triggers = append(s.Triggers, cronjob.Trigger{ID: id})
		}
	}
}

func plan(t *testing.T, s cronjob.Snapshot) *cronjob.Plan {
	t.Helper()
	p, err := cronjob.Reconcile(s)
	must.OK(t, err)
	return &p
}

// results returns the results of effects as text.
func results(effects []cronjob.Effect) string {
	var out []string
	for _, e := range effects {
		out = append(out, e.Result.String())
	}
	return strings.Join(out, ", ")
}

// apply carries out the plan of a snapshot.
func apply(t *testing.T, f *fake, s cronjob.Snapshot) (*cronjob.Plan, cronjob.Conclusion, error) {
	t.Helper()
	p := plan(t, s)
	end, err := cronjobapply.Executor{}.Apply(t.Context(), f, p)
	return p, end, err
}

// checkError compares the text of an error; the empty text means no error.
func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if text := fmt.Sprint(err); err != nil && text != want || (err == nil) != (want == "") {
		t.Errorf("got error %v, want %q", err, want)
	}
}

// inBubble runs a test on virtual time.
func inBubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}
