//go:build linux

package node

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/cmd/batchrun/internal/store"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

// A supervisor that could not begin on a full disk is started again, as often as
// necessary. If it records nothing for another reason, it is given up, and so is the
// pod.
func TestUnbegun(t *testing.T) {
	for _, again := range []bool{true, false} {
		s, err := store.Open(filepath.Join(t.TempDir(), "state"))
		must.OK(t, err)
		defer s.Close()
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		n := New(s, &clock.Clock{}, 1, func(job.UID) {})
		p := &store.Pod{UID: "p", Job: "j", Name: "j-p", Created: now, Spec: []byte("{}")}
		folder := pod.Folder(s.PodFolder(p.UID))
		must.OK(t, folder.Prepare(p.Spec))
		k := &knowledge{}
		for range maxLaunches + 2 {
			k.launches++
			k.child = &child{ended: make(chan struct{}), again: again}
			if where, err := n.unbegun(p, k, now); where != running || err != nil {
				t.Errorf("while it runs: %v, %v", where, err)
			}
			close(k.child.ended)
			where, err := n.unbegun(p, k, now)
			if err != nil || again && where != later || !again && where == later {
				t.Errorf("after its end: %v, %v", where, err)
			}
			now = now.Add(time.Second)
		}
		if where, err := n.unbegun(p, k, now); again && where != waiting || err != nil {
			t.Errorf("a second later: %v, %v", where, err)
		}
		state, begun, err := folder.State()
		if begun == again || err != nil || !again && state.Reason != pod.ReasonNeverStarted {
			t.Errorf("again %v: begun %v, %+v, %v", again, begun, state, err)
		}
	}
}
