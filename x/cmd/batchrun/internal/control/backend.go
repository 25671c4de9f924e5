package control

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// backend carries out the plans of one job on the store.
type backend struct {
	store    *store.Store
	uid      job.UID
	manifest *manifest.Job
	settings manifest.Settings
	now      time.Time // of the round
	// changed is called after each write that requires work of the node.
	changed func()
}

// Create stores the pod, and the node starts it. A crash right after this write loses nothing,
// since the node finds the pod in the store.
func (b *backend) Create(_ context.Context, c job.Creation) (job.PodRef, error) {
	ref := job.PodRef{Name: c.NamePrefix + manifest.Suffix(), UID: job.UID(uuid.NewString())}
	spec, err := json.Marshal(b.manifest.Pod(&c, b.uid, ref.Name, ref.UID, b.settings))
	if err != nil {
		return job.PodRef{}, err
	}
	err = b.store.AddPod(store.Pod{
		UID: ref.UID, Job: b.uid, Name: ref.Name, Created: b.now, Spec: spec,
		Index: c.Index.Int32(), Failures: c.FailureCount, Ignored: c.IgnoredFailureCount, Tracked: true,
	})
	if err != nil {
		return job.PodRef{}, err
	}
	b.changed()
	return ref, nil
}

// Delete marks the pod, and the node ends it. A pod that has finished must keep its finalizer, even
// if its end is not in the store yet (JI9).
func (b *backend) Delete(_ context.Context, d job.Deletion) error {
	if d.UntrackFirst {
		if state, _, err := pod.Folder(b.store.PodFolder(d.UID)).State(); err == nil && state.Done {
			b.changed()
			return store.ErrFinished
		}
	}
	found, err := b.store.DeletePod(d.UID, manifest.GraceSeconds(&b.manifest.Object), d.UntrackFirst, b.now)
	return b.result(found, err)
}

// Untrack removes the finalizer.
func (b *backend) Untrack(_ context.Context, u job.Untracking) error {
	found, err := b.store.Untrack(u.UID)
	return b.result(found, err)
}

// WriteStatus writes the status. No other process writes it, so the write needs no condition.
func (b *backend) WriteStatus(_ context.Context, s job.Status) error {
	return b.store.SetStatus(b.uid, s)
}

func (b *backend) result(found bool, err error) error {
	if err != nil {
		return err
	}
	if !found {
		return jobapply.ErrGone
	}
	b.changed()
	return nil
}
