package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

// Runner runs one job. Only one Runner of a job may run at a time. Its first round must begin after
// the lists of the service show all that the previous Runner has done.
//
// Each document of a job has one writer. Users write UID/job, with the defaults of job.Default, if
// job.Validate accepts it. The Runner writes UID/status, UID/memory, and the ledger: a row
// UID/task/ID for each task that has ended or was dropped.
type Runner struct {
	Service   Service
	Documents Documents
	Job       job.UID
	Command   []string
	Poll      time.Duration // between two lists
	Options   job.Options
	Executor  jobapply.Executor
	Now       func() time.Time

	memory job.Memory                      // of the last round, also if it could not be stored
	stored job.Memory                      // the stored one
	seen   map[job.UID]*expectations.Sight // in the last list; nil before the first
	around func(*job.Snapshot, *job.Plan, jobapply.Backend) jobapply.Backend
}

// Round makes a round, and returns when the next one is due; the zero time means never. After an
// error, it is due after a growing delay. A change by a user needs a round immediately.
func (r *Runner) Round(ctx context.Context) (next time.Time, err error) {
	s, err := r.look(ctx)
	if err != nil {
		return time.Time{}, err
	}
	s.Memory.Expectations = r.observe(s.Memory.Expectations, s.Pods)
	r.memory.Expectations = s.Memory.Expectations // also if nothing can be planned

	plan, err := job.Reconcile(s)
	if err != nil {
		return time.Time{}, err
	}

	var b jobapply.Backend = backend{r}
	if r.around != nil {
		b = r.around(&s, &plan, b)
	}
	end, err := r.Executor.Apply(ctx, b, &plan)
	if r.memory = end.Memory; !r.memory.Equal(r.stored) {
		failed := r.put(ctx, "memory", &r.memory)
		if err = errors.Join(err, failed); failed == nil {
			r.stored = r.memory
		}
	}

	// No event reports a change of a task: poll until all have ended.
	isLeft := func(p job.Pod) bool { return !p.Untracked || p.Phase < job.PodSucceeded }
	isOver := end.Status.Finished() != "" && !slices.ContainsFunc(s.Pods, isLeft)
	poll := s.Now.Add(r.Poll)
	if next = end.Requeue.At; !isOver && (next.IsZero() || poll.Before(next)) {
		next = poll
	}
	return next, err
}

// look reads the job and its tasks, and brings the ledger up to date before anything is planned.
func (r *Runner) look(ctx context.Context) (job.Snapshot, error) {
	j, ledger, memory, err := r.read(ctx)
	if err != nil {
		return job.Snapshot{}, err
	}
	if r.seen == nil { // the first round
		_ = json.Unmarshal(memory, &r.memory) // a memory that cannot be read counts as lost
	}
	tasks, err := r.Service.Tasks(ctx, jobTag, string(r.Job))
	if err != nil {
		return job.Snapshot{}, err
	}

	pods, ended, over := ledger.merge(tasks)
	for _, p := range ended {
		err = errors.Join(err, r.keep(ctx, p))
	}
	for _, uid := range over {
		err = errors.Join(err, r.Documents.Delete(ctx, r.key("task/"+string(uid))))
	}
	return job.Snapshot{Job: j, Pods: pods, Memory: r.memory, Options: r.Options, Now: r.Now()}, err
}

// observe lowers the expectations by the changes between the last list and this one. After the
// first list of a Runner nothing is expected: that list shows all earlier writes.
func (r *Runner) observe(counts expectations.Counts, pods []job.Pod) expectations.Counts {
	if r.seen == nil {
		counts = expectations.Counts{}
	}
	was := r.seen
	r.seen = make(map[job.UID]*expectations.Sight, len(pods))
	for i := range pods {
		sight := pods[i].Sight()
		r.seen[sight.UID] = sight
		counts = counts.Observe(was[sight.UID], sight)
	}
	for uid, sight := range was {
		if r.seen[uid] == nil {
			counts = counts.Observe(sight, nil)
		}
	}
	return counts
}

// read reads the documents of the job.
func (r *Runner) read(ctx context.Context) (j job.Job, ledger rows, memory []byte, err error) {
	documents, err := r.Documents.List(ctx, r.key(""))
	if err != nil {
		return j, nil, nil, err
	}
	err = json.Unmarshal(documents[r.key("job")], &j)
	if status, ok := documents[r.key("status")]; ok {
		err = errors.Join(err, json.Unmarshal(status, &j.Status))
	}

	ledger = rows{}
	for key, text := range documents {
		if strings.HasPrefix(key, r.key("task/")) {
			var p job.Pod
			err = errors.Join(err, json.Unmarshal(text, &p))
			ledger[p.UID] = p
		}
	}
	return j, ledger, documents[r.key("memory")], err
}

// keep stores a row.
func (r *Runner) keep(ctx context.Context, p job.Pod) error {
	return r.put(ctx, "task/"+string(p.UID), &p)
}

func (r *Runner) put(ctx context.Context, name string, document any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	return r.Documents.Put(ctx, r.key(name), text)
}

func (r *Runner) key(name string) string { return string(r.Job) + "/" + name }
