package control

import (
	"context"
	"errors"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

const jobManifest = `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {
	"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "command": ["true"]}]}}}}`

// If the end of the runner interrupts a round, the round is not reported as a failed write that is
// retried.
func TestCutShort(t *testing.T) {
	l := newLife(t, "Allow")
	j := l.addJob("j", "")
	m := loadManifest(t, &j)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	loop := &Loop{Store: l.store, Clock: &clock.Clock{}, UID: j.UID, Manifest: m, Changed: func() {}, waiter: newWaiter(&clock.Clock{}),
		Report: func(r Round) { t.Errorf("reported: %v", r.Err) }}
	if _, err := loop.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	l.loop.Busy, l.loop.Report = func() bool { return false }, func(r CronRound) {
		if r.Err != nil {
			t.Errorf("reported: %v", r.Err)
		}
	}
	if err := l.loop.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func loadManifest(t *testing.T, j *store.Job) *manifest.Job {
	t.Helper()
	m, err := manifest.Load(j.Manifest)
	must.OK(t, err)
	return m
}
