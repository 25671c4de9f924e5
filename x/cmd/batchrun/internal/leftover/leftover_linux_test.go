package leftover

import (
	"fmt"
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
