package cli

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
)

// The culprit is the container that was the last to end by itself with a status other than 0.
func TestCulprit(t *testing.T) {
	at := func(seconds int) time.Time { return time.Date(2026, 1, 1, 0, 0, seconds, 0, time.UTC) }
	ended := func(name string, code int32, end time.Time) pod.Container {
		return pod.Container{Container: jobpod.Container{Name: name, State: jobpod.Terminated, ExitCode: code, FinishedAt: end}}
	}
	sidecar := ended("sidecar", 143, at(9))
	sidecar.Kind = jobpod.RestartableInit
	running := pod.Container{Container: jobpod.Container{Name: "running", State: jobpod.Running, ExitCode: 1, FinishedAt: at(8)}} // these fields are of its last run
	for want, list := range map[string][]pod.Container{
		"":       {ended("fine", 0, at(7)), sidecar, running},
		"bad":    {ended("bad", 3, at(2)), ended("fine", 0, at(7)), sidecar, running},
		"later":  {ended("bad", 3, at(2)), ended("later", 4, at(3)), running},
		"first":  {running, ended("first", 4, at(3)), ended("bad", 3, at(2))},
		"second": {ended("bad", 3, at(2)), ended("second", 4, at(2))},
	} {
		name := ""
		c, end := culprit(&pod.State{Containers: list})
		if c != nil {
			name = c.Name
			if end != c.FinishedAt {
				t.Errorf("%s ended at %v", name, end)
			}
		}
		if name != want {
			t.Errorf("%q is to blame, want %q", name, want)
		}
	}
}
