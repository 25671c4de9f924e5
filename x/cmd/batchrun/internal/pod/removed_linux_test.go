package pod

import (
	"os"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// If the folder of a supervisor is removed, the supervisor ends with its pod, because nothing could
// stop them any more.
func TestFolderRemoved(t *testing.T) {
	for _, c := range Containments {
		t.Run(string(c), func(t *testing.T) {
			t.Parallel()
			if err := ProbeContainment(c); err != nil {
				t.Skipf("not possible here: %v", err)
			}
			folder := prepare(t, job.RestartNever,
				shell("a", jobpod.App, "trap true TERM; while true; do sleep 0.05; done"))
			wait := launchIn(t, folder, c)
			for begun := false; !begun; time.Sleep(20 * time.Millisecond) {
				state, _, err := folder.State()
				must.OK(t, err)
				begun = state.Phase == job.PodRunning
			}
			must.OK(t, os.RemoveAll(string(folder)))
			ended := make(chan struct{})
			go func() { wait(); close(ended) }()
			select {
			case <-ended:
			case <-time.After(30 * time.Second):
				t.Error("the supervisor is still there")
			}
		})
	}
}
