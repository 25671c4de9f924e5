package leftover

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/batchplan/batchplan/internal/must"
)

// tests are tests that run a shell command and have a status.
type tests struct {
	command string
	status  int
}

func (t tests) Run() int {
	if exec.Command("sh", "-c", t.command).Run() != nil {
		return -1
	}
	return t.status
}

// Tests that leave a process fail, and the process is named and killed. All other tests keep their
// status.
func TestRun(t *testing.T) {
	const long = "FAIL: the tests have left process #: sleep 70\n"
	for _, c := range []struct {
		tests
		want  int
		lines string
	}{
		{tests{"true", 0}, 0, ""},
		{tests{"setsid sleep 0.1 &", 2}, 2, ""},
		{tests{lingering(70), 0}, 1, long},
		{tests{lingering(70), 2}, 2, long},
		{tests{lingering(70) + lingering(70), 1}, 1, long + long},
	} {
		// This process adopts the descendants, and so it must not do that yet.
		must.OK(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0))
		var out strings.Builder
		patience := time.Minute
		if c.lines != "" {
			patience = time.Second
		}
		got := run(c.tests, patience, &out)
		lines := regexp.MustCompile(`process \d+`).ReplaceAllString(out.String(), "process #")
		if got != c.want || lines != c.lines {
			t.Errorf("%+v: status %d, %q", c.tests, got, lines)
		}
		if left := await(time.Now().Add(time.Minute)); len(left) > 0 {
			t.Errorf("%+v: %v are alive after they were killed", c.tests, left)
		}
	}
}

// play is a variable of the environment that says what TestStatus does in another process.
const play = "LEFTOVER_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(play) == "" {
		os.Exit(m.Run())
	}
	os.Exit(Run(m))
}

// TestStatus: the status of Run is that of the tests, if the processes that they leave end soon.
func TestStatus(t *testing.T) {
	switch os.Getenv(play) {
	case "fail":
		t.Fatal("as intended")
	case "leave":
		must.OK(t, exec.Command("sh", "-c", "setsid sleep 0.3 &").Run())
		return
	}
	for what, want := range map[string]bool{"fail": false, "leave": true} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestStatus$")
		cmd.Env = append(os.Environ(), play+"="+what)
		if out, err := cmd.CombinedOutput(); (err == nil) != want {
			t.Errorf("%s: %v: %s", what, err, out)
		}
	}
}

// A child that has ended is not alive.
func TestLiving_Ended(t *testing.T) {
	cmd := exec.Command("true")
	must.OK(t, cmd.Start())
	must.OK(t, unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil))
	if left := living(); len(left) > 0 {
		t.Errorf("%v are alive", left)
	}
}

// lingering is a command that starts a process, and waits until it is the program sleep.
func lingering(seconds int) string {
	return fmt.Sprintf("setsid sleep %d & until grep -q '^sleep' /proc/$!/cmdline; do sleep 0.01; done\n", seconds)
}

// A process whose parent has ended is found. A process that ends in time is not reported.
func TestLeftover(t *testing.T) {
	must.OK(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	must.OK(t, exec.Command("sh", "-c", lingering(60)+"setsid sleep 0.1 &").Run())
	left := await(time.Now().Add(3 * time.Second))
	if len(left) != 1 || string(commandLine(left[0])) != "sleep 60" {
		t.Errorf("left are %v", left)
	}
	for _, pid := range left {
		must.OK(t, unix.Kill(pid, unix.SIGKILL))
	}
	if left := await(time.Now().Add(time.Minute)); len(left) > 0 {
		t.Errorf("%v are alive after they were killed", left)
	}
}
