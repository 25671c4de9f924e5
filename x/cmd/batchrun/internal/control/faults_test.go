package control

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod/podtest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store/storetest"
)

// still is a clock that shows now and hardly moves.
func still() *clock.Clock {
	return clock.New([]clock.Span{{Real: time.Now(), Virtual: now, Speed: 1e-9}})
}

// cut is the error of reading a status or a manifest that is cut.
const cut = "unexpected end of JSON input"

// A round of a job ends with the error of the step that fails.
func TestRound_Faults(t *testing.T) {
	for fault, want := range map[string]string{
		"UPDATE jobs SET status = '{'":               cut,
		"UPDATE jobs SET status = '{', deleted = 1":  cut,
		"ALTER TABLE pods RENAME TO lost":            "no such table: pods",
		"ALTER TABLE clock RENAME TO lost":           "no such table: clock",
		`UPDATE jobs SET status = '{"failed": -1}'`:  "job j: ",
		storetest.Refuse("UPDATE OF memory ON jobs"): "fault",

		"CREATE TRIGGER fault AFTER UPDATE OF memory ON jobs BEGIN UPDATE jobs SET status = '{'; END": cut,
	} {
		l := newLife(t, "Allow")
		j := l.addJob("j", "")
		loop := newLoop(t, l.store, &j)
		loop.Clock = still()
		l.exec(fault)
		b := &backend{store: l.store, uid: j.UID, manifest: loop.Manifest, changed: func() {}}
		r, retry, err := loop.round(t.Context(), b)
		if err == nil || !strings.Contains(err.Error(), want) || retry || !reflect.DeepEqual(r, Round{}) {
			t.Errorf("%s: %+v, %v, %v", fault, r, retry, err)
		}
	}
}

// A round of a CronJob ends with the error of the step that fails.
func TestCronRound_Faults(t *testing.T) {
	for fault, want := range map[string]string{
		"ALTER TABLE clock RENAME TO lost":                       "no such table: clock",
		"UPDATE cronjobs SET status = '{'":                       cut,
		"UPDATE cronjobs SET status = '{', deleted = 1":          cut,
		"UPDATE jobs SET status = '{' WHERE cronjob IS NOT NULL": cut,
		"UPDATE jobs SET status = '{' WHERE cronjob IS NULL":     cut,
		"ALTER TABLE triggers RENAME TO lost":                    "no such table: triggers",
		"UPDATE cronjobs SET created = 0":                        "CronJob c: ",
		storetest.Refuse("UPDATE OF memory ON cronjobs"):         "fault",
	} {
		l := newLife(t, "Allow")
		l.addJob("c-1", l.cron.UID)
		l.addJob("c-2", "")
		l.exec(fault)
		r, again, retry, err := l.loop.round(t.Context(), false)
		if err == nil || !strings.Contains(err.Error(), want) || again || retry || !reflect.DeepEqual(r, CronRound{}) {
			t.Errorf("%s: %+v, %v, %v, %v", fault, r, again, retry, err)
		}
	}
}

// A pass of the collector ends with the error of the step that fails.
func TestCollector_Faults(t *testing.T) {
	for fault, want := range map[string]string{
		"":                                 "",
		"UPDATE jobs SET status = '{'":     cut,
		"ALTER TABLE pods RENAME TO lost":  "no such table: pods",
		"UPDATE jobs SET manifest = '{'":   cut,
		"ALTER TABLE clock RENAME TO lost": "no such table: clock",
		"cgroup":                           "directory not empty",
		storetest.Refuse("UPDATE OF deleted ON pods"): "fault",
		storetest.Refuse("DELETE ON jobs"):            "fault",
		storetest.Refuse("DELETE ON cronjobs"):        "fault",
	} {
		l := newLife(t, "Allow")
		for name, phase := range map[job.UID]job.PodPhase{"ended": job.PodFailed, "running": job.PodRunning, "none": 0} {
			j := l.addJob(string(name), "")
			if name != "none" {
				p := store.Pod{UID: name, Job: j.UID, Spec: []byte("{}"), State: pod.State{Phase: phase, Done: phase == job.PodFailed}}
				must.OK(t, l.store.AddPod(p))
				must.OK(t, pod.Folder(l.store.PodFolder(name)).Prepare(p.Spec))
			}
			_, err := l.store.DeleteJob(j.UID, now)
			must.OK(t, err)
		}
		must.OK(t, l.store.DeleteCronJob(l.cron.UID, now))

		c := NewCollector(l.store, still())
		c.Stop, c.Changed = func(job.UID) {}, func() {}
		if fault == "cgroup" {
			podtest.BadCgroup(t, pod.Folder(l.store.PodFolder("ended")), false)
		} else {
			l.exec(fault)
		}
		_, err := c.Pass()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", fault, err)
		}
	}
}

// A collector makes passes while pods end, and otherwise when it is woken.
func TestCollector_Run(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLife(t, "Allow")
		begin := time.Now()
		first, second, third := l.addJob("first", ""), l.addJob("second", ""), l.addJob("third", "")
		running := pod.State{Phase: job.PodRunning}
		must.OK(t, l.store.AddPod(store.Pod{UID: "p", Job: first.UID, Spec: []byte("{}"), State: running}))
		remove := func(uid job.UID) {
			_, err := l.store.DeleteJob(uid, now)
			must.OK(t, err)
		}
		remove(first.UID)

		c := NewCollector(l.store, still())
		var passes []time.Duration
		c.Changed = func() {}
		c.Stop = func(uid job.UID) {
			passes = append(passes, time.Since(begin))
			if uid == second.UID { // a wake-up during a pass is kept
				remove(third.UID)
				c.Wake()
			}
		}
		time.AfterFunc(pause*3/2, func() {
			must.OK(t, l.store.SetState("p", pod.State{Phase: job.PodFailed, Done: true}))
		})
		time.AfterFunc(time.Hour, func() { remove(second.UID) })
		time.AfterFunc(2*time.Hour, c.Wake)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
		defer cancel()
		if err := c.Run(ctx); err != nil {
			t.Error(err)
		}
		if want := []time.Duration{0, pause, 2 * pause, 2 * time.Hour, 2 * time.Hour}; !slices.Equal(passes, want) {
			t.Errorf("passes at %v, want %v", passes, want)
		}
	})
}

// A loop tries again after a temporary failure. How long it does that counts from the beginning of
// the first round that failed.
func TestRun_Retry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLife(t, "Allow")
		j := l.addJob("j", "")
		must.OK(t, l.store.SetStatus(j.UID, status(job.ConditionComplete)))
		must.OK(t, l.store.Hurry())

		// Another process writes, and so the round fails.
		end := storetest.Block(t, l.store.Dir)
		loop, told := newLoop(t, l.store, &j), ""
		loop.Report = func(Round) {}
		loop.Patience.Limit = time.Second / 2
		loop.Warn = func(text string) {
			told += text
			end()
		}
		got, err := loop.Run(t.Context())
		if got.Finished() == "" || err != nil || !strings.HasSuffix(told, "; trying again in 500ms") {
			t.Errorf("%v, %v; told %q", got, err, told)
		}

		rounds := 0
		told = ""
		ctx, cancel := context.WithCancel(t.Context())
		l.loop.Report = func(CronRound) { cancel() }
		l.loop.Follow = func([]store.Job) error {
			if rounds++; rounds > 1 {
				return nil
			}
			time.Sleep(time.Second)
			return syscall.ENOSPC
		}
		l.loop.Patience.Limit = 3 * time.Second / 2
		l.loop.Warn = func(text string) { told += text }
		if err := l.loop.Run(ctx); rounds != 2 || told != "no space left on device; trying again in 500ms" {
			t.Errorf("%v after %d rounds; told %q", err, rounds, told)
		}
	})
}

// The loop of a CronJob sleeps until the next run is due, and that of a job until something changes.
func TestLoops_Sleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLife(t, "Allow")
		l.loop.Clock = clock.New([]clock.Span{{Real: time.Now(), Virtual: now, Speed: 1}})
		l.loop.clock = l.loop.Clock
		j := l.addJob("j", "")
		loop := newLoop(t, l.store, &j)
		rounds := func(run func(context.Context)) (n int) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			count := func() {
				if n++; n == 100 {
					cancel()
				}
			}
			l.loop.Report, loop.Report = func(CronRound) { count() }, func(Round) { count() }

			begin := time.Now()
			if run(ctx); time.Since(begin) != 5*time.Minute {
				t.Errorf("the loop ended after %v", time.Since(begin))
			}
			return n
		}
		if n := rounds(func(ctx context.Context) { _ = l.loop.Run(ctx) }); len(l.made()) != 7 || n < 1 || n > 20 {
			t.Errorf("%d rounds, made %q", n, l.made())
		}
		if n := rounds(func(ctx context.Context) { _, _ = loop.Run(ctx) }); n < 1 || n > 20 {
			t.Errorf("%d rounds of a job", n)
		}
	})
}

// A job does not expire in a round that writes: the status might not have it yet. A round that is
// held is reported if it has an event.
func TestCronRound_Expires(t *testing.T) {
	l := newLife(t, "Allow")
	three := int32(3)
	l.loop.Manifest.Spec.SuccessfulJobsHistoryLimit = &three
	j, err := l.store.AddJob(store.Job{
		Namespace: "default", Name: "c-1", Created: now, CronJob: l.cron.UID, ScheduledTime: now.Truncate(time.Minute),
		Manifest: []byte(`{"spec": {"ttlSecondsAfterFinished": 0}}`),
	})
	must.OK(t, err)
	must.OK(t, l.store.SetStatus(j.UID, status(job.ConditionComplete)))
	must.OK(t, l.store.SetCronJobStatus(l.cron.UID, cronjob.Status{
		Active: []cronjob.Reference{{Namespace: "default", Name: "c-1", UID: j.UID}}, LastScheduleTime: now.Truncate(time.Minute),
	}))

	var events []int
	deleted := 0
	l.loop.Busy = func() bool { return false }
	l.loop.Deleted = func() { deleted++ }
	l.loop.Report = func(r CronRound) {
		events = append(events, len(r.Events))
		if stored, err := l.store.Job(j.UID); err != nil || !stored.Deleted.IsZero() {
			t.Errorf("the job is deleted by a round that writes: %v, %v", stored.Deleted, err)
		}
	}
	l.loop.Hold()
	must.OK(t, l.loop.Run(t.Context()))
	stored, err := l.store.Job(j.UID)
	if err != nil || stored.Deleted.IsZero() || deleted != 1 || !slices.Equal(events, []int{1}) {
		t.Errorf("deleted %v, %d times, %v; rounds with %v events", stored.Deleted, deleted, err, events)
	}
}

// slowWrites is a backend whose deletions take a second each.
type slowWrites struct{ cronWrites }

func (w slowWrites) Delete(ctx context.Context, d cronjob.Deletion) error {
	time.Sleep(time.Second)
	return w.cronWrites.Delete(ctx, d)
}

// The writes of a round of a CronJob are made one after the other, as its backend needs it.
func TestCronRound_OneWriteAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLife(t, "Allow")
		for _, name := range []string{"c-1", "c-2", "c-3"} {
			must.OK(t, l.store.SetStatus(l.addJob(name, l.cron.UID).UID, status(job.ConditionComplete)))
		}
		l.loop.around = func(_ *cronjob.Snapshot, _ *cronjob.Plan, w cronWrites) cronWrites { return slowWrites{w} }
		begin := time.Now()
		must.OK(t, l.round())
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("three deletions took %v", took)
		}
	})
}

// A round with a write that failed is repeated after a delay, also if it has written something.
func TestCronLoop_Retry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLife(t, "Allow")
		l.exec(storetest.Refuse("INSERT ON jobs WHEN new.name LIKE '%-manual-2'"))
		for range 2 {
			_, err := l.store.AddTrigger(l.cron.UID)
			must.OK(t, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		begin, rounds := time.Now(), 0
		l.loop.Report = func(r CronRound) {
			if rounds++; r.Err == nil {
				cancel()
			}
			if rounds == 1 {
				l.exec("DROP TRIGGER fault")
			}
		}
		err := l.loop.Run(ctx)
		if took := time.Since(begin); rounds < 2 || took != time.Second || len(l.made()) < 2 {
			t.Errorf("%v: %d rounds in %v, made %q", err, rounds, took, l.made())
		}
	})
}

// TestPods: the plan sees failed pods that are accounted for if they can still end the job.
func TestPods(t *testing.T) {
	l := newLife(t, "Allow")
	j := l.addJob("j", "")
	for uid, state := range map[job.UID]pod.State{"open": {Phase: job.PodRunning}, "failed": {Phase: job.PodFailed}} {
		must.OK(t, l.store.AddPod(store.Pod{UID: uid, Job: j.UID, State: state}))
	}
	for _, c := range []struct {
		settled bool
		policy  *job.PodFailurePolicy
		want    int
	}{{false, nil, 1}, {false, &job.PodFailurePolicy{}, 2}, {true, &job.PodFailurePolicy{}, 1}} {
		loop := newLoop(t, l.store, &j)
		loop.settled, loop.Manifest.Spec.PodFailurePolicy = c.settled, c.policy
		if pods, err := loop.pods(); len(pods) != c.want || err != nil {
			t.Errorf("%+v: %d pods, %v", c, len(pods), err)
		}
	}
}
