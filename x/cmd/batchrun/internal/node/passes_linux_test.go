package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/leftover"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod/podtest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store/storetest"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && filepath.Base(os.Args[2]) == "again" {
		os.Exit(pod.ExitTryAgain) // as a supervisor that has no room to begin
	}
	pod.Main()
	podtest.Main()
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // supervisors end immediately
	os.Exit(leftover.Run(m))
}

// desk is a node with a job, whose passes the test runs.
type desk struct {
	*testing.T
	*Node
	job      store.Job
	notified []job.UID
	warned   []string
	shown    []string
}

func newDesk(t *testing.T, parallel int, c *clock.Clock) *desk {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "state"))
	must.OK(t, err)
	t.Cleanup(func() { s.Close() })
	d := &desk{T: t}
	d.job, err = s.AddJob(store.Job{Namespace: "default", Name: "j", Created: time.Now(), Manifest: []byte("{}")})
	must.OK(t, err)
	d.Node = New(s, c, parallel, func(uid job.UID) { d.notified = append(d.notified, uid) })
	d.Warn = func(text string) { d.warned = append(d.warned, text) }
	d.Output = func(p *store.Pod, here, end bool) { d.shown = append(d.shown, fmt.Sprint(p.Name, " ", here, " ", end)) }
	d.Containment = containment()
	return d
}

var containment = sync.OnceValue(func() pod.Containment {
	c, err := pod.ChooseContainment("auto", pod.ProbeContainment)
	if err != nil {
		panic(err)
	}
	return c
})

// add stores a pod whose container runs a command, or has none.
func (d *desk) add(uid job.UID, argv ...string) {
	d.Helper()
	spec := pod.Spec{UID: uid, RestartPolicy: job.RestartNever, Containers: []pod.ContainerSpec{{Name: "main", Argv: argv}}}
	data, err := json.Marshal(spec)
	must.OK(d, err)
	must.OK(d, d.Store.AddPod(store.Pod{UID: uid, Job: d.job.UID, Name: string(uid), Created: time.Now(), Spec: data}))
}

func (d *desk) pod(uid job.UID) store.Pod {
	d.Helper()
	pods, err := d.Store.Pods(d.job.UID)
	must.OK(d, err)
	i := slices.IndexFunc(pods, func(p store.Pod) bool { return p.UID == uid })
	if i < 0 {
		d.Fatalf("there is no pod %s", uid)
	}
	return pods[i]
}

// until runs passes until a condition holds.
func (d *desk) until(what string, holds func() bool) {
	d.Helper()
	for range 6000 {
		must.OK(d, d.pass())
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	d.Fatalf("not within a minute: %s", what)
}

// TestPass: at most Parallel pods run concurrently, in the order of their creation. Each pod runs
// once, its state is stored, and its job is notified.
func TestPass(t *testing.T) {
	d := newDesk(t, 2, &clock.Clock{})
	trace := t.TempDir()
	for _, uid := range []job.UID{"a", "b", "c"} {
		d.add(uid, "/bin/sh", "-c", fmt.Sprintf("echo %s >> %s/began; while [ ! -e %s/go-%s ]; do sleep 0.01; done", uid, trace, trace, uid))
	}
	phases := func() string {
		return fmt.Sprint(d.pod("a").State.Phase, d.pod("b").State.Phase, d.pod("c").State.Phase)
	}
	let := func(uid string) { must.OK(t, os.WriteFile(filepath.Join(trace, "go-"+uid), nil, 0o600)) }
	d.until("two run", func() bool { return phases() == fmt.Sprint(job.PodRunning, job.PodRunning, job.PodPending) })
	for range 5 {
		must.OK(t, d.pass())
	}
	if got := phases(); got != fmt.Sprint(job.PodRunning, job.PodRunning, job.PodPending) || d.known["c"].launches != 0 {
		t.Errorf("phases %s", got)
	}
	if a, b := d.known["a"].launches, d.known["b"].launches; a != 1 || b != 1 {
		t.Errorf("launched %d and %d times", a, b)
	}
	let("a")
	d.until("the third runs", func() bool { return phases() == fmt.Sprint(job.PodSucceeded, job.PodRunning, job.PodRunning) })
	let("b")
	let("c")
	d.until("all have ended", func() bool { return phases() == fmt.Sprint(job.PodSucceeded, job.PodSucceeded, job.PodSucceeded) })

	began, err := os.ReadFile(filepath.Join(trace, "began"))
	if lines := len(began); err != nil || lines != len("a\nb\nc\n") {
		t.Errorf("began: %q, %v", began, err)
	}
	if len(d.known) != 0 || len(d.warned) != 0 || !slices.Contains(d.notified, d.job.UID) {
		t.Errorf("known %v, warned %q, notified %v", d.known, d.warned, d.notified)
	}
	for _, uid := range []string{"a", "b", "c"} {
		ends := 0
		for _, line := range d.shown {
			if line == uid+" true true" {
				ends++
			}
		}
		if ends != 1 {
			t.Errorf("the logs of %s are complete %d times: %q", uid, ends, d.shown)
		}
	}
}

// TestStop: a pod that has not begun never begins. One that runs is stopped, and then buried once it
// has no finalizer.
func TestStop(t *testing.T) {
	d := newDesk(t, 1, &clock.Clock{})
	d.add("runs", "/bin/sleep", "60")
	d.add("waits", "/bin/true")
	d.until("one runs", func() bool { return d.pod("runs").State.Phase == job.PodRunning })
	for _, uid := range []job.UID{"runs", "waits"} {
		if found, err := d.Store.DeletePod(uid, 60, false, time.Now()); !found || err != nil {
			t.Fatal(found, err)
		}
	}
	d.until("both are gone", func() bool { return d.pod("runs").Gone && d.pod("waits").Gone })
	runs, waits := d.pod("runs").State, d.pod("waits").State
	if runs.Phase != job.PodFailed || len(runs.Containers) != 1 || runs.Containers[0].ExitCode != 143 {
		t.Errorf("%+v", runs)
	}
	if waits.Phase != job.PodFailed || waits.Reason != pod.ReasonNeverStarted {
		t.Errorf("%+v", waits)
	}
	if len(d.known) != 0 {
		t.Errorf("known %v", d.known)
	}
	if begin := len(d.notified); begin == 0 {
		t.Error("no job is notified")
	}
}

// TestKill: only pods that are being deleted and have not ended are killed, without their grace
// period.
func TestKill(t *testing.T) {
	d := newDesk(t, 2, &clock.Clock{})
	ready := t.TempDir()
	for _, uid := range []job.UID{"stays", "goes"} {
		d.add(uid, "/bin/sh", "-c", `trap '' TERM; : >"$0"; while :; do sleep 0.05; done`, filepath.Join(ready, string(uid)))
	}
	d.until("both ignore SIGTERM", func() bool {
		isReady, _ := filepath.Glob(filepath.Join(ready, "*"))
		return len(isReady) == 2 && d.pod("stays").State.Phase == job.PodRunning && d.pod("goes").State.Phase == job.PodRunning
	})
	_, err := d.Store.DeletePod("goes", 1000, false, time.Now())
	must.OK(t, err)
	must.OK(t, d.pass())
	if k := d.known["goes"]; !k.stopped || k.probed.IsZero() || d.known["stays"].stopped {
		t.Errorf("known are %+v, %+v", k, d.known["stays"])
	}
	d.add("ended")
	must.OK(t, d.Store.SetState("ended", done()))
	_, err = d.Store.DeletePod("ended", 0, false, time.Now())
	must.OK(t, err)
	must.OK(t, d.Kill())
	for _, uid := range []job.UID{"stays", "ended"} {
		if _, err := os.Stat(filepath.Join(d.Store.PodFolder(uid), "stop")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the pod %s is asked to stop: %v", uid, err)
		}
	}
	stop, err := os.ReadFile(filepath.Join(d.Store.PodFolder("goes"), "stop"))
	if err != nil || !strings.Contains(string(stop), `{"grace":0}`) {
		t.Errorf("asked to stop with %s, %v", stop, err)
	}
	d.until("one is gone", func() bool { return d.pod("goes").Gone })
	if s := d.pod("goes").State; s.Containers[0].ExitCode != 137 || d.pod("stays").State.Phase != job.PodRunning {
		t.Errorf("%+v, %+v", s, d.pod("stays").State)
	}
	_, err = d.Store.DeletePod("stays", 0, false, time.Now())
	must.OK(t, err)
	d.until("the other is gone", func() bool { return d.pod("stays").Gone })
	must.OK(t, d.Store.Close())
	if d.Kill() == nil || d.pass() == nil {
		t.Error("the store is closed")
	}
}

// TestRecord: times of supervisors are stored as times of the folder's clock, which is stored first.
func TestRecord(t *testing.T) {
	synctest.Test(t, testRecord)
}

func testRecord(t *testing.T) {
	begin := time.Now()
	span := clock.Span{Real: begin, Virtual: time.Date(2126, 1, 1, 0, 0, 0, 0, time.UTC), Speed: 10}
	for _, c := range []*clock.Clock{{}, clock.New([]clock.Span{span})} {
		d := newDesk(t, 1, c)
		must.OK(t, d.Store.AddSpan(clock.Span{Real: begin, Virtual: begin, Speed: 1}))
		d.add("p")
		p := d.pod("p")
		must.OK(t, d.record(&p, pod.State{Phase: job.PodRunning, ReadyTransition: begin.Add(time.Second).UTC()}))
		want, wantSeen := begin.Add(time.Second), begin
		if !c.IsReal() {
			want, wantSeen = span.Virtual.Add(10*time.Second), c.Now()
		}
		_, seen, err := d.Store.Clock()
		if got := d.pod("p").State.ReadyTransition; err != nil || !got.Equal(want) || !seen.Equal(wantSeen) {
			t.Errorf("real %v: %v, want %v; seen %v, %v", c.IsReal(), got, want, seen, err)
		}
		storetest.Exec(t, d.Store.Dir, "ALTER TABLE clock RENAME TO lost")
		if err := d.record(&p, pod.State{}); (err == nil) != c.IsReal() {
			t.Errorf("real %v, without a clock: %v", c.IsReal(), err)
		}
	}
}

// TestWarnOfCut: the first container whose log is cut is named, once.
func TestWarnOfCut(t *testing.T) {
	d := newDesk(t, 1, &clock.Clock{})
	state := &pod.State{Containers: []pod.Container{{}, {}, {}}}
	for i, name := range []string{"a", "b", "c"} {
		state.Containers[i].Container = jobpod.Container{Name: name}
	}
	p, k := &store.Pod{Name: "p"}, &knowledge{}
	d.warnOfCut(p, k, state)
	if len(d.warned) > 0 {
		t.Errorf("nothing is cut: %q", d.warned)
	}
	state.Containers[1].LogCut, state.Containers[2].LogCut = true, true
	d.warnOfCut(p, k, state)
	d.warnOfCut(p, k, state)
	if want := []string{"pod p: container b has written more than --max-log: the rest of its log is cut"}; !slices.Equal(d.warned, want) {
		t.Errorf("%q", d.warned)
	}
}

// TestLookForRoom: the disk is looked at once a second, and at each pass while it is full. Another
// error is left to whatever uses the folder next.
func TestLookForRoom(t *testing.T) {
	d := newDesk(t, 1, &clock.Clock{})
	begin, looks := time.Now(), 0
	var reply error
	d.room = func() error { looks++; return reply }
	for _, step := range []struct {
		after time.Duration
		reply error
		looks int
		fails bool
	}{
		{0, nil, 1, false},
		{probeInterval - 1, nil, 1, false},
		{probeInterval, syscall.ENOSPC, 2, true},
		{probeInterval + 1, syscall.ENOSPC, 3, true},
		{probeInterval + 2, nil, 4, false},
		{probeInterval + 3, nil, 4, false},
		{2*probeInterval + 2, syscall.ENOTDIR, 5, false},
		{2*probeInterval + 3, nil, 5, false},
	} {
		reply = step.reply
		if err := d.lookForRoom(begin.Add(step.after)); (err != nil) != step.fails || looks != step.looks {
			t.Errorf("after %v: %v after %d looks, want %d", step.after, err, looks, step.looks)
		}
	}
}
