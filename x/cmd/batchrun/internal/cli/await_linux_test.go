package cli

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/control"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// TestAwait_Until: no more runs start when --until is reached, also if that is after several naps.
func TestAwait_Until(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, to := newTestSession(t, runOptions{}, 1)
		r.until = time.Now().Add(control.LongestNap * 5 / 2)
		notes := func() int { synctest.Wait(); return len(to.lines) }
		go func() {
			time.Sleep(control.LongestNap*5/2 - 1)
			before := notes()
			time.Sleep(2)
			if after := notes(); before != 0 || after != 1 || !strings.Contains(to.lines[0], "--until is reached") {
				t.Errorf("%d and %d notes: %q", before, after, to.lines)
			}
			r.ends <- result{job: &store.Job{Name: "j"}, status: job.Status{Conditions: ended(job.ConditionComplete, "")}}
		}()
		if status, err := r.await(nil); status != 0 || err != nil || r.left() != 0 {
			t.Errorf("status %d, %v", status, err)
		}
	})
}

// TestAwait_Busy: how long jobs are tried to be suspended counts from the first attempt.
func TestAwait_Busy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newTestSession(t, runOptions{}, 1)
		j := addJob(t, r.store, store.Job{Name: "j"}, job.Status{})
		l, err := control.NewLoop(r.store, r.clock, &j)
		must.OK(t, err)
		r.loops[j.UID] = &jobLoop{l, j}
		must.OK(t, r.store.Hurry())
		db, err := sql.Open("sqlite", filepath.Join(r.store.Dir, "state.db"))
		must.OK(t, err)
		defer db.Close()
		other, err := db.Conn(t.Context())
		must.OK(t, err)
		defer other.Close()
		_, err = other.ExecContext(t.Context(), "BEGIN IMMEDIATE")
		must.OK(t, err)

		signals := make(chan os.Signal, 1)
		signals <- syscall.SIGINT
		status, err := r.await(signals)
		if status != exitBroken || err == nil || !strings.HasSuffix(err.Error(), "; gave up after 0s") {
			t.Errorf("status %d, %v", status, err)
		}
	})
}

// TestKeepTime: the time of a virtual clock is stored again and again.
func TestKeepTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newTestSession(t, runOptions{}, 0)
		var err error
		r.clock, _, err = r.store.Clock()
		must.OK(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		must.OK(t, r.keepTime(ctx))
		if _, seen, err := r.store.Clock(); err != nil || !seen.Equal(r.clock.Now()) {
			t.Errorf("stored is %v at %v, %v", seen, r.clock.Now(), err)
		}
		r.clock = clock.New(nil)
		must.OK(t, r.keepTime(t.Context())) // it has nothing to do
		must.OK(t, r.store.Close())
		if err := r.watchStore(t.Context()); err == nil {
			t.Error("the store is closed")
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
		r.hint(manifest.Objects{}, 2)
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
	writeLog(t, s, "p", "main.stdout", "line\n")
	var out, errs strings.Builder
	p := &program{rawOut: &out, rawErr: &errs, out: &out, err: &errs}
	o := logOptions{tail: -1}
	which, err := o.selected(time.Now())
	must.OK(t, err)
	if err := p.followLogs(t.Context(), s, "j", &o, which); err != nil || out.String() != "p | line\n" {
		t.Errorf("%q, %v", &out, err)
	}
	p.rawOut = refusing{}
	if err := p.followLogs(t.Context(), s, "j", &o, which); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("nobody reads: %v", err)
	}
}
