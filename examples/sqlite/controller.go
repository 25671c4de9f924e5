package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

// Controller plans one job of a store.
type Controller struct {
	Store   *Store
	UID     job.UID
	Options job.Options
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Wrap, if not nil, stands around the backend of each round, and Planned is shown each plan:
	// for tests and logs.
	Wrap    func(jobapply.Backend) jobapply.Backend
	Planned func(*job.Snapshot, *job.Plan)
	// Remember, if not nil, stands around the write of the memory.
	Remember func(write func() error) error
}

// Round looks at the job, plans, carries the plan out and stores the memory. It returns when
// to come again although nothing happens; the zero time means not at all. After an error
// come again soon.
func (c *Controller) Round(ctx context.Context) (again time.Time, err error) {
	s, b, stored, err := c.look()
	if err != nil {
		return time.Time{}, err
	}
	plan, err := job.Reconcile(s)
	if err != nil {
		return time.Time{}, err
	}
	if c.Planned != nil {
		c.Planned(&s, &plan)
	}
	var to jobapply.Backend = b
	if c.Wrap != nil {
		to = c.Wrap(b)
	}
	end, err := jobapply.Executor{Parallel: 1}.Apply(ctx, to, &plan)
	if !end.Memory.Equal(stored) {
		err = errors.Join(err, c.remember(end.Memory))
	}
	return end.Requeue.At, err
}

// look reads the job, its pods and its memory in one transaction.
func (c *Controller) look() (s job.Snapshot, b *backend, stored job.Memory, err error) {
	now := time.Now
	if c.Now != nil {
		now = c.Now
	}
	s = job.Snapshot{Now: now(), Options: c.Options, Consistent: true}
	err = c.Store.within(func(tx *sql.Tx) (err error) {
		var version int64
		if s.Job, version, err = readJob(tx, c.UID); err != nil {
			return err
		}
		if s.Pods, err = readPods(tx, c.UID); err != nil {
			return err
		}
		b = &backend{store: c.Store, job: c.UID, version: version, now: s.Now}
		var memory []byte
		if err = tx.QueryRow("SELECT memory FROM jobs WHERE uid = ?", c.UID).Scan(&memory); err == nil && len(memory) > 0 {
			err = s.Memory.UnmarshalJSON(memory)
		}
		return err
	})
	return s, b, s.Memory, err
}

func (c *Controller) remember(m job.Memory) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	write := func() error {
		_, err := c.Store.db.Exec("UPDATE jobs SET memory = ? WHERE uid = ?", text, c.UID)
		return err
	}
	if c.Remember != nil {
		return c.Remember(write)
	}
	return write()
}
