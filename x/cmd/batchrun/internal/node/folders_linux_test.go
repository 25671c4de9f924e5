package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod/podtest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store/storetest"
)

// folder returns the folder of a pod, which is prepared.
func (d *desk) folder(uid job.UID) pod.Folder {
	d.Helper()
	f := pod.Folder(d.Store.PodFolder(uid))
	must.OK(d, f.Prepare(d.pod(uid).Spec))
	return f
}

// write prepares the folder of a pod and writes a record, as a supervisor does.
func (d *desk) write(uid job.UID, name string, record any) pod.Folder {
	d.Helper()
	f := d.folder(uid)
	podtest.Write(d.T, f, name, record)
	return f
}

// begun returns the state of a pod whose container runs.
func begun() pod.State {
	c := jobpod.Container{Name: "main", State: jobpod.Running}
	return pod.State{Phase: job.PodRunning, Containers: []pod.Container{{Container: c}}}
}

// done returns the final state of a pod that has succeeded.
func done() pod.State {
	c := jobpod.Container{Name: "main", State: jobpod.Terminated}
	return pod.State{Phase: job.PodSucceeded, Done: true, Containers: []pod.Container{{Container: c}}}
}

// TestObserve: the state of a pod in the store follows from its record, its supervisor, and what the
// store has of it.
func TestObserve(t *testing.T) {
	final := begun()
	final.Done = true
	for _, c := range []struct {
		name   string
		stored pod.State
		record *pod.State
		isHeld bool
		want   string // the phase and the reason in the store
		node   string // what the node calls
	}{
		{"waits", pod.State{}, nil, false, "Pending ", ""},
		{"is about to begin", pod.State{}, nil, true, "Pending ", ""},
		{"runs", pod.State{}, ptr(begun()), true, "Running ", "p false false; notify Running"},
		{"has ended", begun(), ptr(done()), false, "Succeeded ", "p false true; notify Succeeded"},
		{"has ended, and its supervisor lives", begun(), ptr(done()), true, "Succeeded ", "p false true; notify Succeeded"},
		{"its supervisor is dead", begun(), ptr(begun()), false, "Failed SupervisorLost", "p false true; notify Failed"},
		{"its record is gone", begun(), nil, false, "Failed RecordLost", "warn; p false true; notify Failed"},
		{"its record is gone, and its supervisor lives", begun(), nil, true, "Running ", ""},
	} {
		d := newDesk(t, 0, &clock.Clock{})
		d.add("p", "/bin/true")
		must.OK(t, d.Store.SetState("p", c.stored))
		f := d.folder("p")
		if c.record != nil {
			d.write("p", "state.json", *c.record)
		}
		if c.isHeld {
			podtest.Hold(t, f)
		}

		var calls []string
		d.Output = func(p *store.Pod, here, end bool) { calls = append(calls, fmt.Sprint(p.Name, " ", here, " ", end)) }
		d.Notify = func(job.UID) { calls = append(calls, "notify "+d.pod("p").State.Phase.String()) }
		d.Warn = func(text string) {
			calls = append(calls, "warn")
			if !strings.HasPrefix(text, "pod p: "+string(f)) || !strings.HasSuffix(text, ": it counts as failed") {
				t.Errorf("%s: %s", c.name, text)
			}
		}
		must.OK(t, d.pass())
		s := d.pod("p").State
		got, wakes := s.Phase.String()+" "+s.Reason, strings.Count(c.node, "true; ") // once a pod has ended
		if got != c.want || strings.Join(calls, "; ") != c.node || len(d.wake) != wakes {
			t.Errorf("%s: %s after %q, woken %d times", c.name, got, calls, len(d.wake))
		}
	}
}

func ptr[T any](v T) *T { return &v }

// TestProbe: a record that has not changed is read once a second.
func TestProbe(t *testing.T) {
	for _, c := range []struct {
		isNew bool
		age   time.Duration
		want  int
	}{
		{false, 0, 0}, {false, probeInterval - 1, 0}, {false, probeInterval, 1}, {true, 0, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, 0, &clock.Clock{})
			d.add("p")
			k := &knowledge{stamp: d.write("p", "state.json", done()).Stamp(), probed: time.Now()}
			if c.isNew {
				k.stamp = pod.Stamp{}
			}
			d.known["p"] = k
			time.Sleep(c.age)
			if must.OK(t, d.pass()); len(d.shown) != c.want {
				t.Errorf("%+v: read %d times", c, len(d.shown))
			}
		})
	}
}

// TestCancel: a deleted pod that has not begun ends in the next pass, and its job is notified when it
// is gone. A pod that may begin is asked to stop.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 0, &clock.Clock{})
		d.add("p", "/bin/true")
		_, err := d.Store.DeletePod("p", 7, false, time.Now())
		must.OK(t, err)
		d.folder("p")
		must.OK(t, d.pass())
		s := d.pod("p").State
		if s.Phase != job.PodFailed || s.Reason != pod.ReasonNeverStarted {
			t.Errorf("%+v", s)
		}
		d.notified = nil
		must.OK(t, d.pass())
		if !d.pod("p").Gone || !slices.Equal(d.notified, []job.UID{d.job.UID}) || len(d.known) > 0 {
			t.Errorf("%+v, notified %v, known %v", d.pod("p"), d.notified, d.known)
		}
	})
}

// A pod that has begun is asked to stop within its grace period, and one that is about to begin
// immediately. Long after that its supervisor is killed.
func TestEnforce(t *testing.T) {
	for _, state := range []*pod.State{nil, ptr(begun())} {
		for _, isDeleted := range []bool{false, true} {
			d := newDesk(t, 0, &clock.Clock{})
			d.add("p", "/bin/true")
			f, grace := d.folder("p"), time.Duration(0)
			if state != nil {
				d.write("p", "state.json", *state)
				must.OK(t, d.Store.SetState("p", *state))
				grace = 7 * time.Second
			}
			isKilled := podtest.Hold(t, f)
			if isDeleted {
				_, err := d.Store.DeletePod("p", 7, false, time.Now())
				must.OK(t, err)
			}
			must.OK(t, d.pass())

			got, err := os.ReadFile(filepath.Join(string(f), "stop"))
			if (err == nil) != isDeleted {
				t.Errorf("deleted %v: %v", isDeleted, err)
			}
			d.add("other")
			other := d.folder("other")
			must.OK(t, other.Stop(grace))
			want, err := os.ReadFile(filepath.Join(string(other), "stop"))
			if must.OK(t, err); isDeleted && string(got) != string(want) {
				t.Errorf("%s, want %s", got, want)
			}

			podtest.AskedToStop(t, f, time.Now().Add(-time.Hour))
			d.known = map[job.UID]*knowledge{}
			must.OK(t, d.pass())
			if isKilled() != isDeleted {
				t.Errorf("deleted %v: its supervisor is killed, or ends by itself", isDeleted)
			}
		}
	}
}

// An error of one pod is returned with its name. It does not delay the others.
func TestPass_Problems(t *testing.T) {
	d := newDesk(t, 10, &clock.Clock{})
	for _, uid := range []job.UID{
		"stop", "lock", "never", "spec", "damaged", "start", "cgroup", "kill", "stored", "good",
	} {
		d.add(uid, "/bin/true")
	}
	// Folders lie where files are written.
	must.OK(t, os.Mkdir(filepath.Join(string(d.folder("stop")), "stop"), 0o700))
	must.OK(t, os.Mkdir(filepath.Join(string(d.folder("never")), "stop"), 0o700))
	d.known["never"] = &knowledge{launches: maxLaunches}
	d.write("stop", "state.json", done())
	must.OK(t, os.Mkdir(filepath.Join(string(d.folder("lock")), "lock"), 0o700))
	for _, uid := range []job.UID{"stop", "lock", "kill"} {
		_, err := d.Store.DeletePod(uid, 0, false, time.Now())
		must.OK(t, err)
	}
	must.OK(t, os.MkdirAll(filepath.Join(d.Store.PodFolder("spec"), "spec.json"), 0o700))
	// The record of a pod is lost, and so is its spec.
	must.OK(t, d.Store.SetState("damaged", begun()))
	storetest.Exec(t, d.Store.Dir, "UPDATE pods SET spec = '{' WHERE uid = 'damaged'")
	// The name of a process cannot have a zero byte.
	storetest.Exec(t, d.Store.Dir, `UPDATE pods SET spec = '{"name": "\u0000"}' WHERE uid = 'start'`)
	d.write("stored", "state.json", done())
	storetest.Exec(t, d.Store.Dir, storetest.Refuse("UPDATE OF state ON pods WHEN new.uid = 'stored'"))
	podtest.BadCgroup(t, d.write("cgroup", "state.json", begun()), false)
	podtest.BadCgroup(t, d.write("kill", "state.json", begun()), true)

	err := d.pass()
	for _, want := range []string{
		"pod stop: ", "pod lock: ", "pod never: ", "pod spec: ", "pod damaged: state.db: the spec of the pod: ",
		"pod start: start supervisor: ", "pod cgroup: ", "pod kill: ", "pod stored: ",
	} {
		if err == nil || strings.Count("\n"+err.Error(), "\n"+want) != 1 {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// They count as running, so that none begins twice.
	for _, uid := range []job.UID{"stop", "lock", "damaged", "cgroup", "kill", "stored"} {
		if n := d.known[uid].launches; n > 0 {
			t.Errorf("pod %s: launched %d times", uid, n)
		}
	}
	if n := d.known["never"].launches; n != maxLaunches {
		t.Errorf("a pod that has never begun: launched %d times", n)
	}
	for range 6000 {
		if d.pod("good").State.Phase == job.PodSucceeded {
			break
		}
		time.Sleep(10 * time.Millisecond)
		_ = d.pass() // it has fewer problems: a pod that cannot be started is given up
	}
	if d.pod("good").State.Phase != job.PodSucceeded || d.pod("stop").Gone || len(d.warned) > 0 {
		t.Errorf("good: %+v, warned %q", d.pod("good").State, d.warned)
	}
	if d.Kill() == nil {
		t.Error("a pod cannot be killed, and there is no error")
	}
}

// A pod that cannot be observed counts as running, so that it does not begin twice.
func TestPass_TooManyFiles(t *testing.T) {
	d := newDesk(t, 1, &clock.Clock{})
	d.add("p", "/bin/true")
	d.folder("p")
	must.OK(t, d.Store.Hurry()) // the database is open
	var limit, few unix.Rlimit
	must.OK(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	few = limit
	few.Cur = 3
	must.OK(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &few))
	err := d.pass()
	must.OK(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	if err == nil || strings.Count(err.Error(), "pod p: ") != 1 || d.known["p"].launches != 0 {
		t.Errorf("%v, %d launches", err, d.known["p"].launches)
	}
}

// A pod whose record alone cannot be read for now is neither lost, nor does it begin twice.
func TestPass_Unread(t *testing.T) {
	d := newDesk(t, 1, &clock.Clock{})
	d.add("p", "/bin/true")
	d.write("p", "guard.json", struct{}{})
	f, p := d.write("p", "state.json", done()), d.pod("p")
	podtest.Lease(t, filepath.Join(string(f), "state.json"))
	err := d.pass()
	_, lastErr := d.last(&p, f, time.Now())
	if !errors.Is(err, unix.EAGAIN) || !errors.Is(lastErr, unix.EAGAIN) || d.known["p"].launches != 0 {
		t.Errorf("%v, %v, %d launches", err, lastErr, d.known["p"].launches)
	}
}

// A supervisor that could not begin for a temporary reason is started again later. Its end wakes the
// node.
func TestPass_Again(t *testing.T) {
	d := newDesk(t, 1, &clock.Clock{})
	d.add("again", "/bin/true")
	must.OK(t, d.pass())
	select {
	case <-d.wake:
	case <-time.After(time.Minute):
		t.Fatal("not woken within a minute")
	}
	must.OK(t, d.pass())
	if k := d.known["again"]; k.launches != 0 || k.child != nil || k.notBefore.IsZero() {
		t.Errorf("%+v", k)
	}
	fds, err := filepath.Glob("/proc/self/fd/*")
	must.OK(t, err)
	for _, fd := range fds {
		if file, _ := os.Readlink(fd); file == pod.Folder(d.Store.PodFolder("again")).SupervisorLog() {
			t.Error("the log of a supervisor is left open")
		}
	}
}

// A node rests ten times as long as a pass has taken, unless it is woken. It looks for room only
// while it has pods.
func TestRun_Rest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 0, &clock.Clock{})
		begin, looks := time.Now(), []time.Duration(nil)
		d.room = func() error {
			looks = append(looks, time.Since(begin))
			if len(looks) == 2 && !d.looked.Equal(begin) {
				t.Errorf("looked for room at %v before", d.looked)
			}
			time.Sleep(time.Second)
			if len(looks) == 4 {
				return syscall.ENOSPC
			}
			return nil
		}
		must.OK(t, d.pass())
		if len(looks) > 0 {
			t.Error("no pod, and room is looked for")
		}

		d.add("p")
		time.AfterFunc(30*time.Second, d.Wake)
		if err := d.Node.Run(t.Context()); err == nil {
			t.Error("no error, and the disk is full")
		}
		const s = time.Second
		if want := []time.Duration{0, 11 * s, 22 * s, 30 * s}; !slices.Equal(looks, want) {
			t.Errorf("looked for room at %v", looks)
		}
	})
}

// A node sees what others write into the store after the interval.
func TestRun_Interval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 0, &clock.Clock{})
		d.add("p", "/bin/true")
		d.folder("p")
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		begin := time.Now()
		d.Notify = func(job.UID) { cancel() }
		time.AfterFunc(interval/2, func() {
			_, err := d.Store.DeletePod("p", 0, false, time.Now())
			must.OK(t, err)
		})
		if err := d.Node.Run(ctx); err != nil || time.Since(begin) != interval {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

// A deleted pod that has not begun is cancelled, whenever its supervisor could be started again. The
// node then makes another pass.
func TestUnbegun_Deleted(t *testing.T) {
	now := time.Now()
	for _, k := range []*knowledge{{}, {notBefore: now.Add(time.Hour)}} {
		d := newDesk(t, 1, &clock.Clock{})
		d.add("p", "/bin/true")
		f, p := d.folder("p"), d.pod("p")
		p.Deleted = now
		where, err := d.unbegun(&p, k, now)
		state, isBegun, readErr := f.State()
		if where != running || err != nil || len(d.wake) != 1 {
			t.Errorf("%v, %v, %d wake-ups", where, err, len(d.wake))
		}
		if !isBegun || readErr != nil || state.Reason != pod.ReasonNeverStarted {
			t.Errorf("%v, %+v, %v", isBegun, state, readErr)
		}
	}
}
