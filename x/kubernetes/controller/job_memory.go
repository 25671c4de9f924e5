package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/job"
)

// remember returns the stored memory of a job, or else the memory in its annotation. It does not
// read the memory of a job that another controller manages.
func (c *Jobs) remember(
	ctx context.Context, key types.NamespacedName, object Object, ours bool,
) (job.Memory, error) {
	if !ours {
		return job.Memory{}, ofMemory(leave(ctx, c.options.Memories, key)) // the job may have been ours before
	}

	c.kept.add(key)
	m, err := c.options.Memories.Get(ctx, key)
	if err == nil && m.JobUID == "" {
		m, _ = c.annotated(object)
	}
	return m, ofMemory(err)
}

// annotated reads the memory in an annotation. A memory that cannot be read counts as lost.
func (c *Jobs) annotated(object Object) (m job.Memory, found bool) {
	text, found := object.GetAnnotations()[c.options.MemoryAnnotation]
	if found {
		_ = m.UnmarshalJSON([]byte(text)) // never fails
	}
	return m, found
}

// annotate stores the backoff in the job's annotation if it has changed. The rest of a memory
// concerns only this process, or can be read from the caches after a restart.
func (b *roundBackend) annotate(ctx context.Context, m job.Memory) error {
	c := b.jobs
	if c.options.MemoryAnnotation == "" || m.JobUID == "" {
		return nil
	}

	m = job.Memory{JobUID: m.JobUID, Backoff: m.Backoff}
	if stored, found := c.annotated(b.object); m.Equal(stored) || !found && m.Equal(job.Memory{JobUID: m.JobUID}) {
		return nil
	}

	text, err := m.MarshalJSON()
	if err != nil {
		return ofMemory(err)
	}
	object, err := c.kind.annotate(ctx, b.object, c.options.MemoryAnnotation, string(text))
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("memory: %w", err) // not an error of the store, so a conflict is expected
	}
	c.written.wrote(b.key, object.GetUID(), ofOwners, object.GetResourceVersion())
	return nil
}
