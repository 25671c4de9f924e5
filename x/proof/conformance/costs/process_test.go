package costs

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/proof/conformance/apiserver"
)

// sideVariable is the environment variable with the role of a process.
const sideVariable = "BATCHPLAN_COSTS_SIDE"

// role tells a process what to do.
type role struct {
	Side      side
	Address   string
	Token     string
	Namespace string
	Workers   int
	Profiles  string
}

// usage is the consumption of a process while it was measured.
type usage struct {
	CPU      time.Duration // user and system, garbage collection included
	Allocs   uint64
	Bytes    uint64 // allocated bytes
	Heap     uint64 // bytes of live objects at the end
	Requests counts
}

// beSide runs a side and obeys the test's commands: "begin NAME" and "end". It ends at the end of
// its input.
func beSide(text string) (code int) {
	var r role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m := &meter{profiles: r.Profiles, side: r.Side}
	m.begin("start")
	config := apiserver.ConfigOf(r.Address, r.Token)
	config.Wrap(m.requests.wrap)
	ended := make(chan error, 1)
	started := make(chan struct{})
	go func() { ended <- r.Side.run(ctx, config, r.Namespace, r.Workers, func() { close(started) }) }()
	select {
	case err := <-ended:
		fmt.Fprintln(os.Stderr, r.Side, err)
		return 1
	case <-started:
		fmt.Println("running")
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch op, name, _ := strings.Cut(in.Text(), " "); op {
		case "begin":
			m.begin(name)
			fmt.Println("begun")
		case "end":
			if err := json.NewEncoder(os.Stdout).Encode(m.end()); err != nil {
				panic(err)
			}
		}
	}
	cancel()
	if err := <-ended; err != nil {
		fmt.Fprintln(os.Stderr, r.Side, err)
		return 1
	}
	return 0
}

// meter measures this process.
type meter struct {
	profiles string
	side     side
	requests counter
	cpu      time.Duration
	before   runtime.MemStats
	counted  counts
	profile  *os.File
}

func (m *meter) begin(name string) {
	if m.profiles != "" {
		var err error
		if m.profile, err = os.Create(filepath.Join(m.profiles, strings.ReplaceAll(name, "/", "-")+"-"+string(m.side)+".pprof")); err == nil {
			err = pprof.StartCPUProfile(m.profile)
		}
		if err != nil {
			panic(err)
		}
	}
	m.counted, _ = m.requests.sum()
	runtime.ReadMemStats(&m.before)
	m.cpu = processorTime()
}

func (m *meter) end() (u usage) {
	u.CPU = processorTime() - m.cpu
	if m.profile != nil {
		pprof.StopCPUProfile()
		m.profile.Close()
		m.profile = nil
	}
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	u.Allocs, u.Bytes = after.Mallocs-m.before.Mallocs, after.TotalAlloc-m.before.TotalAlloc
	// The second collection frees what the first has found in pools.
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	u.Heap = after.HeapAlloc
	now, _ := m.requests.sum()
	u.Requests = now.since(m.counted)
	return u
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// process is a side in a process of its own.
type process struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Scanner
	wait func() error
}

// start starts a process and waits until its caches are full. The measurement begins when the
// process starts.
func (l *lab) start(t *testing.T, s side, namespace string, workers int) *process {
	t.Helper()
	text, err := json.Marshal(role{s, l.Address(), l.Config.BearerToken, namespace, workers, *profiles})
	must.OK(t, err)
	program, err := os.Executable()
	must.OK(t, err)
	c := exec.Command(program)
	c.Env = append(os.Environ(), sideVariable+"="+string(text))
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	must.OK(t, err)
	out, err := c.StdoutPipe()
	must.OK(t, err)
	must.OK(t, c.Start())
	p := &process{t: t, in: in, out: bufio.NewScanner(out), wait: c.Wait}
	p.out.Buffer(nil, 1<<20)
	t.Cleanup(p.stop)
	p.read()
	return p
}

// stop ends the process. It may be called again.
func (p *process) stop() {
	p.in.Close()
	if p.wait != nil {
		if err := p.wait(); err != nil {
			p.t.Errorf("side: %v", err)
		}
		p.wait = nil
	}
}

func (p *process) read() string {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatalf("the process of a side has ended: %v", p.out.Err())
	}
	return p.out.Text()
}

func (p *process) say(text string) string {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.in, text); err != nil {
		p.t.Fatal(err)
	}
	return p.read()
}

// begin starts to measure a phase.
func (p *process) begin(phase string) { p.say("begin " + phase) }

// end returns the consumption of the process since begin.
func (p *process) end() (u usage) {
	p.t.Helper()
	must.OK(p.t, json.Unmarshal([]byte(p.say("end")), &u))
	return u
}
