package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/control"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/logs"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod/podtest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store/storetest"
)

// TestAwait_Until: no more runs start when --until is reached, also if that is after several naps.
func TestAwait_Until(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, to := newTestSession(t, runOptions{}, 1)
		r.until = time.Now().Add(control.LongestNap * 5 / 2)
		notes := func() []string { synctest.Wait(); return to.all() }
		go func() {
			time.Sleep(control.LongestNap*5/2 - 1)
			before := notes()
			time.Sleep(2 * time.Nanosecond)
			after := notes()
			if len(before) > 0 || len(after) != 1 || !strings.Contains(after[0], "--until is reached") {
				t.Errorf("%q, and then %q", before, after)
			}
			r.ends <- result{job: &store.Job{Name: "j"}, status: job.Status{Conditions: ended(job.ConditionComplete, "")}}
		}()
		if status, err := r.await(nil); status != 0 || err != nil || r.left() != 0 {
			t.Errorf("status %d, %v", status, err)
		}
	})
}

// block makes a write fail after a second. It returns the function that ends this.
func block(t *testing.T, s *store.Store) (end func()) {
	t.Helper()
	must.OK(t, s.Hurry())
	return storetest.Block(t, s.Dir)
}

// TestAwait_Busy: how long jobs are tried to be suspended counts from the first attempt.
func TestAwait_Busy(t *testing.T) {
	for giveUp, want := range map[time.Duration]int{0: exitBroken, time.Minute: exitInterrupted} {
		synctest.Test(t, func(t *testing.T) {
			r, _ := newTestSession(t, runOptions{giveUp: giveUp}, 1)
			j := addJob(t, r.store, store.Job{Name: "j"}, job.Status{})
			l, err := control.NewLoop(r.store, r.clock, &j)
			must.OK(t, err)
			r.loops[j.UID] = &jobLoop{l, j}
			end := block(t, r.store)

			signals := make(chan os.Signal, 1)
			signals <- syscall.SIGINT
			time.AfterFunc(giveUp/2, func() {
				if giveUp > 0 {
					end()
				}
			})
			time.AfterFunc(time.Hour, func() { r.ends <- result{job: &j} })
			status, err := r.await(signals)
			isTold := err != nil && strings.HasSuffix(err.Error(), "; gave up after 0s")
			if status != want || isTold != (giveUp == 0) {
				t.Errorf("status %d, %v", status, err)
			}
			end()
			if stored, err := r.store.Job(j.UID); err != nil || stored.Held != (giveUp > 0) {
				t.Errorf("held %v, %v", stored.Held, err)
			}
		})
	}
}

// TestKeepTime: the time of a virtual clock is stored again and again, also after a write that
// fails.
func TestKeepTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, to := newTestSession(t, runOptions{giveUp: time.Minute}, 0)
		time.AfterFunc(interval, block(t, r.store))
		var err error
		r.clock, _, err = r.store.Clock()
		must.OK(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		must.OK(t, r.keepTime(ctx))
		if _, seen, err := r.store.Clock(); err != nil || !seen.Equal(r.clock.Now()) || len(to.lines) != 1 {
			t.Errorf("stored is %v at %v, %v; told %q", seen, r.clock.Now(), err, to.lines)
		}
		r.clock = clock.New(nil)
		must.OK(t, r.keepTime(t.Context())) // it has nothing to do
		must.OK(t, r.store.Close())
		if err := r.watchStore(t.Context()); err == nil {
			t.Error("the store is closed")
		}
	})
}

// TestSession_Clock: at its end, a session stores the time of a virtual clock.
func TestSession_Clock(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1) // the goroutine of package signal must not be in the bubble
	signal.Stop(signals)
	synctest.Test(t, func(t *testing.T) {
		r, _ := newTestSession(t, runOptions{}, 0)
		var err error
		r.clock, _, err = r.store.Clock()
		must.OK(t, err)
		// The loop of an object would store the time. Here only a removal is to be waited for.
		j := addJob(t, r.store, store.Job{Name: "j"}, job.Status{})
		addPod(t, r.store, store.Pod{UID: "p", Job: j.UID})
		_, err = r.store.DeleteJob(j.UID, now)
		must.OK(t, err)
		broken := errors.New("broken")
		time.AfterFunc(interval/4, func() { r.broken <- broken })
		_, err = r.run(objects{})
		_, seen, readErr := r.store.Clock()
		if !errors.Is(err, broken) || readErr != nil || !seen.Equal(r.clock.Now()) {
			t.Errorf("%v; stored is %v at %v, %v", err, seen, r.clock.Now(), readErr)
		}
	})
}

// TestHint: the zone and the time are those of the folder's clock.
func TestHint(t *testing.T) {
	zone := time.Local
	t.Cleanup(func() { time.Local = zone })
	synctest.Test(t, func(t *testing.T) {
		var err error
		time.Local, err = time.LoadLocation("Europe/Berlin")
		must.OK(t, err)
		r, to := newTestSession(t, runOptions{speed: 60}, 0)
		r.clock, _, err = r.store.Clock()
		must.OK(t, err)
		r.hint(given(t, []string{"j"}, nil), 0)
		if len(to.lines) != 4 || to.lines[0] != "note: images are not pulled: commands run as found on this machine" {
			t.Errorf("%q", to.lines)
		}

		to.lines = nil
		r.hint(manifest.Objects{}, 2)
		if len(to.lines) != 4 {
			t.Errorf("%q", to.lines)
		}
		for _, want := range []string{
			"note: times are in the zone CEST +02:00",
			"note: 2 other unfinished job(s) or CronJob(s) are left alone; run without FILE resumes them",
			"note: the clock of this state folder shows 2126-07-01 14:00:00 and runs at 60 times the machine's speed",
		} {
			if !slices.Contains(to.lines, want) {
				t.Errorf("%q, want %q", to.lines, want)
			}
		}
	})
}

// refusing is a pipe that nobody reads.
type refusing struct{ io.Writer }

func (refusing) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// TestFollowLogs: following a log ends with the error of the first write that fails, when the object
// is removed, or when the context ends.
func TestFollowLogs(t *testing.T) {
	s := newFolder(t)
	j := addJob(t, s, store.Job{Name: "j"}, job.Status{Conditions: ended(job.ConditionComplete, "")})
	addPod(t, s, store.Pod{UID: "p", Job: j.UID, State: pod.State{Phase: job.PodSucceeded}}, container("main"))
	writeLog(t, s, "p", "main.stdout", "line\nrest")
	var out, errs strings.Builder
	p := &program{rawOut: &out, rawErr: &errs, out: &out, err: &errs}
	o := logOptions{tail: -1}
	which, err := o.selected(time.Now())
	must.OK(t, err)
	if err := p.followLogs(t.Context(), s, "j", &o, which); err != nil || out.String() != "p | line\np | rest\n" {
		t.Errorf("%q, %v", &out, err)
	}

	// A log that was printed to its end is not printed again.
	pods, _, err := o.pods(s, "j")
	must.OK(t, err)
	out.Reset()
	following := &tailing{
		program: p, store: s, options: &o, which: which, open: map[job.UID]*logs.Reader{}, ended: map[job.UID]bool{},
		out: map[string]io.Writer{"stdout": &out, "stderr": &errs},
	}
	must.OK(t, errors.Join(following.pass(pods), following.pass(pods)))
	if out.String() != "p | line\np | rest\n" || len(following.open) > 0 {
		t.Errorf("%q, open %v", &out, following.open)
	}

	p.rawOut = refusing{}
	if err := p.followLogs(t.Context(), s, "j", &o, which); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("nobody reads: %v", err)
	}
}

// TestFollowLogs_Later: of a pod that is there from the beginning, logs -f prints the selected part,
// and of a later pod everything that its container prints.
func TestFollowLogs_Later(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFolder(t)
		j := addJob(t, s, store.Job{Name: "j"}, job.Status{})
		add := func(uid job.UID) {
			p := store.Pod{UID: uid, Job: j.UID, State: pod.State{Phase: job.PodRunning}}
			addPod(t, s, p, container("main"), container("other"))
			writeLog(t, s, uid, "main.stdout", "one\ntwo\n")
			writeLog(t, s, uid, "other.stdout", "nobody asks\n")
		}
		add("first")
		podtest.Hold(t, pod.Folder(s.PodFolder("first")))
		time.AfterFunc(3*followTime, func() {
			add("later")
			must.OK(t, s.SetState("first", pod.State{Phase: job.PodSucceeded}))
			must.OK(t, s.SetState("later", pod.State{Phase: job.PodSucceeded}))
			must.OK(t, s.SetStatus(j.UID, job.Status{Conditions: ended(job.ConditionComplete, "")}))
		})
		status, out, errs := call(s, "logs", "j", "-f", "-c", "main", "--tail", "1")
		if want := "first/main | two\nlater/main | one\nlater/main | two\n"; status != 0 || out != want || errs != "" {
			t.Errorf("status %d, %q, %q", status, out, errs)
		}
	})
}

// TestLogs_Since: --since counts from the time of the command.
func TestLogs_Since(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := newPod(t, container("main"))
		writeLog(t, s, "p", "main.stdout", "early\nlate\n")
		begin := time.Now()
		writeLog(t, s, "p", "main.stdout.times", fmt.Sprintf("0 %d\n6 %d\n",
			begin.Add(-3*time.Second).UnixNano(), begin.Add(-2*time.Second).UnixNano()))
		// A line may have been printed up to a second after its mark.
		for since, want := range map[string]string{"2001ms": "early\nlate\n", "2s": "late\n"} {
			if status, out, _ := call(s, "logs", "j", "--since", since); status != 0 || out != want {
				t.Errorf("%s: status %d, %q", since, status, out)
			}
		}
	})
}

// TestAwait_Collector: a session ends when the deleted jobs are gone, or when it is interrupted again.
func TestAwait_Collector(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name    string
		after   func(r *session, uid job.UID, signals chan os.Signal)
		status  int
		problem error
	}{
		{"gone", func(r *session, uid job.UID, _ chan os.Signal) { must.OK(t, r.store.RemoveJob(uid)) }, 0, nil},
		{"interrupted", func(_ *session, _ job.UID, signals chan os.Signal) { signals <- syscall.SIGINT }, exitInterrupted, nil},
		{"broken", func(r *session, _ job.UID, _ chan os.Signal) { r.broken <- broken }, exitInterrupted, broken},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, _ := newTestSession(t, runOptions{}, 0)
			j := addJob(t, r.store, store.Job{Name: "j"}, job.Status{})
			_, err := r.store.DeleteJob(j.UID, now)
			must.OK(t, err)
			signals := make(chan os.Signal)
			begin := time.Now()
			time.AfterFunc(interval*5/2, func() { c.after(r, j.UID, signals) })
			status, err := r.await(signals)
			if took := time.Since(begin); status != c.status || !errors.Is(err, c.problem) || took < interval*5/2 || took > 3*interval {
				t.Errorf("%s: status %d, %v, after %v", c.name, status, err, took)
			}
		})
	}
}

// TestStart: the loops of a session warn, and try again as long as the user allows.
func TestStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, to := newTestSession(t, runOptions{giveUp: 7 * time.Second}, 0)
		ctx, cancel := context.WithCancel(t.Context())
		r.ctx, r.settings.MaxLog, r.options.backoff.Base = ctx, 5, time.Minute
		j := addJob(t, r.store, store.Job{Name: "j"}, job.Status{})
		c := addCronJob(t, r.store, "c", `"schedule": "@yearly"`, cronjob.Status{})
		must.OK(t, r.startAll(objects{jobs: []store.Job{j}, cronJobs: []store.CronJob{c}}))
		synctest.Wait()
		loop, cron := r.loops[j.UID], r.crons[c.UID]
		loop.Warn("a")
		cron.Warn("b")
		isPatient := loop.Patience.Limit == 7*time.Second && cron.Patience.Limit == 7*time.Second
		isSet := loop.Settings.MaxLog == 5 && loop.Options.Backoff.Base == time.Minute
		if !isPatient || !isSet || r.left() != 2 || !slices.Equal(to.lines[len(to.lines)-2:], []string{"note: a", "note: b"}) {
			t.Errorf("%+v, %+v, told %q", loop, cron, to.lines)
		}
		cancel()
		r.group.Wait()
	})

	r, _ := newTestSession(t, runOptions{}, 0)
	bad := store.Job{Name: "j", Manifest: []byte("{")}
	if status, err := r.run(objects{jobs: []store.Job{bad}}); status != exitBadInput || err == nil {
		t.Errorf("status %d, %v", status, err)
	}
}

// TestReporter: on a terminal there are live lines, unless another output is asked for.
func TestReporter(t *testing.T) {
	outer, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	defer outer.Close()
	must.OK(t, unix.IoctlSetWinsize(int(outer.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	for output, want := range map[string][2]string{
		"json": {"*report.jsonLines", "*report.jsonLines"}, "plain": {"*report.plain", "*report.plain"},
		"auto": {"*report.live", "*report.plain"},
	} {
		var file strings.Builder
		for i, to := range []io.Writer{outer, &file} {
			p := &program{out: &file, err: &file, rawOut: to}
			got := p.reporter(runOptions{output: output}, clock.New(nil), false)
			if got.Close(); fmt.Sprintf("%T", got) != want[i] {
				t.Errorf("%s to a %T: %T", output, to, got)
			}
		}
	}
}

// TestIsolate: a mount must not hide the state folder. If there is another one, this machine's way
// to mount is found out.
func TestIsolate(t *testing.T) {
	s := newFolder(t)
	mounting := func(path string) []*manifest.Job {
		all := given(t, []string{"j"}, nil).Jobs
		c := &all[0].Object.Spec.Template.Spec.Containers[0]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "v", MountPath: path})
		return all
	}
	want, err := pod.ProbeIsolation(filepath.Join(s.Dir, "probe"))
	if got, gotErr := isolate(s, mounting("/elsewhere")); got != want || (err == nil) != (gotErr == nil) {
		t.Errorf("%q, %v; want %q, %v", got, gotErr, want, err)
	}
	if got, err := isolate(s, given(t, []string{"j"}, nil).Jobs); got != "" || err != nil {
		t.Errorf("without a mount: %q, %v", got, err)
	}
	o := runOptions{contain: "auto", speed: 1}
	if err := (&program{}).runIn(s, manifest.Objects{Jobs: mounting(s.Dir)}, o); err == nil || !strings.Contains(err.Error(), "it would hide the state folder") {
		t.Errorf("%v", err)
	}
}
