package control

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// A finished pod keeps its finalizer until it is counted, even if its end is not in the
// store yet (JI9).
func TestJI9_FinishedPodKeepsFinalizer(t *testing.T) {
	for _, where := range []string{"folder", "store"} {
		l := newLife(t, "Allow")
		j := l.addJob("j", "")
		p := store.Pod{UID: "p", Job: j.UID, Name: "j-p", Created: now, Spec: []byte("{}"), Tracked: true}
		must.OK(t, l.store.AddPod(p))
		changed := false
		b := &backend{store: l.store, uid: j.UID, now: now, changed: func() { changed = true }}
		b.manifest = loadManifest(t, &j)
		if where == "folder" {
			folder := pod.Folder(l.store.PodFolder(p.UID))
			must.OK(t, folder.Prepare(p.Spec))
			if done, err := folder.Cancel(now); !done || err != nil {
				t.Fatal(done, err)
			}
		} else if err := l.store.SetState(p.UID, pod.State{Phase: job.PodSucceeded, Done: true}); err != nil {
			t.Fatal(err)
		}
		err := b.Delete(context.Background(),
			job.Deletion{PodRef: job.PodRef{UID: p.UID, Name: p.Name}, UntrackFirst: true})
		pods, readErr := l.store.Pods(j.UID)
		if !errors.Is(err, store.ErrFinished) || readErr != nil || !pods[0].Tracked || !pods[0].Deleted.IsZero() {
			t.Errorf("%s: %v; %+v, %v", where, err, pods, readErr)
		}
		if where == "folder" && !changed {
			t.Error("no notification that the pod has finished")
		}
		// A deletion that does not remove the finalizer marks the pod as usual.
		err = b.Delete(context.Background(), job.Deletion{PodRef: job.PodRef{UID: p.UID, Name: p.Name}})
		if pods, readErr = l.store.Pods(j.UID); err != nil || readErr != nil || !pods[0].Tracked ||
			pods[0].Deleted.IsZero() {
			t.Errorf("%s: %v; %+v, %v", where, err, pods, readErr)
		}
	}
}

func (l *life) addJob(name string, cronJob job.UID) store.Job {
	l.Helper()
	j, err := l.store.AddJob(store.Job{Namespace: "default", Name: name, Created: now, Manifest: []byte(jobManifest), CronJob: cronJob})
	must.OK(l, err)
	return j
}

// If several triggers wait, each of them starts once.
func TestTriggersStart(t *testing.T) {
	l := newLife(t, "Allow")
	var want []string
	ask := func(n int) {
		for range n {
			asked, err := l.store.AddTrigger(l.cron.UID)
			must.OK(t, err)
			want = append(want, cronjob.Naming{}.TriggerName("c", asked))
		}
	}
	ask(3)
	for range 6 {
		if err := l.round(); err != nil {
			t.Error(err)
		}
	}
	ask(2)
	for range 6 {
		if err := l.round(); err != nil {
			t.Error(err)
		}
	}
	want = append(want, cronjob.Naming{}.JobName("c", now.Truncate(time.Minute)))
	made := l.made()
	if slices.Sort(made); !slices.Equal(made, slices.Sorted(slices.Values(want))) {
		t.Errorf("made %v, want %v", made, want)
	}
	if left, err := l.store.Triggers(l.cron.UID); err != nil || len(left) > 0 {
		t.Errorf("triggers left: %v, %v", left, err)
	}
}

// A job does not expire while its trigger is stored, since the trigger would start the job again.
func TestTTLWaitsForTrigger(t *testing.T) {
	l := newLife(t, "Allow")
	asked := cronjob.Trigger{ID: "7"}
	done := job.Status{Conditions: []job.Condition{{Type: job.ConditionComplete, Status: job.ConditionTrue, LastTransitionTime: now}}}
	for _, name := range []string{cronjob.Naming{}.TriggerName("c", asked), "c-other"} {
		j, err := l.store.AddJob(store.Job{Namespace: "default", Name: name, Created: now, CronJob: l.cron.UID,
			Manifest: []byte(`{"spec": {"ttlSecondsAfterFinished": 0}}`)})
		must.OK(t, err)
		must.OK(t, l.store.SetStatus(j.UID, done))
	}
	expire := func(triggers ...cronjob.Trigger) (left []string) {
		jobs, err := l.store.JobsOf(l.cron.UID)
		must.OK(t, err)
		b := &cronBackend{store: l.store, now: now, cronJob: &l.cron}
		if _, err := l.loop.expire(b, jobs, triggers, cronjob.Requeue{}, now); err != nil {
			t.Fatal(err)
		}
		if jobs, err = l.store.JobsOf(l.cron.UID); err != nil {
			t.Fatal(err)
		}
		for i := range jobs {
			left = append(left, jobs[i].Name)
		}
		return left
	}
	if left := expire(asked); !slices.Equal(left, []string{(cronjob.Naming{}).TriggerName("c", asked)}) {
		t.Errorf("left while the trigger waits: %v", left)
	}
	if left := expire(); len(left) > 0 {
		t.Errorf("left after that: %v", left)
	}
}

// If a job is marked for removal, its CronJob does not see it any more.
func TestLookAtDeletedJob(t *testing.T) {
	l := newLife(t, "Allow")
	j := l.addJob("c-1", l.cron.UID)
	b := &cronBackend{store: l.store, now: now, cronJob: &l.cron}
	if found, err := b.Get(context.Background(), "c-1"); err != nil || found.UID != j.UID ||
		found.Controller != l.cron.UID {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := l.store.DeleteJob(j.UID, now); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"c-1", "c-2"} {
		if found, err := b.Get(context.Background(), name); !errors.Is(err, cronjobapply.ErrGone) {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}

// The delay of retries grows, and is reset after a successful round.
func TestRetryDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiter(&clock.Clock{})
		took := func(retry bool) time.Duration {
			begin := time.Now()
			at := time.Time{}
			if !retry {
				at = begin.Add(time.Millisecond)
			}
			w.wait(context.Background(), at, retry)
			return time.Since(begin).Round(time.Millisecond)
		}
		for i, want := range []time.Duration{1, 2, 4, 0, 1, 2} {
			want *= time.Second
			if retry := want > 0; !retry {
				want = time.Millisecond
				if have := took(false); have != want {
					t.Errorf("step %d: %v, want %v", i, have, want)
				}
			} else if have := took(true); have != want {
				t.Errorf("step %d: %v, want %v", i, have, want)
			}
		}
	})
}
