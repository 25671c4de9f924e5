package sqlite_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/examples/sqlite"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobtest"
)

// outside is the store as users and workers see it.
type outside struct {
	*sqlite.Store
	controller *sqlite.Controller
}

func (o *outside) CreateJob(j job.Job) error {
	o.controller.UID = j.UID
	return o.AddJob(j)
}

func (o *outside) RemoveJob() error             { return o.Store.RemoveJob(o.controller.UID) }
func (o *outside) UpdateSpec(s job.Spec) error  { return o.Store.UpdateSpec(o.controller.UID, s) }
func (o *outside) DeleteJob(at time.Time) error { return o.Store.DeleteJob(o.controller.UID, at) }
func (o *outside) Job() (job.Job, error)        { return o.Store.Job(o.controller.UID) }
func (o *outside) Pods() ([]job.Pod, error)     { return o.Store.Pods(o.controller.UID) }

// TestBackend lets random jobs live in a database.
func TestBackend(t *testing.T) {
	jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject {
		store, err := sqlite.Open(":memory:")
		if err != nil {
			t.Fatal(err)
		}
		controller := &sqlite.Controller{
			Store: store, Options: env.Options(), Now: env.Now, Wrap: env.Backend, Planned: env.Planned,
			Remember: func(write func() error) error { return env.Write("store the memory", write) },
		}
		return jobtest.Subject{
			Store: &outside{store, controller},
			Start: func(forget bool) jobtest.Program {
				if forget {
					if err := store.Forget(controller.UID); err != nil {
						t.Fatal(err)
					}
				}
				return controller.Round
			},
			Close: func() { _ = store.Close() },
		}
	})
}
