package leftover

import (
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/batchplan/batchplan/internal/must"
)

// A process whose parent has ended is found. A process that ends in time is not reported.
func TestLeftover(t *testing.T) {
	must.OK(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	must.OK(t, exec.Command("sh", "-c", "setsid sleep 60 & setsid sleep 0.1 &").Run())
	left := await(time.Now().Add(time.Second))
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
