package cli

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/logs"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/report"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// follower shows what the pods print while they run.
type follower struct {
	store *store.Store
	to    report.Reporter
	only  string // the name of a pod, or its beginning; empty means all

	mu   sync.Mutex
	open map[job.UID]*logs.Reader
	// ended holds the pods whose logs were shown to the end.
	ended map[job.UID]bool
}

// followTime is the time between two reads of the logs.
const followTime = 100 * time.Millisecond

// isNamed reports whether a pod has the name, or a name that begins with it and a dash.
func isNamed(p *store.Pod, name string) bool {
	return name == "" || p.Name == name || strings.HasPrefix(p.Name, name+"-")
}

// observe starts to follow a pod. When the pod ends, observe shows the rest of its logs. Output
// that the pod wrote before this runner started is not shown.
func (f *follower) observe(p *store.Pod, here, end bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended[p.UID] || !isNamed(p, f.only) {
		return
	}

	r := f.open[p.UID]
	if r == nil {
		var err error
		if r, err = logs.Open(pod.Folder(f.store.PodFolder(p.UID)), p, logs.Select{Tail: -1}); err != nil {
			f.drop(p.UID, err)
			return
		}
		if !here {
			r.SkipAll()
		}
		f.open[p.UID] = r
	}

	if end {
		f.read(p.UID, r, true)
		f.drop(p.UID, nil)
	}
}

func (f *follower) read(uid job.UID, r *logs.Reader, end bool) {
	if err := r.Read(end, f.show); err != nil {
		f.drop(uid, err)
	}
}

// drop stops following a pod. err is set if a log cannot be read, as when a container has replaced
// it.
func (f *follower) drop(uid job.UID, err error) {
	if err != nil {
		f.to.Note(err.Error())
	}
	delete(f.open, uid)
	f.ended[uid] = true
}

func (f *follower) show(l logs.Line) {
	if f.only != "" {
		l.Pod, l.Container = "", ""
	}
	f.to.Log(l)
}

// run shows new output until the context ends.
func (f *follower) run(ctx context.Context) {
	for sleep(ctx, followTime) {
		f.mu.Lock()
		for uid, r := range f.open {
			f.read(uid, r, false)
		}
		f.mu.Unlock()
	}
}
