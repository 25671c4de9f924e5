package store

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store/storetest"
)

func addJob(t *testing.T, s *Store, j Job) Job {
	t.Helper()
	if j.Namespace == "" {
		j.Namespace = "default"
	}
	if j.Created.IsZero() {
		j.Created = now
	}
	if j.Manifest == nil {
		j.Manifest = []byte("{}")
	}
	added, err := s.AddJob(j)
	must.OK(t, err)
	return added
}

func addCronJob(t *testing.T, s *Store, namespace, name string, at time.Time) CronJob {
	t.Helper()
	c, err := s.AddCronJob(namespace, name, []byte("{}"), at)
	must.OK(t, err)
	return c
}

func names(jobs []Job, err error) ([]string, error) {
	var out []string
	for i := range jobs {
		out = append(out, jobs[i].Key())
	}
	return out, err
}

func podNames(pods []Pod, err error) ([]string, error) {
	var out []string
	for i := range pods {
		out = append(out, pods[i].Name)
	}
	return out, err
}

func same(t *testing.T, what string, got any, err error, want any) {
	t.Helper()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got\n%+v, %v, want\n%+v", what, got, err, want)
	}
}

// A job is read as it was written, by its UID, by its name, and in the list.
func TestJob_AsWritten(t *testing.T) {
	s := open(t)
	c := addCronJob(t, s, "ns", "c", now)
	other := addJob(t, s, Job{Name: "other"})
	want := addJob(t, s, Job{
		Namespace:     "ns",
		Name:          "j",
		Created:       now.Add(time.Nanosecond),
		Manifest:      json.RawMessage(`{"a":1}`),
		CronJob:       c.UID,
		ScheduledTime: now.Add(-time.Minute),
	})
	if want.UID == "" || want.UID == other.UID || want.Key() != "ns/j" || other.Key() != "other" {
		t.Errorf("%q has UID %q, %q has %q", want.Key(), want.UID, other.Key(), other.UID)
	}

	want.Status = job.Status{Active: 2, StartTime: now}
	want.Memory = job.Memory{JobUID: want.UID, Backoff: backoff.Record{Failures: 3, LastFailure: now}}
	want.Manifest = json.RawMessage(`{"a":2}`)
	want.Held = true
	want.Deleted = now.Add(time.Second)
	events := []job.Event{
		{Type: job.EventWarning, Reason: "B", Message: "one"},
		{Type: job.EventNormal, Reason: "A", Message: "two"},
	}
	must.OK(t, errors.Join(
		s.SetStatus(want.UID, want.Status),
		s.SetHeld(want.UID, true),
		s.SetManifest(want.UID, want.Manifest),
		s.Conclude(want.UID, want.Memory, events, now),
		s.Conclude(want.UID, want.Memory, events[:1], now.Add(-time.Second)),
	))
	if found, err := s.DeleteJob(want.UID, want.Deleted); !found || err != nil {
		t.Errorf("DeleteJob: %v, %v", found, err)
	}

	got, err := s.Job(want.UID)
	same(t, "by UID", got, err, want)
	got, err = s.FindJob("ns/j")
	same(t, "by name", got, err, want)
	all, err := s.Jobs()
	same(t, "all", all, err, []Job{other, want})
	all, err = s.DeletedJobs()
	same(t, "deleted", all, err, []Job{want})

	at := func(e job.Event, at time.Time) StoredEvent { return StoredEvent{at, e} }
	stored, err := s.Events(want.UID)
	same(t, "events", stored, err,
		[]StoredEvent{at(events[0], now.Add(-time.Second)), at(events[0], now), at(events[1], now)})
	stored, err = s.Events(other.UID)
	same(t, "events of the other", stored, err, []StoredEvent(nil))

	must.OK(t, s.RemoveJob(want.UID))
	for _, key := range []string{"j", "ns/j", "ns/other"} {
		if _, err := s.FindJob(key); !errors.Is(err, ErrNotFound) || err.Error() != `job "`+key+`": not found` {
			t.Errorf("FindJob(%q): %v", key, err)
		}
	}
	if _, err := s.Job(want.UID); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if stored, err = s.Events(want.UID); err != nil || len(stored) > 0 {
		t.Errorf("a removed job has events: %v, %v", stored, err)
	}
	if got, err := s.FindJob("default/other"); err != nil || got.UID != other.UID {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestDeleteJob: a job keeps the time of its first deletion.
func TestDeleteJob(t *testing.T) {
	s := open(t)
	j, other := addJob(t, s, Job{Name: "j"}), addJob(t, s, Job{Name: "other"})
	for i, want := range []bool{true, false} {
		if found, err := s.DeleteJob(j.UID, now.Add(time.Duration(i)*time.Hour)); found != want || err != nil {
			t.Errorf("call %d: %v, %v", i, found, err)
		}
	}
	if found, err := s.DeleteJob("unknown", now); found || err != nil {
		t.Errorf("an unknown job: %v, %v", found, err)
	}
	j.Deleted = now
	all, err := s.Jobs()
	same(t, "jobs", all, err, []Job{j, other})
}

// A CronJob is read as it was written, and its creation has no fraction of a second.
func TestCronJob_AsWritten(t *testing.T) {
	s := open(t)
	want, err := s.AddCronJob("ns", "c", []byte(`{"a":1}`), now.Add(time.Second-1))
	must.OK(t, err)
	early := addCronJob(t, s, "default", "c", now.Add(-time.Second))
	if want.Key() != "ns/c" || early.Key() != "c" || want.UID == "" || want.UID == early.UID || !want.Created.Equal(now) {
		t.Errorf("%+v, %+v", want, early)
	}

	want.Status = cronjob.Status{LastScheduleTime: now}
	want.Manifest = json.RawMessage(`{"a":2}`)
	must.OK(t, errors.Join(json.Unmarshal([]byte(`{"formatVersion":1,"schedule":"x"}`), &want.Memory),
		s.SetCronJobStatus(want.UID, want.Status), s.SetCronJobManifest(want.UID, want.Manifest),
		s.ConcludeCronJob(want.UID, &cronjob.Conclusion{Memory: want.Memory}, now)))
	if reflect.DeepEqual(want.Memory, cronjob.Memory{}) {
		t.Fatal("the memory of this test is empty")
	}

	got, err := s.CronJob(want.UID)
	same(t, "by UID", got, err, want)
	got, err = s.FindCronJob("ns/c")
	same(t, "by name", got, err, want)
	all, err := s.CronJobs()
	same(t, "all", all, err, []CronJob{early, want})

	if _, err := s.FindCronJob("ns/d"); !errors.Is(err, ErrNotFound) || err.Error() != `CronJob "ns/d": not found` {
		t.Error(err)
	}
	if _, err := s.CronJob("u"); !errors.Is(err, ErrNotFound) || err.Error() != `CronJob "u": not found` {
		t.Error(err)
	}
	if err := s.ConcludeCronJob("u", &cronjob.Conclusion{}, now); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if _, err := s.AddCronJob("ns", "c", []byte("{}"), now); err == nil {
		t.Error("a second CronJob has the same name")
	}
	if _, err := s.AddTrigger("u"); err == nil {
		t.Error("an unknown CronJob was triggered")
	}
}

// A write that fails is an error with its own reason, and nothing of its round is then stored.
func TestWrites_AllOrNothing(t *testing.T) {
	event := []job.Event{{Reason: "A"}}
	for _, c := range []struct {
		write string
		do    func(s *Store, j *Job, c *CronJob, trigger string) error
	}{
		{"INSERT ON events", func(s *Store, j *Job, _ *CronJob, _ string) error {
			return s.Conclude(j.UID, job.Memory{JobUID: j.UID}, event, now)
		}},
		{"UPDATE ON jobs", func(s *Store, j *Job, _ *CronJob, _ string) error {
			return s.Conclude(j.UID, job.Memory{JobUID: j.UID}, nil, now)
		}},
		{"INSERT ON cronjob_events", func(s *Store, _ *Job, c *CronJob, trigger string) error {
			return s.ConcludeCronJob(c.UID, &cronjob.Conclusion{Events: event, Triggered: []string{trigger}}, now)
		}},
		{"UPDATE ON cronjobs", func(s *Store, _ *Job, c *CronJob, trigger string) error {
			return s.ConcludeCronJob(c.UID, &cronjob.Conclusion{Triggered: []string{trigger}}, now)
		}},
		{"UPDATE ON cronjobs", func(s *Store, _ *Job, c *CronJob, trigger string) error {
			return s.ConcludeCronJob(c.UID, &cronjob.Conclusion{Events: event, Triggered: []string{trigger}}, now)
		}},
		{"DELETE ON triggers", func(s *Store, _ *Job, c *CronJob, trigger string) error {
			return s.ConcludeCronJob(c.UID, &cronjob.Conclusion{Triggered: []string{trigger}}, now)
		}},
		{"UPDATE ON cronjobs", func(s *Store, _ *Job, c *CronJob, _ string) error { return s.DeleteCronJob(c.UID, now) }},
		{"UPDATE ON jobs", func(s *Store, _ *Job, c *CronJob, _ string) error { return s.DeleteCronJob(c.UID, now) }},
		{"INSERT ON jobs", func(s *Store, _ *Job, _ *CronJob, _ string) error {
			_, err := s.AddJob(Job{Name: "k"})
			return err
		}},
		{"INSERT ON pods", func(s *Store, j *Job, _ *CronJob, _ string) error {
			return s.AddPod(Pod{UID: "p", Job: j.UID})
		}},
		{"UPDATE ON pods", func(s *Store, j *Job, _ *CronJob, _ string) error {
			_, err := s.DeletePod("old", 0, true, now)
			return err
		}},
	} {
		s := open(t)
		cron := addCronJob(t, s, "default", "c", now)
		j := addJob(t, s, Job{Name: "j", CronJob: cron.UID})
		trigger, err := s.AddTrigger(cron.UID)
		must.OK(t, errors.Join(err, s.AddPod(Pod{UID: "old", Job: j.UID, Tracked: true})))
		storetest.Exec(t, s.Dir, storetest.Refuse(c.write))

		err = c.do(s, &j, &cron, trigger.ID)
		if err == nil || errors.Is(err, ErrExists) || errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", c.write, err)
		}
		stored, err := s.Job(j.UID)
		same(t, "the job", stored, err, j)
		storedCron, err := s.CronJob(cron.UID)
		same(t, "the CronJob", storedCron, err, cron)
		if left, err := s.Triggers(cron.UID); err != nil || len(left) != 1 {
			t.Errorf("%s: the trigger is gone: %v, %v", c.write, left, err)
		}
	}
}

// errorOf returns the error of a call with a result.
func errorOf[T any](_ T, err error) error { return err }

// calls are all calls that read or write the database.
var calls = map[string]func(*Store) error{
	"AddCronJob":            func(s *Store) error { return errorOf(s.AddCronJob("a", "b", nil, now)) },
	"AddJob":                func(s *Store) error { return errorOf(s.AddJob(Job{})) },
	"AddPod":                func(s *Store) error { return s.AddPod(Pod{}) },
	"AddSpan":               func(s *Store) error { return s.AddSpan(clock.Span{}) },
	"AddTrigger":            func(s *Store) error { return errorOf(s.AddTrigger("u")) },
	"Bury":                  func(s *Store) error { return s.Bury("u") },
	"CheckPods":             func(s *Store) error { return errorOf(s.podUIDs()) },
	"Clock":                 func(s *Store) error { _, _, err := s.Clock(); return err },
	"Conclude":              func(s *Store) error { return s.Conclude("u", job.Memory{}, nil, now) },
	"ConcludeCronJob":       func(s *Store) error { return s.ConcludeCronJob("u", &cronjob.Conclusion{}, now) },
	"CronJob":               func(s *Store) error { return errorOf(s.CronJob("u")) },
	"CronJobEvents":         func(s *Store) error { return errorOf(s.CronJobEvents("u")) },
	"CronJobs":              func(s *Store) error { return errorOf(s.CronJobs()) },
	"DeleteCronJob":         func(s *Store) error { return s.DeleteCronJob("u", now) },
	"DeleteJob":             func(s *Store) error { return errorOf(s.DeleteJob("u", now)) },
	"DeletePod":             func(s *Store) error { return errorOf(s.DeletePod("u", 0, false, now)) },
	"DeletedJobs":           func(s *Store) error { return errorOf(s.DeletedJobs()) },
	"Events":                func(s *Store) error { return errorOf(s.Events("u")) },
	"FindCronJob":           func(s *Store) error { return errorOf(s.FindCronJob("u")) },
	"FindJob":               func(s *Store) error { return errorOf(s.FindJob("u")) },
	"Hurry":                 func(s *Store) error { return s.Hurry() },
	"Job":                   func(s *Store) error { return errorOf(s.Job("u")) },
	"Jobs":                  func(s *Store) error { return errorOf(s.Jobs()) },
	"JobsOf":                func(s *Store) error { return errorOf(s.JobsOf("u")) },
	"NamedAs":               func(s *Store) error { return errorOf(s.NamedAs(&CronJob{})) },
	"OpenOrFailedPods":      func(s *Store) error { return errorOf(s.OpenOrFailedPods("u")) },
	"OpenPods":              func(s *Store) error { return errorOf(s.OpenPods("u")) },
	"Pending":               func(s *Store) error { return errorOf(s.Pending()) },
	"Pods":                  func(s *Store) error { return errorOf(s.Pods("u")) },
	"RemoveDeletedCronJobs": func(s *Store) error { return s.RemoveDeletedCronJobs() },
	"RemoveJob":             func(s *Store) error { return s.RemoveJob("u") },
	"Saw":                   func(s *Store) error { return s.Saw(now) },
	"SetCronJobManifest":    func(s *Store) error { return s.SetCronJobManifest("u", nil) },
	"SetCronJobStatus":      func(s *Store) error { return s.SetCronJobStatus("u", cronjob.Status{}) },
	"SetHeld":               func(s *Store) error { return s.SetHeld("u", true) },
	"SetManifest":           func(s *Store) error { return s.SetManifest("u", nil) },
	"SetState":              func(s *Store) error { return s.SetState("u", pod.State{}) },
	"SetStatus":             func(s *Store) error { return s.SetStatus("u", job.Status{}) },
	"Triggers":              func(s *Store) error { return errorOf(s.Triggers("u")) },
	"Untrack":               func(s *Store) error { return errorOf(s.Untrack("u")) },
	"Version":               func(s *Store) error { return errorOf(s.Version()) },
}

// Without the database, each call is an error, and none says that nothing was found.
func TestClosed(t *testing.T) {
	s := open(t)
	must.OK(t, s.Close())
	for name, call := range calls {
		if err := call(s); err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, ErrExists) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of an object that cannot be marked, no call says that it exists.
func TestClosed_NotFound(t *testing.T) {
	s := open(t)
	must.OK(t, s.Close())
	for name, call := range map[string]func() (bool, error){
		"DeleteJob": func() (bool, error) { return s.DeleteJob("u", now) },
		"DeletePod": func() (bool, error) { return s.DeletePod("u", 0, false, now) },
		"Untrack":   func() (bool, error) { return s.Untrack("u") },
	} {
		if found, err := call(); found || err == nil {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}

// A time after the year 9999 cannot be stored. It is an error, and what is stored stays.
func TestTooLate(t *testing.T) {
	s, late := open(t), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	c := addCronJob(t, s, "default", "c", now)
	j := addJob(t, s, Job{Name: "j"})
	must.OK(t, s.AddPod(Pod{UID: "p", Job: j.UID}))
	for name, err := range map[string]error{
		"AddPod":           s.AddPod(Pod{UID: "q", Job: j.UID, State: pod.State{ReadyTransition: late}}),
		"SetState":         s.SetState("p", pod.State{ReadyTransition: late}),
		"SetStatus":        s.SetStatus(j.UID, job.Status{StartTime: late}),
		"SetCronJobStatus": s.SetCronJobStatus(c.UID, cronjob.Status{LastScheduleTime: late}),
		"Conclude":         s.Conclude(j.UID, job.Memory{Backoff: backoff.Record{Failures: 1, LastFailure: late}}, nil, now),
	} {
		if err == nil {
			t.Errorf("%s has stored the year 10000", name)
		}
	}
	jobs, err := s.Jobs()
	same(t, "jobs", jobs, err, []Job{j})
	cronJobs, err := s.CronJobs()
	same(t, "CronJobs", cronJobs, err, []CronJob{c})
	if pods, err := s.Pods(j.UID); err != nil || len(pods) != 1 {
		t.Errorf("%+v, %v", pods, err)
	}
}

// A row that cannot be read is an error, and the database can still be used.
func TestDamagedRows(t *testing.T) {
	for damage, names := range map[string][]string{
		"UPDATE clock SET real = 'x'":                {"Clock"},
		"UPDATE cronjobs SET created = 'x'":          {"CronJobs", "CronJob", "FindCronJob"},
		"UPDATE cronjobs SET status = '{'":           {"CronJobs", "CronJob", "FindCronJob"},
		"UPDATE cronjobs SET memory = '['":           {"CronJobs", "CronJob", "FindCronJob"},
		"UPDATE jobs SET created = 'x'":              {"Jobs", "JobsOf", "Job", "FindJob"},
		"UPDATE jobs SET status = '{'":               {"Jobs", "JobsOf", "Job", "FindJob"},
		"UPDATE jobs SET memory = '['":               {"Jobs", "JobsOf", "Job", "FindJob"},
		"UPDATE jobs SET deleted = 1, created = 'x'": {"DeletedJobs"},
		"UPDATE events SET at = 'x'":                 {"Events"},
		"UPDATE cronjob_events SET at = 'x'":         {"CronJobEvents"},
		"UPDATE pods SET created = 'x'":              {"Pods", "OpenPods", "OpenOrFailedPods", "Pending"},
		"UPDATE pods SET state = '{'":                {"Pods", "OpenPods", "OpenOrFailedPods", "Pending"},
	} {
		s := open(t)
		for _, text := range []string{
			"INSERT INTO clock VALUES (1, 1, 1, 1)",
			"INSERT INTO cronjobs (uid, namespace, name, created, manifest) VALUES ('u', 'default', 'u', 1, '{}')",
			"INSERT INTO jobs (uid, namespace, name, created, manifest, cronjob) VALUES ('u', 'default', 'u', 1, '{}', 'u')",
			"INSERT INTO events VALUES ('u', 1, '', '', '')",
			"INSERT INTO cronjob_events VALUES ('u', 1, '', '', '')",
			"INSERT INTO pods (uid, job, name, created, spec, idx, failures, ignored, tracked, phase, state) " +
				"VALUES ('u', 'u', '', 1, '{}', 0, 0, 0, 0, 'Running', '{}')",
		} {
			_, err := s.db.Exec(text)
			must.OK(t, err)
		}
		for _, name := range names {
			must.OK(t, calls[name](s))
		}

		_, err := s.db.Exec(damage)
		must.OK(t, err)
		for _, name := range names {
			if err := calls[name](s); err == nil || errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %s: %v", damage, name, err)
			}
			if n := s.db.Stats().InUse; n > 0 {
				t.Fatalf("%s: %s keeps the connection, and the next call waits for it", damage, name)
			}
		}
	}
}

// TestTriggers: a trigger is listed with the ID that it was given, oldest first.
func TestTriggers(t *testing.T) {
	s := open(t)
	c := addCronJob(t, s, "default", "c", now)
	var want []cronjob.Trigger
	for range 11 {
		trigger, err := s.AddTrigger(c.UID)
		must.OK(t, err)
		want = append(want, trigger)
	}
	got, err := s.Triggers(c.UID)
	same(t, "triggers", got, err, want)
	if got[10].ID != "11" {
		t.Errorf("the ID of the last is %s", got[10].ID)
	}
}

// TestConcludeCronJob_Others: the end of a round neither removes nor counts what belongs to another
// CronJob, and 100 events are kept.
func TestConcludeCronJob_Others(t *testing.T) {
	s := open(t)
	a, b := addCronJob(t, s, "default", "a", now), addCronJob(t, s, "default", "b", now)
	trigger, err := s.AddTrigger(b.UID)
	must.OK(t, err)
	must.OK(t, s.ConcludeCronJob(b.UID, &cronjob.Conclusion{Events: []job.Event{{Reason: "B"}}}, now))
	end := cronjob.Conclusion{Events: slices.Repeat([]job.Event{{Reason: "A"}}, 101)}
	end.Triggered = []string{trigger.ID}
	must.OK(t, s.ConcludeCronJob(a.UID, &end, now))

	if left, err := s.Triggers(b.UID); err != nil || len(left) != 1 || left[0] != trigger {
		t.Errorf("triggers of b: %v, %v", left, err)
	}
	if left, err := s.Triggers(a.UID); err != nil || len(left) != 0 {
		t.Errorf("triggers of a: %v, %v", left, err)
	}
	for c, want := range map[*CronJob]int{&a: 100, &b: 1} {
		if events, err := s.CronJobEvents(c.UID); err != nil || len(events) != want {
			t.Errorf("%s has %d events, %v", c.Name, len(events), err)
		}
	}
}

// TestNamedAs has names on both sides of those that a CronJob's run can have.
func TestNamedAs(t *testing.T) {
	s := open(t)
	c, d := addCronJob(t, s, "default", "c", now), addCronJob(t, s, "default", "d", now)
	for _, name := range []string{"c", "c-", "c-1", "c.1", "c-~", "b-1", "c+1"} {
		addJob(t, s, Job{Name: name})
	}
	addJob(t, s, Job{Name: "c-2", CronJob: c.UID})
	addJob(t, s, Job{Name: "c-3", CronJob: d.UID})
	addJob(t, s, Job{Name: "c-4", Namespace: "other"})
	gone := addJob(t, s, Job{Name: "c-5"})
	_, err := s.DeleteJob(gone.UID, now)
	must.OK(t, err)

	got, err := names(s.NamedAs(&c))
	same(t, "jobs named as runs of c", got, err, []string{"c-1", "c-~", "c-3", "c-5"})
}

// TestDeleteCronJob: the jobs of a deleted CronJob get the time of its deletion, except those that
// have one, and those of others get none. A CronJob that is not deleted stays without jobs.
func TestDeleteCronJob(t *testing.T) {
	s := open(t)
	c, d := addCronJob(t, s, "default", "c", now), addCronJob(t, s, "default", "d", now)
	own, early := addJob(t, s, Job{Name: "c-1", CronJob: c.UID}), addJob(t, s, Job{Name: "c-2", CronJob: c.UID})
	other, none := addJob(t, s, Job{Name: "d-1", CronJob: d.UID}), addJob(t, s, Job{Name: "x"})
	_, err := s.DeleteJob(early.UID, now)
	must.OK(t, err)
	must.OK(t, errors.Join(s.DeleteCronJob(c.UID, now.Add(time.Hour)), s.DeleteCronJob(c.UID, now.Add(2*time.Hour))))

	own.Deleted, early.Deleted, c.Deleted = now.Add(time.Hour), now, now.Add(time.Hour)
	jobs, err := s.Jobs()
	same(t, "jobs", jobs, err, []Job{own, early, other, none})
	jobs, err = s.DeletedJobs()
	same(t, "deleted jobs", jobs, err, []Job{own, early})
	all, err := s.CronJobs()
	same(t, "CronJobs", all, err, []CronJob{c, d})

	must.OK(t, errors.Join(s.RemoveJob(own.UID), s.RemoveJob(early.UID), s.RemoveJob(other.UID),
		s.RemoveDeletedCronJobs()))
	all, err = s.CronJobs()
	same(t, "CronJobs that stay", all, err, []CronJob{d})
}

// TestChild: a job of the CronJob is a child with its times, and another job with its name is
// foreign.
func TestChild(t *testing.T) {
	j := Job{
		UID: "u", Name: "c-1", Created: now, Deleted: now.Add(1), ScheduledTime: now.Add(2), CronJob: "c",
		Status: job.Status{StartTime: now.Add(3)},
	}
	want := cronjob.Child{
		UID: "u", Name: "c-1", CreationTimestamp: now, DeletionTimestamp: now.Add(1), ScheduledTime: now.Add(2),
		StartTime: now.Add(3),
	}
	same(t, "a running job", j.Child("c"), nil, want)

	j.Status.CompletionTime = now.Add(4)
	j.Status.Conditions = []job.Condition{{Type: cronjob.Complete, Status: job.ConditionTrue, LastTransitionTime: now.Add(5)}}
	want.Finished, want.CompletionTime, want.FinishTime = cronjob.Complete, now.Add(4), now.Add(5)
	same(t, "a complete job", j.Child("c"), nil, want)

	want.Foreign = true
	same(t, "a job of another CronJob", j.Child("d"), nil, want)
}

// A pod is read as it was written.
func TestPod_AsWritten(t *testing.T) {
	s := open(t)
	j, other := addJob(t, s, Job{Name: "j"}), addJob(t, s, Job{Name: "other"})
	want := Pod{
		UID: "p", Job: j.UID, Name: "j-p", Created: now, Spec: json.RawMessage(`{"a":1}`), Index: 3, Failures: 4,
		Ignored: 5, Tracked: true, State: pod.State{Phase: job.PodRunning, Ready: true, ReadyTransition: now},
	}
	must.OK(t, errors.Join(s.AddPod(want), s.AddPod(Pod{UID: "q", Job: j.UID, Name: "early", Created: now.Add(-1)}),
		s.AddPod(Pod{UID: "r", Job: other.UID, Name: "other", Created: now})))
	pods, err := s.Pods(j.UID)
	if err != nil || len(pods) != 2 || pods[0].Name != "early" {
		t.Fatalf("%+v, %v", pods, err)
	}
	same(t, "the pod", pods[1], nil, want)

	want.State = pod.State{Phase: job.PodFailed, Reason: "Error"}
	must.OK(t, s.SetState(want.UID, want.State))
	pods, err = s.Pods(j.UID)
	same(t, "the pod with another state", pods[1], err, want)
	if err := s.AddPod(Pod{UID: "p", Job: j.UID}); err == nil {
		t.Error("a second pod has the UID of the first")
	}

	must.OK(t, s.RemoveJob(j.UID))
	if pods, err := s.Pods(j.UID); err != nil || len(pods) > 0 {
		t.Errorf("a removed job has pods: %+v, %v", pods, err)
	}
}

// The lists of pods, with a pod of each phase that has the finalizer or not, and is deleted or not.
func TestPods_Lists(t *testing.T) {
	s := open(t)
	j := addJob(t, s, Job{Name: "j"})
	for _, phase := range []job.PodPhase{job.PodPending, job.PodRunning, job.PodSucceeded, job.PodFailed} {
		for _, kind := range []string{"", " tracked", " deleted", " tracked deleted", " gone"} {
			name := phase.String() + kind
			p := Pod{UID: job.UID(name), Job: j.UID, Name: name, Created: now, State: pod.State{Phase: phase}}
			p.Tracked = kind == " tracked" || kind == " tracked deleted"
			must.OK(t, s.AddPod(p))
			if kind == " deleted" || kind == " tracked deleted" {
				_, err := s.DeletePod(p.UID, 0, false, now)
				must.OK(t, err)
			}
			if kind == " gone" {
				must.OK(t, s.Bury(p.UID))
			}
		}
	}

	running := []string{
		"Pending", "Pending tracked", "Pending deleted", "Pending tracked deleted",
		"Running", "Running tracked", "Running deleted", "Running tracked deleted",
	}
	got, err := podNames(s.OpenPods(j.UID))
	same(t, "OpenPods", got, err, append(slices.Clone(running),
		"Succeeded tracked", "Succeeded deleted", "Succeeded tracked deleted",
		"Failed tracked", "Failed deleted", "Failed tracked deleted"))
	got, err = podNames(s.OpenOrFailedPods(j.UID))
	same(t, "OpenOrFailedPods", got, err, append(slices.Clone(running),
		"Succeeded tracked", "Succeeded deleted", "Succeeded tracked deleted",
		"Failed", "Failed tracked", "Failed deleted", "Failed tracked deleted"))
	got, err = podNames(s.Pending())
	same(t, "Pending", got, err, append(slices.Clone(running), "Succeeded deleted", "Failed deleted"))

	all, err := s.Pods(j.UID)
	if err != nil || len(all) != 20 {
		t.Fatalf("%d pods, %v", len(all), err)
	}
	for i := range all {
		p := &all[i]
		isEnd := p.State.Phase == job.PodSucceeded || p.State.Phase == job.PodFailed
		if p.Finished() != isEnd || p.Gone != (p.Name == p.State.Phase.String()+" gone") {
			t.Errorf("%+v", *p)
		}
	}
}

// TestDeletePod: the first deletion decides the time and the grace period. A finished pod keeps its
// finalizer until it was counted.
func TestDeletePod(t *testing.T) {
	s := open(t)
	j := addJob(t, s, Job{Name: "j"})
	for _, p := range []Pod{
		{UID: "running", State: pod.State{Phase: job.PodRunning}},
		{UID: "untracked", State: pod.State{Phase: job.PodRunning}},
		{UID: "succeeded", State: pod.State{Phase: job.PodSucceeded}},
		{UID: "failed", State: pod.State{Phase: job.PodFailed}},
		{UID: "gone", State: pod.State{Phase: job.PodFailed}},
		{UID: "other", State: pod.State{Phase: job.PodRunning}},
	} {
		p.Job, p.Created, p.Tracked = j.UID, now, true
		must.OK(t, s.AddPod(p))
	}
	must.OK(t, s.Bury("gone"))

	for _, c := range []struct {
		uid     job.UID
		grace   int64
		untrack bool
		at      time.Time
		found   bool
		err     error
	}{
		{"running", 30, false, now, true, nil},
		{"running", 5, false, now.Add(time.Second), true, nil},
		{"untracked", 0, true, now, true, nil},
		{"succeeded", 0, true, now, true, ErrFinished},
		{"failed", 0, true, now, true, ErrFinished},
		{"failed", 7, false, now, true, nil},
		{"gone", 0, false, now, false, nil},
		{"unknown", 0, false, now, false, nil},
	} {
		if found, err := s.DeletePod(c.uid, c.grace, c.untrack, c.at); found != c.found || !errors.Is(err, c.err) {
			t.Errorf("DeletePod(%s, %d, %v): %v, %v", c.uid, c.grace, c.untrack, found, err)
		}
	}

	pods, err := s.Pods(j.UID)
	must.OK(t, err)
	type row struct {
		uid     job.UID
		deleted time.Time
		grace   int64
		tracked bool
	}
	var got []row
	for i := range pods {
		got = append(got, row{pods[i].UID, pods[i].Deleted, pods[i].GraceSeconds, pods[i].Tracked})
	}
	same(t, "pods", got, nil, []row{
		{"running", now.Add(30 * time.Second), 30, true},
		{"untracked", now, 0, false},
		{"succeeded", time.Time{}, 0, true},
		{"failed", now.Add(7 * time.Second), 7, true},
		{"gone", time.Time{}, 0, true},
		{"other", time.Time{}, 0, true},
	})

	for uid, want := range map[job.UID]bool{"succeeded": true, "gone": false, "unknown": false} {
		if found, err := s.Untrack(uid); found != want || err != nil {
			t.Errorf("Untrack(%s): %v, %v", uid, found, err)
		}
	}
	open, err := podNames(s.OpenPods(j.UID))
	if err != nil || len(open) != 4 { // not the pod that has succeeded and lost its finalizer, or the one that is gone
		t.Errorf("%q, %v", open, err)
	}
}

// TestView: the planner sees what is stored of a pod.
func TestView(t *testing.T) {
	p := Pod{UID: "u", Name: "n", Created: now, Index: 3, Failures: 4, Ignored: 5, State: pod.State{
		Phase: job.PodRunning, ReadyTransition: now.Add(1),
	}}
	want := job.Pod{UID: "u", Name: "n", Phase: job.PodRunning, Untracked: true, Index: job.IndexAt(3)}
	want.Detail = &job.PodDetail{
		CreationTimestamp: now, ReadyTransition: now.Add(1), FailureCount: 4, IgnoredFailureCount: 5,
	}
	same(t, "a pod that has not begun", p.View(), nil, want)

	container := jobpod.Container{Name: "c", State: jobpod.Running}
	p.State.Containers, p.State.Ready = []pod.Container{{Container: container}}, true
	p.Tracked, p.Deleted, p.GraceSeconds = true, now.Add(2), 6
	want.Untracked, want.Assigned, want.Ready = false, true, true
	want.Detail.Containers = []jobpod.Container{container}
	want.Deletion = &job.PodDeletion{Timestamp: now.Add(2), GracePeriodSeconds: 6}
	same(t, "a pod that is being deleted", p.View(), nil, want)
}
