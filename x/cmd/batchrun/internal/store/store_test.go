package store

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store/storetest"
)

func open(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "state"))
	must.OK(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// A folder of the first version, which had no CronJobs, still works. A folder of a later version is
// refused.
func TestVersions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	must.OK(t, os.Mkdir(dir, 0o700))
	for _, version := range []string{"1", "99"} {
		text := "PRAGMA user_version = " + version
		if version == "1" {
			text = firstSchema + "INSERT INTO jobs (uid, namespace, name, created, manifest) VALUES ('u', 'default', 'old', 1, '{}');" + text
		}
		storetest.Exec(t, dir, text)
		s, err := Open(dir)
		if version == "99" {
			if err == nil {
				t.Error("a database of version 99 was opened")
			}
			continue
		}
		must.OK(t, err)
		if j, err := s.FindJob("old"); err != nil || j.UID != "u" || j.CronJob != "" || !j.Deleted.IsZero() {
			t.Errorf("%+v, %v", j, err)
		}
		s.Close()
	}
}

// A second object with the same name is refused (C13).
func TestNameIsTheLock(t *testing.T) {
	s := open(t)
	c, err := s.AddCronJob("default", "c", []byte("{}"), now)
	must.OK(t, err)
	run := Job{Namespace: "default", Name: "c-1", Created: now, Manifest: []byte("{}"), CronJob: c.UID, ScheduledTime: now}
	first, err := s.AddJob(run)
	must.OK(t, err)
	for _, again := range []Job{run, {Namespace: "default", Name: "c-1", Created: now, Manifest: []byte("{}")}} {
		if _, err := s.AddJob(again); !errors.Is(err, ErrExists) {
			t.Errorf("%+v: %v", again, err)
		}
	}
	jobs, err := s.JobsOf(c.UID)
	if err != nil || len(jobs) != 1 || jobs[0].UID != first.UID || !jobs[0].ScheduledTime.Equal(now) {
		t.Errorf("%+v, %v", jobs, err)
	}
}

// Objects that are marked for removal get no more pods and jobs. A CronJob is removed once it has
// no jobs.
func TestDeleted(t *testing.T) {
	s := open(t)
	c, err := s.AddCronJob("default", "c", []byte("{}"), now)
	must.OK(t, err)
	j, err := s.AddJob(Job{Namespace: "default", Name: "c-1", Created: now, Manifest: []byte("{}"), CronJob: c.UID})
	must.OK(t, err)
	pod := Pod{UID: "p", Job: j.UID, Name: "p", Created: now, Spec: []byte("{}")}
	must.OK(t, errors.Join(s.AddPod(pod), s.DeleteCronJob(c.UID, now)))
	pod.UID = "q"
	if err := s.AddPod(pod); !errors.Is(err, ErrNotFound) {
		t.Errorf("a pod of a deleted job: %v", err)
	}
	if _, err := s.AddJob(Job{Namespace: "default", Name: "c-2", Created: now, Manifest: []byte("{}"), CronJob: c.UID}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a job of a deleted CronJob: %v", err)
	}
	if jobs, err := s.JobsOf(c.UID); err != nil || len(jobs) != 0 {
		t.Errorf("%+v, %v", jobs, err)
	}
	must.OK(t, s.RemoveDeletedCronJobs())
	if _, err := s.CronJob(c.UID); err != nil {
		t.Errorf("a CronJob with a job left: %v", err)
	}
	must.OK(t, errors.Join(s.RemoveJob(j.UID), s.RemoveDeletedCronJobs()))
	if _, err := s.CronJob(c.UID); !errors.Is(err, ErrNotFound) {
		t.Errorf("an empty CronJob: %v", err)
	}
	if err := s.Conclude(j.UID, job.Memory{}, nil, now); !errors.Is(err, ErrNotFound) {
		t.Errorf("a round of a job that was removed: %v", err)
	}
}

// The end of a round removes its triggers and stores its events. Only the latest events are kept.
func TestConcludeCronJob(t *testing.T) {
	s := open(t)
	c, err := s.AddCronJob("default", "c", []byte("{}"), now)
	must.OK(t, err)
	first, err := s.AddTrigger(c.UID)
	must.OK(t, err)
	end := cronjob.Conclusion{Triggered: []string{first.ID}, Events: []job.Event{{Reason: "A"}, {Reason: "B"}}}
	for i := range keptEvents {
		must.OK(t, s.ConcludeCronJob(c.UID, &end, now.Add(time.Duration(i)*time.Second)))
	}
	events, err := s.CronJobEvents(c.UID)
	if err != nil || len(events) != keptEvents || !events[0].At.Equal(now.Add(keptEvents/2*time.Second)) {
		t.Errorf("%d events, %v", len(events), err)
	}
	must.OK(t, s.ConcludeCronJob(c.UID, &cronjob.Conclusion{Events: []job.Event{{Reason: "C"}}}, now.Add(time.Hour)))
	if events, err = s.CronJobEvents(c.UID); err != nil || events[len(events)-1].Reason != "C" {
		t.Errorf("a single event: %v, %v", events, err)
	}
	second, err := s.AddTrigger(c.UID)
	if err != nil || second.ID == first.ID {
		t.Errorf("the ID of a trigger was given again: %v, %v", second, err)
	}
	if left, err := s.Triggers(c.UID); err != nil || len(left) != 1 || left[0] != second {
		t.Errorf("%v, %v", left, err)
	}
}

// A round removes only the triggers that it has started, since another process may have requested
// more meanwhile.
func TestOtherTriggersStay(t *testing.T) {
	s := open(t)
	c, err := s.AddCronJob("default", "c", []byte("{}"), now)
	must.OK(t, err)
	var asked []cronjob.Trigger
	for range 3 {
		trigger, err := s.AddTrigger(c.UID)
		must.OK(t, err)
		asked = append(asked, trigger)
	}
	end := cronjob.Conclusion{Triggered: []string{asked[1].ID}}
	must.OK(t, s.ConcludeCronJob(c.UID, &end, now))
	if left, err := s.Triggers(c.UID); err != nil || len(left) != 2 || left[0] != asked[0] || left[1] != asked[2] {
		t.Errorf("%v, %v", left, err)
	}
}

func TestClock(t *testing.T) {
	s := open(t)
	if c, seen, err := s.Clock(); err != nil || !c.IsReal() || !seen.IsZero() {
		t.Errorf("%v, seen %v, %v", c, seen, err)
	}
	err := errors.Join(
		s.AddSpan(clock.Span{Real: now, Virtual: now, Speed: 2}), s.Saw(now.Add(time.Hour)), s.Saw(now.Add(time.Minute)))
	must.OK(t, err)
	c, seen, err := s.Clock()
	if err != nil || !seen.Equal(now.Add(time.Hour)) || !c.At(now.Add(time.Hour)).Equal(now.Add(2*time.Hour)) {
		t.Errorf("%v, seen %v, %v", c, seen, err)
	}

	next := clock.Span{Real: now.Add(2 * time.Hour), Virtual: now.Add(30 * time.Hour), Speed: 1}
	must.OK(t, s.AddSpan(next))
	c, seen, err = s.Clock()
	if err != nil || !seen.Equal(next.Virtual) || !c.At(next.Real.Add(time.Hour)).Equal(next.Virtual.Add(time.Hour)) {
		t.Errorf("after a second span: %v, seen %v, %v", c, seen, err)
	}
}

// An object that has not ended its first round has no memory. Its memory does not count as lost.
func TestNoMemoryIsNotLost(t *testing.T) {
	s := open(t)
	j, errJob := s.AddJob(Job{Namespace: "default", Name: "a", Created: now, Manifest: []byte("{}")})
	c, errCron := s.AddCronJob("default", "b", []byte("{}"), now)
	must.OK(t, errors.Join(errJob, errCron))
	storedJob, errJob := s.Job(j.UID)
	storedCron, errCron := s.CronJob(c.UID)
	must.OK(t, errors.Join(errJob, errCron))
	if !reflect.DeepEqual(storedJob.Memory, job.Memory{}) || !reflect.DeepEqual(storedCron.Memory, cronjob.Memory{}) {
		t.Errorf("%+v, %+v", storedJob.Memory, storedCron.Memory)
	}
}
