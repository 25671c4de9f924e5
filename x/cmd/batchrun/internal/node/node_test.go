//go:build linux

package node

import (
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

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/patience"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
)

// If a supervisor cannot begin because the disk is full, it is started again as often as necessary.
// If it records nothing for another reason, the node gives up after some attempts, and the pod
// fails.
func TestUnbegun(t *testing.T) {
	for _, again := range []bool{true, false} {
		d := newDesk(t, 1, &clock.Clock{})
		d.add("p")
		p, folder, k, now := d.pod("p"), d.folder("p"), &knowledge{}, time.Now()
		for range maxLaunches + 2 {
			k.launches++
			k.child = &child{ended: make(chan struct{}), again: again}
			if where, err := d.unbegun(&p, k, now); where != running || err != nil {
				t.Errorf("while it runs: %v, %v", where, err)
			}
			close(k.child.ended)
			want, launches := waiting, k.launches
			switch {
			case again:
				want, launches = later, 0
			case launches >= maxLaunches:
				want = running
			}
			where, err := d.unbegun(&p, k, now)
			isWoken := len(d.wake) > 0
			if err != nil || where != want || k.launches != launches || isWoken && want != running {
				t.Errorf("after its end: %v, want %v, %v; %d launches, woken %v", where, want, err, k.launches, isWoken)
			}
			now = now.Add(time.Second)
		}
		if where, err := d.unbegun(&p, k, now); again && where != waiting || err != nil {
			t.Errorf("a second later: %v, %v", where, err)
		}
		if isWoken := len(d.wake) > 0; isWoken == again {
			t.Errorf("again %v: woken %v", again, isWoken)
		}
		state, begun, err := folder.State()
		if begun == again || err != nil || !again && state.Reason != pod.ReasonNeverStarted {
			t.Errorf("again %v: begun %v, %+v, %v", again, begun, state, err)
		}
	}
}

// If the record of a pod is cut, has a flipped bit or is gone, the pod counts as lost once none of
// its processes runs. The reason names the file, and other pods continue.
func TestLostRecord(t *testing.T) {
	d := newDesk(t, 0, &clock.Clock{})
	d.add("p")
	d.add("healthy")
	folder := d.folder("p")
	cancelled, err := folder.Cancel(time.Now())
	if !cancelled || err != nil {
		t.Fatal(cancelled, err)
	}
	path := filepath.Join(string(folder), "state.json")
	file, err := os.ReadFile(path)
	must.OK(t, err)

	check := func(what, path string) {
		d.warned = nil
		must.OK(t, d.Store.SetState("p", begun()))
		delete(d.known, "p")
		must.OK(t, d.pass())
		state := d.pod("p").State
		if state.Reason != pod.ReasonRecordLost || state.Phase != job.PodFailed || len(state.Containers) != 1 ||
			state.Containers[0].ExitCode != 137 {
			t.Fatalf("%s: %+v", what, state)
		}
		if !strings.Contains(state.Message, path) || len(d.warned) != 1 || !strings.Contains(d.warned[0], path) {
			t.Fatalf("%s: %q, and warned %q", what, state.Message, d.warned)
		}
	}
	for i := range file {
		must.OK(t, os.WriteFile(path, file[:i], 0o600))
		check("cut", path)
		flipped := slices.Clone(file)
		flipped[i] ^= 1 << (i % 8)
		must.OK(t, os.WriteFile(path, flipped, 0o600))
		check("flipped", path)
	}
	must.OK(t, os.Remove(path))
	check("gone", path)
	must.OK(t, os.RemoveAll(string(folder)))
	check("its folder is gone", path)
	must.OK(t, os.Symlink(t.TempDir(), string(folder)))
	check("its folder is a link", string(folder))
}

// While pods run, the node itself has nothing to write. It still notices that the disk is full, and
// gives up after the limit, however long an attempt takes. If there is room for a while, the limit
// starts again with the next failure.
func TestFullDisk(t *testing.T) {
	for _, test := range []struct{ limit, attempt, full, free time.Duration }{
		{limit: 0},
		{limit: time.Second},
		{limit: 3 * time.Second},
		{limit: 3 * time.Second, attempt: 700 * time.Millisecond},
		{limit: 3 * time.Second, attempt: 2500 * time.Millisecond},
		{limit: 10 * time.Minute},
		{limit: 3 * time.Second, full: 2500 * time.Millisecond, free: 3500 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, 0, &clock.Clock{})
			must.OK(t, d.Store.Room())
			d.add("p")
			d.Patience.Limit = test.limit
			told := 0
			d.Warn = func(text string) {
				if told++; !strings.Contains(text, "no space left") {
					t.Error(text)
				}
			}
			begin := time.Now()
			d.room = func() error {
				at := time.Since(begin)
				time.Sleep(test.attempt)
				if at >= test.full && at < test.free {
					return nil
				}
				return fmt.Errorf("state folder: %w", syscall.ENOSPC)
			}
			err := d.Node.Run(t.Context())
			var gaveUp *patience.GaveUp
			late := time.Since(begin) - test.free - test.limit
			if !errors.As(err, &gaveUp) || late < 0 || late > time.Second+test.attempt || test.limit > 0 && told == 0 {
				t.Errorf("%+v: %v, %v too late, %d times told", test, err, late, told)
			}
		})
	}
}
