package control

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// TestWait has the ends of a wait: the plan's time, a retry, a wake-up, and the end of the context.
func TestWait(t *testing.T) {
	for _, c := range []struct {
		name  string
		at    time.Duration // until the plan's time; 0 means never
		retry bool
		wake  time.Duration
		end   time.Duration
		want  time.Duration
	}{
		{"the plan's time", 90 * time.Minute, false, 0, 0, 90 * time.Minute},
		{"a time that is over", -time.Second, false, 0, 0, 0},
		{"a retry before the plan's time", time.Hour, true, 0, 0, time.Second},
		{"the plan's time before a retry", time.Millisecond, true, 0, 0, time.Millisecond},
		{"a retry alone", 0, true, 0, 0, time.Second},
		{"a change", 0, false, 3 * time.Minute, 0, 3 * time.Minute},
		{"a change before the plan's time", time.Hour, false, time.Second, 0, time.Second},
		{"the end", 0, false, 0, 3 * time.Minute, 3 * time.Minute},
		{"a nanosecond", 1, false, 0, 0, 1},
		{"a change before the end", 0, false, time.Second, time.Minute, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWaiter(&clock.Clock{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			begin, at := time.Now(), time.Time{}
			if c.at != 0 {
				at = begin.Add(c.at)
			}
			if c.wake > 0 {
				time.AfterFunc(c.wake, w.Wake)
			}
			if c.end > 0 {
				time.AfterFunc(c.end, cancel)
			}
			if w.wait(ctx, at, c.retry); time.Since(begin) != c.want {
				t.Errorf("%s: waited %v, want %v", c.name, time.Since(begin), c.want)
			}
		})
	}
}

// A wake-up between two waits is kept, but only once.
func TestWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiter(&clock.Clock{})
		w.Wake()
		w.Wake()
		for _, want := range []time.Duration{0, time.Hour} {
			begin := time.Now()
			if w.wait(t.Context(), begin.Add(time.Hour), false); time.Since(begin) != want {
				t.Errorf("waited %v, want %v", time.Since(begin), want)
			}
		}
	})
}

// A loop reads the clock again after the longest nap, since the clock may have jumped.
func TestWait_Nap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		w := newWaiter(clock.New([]clock.Span{
			{Real: begin, Virtual: now, Speed: 1e-9},
			{Real: begin.Add(LongestNap / 2), Virtual: now.Add(time.Hour), Speed: 1e-9},
		}))
		if w.wait(t.Context(), now.Add(time.Hour), false); time.Since(begin) != LongestNap {
			t.Errorf("waited %v", time.Since(begin))
		}
	})
}

// A loop waits by the clock of its state folder, and retries by the machine's.
func TestWait_Clock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		w := newWaiter(clock.New([]clock.Span{{Real: begin, Virtual: now, Speed: 60}}))
		if w.wait(t.Context(), now.Add(time.Hour), false); time.Since(begin) != time.Minute {
			t.Errorf("an hour of the clock took %v", time.Since(begin))
		}
		begin = time.Now()
		if w.wait(t.Context(), time.Time{}, true); time.Since(begin) != time.Second {
			t.Errorf("the retry came after %v", time.Since(begin))
		}
	})
}

// TestNow: the time of a virtual clock is stored before it is used. The machine's is not stored.
func TestNow(t *testing.T) {
	l := newLife(t, "Allow")
	if got, err := Now(l.store, &clock.Clock{}); err != nil || time.Since(got) > time.Minute {
		t.Errorf("%v, %v", got, err)
	}
	if _, seen, err := l.store.Clock(); err != nil || !seen.IsZero() {
		t.Errorf("stored is %v, %v", seen, err)
	}

	span := clock.Span{Real: time.Now(), Virtual: now, Speed: 1000}
	must.OK(t, l.store.AddSpan(span))
	got, err := Now(l.store, clock.New([]clock.Span{span}))
	if _, seen, readErr := l.store.Clock(); err != nil || readErr != nil || !seen.Equal(got) {
		t.Errorf("%v, stored is %v, %v, %v", got, seen, err, readErr)
	}
}

// status returns the status of a job that has these conditions.
func status(conditions ...job.ConditionType) (s job.Status) {
	for _, c := range conditions {
		s.Conditions = append(s.Conditions, job.Condition{Type: c, Status: job.ConditionTrue, LastTransitionTime: now})
	}
	return s
}

// TestIsQuiet: a loop ends once the job has ended or is suspended, and no pod needs work.
func TestIsQuiet(t *testing.T) {
	running := store.Pod{State: pod.State{Phase: job.PodRunning}}
	tracked := store.Pod{State: pod.State{Phase: job.PodFailed}, Tracked: true}
	leaving := store.Pod{State: pod.State{Phase: job.PodSucceeded}, Deleted: now}
	counted := store.Pod{State: pod.State{Phase: job.PodSucceeded}}
	for _, c := range []struct {
		name    string
		status  job.Status
		held    bool
		suspend bool
		pods    []store.Pod
		want    bool
	}{
		{"a job that runs", status(), false, false, nil, false},
		{"a job that is held, and not suspended yet", status(), true, false, nil, false},
		{"a job that is to be suspended, and is not yet", status(), false, true, nil, false},
		{"a job that was suspended", status(job.ConditionSuspended), false, false, nil, false},
		{"a job that is held", status(job.ConditionSuspended), true, false, nil, true},
		{"a job that suspends itself", status(job.ConditionSuspended), false, true, nil, true},
		{"a job that is held, and has a pod", status(job.ConditionSuspended), true, false, []store.Pod{counted, running}, false},
		{"a job that has ended", status(job.ConditionComplete), false, false, []store.Pod{counted}, true},
		{"a job that has failed", status(job.ConditionFailed), false, false, []store.Pod{counted, counted}, true},
		{"a running pod", status(job.ConditionFailed), false, false, []store.Pod{running}, false},
		{"a pod to be counted", status(job.ConditionFailed), false, false, []store.Pod{counted, tracked}, false},
		{"a pod to be removed", status(job.ConditionFailed), false, false, []store.Pod{counted, leaving}, false},
	} {
		l := newLife(t, "Allow")
		j := l.addJob("j", "")
		for i, p := range c.pods {
			p.UID, p.Job = job.UID(rune('a'+i)), j.UID
			must.OK(t, l.store.AddPod(p))
			if !p.Deleted.IsZero() {
				_, err := l.store.DeletePod(p.UID, 0, false, p.Deleted)
				must.OK(t, err)
			}
		}
		loop := newLoop(t, l.store, &j)
		if c.suspend {
			loop.Manifest.Spec.Suspend = &c.suspend
		}
		j.Held = c.held
		if got, err := loop.isQuiet(&Round{Job: &j, Status: c.status}); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
		must.OK(t, l.store.Close())
		if got, err := loop.isQuiet(&Round{Job: &j, Status: status(job.ConditionComplete)}); got || err == nil {
			t.Errorf("%s, without the store: %v, %v", c.name, got, err)
		}
	}
}

// A held job or CronJob is planned as a suspended one. Its manifest stays as it is.
func TestSnapshot_Held(t *testing.T) {
	l := newLife(t, "Allow")
	j := l.addJob("j", "")
	j.Status, j.Memory = status(job.ConditionSuspended), job.Memory{JobUID: j.UID}
	loop := newLoop(t, l.store, &j)
	loop.Options.MaxIgnoredFailures = 3
	pods := []store.Pod{{UID: "p", Tracked: true}}
	for _, held := range []bool{true, false} {
		j.Held = held
		got := loop.snapshot(&j, pods, now)
		spec := loop.Manifest.Spec
		if held {
			spec.Suspend = &held
		}
		want := job.Snapshot{
			Job: job.Job{
				Namespace: "default", Name: "j", UID: j.UID, CreationTimestamp: now, Spec: spec, Status: j.Status,
			},
			Pods: []job.Pod{pods[0].View()}, Now: now, Memory: j.Memory, Consistent: true, Options: loop.Options,
		}
		if !reflect.DeepEqual(got, want) || loop.Manifest.Spec.Suspend != nil && *loop.Manifest.Spec.Suspend {
			t.Errorf("held %v: %+v, want %+v", held, got, want)
		}
	}

	must.OK(t, json.Unmarshal([]byte(`{"cronJobUID": "u"}`), &l.cron.Memory))
	l.cron.Status.LastScheduleTime = now
	triggers := []cronjob.Trigger{{ID: "7"}}
	for _, held := range []bool{true, false} {
		got := l.loop.snapshot(&l.cron, []store.Job{j}, triggers, now, held)
		spec := l.loop.Manifest.Spec
		if held {
			spec.Suspend = &held
		}
		want := &cronjob.Snapshot{
			CronJob: cronjob.CronJob{
				Namespace: "default", Name: "c", UID: l.cron.UID, CreationTimestamp: l.cron.Created, Spec: spec,
				Status: l.cron.Status,
			},
			Children: []cronjob.Child{j.Child(l.cron.UID)}, Triggers: triggers, Now: now, Schedule: l.loop.compiled,
			Memory: l.cron.Memory, Consistent: true,
		}
		if !reflect.DeepEqual(got, want) || *l.loop.Manifest.Spec.Suspend {
			t.Errorf("held %v: %+v, want %+v", held, got, want)
		}
	}
}

// A round counts the pods that have not begun, and reports what it has stored.
func TestRound_Report(t *testing.T) {
	l := newLife(t, "Allow")
	j := l.addJob("j", "")
	loop := newLoop(t, l.store, &j)
	first := round(t, loop)
	if first.Status.Active != 1 || first.Pending != 0 || len(first.Events) == 0 || first.Job.UID != j.UID ||
		first.Spec != &loop.Manifest.Spec || first.Now.IsZero() {
		t.Errorf("%+v", first)
	}
	if second := round(t, loop); second.Pending != 1 {
		t.Errorf("%d pods wait", second.Pending)
	}

	pods, err := l.store.OpenPods(j.UID)
	must.OK(t, err)
	if stored, err := l.store.Job(j.UID); err != nil || !loop.settled || !reflect.DeepEqual(*first.Job, stored) {
		t.Errorf("stored is %+v, %v; settled %v; reported is %+v", stored, err, loop.settled, first.Job)
	}
	begun := pod.Container{Container: jobpod.Container{Name: "a", State: jobpod.Running}}
	for _, state := range []pod.State{
		{Phase: job.PodPending, Containers: []pod.Container{begun}}, {Phase: job.PodFailed, Reason: pod.ReasonNeverStarted},
	} {
		must.OK(t, l.store.SetState(pods[0].UID, state))
		if third := round(t, loop); third.Pending != 0 {
			t.Errorf("%v: %d pods wait", state.Phase, third.Pending)
		}
	}
}

// TestLoop_Run: the loop of a removed job ends with ErrRemoved, and that of an ended job with its
// status.
func TestLoop_Run(t *testing.T) {
	l := newLife(t, "Allow")
	gone, leaving, done := l.addJob("gone", ""), l.addJob("leaving", ""), l.addJob("done", "")
	must.OK(t, errors.Join(l.store.RemoveJob(gone.UID), l.store.SetStatus(done.UID, status(job.ConditionComplete))))
	_, err := l.store.DeleteJob(leaving.UID, now)
	must.OK(t, err)
	for j, want := range map[*store.Job]error{&gone: ErrRemoved, &leaving: ErrRemoved, &done: nil} {
		loop, reports := newLoop(t, l.store, j), 0
		loop.Report = func(Round) { reports++ }
		got, err := loop.Run(t.Context())
		if !errors.Is(err, want) || (got.Finished() != "") != (want == nil) || (reports == 1) != (want == nil) {
			t.Errorf("%s: %v, %v after %d reports", j.Name, got, err, reports)
		}
	}

	runs := l.addJob("runs", "")
	loop := newLoop(t, l.store, &runs)
	loop.Settings.MaxLog = 5
	ctx, cancel := context.WithCancel(t.Context())
	loop.Report = func(Round) { cancel() }
	_, runErr := loop.Run(ctx)
	pods, err := l.store.Pods(runs.UID)
	var spec pod.Spec
	if err != nil || len(pods) != 1 || json.Unmarshal(pods[0].Spec, &spec) != nil || spec.MaxLog != 5 {
		t.Errorf("%v, %v: pods %+v", runErr, err, pods)
	}

	must.OK(t, l.store.Close())
	if _, err := newLoop(t, l.store, &done).Run(t.Context()); err == nil || errors.Is(err, ErrRemoved) {
		t.Errorf("the store is closed: %v", err)
	}
	if _, err := newLoop(t, l.store, &done).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the store is closed at the end: %v", err)
	}
	_, err = NewLoop(l.store, &clock.Clock{}, &store.Job{Namespace: "default", Name: "j", Manifest: []byte("{")})
	if err == nil || !strings.HasPrefix(err.Error(), "job j: ") {
		t.Errorf("a manifest that cannot be read: %v", err)
	}
}

// TestCronLoop_Run: the loop of a removed CronJob ends with ErrRemoved. A held one ends when nothing
// of it runs, starts nothing, and keeps its triggers for the next runner.
func TestCronLoop_Run(t *testing.T) {
	l := newLife(t, "Allow")
	_, err := l.store.AddTrigger(l.cron.UID)
	must.OK(t, err)
	busy := 0
	l.loop.Busy = func() bool { busy++; l.loop.Wake(); return busy < 3 }
	l.loop.Report = func(r CronRound) { t.Errorf("a round without an event is reported: %+v", r) }
	l.loop.Hold()
	if err := l.loop.Run(t.Context()); err != nil || busy != 3 {
		t.Errorf("%v after %d questions", err, busy)
	}
	if left, err := l.store.Triggers(l.cron.UID); err != nil || len(left) != 1 || len(l.made()) > 0 {
		t.Errorf("triggers %v, made %q, %v", left, l.made(), err)
	}

	// A loop that is not held starts the run and the triggered job, and then waits.
	l.restart()
	ctx, cancel := context.WithCancel(t.Context())
	rounds := 0
	l.loop.Report = func(r CronRound) {
		if rounds++; len(l.made()) == 2 && len(r.Events) == 0 {
			cancel()
		}
	}
	if err := l.loop.Run(ctx); !errors.Is(err, context.Canceled) || rounds < 2 || len(l.made()) != 2 {
		t.Errorf("%v after %d rounds, made %q", err, rounds, l.made())
	}

	if got := Compile(&l.cron, l.loop.Manifest).Created; !got.Equal(l.cron.Created) {
		t.Errorf("compiled for a CronJob of %v", got)
	}
	must.OK(t, l.store.DeleteCronJob(l.cron.UID, now))
	l.restart()
	if err := l.loop.Run(t.Context()); !errors.Is(err, ErrRemoved) {
		t.Errorf("a CronJob that is deleted: %v", err)
	}
	if l.exec("DELETE FROM jobs"); l.store.RemoveDeletedCronJobs() != nil || !errors.Is(l.loop.Run(t.Context()), ErrRemoved) {
		t.Error("a CronJob that is removed")
	}
	must.OK(t, l.store.Close())
	if err := l.loop.Run(t.Context()); err == nil || errors.Is(err, ErrRemoved) {
		t.Errorf("the store is closed: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if err := l.loop.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the store is closed at the end: %v", err)
	}
	_, err = NewCronLoop(l.store, &clock.Clock{}, &store.CronJob{Namespace: "default", Name: "c", Manifest: []byte("{")})
	if err == nil || !strings.HasPrefix(err.Error(), "CronJob c: ") {
		t.Errorf("a manifest that cannot be read: %v", err)
	}
}

// TestCronRound: what a round reports, and what a held one leaves out.
func TestCronRound(t *testing.T) {
	for _, held := range []bool{false, true} {
		l := newLife(t, "Forbid")
		followed := -1
		l.loop.Follow = func(jobs []store.Job) error { followed = len(jobs); return nil }
		if !held {
			first, _, _, err := l.loop.round(t.Context(), false)
			stored, readErr := l.store.CronJob(l.cron.UID)
			isStored := reflect.DeepEqual(first.CronJob.Status, stored.Status) && !stored.Status.LastScheduleTime.IsZero()
			if err != nil || readErr != nil || !isStored {
				t.Errorf("%v, %v: reported is %+v, stored is %+v", err, readErr, first.CronJob.Status, stored.Status)
			}
			must.OK(t, l.round())
		}
		r, again, retry, err := l.loop.round(t.Context(), held)
		if err != nil || retry || r.CronJob.UID != l.cron.UID || r.Now.Before(now) || r.Err != nil {
			t.Errorf("held %v: %+v, %v, %v, %v", held, r, again, retry, err)
		}
		if held && (followed != 0 || len(r.Waits) > 0 || !r.NextRun.IsZero()) {
			t.Errorf("held: followed %d, %+v", followed, r)
		}
		if !held && (followed != 1 || len(r.Waits) == 0 || r.NextRun.IsZero()) {
			t.Errorf("not held: followed %d, %+v", followed, r)
		}

		refused := errors.New("refused")
		l.loop.Follow = func([]store.Job) error { return refused }
		if _, _, _, err := l.loop.round(t.Context(), held); !errors.Is(err, refused) {
			t.Errorf("held %v: %v", held, err)
		}
	}
}

// TestExpire: a job that has not expired brings the next round forward to its expiry, and does not
// delay it.
func TestExpire(t *testing.T) {
	noTime := status(job.ConditionComplete)
	noTime.Conditions[0].LastTransitionTime = time.Time{}
	for _, c := range []struct {
		name    string
		spec    string
		status  job.Status
		next    time.Time
		want    time.Time
		expires bool
		problem string
	}{
		{"no round is due", `"ttlSecondsAfterFinished": 60`, status(job.ConditionComplete), time.Time{}, now.Add(time.Minute), false, ""},
		{"a later round", `"ttlSecondsAfterFinished": 60`, status(job.ConditionFailed), now.Add(time.Hour), now.Add(time.Minute), false, ""},
		{"an earlier round", `"ttlSecondsAfterFinished": 60`, status(job.ConditionComplete), now.Add(time.Second), now.Add(time.Second), false, ""},
		{"no TTL", ``, status(job.ConditionComplete), now.Add(time.Hour), now.Add(time.Hour), false, ""},
		{"a job that runs", `"ttlSecondsAfterFinished": 0`, status(), now.Add(time.Hour), now.Add(time.Hour), false, ""},
		{"an expired job", `"ttlSecondsAfterFinished": 0`, status(job.ConditionComplete), now.Add(time.Hour), now.Add(time.Hour), true, ""},
		{"a manifest that cannot be read", `"ttlSecondsAfterFinished": "x"`, status(job.ConditionComplete), time.Time{}, time.Time{}, false, "json: cannot unmarshal"},
		{"no time of the end", `"ttlSecondsAfterFinished": 60`, noTime, time.Time{}, time.Time{}, false, "job c-1: "},
		{"the same time as the round", `"ttlSecondsAfterFinished": 60`, status(job.ConditionFailed), now.Add(time.Minute), now.Add(time.Minute), false, ""},
	} {
		l := newLife(t, "Allow")
		j, err := l.store.AddJob(store.Job{
			Namespace: "default", Name: "c-1", Created: now, CronJob: l.cron.UID, Manifest: []byte(`{"spec": {` + c.spec + `}}`),
		})
		must.OK(t, err)
		j.Status = c.status
		b := &cronBackend{store: l.store, now: now, cronJob: &l.cron}
		next := cronjob.Requeue{At: c.next, Reason: cronjobreason.WaitNextRun}
		got, err := l.loop.expire(b, []store.Job{j}, nil, next, now)
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		hasProblem := strings.HasPrefix(problem, c.problem) && (problem == "") == (c.problem == "")
		if !got.At.Equal(c.want) || b.deleted != c.expires || !hasProblem {
			t.Errorf("%s: %v, deleted %v, %v", c.name, got.At, b.deleted, err)
		}
		if isKept := got == next; isKept != c.next.Equal(c.want) {
			t.Errorf("%s: %+v, was %+v", c.name, got, next)
		}
		if stored, err := l.store.Job(j.UID); err != nil || stored.Deleted.IsZero() == c.expires {
			t.Errorf("%s: %+v, %v", c.name, stored.Deleted, err)
		}

		must.OK(t, l.store.Close())
		b.deleted = false
		if _, err := l.loop.expire(b, []store.Job{j}, nil, next, now); c.expires && err == nil || b.deleted {
			t.Errorf("%s, without the store: deleted %v, %v", c.name, b.deleted, err)
		}
	}
}

// TestBackend_Writes: a created pod is stored with all that the plan says. A write that finds no pod
// is ErrGone, and a write that the node must know of wakes it.
func TestBackend_Writes(t *testing.T) {
	l := newLife(t, "Allow")
	j := l.addJob("j", "")
	changed := 0
	b := &backend{store: l.store, uid: j.UID, manifest: loadManifest(t, &j), now: now, changed: func() { changed++ }}
	grace := int64(7)
	b.manifest.Object.Spec.Template.Spec.TerminationGracePeriodSeconds = &grace
	creation := job.Creation{NamePrefix: "j-3-", Index: job.IndexAt(3), FailureCount: 4, IgnoredFailureCount: 5}
	ref, err := b.Create(t.Context(), creation)
	must.OK(t, err)

	pods, err := l.store.Pods(j.UID)
	if err != nil || len(pods) != 1 {
		t.Fatalf("%+v, %v", pods, err)
	}
	p := pods[0]
	var spec pod.Spec
	must.OK(t, json.Unmarshal(p.Spec, &spec))
	want := store.Pod{
		UID: ref.UID, Job: j.UID, Name: ref.Name, Created: now, Spec: p.Spec, Index: 3, Failures: 4, Ignored: 5, Tracked: true,
	}
	isNamed := len(ref.Name) > len("j-3-") && ref.Name[:len("j-3-")] == "j-3-"
	if !reflect.DeepEqual(p, want) || !isNamed || spec.UID != ref.UID || len(spec.Containers) != 1 || changed != 1 {
		t.Errorf("%+v, spec %+v, %d changes", p, spec, changed)
	}

	must.OK(t, b.Delete(t.Context(), job.Deletion{PodRef: ref}))
	must.OK(t, b.Untrack(t.Context(), job.Untracking{PodRef: ref}))
	pods, err = l.store.Pods(j.UID)
	if err != nil || pods[0].GraceSeconds != 7 || !pods[0].Deleted.Equal(now.Add(7*time.Second)) || pods[0].Tracked ||
		changed != 3 {
		t.Errorf("%+v, %v, %d changes", pods, err, changed)
	}

	none := job.PodRef{Name: "none", UID: "none"}
	for name, err := range map[string]error{
		"Delete":  b.Delete(t.Context(), job.Deletion{PodRef: none}),
		"Untrack": b.Untrack(t.Context(), job.Untracking{PodRef: none}),
	} {
		if !errors.Is(err, jobapply.ErrGone) || changed != 3 {
			t.Errorf("%s: %v, %d changes", name, err, changed)
		}
	}
	must.OK(t, b.WriteStatus(t.Context(), status(job.ConditionComplete)))
	if stored, err := l.store.Job(j.UID); err != nil || stored.Status.Finished() != job.ConditionComplete {
		t.Errorf("%+v, %v", stored.Status, err)
	}

	must.OK(t, l.store.Close())
	_, createErr := b.Create(t.Context(), creation)
	for name, err := range map[string]error{
		"Create":  createErr,
		"Delete":  b.Delete(t.Context(), job.Deletion{PodRef: ref}),
		"Untrack": b.Untrack(t.Context(), job.Untracking{PodRef: ref}),
	} {
		if err == nil || errors.Is(err, jobapply.ErrGone) || changed != 3 {
			t.Errorf("%s, the store is closed: %v, %d changes", name, err, changed)
		}
	}
}

// TestCronBackend_Writes: a created job is stored with its run. A name that is taken is ErrExists,
// and a job that is gone is ErrGone.
func TestCronBackend_Writes(t *testing.T) {
	l := newLife(t, "Allow")
	m, err := manifest.LoadCronJob(l.cron.Manifest)
	must.OK(t, err)
	b := &cronBackend{store: l.store, now: now, cronJob: &l.cron, manifest: m}
	creation := cronjob.Creation{Name: "c-1", ScheduledTime: now.Add(-time.Minute)}
	made, err := b.Create(t.Context(), creation)
	must.OK(t, err)
	want := cronjobapply.Job{
		Reference:  cronjob.Reference{Namespace: "default", Name: "c-1", UID: made.UID},
		Controller: l.cron.UID, CreationTimestamp: now,
	}
	stored, err := l.store.FindJob("c-1")
	if err != nil || made.UID == "" || !reflect.DeepEqual(made, want) || stored.UID != made.UID || stored.CronJob != l.cron.UID ||
		!stored.ScheduledTime.Equal(creation.ScheduledTime) || !b.wrote || b.deleted {
		t.Errorf("%+v, stored %+v, %v", made, stored, err)
	}
	if found, err := b.Get(t.Context(), "c-1"); err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("%+v, %v", found, err)
	}

	b.wrote = false
	if _, err := b.Create(t.Context(), creation); !errors.Is(err, cronjobapply.ErrExists) || b.wrote {
		t.Errorf("the name is taken: %v, %v", err, b.wrote)
	}
	if err := b.Delete(t.Context(), cronjob.Deletion{Reference: cronjob.Reference{UID: "none"}}); !errors.Is(err, cronjobapply.ErrGone) || b.wrote || b.deleted {
		t.Errorf("no such job: %v, %v, %v", err, b.wrote, b.deleted)
	}
	if err := b.Delete(t.Context(), cronjob.Deletion{Reference: cronjob.Reference{UID: made.UID}}); err != nil || !b.wrote || !b.deleted {
		t.Errorf("%v, %v, %v", err, b.wrote, b.deleted)
	}
	b.wrote = false
	if err := b.WriteStatus(t.Context(), cronjob.Status{}); err != nil || !b.wrote {
		t.Errorf("%v, %v", err, b.wrote)
	}

	must.OK(t, l.store.Close())
	_, createErr := b.Create(t.Context(), creation)
	_, getErr := b.Get(t.Context(), "c-1")
	for name, err := range map[string]error{
		"Create": createErr, "Get": getErr, "Delete": b.Delete(t.Context(), cronjob.Deletion{Reference: cronjob.Reference{UID: made.UID}}),
		"WriteStatus": b.WriteStatus(t.Context(), cronjob.Status{}),
	} {
		if err == nil || errors.Is(err, cronjobapply.ErrGone) || errors.Is(err, cronjobapply.ErrExists) {
			t.Errorf("%s, the store is closed: %v", name, err)
		}
	}
}

// TestCollector: a pass marks the pods that run, removes the folders of those that have ended, and
// the jobs of which nothing is left.
func TestCollector(t *testing.T) {
	l := newLife(t, "Allow")
	jobs := map[string]store.Job{}
	for _, name := range []string{"kept", "none", "running", "ended"} {
		jobs[name] = l.addJob(name, "")
		if name != "none" {
			p := store.Pod{UID: job.UID(name), Job: jobs[name].UID, Spec: []byte("{}"), Tracked: true, State: pod.State{Phase: job.PodRunning}}
			must.OK(t, errors.Join(l.store.AddPod(p), pod.Folder(l.store.PodFolder(p.UID)).Prepare(p.Spec)))
		}
		if name != "kept" {
			_, err := l.store.DeleteJob(jobs[name].UID, now)
			must.OK(t, err)
		}
	}
	must.OK(t, l.store.SetState("ended", pod.State{Phase: job.PodFailed, Done: true}))

	c := NewCollector(l.store, still())
	var stopped []job.UID
	changed := 0
	c.Changed = func() { changed++ }
	c.Stop = func(uid job.UID) {
		stopped = append(stopped, uid)
		if _, err := l.store.Job(uid); err != nil {
			t.Errorf("stopped after its end: %v", err)
		}
	}
	for pass, want := range []struct{ left, stopped, changed int }{{1, 3, 1}, {1, 1, 0}} {
		stopped, changed = nil, 0
		left, err := c.Pass()
		if left != want.left || err != nil || len(stopped) != want.stopped || changed != want.changed ||
			!slices.Contains(stopped, jobs["running"].UID) {
			t.Errorf("pass %d: %d left, %v; stopped %v, %d changes", pass, left, err, stopped, changed)
		}
	}

	var left []string
	all, err := l.store.Jobs()
	must.OK(t, err)
	for i := range all {
		left = append(left, all[i].Name)
	}
	if !slices.Equal(left, []string{"kept", "running"}) {
		t.Errorf("left are %q", left)
	}
	for uid, want := range map[job.UID]bool{"kept": true, "running": true, "ended": false} {
		if _, err := os.Stat(l.store.PodFolder(uid)); (err == nil) != want {
			t.Errorf("the folder of %s: %v", uid, err)
		}
	}
	pods, err := l.store.Pods(jobs["running"].UID)
	if err != nil || pods[0].GraceSeconds != 30 || !pods[0].Tracked || pods[0].Deleted.Before(now.Add(30*time.Second)) {
		t.Errorf("%+v, %v", pods, err)
	}

	// The CronJob is removed with the last of its jobs.
	must.OK(t, errors.Join(l.store.DeleteCronJob(l.cron.UID, now), l.store.SetState("running", pod.State{Phase: job.PodFailed})))
	if left, err := c.Pass(); left != 0 || err != nil {
		t.Errorf("%d left, %v", left, err)
	}
	if _, err := l.store.CronJob(l.cron.UID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the CronJob: %v", err)
	}
	must.OK(t, l.store.Close())
	if left, err := c.Pass(); left != 0 || err == nil {
		t.Errorf("the store is closed: %d, %v", left, err)
	}
	if err := c.Run(t.Context()); err == nil {
		t.Error("the store is closed, and the collector goes on")
	}
}
