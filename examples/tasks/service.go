// Package tasks runs jobs on a service that starts tasks and knows no finalizers: it forgets a task
// some time after it has ended, lists tasks late, and has no conditional updates. A [Runner] keeps
// a ledger instead of finalizers. docs/adapter.md says what goes wrong without each part.
package tasks

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// Service starts and stops tasks.
type Service interface {
	// Start starts a task with a command, an environment and tags, and returns its ID. No two tasks
	// ever have the same ID.
	Start(ctx context.Context, t Task) (id string, err error)
	// Stop asks a task to end. It returns ErrEnded if the task has ended, and ErrNoTask if it is
	// forgotten.
	Stop(ctx context.Context, id string) error
	// Task returns the current state of a task, or ErrNoTask.
	Task(ctx context.Context, id string) (Task, error)
	// Tasks returns the tasks with a tag, as they were some seconds ago. No list shows an older
	// state of a task than the list before.
	Tasks(ctx context.Context, tag, value string) ([]Task, error)
}

// The errors of a Service.
var (
	ErrEnded  = errors.New("the task has ended")
	ErrNoTask = errors.New("there is no such task")
)

// Documents store JSON under keys. Writes are unconditional.
type Documents interface {
	Put(ctx context.Context, key string, document []byte) error
	Delete(ctx context.Context, key string) error
	// List returns the documents whose keys begin with a prefix.
	List(ctx context.Context, prefix string) (map[string][]byte, error)
}

// Task is a task of the service.
type Task struct {
	Command []string
	Env     map[string]string
	Tags    map[string]string

	ID       string
	Created  time.Time
	State    State
	Since    time.Time // when the task entered its state
	ExitCode int32     // once it has ended
	// Preempted is set if the service has ended the task to make room.
	Preempted bool
	// StopBy is the time at which the task is killed, and Grace the time that it has to end. They
	// are zero unless the task is being stopped.
	StopBy time.Time
	Grace  time.Duration
}

// State is the progress of a task.
type State int

// The states of a task.
const (
	Waiting State = iota
	Running
	Ended
)

// jobTag is the tag with the UID of the job.
const jobTag = "example.com/job"

// newTask returns the task of a pod to create.
func newTask(uid job.UID, command []string, c *job.Creation) Task {
	t := Task{Command: command, Tags: map[string]string{jobTag: string(uid)}}
	maps.Copy(t.Tags, c.Annotations())
	if c.Index != job.NoIndex() {
		t.Env = map[string]string{job.IndexVariable: c.Index.String()}
	}
	return t
}

// pod returns the task as a pod. Field Untracked is false, whether or not the task is accounted
// for.
func (t *Task) pod() job.Pod {
	main := jobpod.Container{Name: "main"}
	p := job.Pod{
		UID:      job.UID(t.ID),
		Name:     t.ID,
		Assigned: t.State != Waiting,
		Ready:    t.State == Running,
		Detail:   &job.PodDetail{CreationTimestamp: t.Created},
	}
	p.ReadAnnotations(t.Tags)

	switch {
	case t.State == Running:
		p.Phase, main.State = job.PodRunning, jobpod.Running
	case t.State == Ended:
		p.Phase, main.State = job.PodFailed, jobpod.Terminated
		if main.ExitCode, main.FinishedAt = t.ExitCode, t.Since; t.ExitCode == 0 {
			p.Phase = job.PodSucceeded
		}
	}
	if t.State != Waiting {
		p.Detail.ReadyTransition, p.Detail.Containers = t.Since, []jobpod.Container{main}
	}

	if t.Preempted { // a podFailurePolicy can ignore that
		p.Detail.Conditions = []job.PodCondition{{Type: "DisruptionTarget", Status: job.ConditionTrue}}
	}
	if !t.StopBy.IsZero() {
		p.Deletion = &job.PodDeletion{Timestamp: t.StopBy, GracePeriodSeconds: int64(t.Grace / time.Second)}
	}
	return p
}
