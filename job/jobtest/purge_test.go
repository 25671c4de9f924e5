package jobtest_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/kittest"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobtest"
)

// The mistakes of a program on a backend that purges pods.
const (
	noLedger      bug = "there is no ledger"
	shortLedger   bug = "the ledger forgets after ten minutes"
	listedForgot  bug = "the ledger forgets what the status lists"
	timesForgot   bug = "the ledger has no finish times"
	codesForgot   bug = "the ledger has no exit codes"
	countsForgot  bug = "the ledger has no failure counts"
	ledgerUnread  bug = "the ledger is written and not read"
	ledgerKept    bug = "the row of a counted pod is not changed"
	rowGoesFirst  bug = "the row goes while the list shows the tag"
	tagForgotten  bug = "the tag is forgotten"
	tagGoesFirst  bug = "the tag goes when the row is stored"
	wholeDocument bug = "the status is written with the spec that was read"
	succeeded     bug = "a pod that has succeeded is deleted"
	failsLate     bug = "a deletion removes the finalizer, and fails"
)

// tagged is the store on a service that purges its pods and has no conditional writes. A pod with
// its finalizer has a tag. The ledger has a row for each ended pod that was listed with the tag.
type tagged struct {
	*store
	bug    bug
	mirror *jobtest.Mirror // the list that the program sees; nil if it sees the list of the store
	ledger map[job.UID]job.Pod
}

func newTagged(env *jobtest.Env, b bug) *tagged {
	return &tagged{store: newStore(env), bug: b, ledger: map[job.UID]job.Pod{}}
}

func (s *tagged) RemoveJob() error {
	clear(s.ledger)
	return s.store.RemoveJob()
}

// Purge removes a pod from the list.
func (s *tagged) Purge(uid job.UID) error {
	s.pods = slices.DeleteFunc(s.pods, func(p job.Pod) bool { return p.UID == uid })
	return nil
}

func (s *tagged) Pods() ([]job.Pod, error) { return s.merged(s.pods), nil }

// merged returns a list of pods with the rows of the ledger. The ledger decides which pods are
// counted.
func (s *tagged) merged(list []job.Pod) []job.Pod {
	rows := maps.Clone(s.ledger)
	pods := slices.Clone(list)
	for i := range pods {
		p := &pods[i]
		p.Untracked = p.Untracked || rows[p.UID].Untracked
		delete(rows, p.UID)
	}
	for _, row := range rows {
		if !row.Untracked {
			pods = append(pods, row)
		}
	}
	return pods
}

func (s *tagged) Look(ctx context.Context) (job.Snapshot, jobapply.Backend, error) {
	seen, b, err := s.store.Look(ctx)
	if s.mirror != nil { // the program sees pods late, but not the job, whose status writes are unconditional
		seen.Pods, seen.Consistent = s.mirror.Snapshot().Pods, false
		seen.Job.Version = int64(s.version)
	}

	listed := map[job.UID]bool{}
	for _, p := range seen.Pods {
		listed[p.UID] = true
		if _, ok := s.ledger[p.UID]; !ok && p.Phase >= job.PodSucceeded && !p.Untracked {
			s.keep(p)
		}
	}
	maps.DeleteFunc(s.ledger, func(uid job.UID, row job.Pod) bool {
		ended := row.Detail.ReadyTransition
		return row.Untracked && !listed[uid] || s.bug == shortLedger && s.env.Now().Sub(ended) > 10*time.Minute
	})

	if s.bug != ledgerUnread {
		seen.Pods = s.merged(seen.Pods)
	}
	return seen, taggedBackend{b.(*backend), s, seen.Job.Spec}, err
}

// keep stores the row of a pod in the ledger.
func (s *tagged) keep(p job.Pod) {
	detail := *p.Detail
	detail.Containers = slices.Clone(detail.Containers)
	for i := range detail.Containers {
		switch s.bug {
		case timesForgot:
			detail.Containers[i].FinishedAt = time.Time{}
		case codesForgot:
			detail.Containers[i].ExitCode = 0
		}
	}
	if s.bug == countsForgot {
		detail.FailureCount, detail.IgnoredFailureCount = 0, 0
	}
	p.Detail = &detail

	if s.bug != noLedger {
		s.ledger[p.UID] = p
	}
	if s.bug == tagGoesFirst {
		_ = s.update(p.UID, func(p *job.Pod) error { p.Untracked = true; return nil })
		delete(s.ledger, p.UID)
	}
}

type taggedBackend struct {
	*backend
	tagged *tagged
	spec   job.Spec // as it was read
}

func (b taggedBackend) Create(ctx context.Context, c job.Creation) (job.PodRef, error) {
	ref, err := b.backend.Create(ctx, c)
	if b.tagged.bug == tagForgotten {
		b.pods[len(b.pods)-1].Untracked = true
	}
	return ref, err
}

// Untrack changes the row, and then removes the tag. A list shows the removal late, or not at all.
func (b taggedBackend) Untrack(ctx context.Context, u job.Untracking) error {
	row, ok := b.tagged.ledger[u.UID]
	switch {
	case b.tagged.bug == rowGoesFirst:
		delete(b.tagged.ledger, u.UID)
	case ok && b.tagged.bug != ledgerKept:
		row.Untracked = true
		b.tagged.ledger[u.UID] = row
	}

	err := b.backend.Untrack(ctx, u)
	if ok && errors.Is(err, jobapply.ErrGone) {
		err = nil
	}
	return err
}

// Delete reads the current pod, since there are no conditional writes.
func (b taggedBackend) Delete(ctx context.Context, d job.Deletion) error {
	for _, p := range b.pods {
		if p.UID == d.UID && p.Phase >= job.PodSucceeded && b.tagged.bug != succeeded {
			if b.tagged.bug == failsLate {
				_ = b.Untrack(ctx, job.Untracking{PodRef: d.PodRef})
			}
			return errors.New("the pod has ended")
		} else if p.UID == d.UID {
			d.ResourceVersion = p.Detail.ResourceVersion
		}
	}
	return b.backend.Delete(ctx, d)
}

// WriteStatus is unconditional.
func (b taggedBackend) WriteStatus(ctx context.Context, s job.Status) error {
	b.seen = b.version
	if b.tagged.bug == wholeDocument {
		b.job.Spec = b.spec
	}
	if b.tagged.bug == listedForgot && s.UncountedTerminatedPods != nil {
		for _, uid := range slices.Concat(s.UncountedTerminatedPods.Succeeded, s.UncountedTerminatedPods.Failed) {
			delete(b.tagged.ledger, uid)
		}
	}
	return b.backend.WriteStatus(ctx, s)
}

// purging returns a test of the store, whose program sees its list of pods immediately or late.
func purging(b bug, late bool) func(testing.TB) {
	return func(tb testing.TB) {
		jobtest.TestBackend(tb, func(env *jobtest.Env) jobtest.Subject {
			s := newTagged(env, b)
			subject := jobtest.Subject{Store: s, Start: jobtest.Loop(env, s.Look), Unconditional: true}
			if late {
				s.mirror = &jobtest.Mirror{}
				subject.Cache = s.mirror
			}
			return subject
		})
	}
}

// TestPurger finds nothing wrong with a correct ledger on a backend without conditional writes.
func TestPurger(t *testing.T) {
	t.Run("consistent", func(t *testing.T) { purging(none, false)(t) })
	t.Run("late", func(t *testing.T) { purging(none, true)(t) })
	t.Run("queue", func(t *testing.T) { jobtest.TestQueue(t, openPurgedQueue(none)) })
}

// TestPurger_Queue finds that a queue has no ledger.
func TestPurger_Queue(t *testing.T) {
	kittest.Within(t, 5, 20, "JI9: ", func(tb testing.TB) { jobtest.TestQueue(tb, openPurgedQueue(noLedger)) })
}

// TestPurger_Mistakes finds each mistake within the given number of lives.
func TestPurger_Mistakes(t *testing.T) {
	for _, c := range []struct {
		bug   bug
		late  bool
		lives int
		story string
	}{
		{noLedger, false, 20, "JI9: "},
		{noLedger, true, 20, "JI9: "},
		{shortLedger, false, 30, "JI9: "},
		{shortLedger, true, 100, "JI9: "},
		{listedForgot, false, 20, "JI9: "},
		{timesForgot, false, 20, "was purged, and detail.containers[0].finishedAt: got missing"},
		{codesForgot, false, 20, "was purged, and detail.containers[0].exitCode: got missing"},
		{countsForgot, false, 200, "was purged, and detail.failureCount: got missing"},
		{ledgerUnread, false, 20, "JI9: the snapshot lacks"},
		{ledgerUnread, true, 50, "JI9: the snapshot lacks"},
		{ledgerKept, false, 20, "was untracked, and has its finalizer"},
		{rowGoesFirst, true, 20, "was gone, and is back"},
		{tagForgotten, false, 20, "was created without the finalizer"},
		{tagGoesFirst, false, 20, "has changed"},
		{wholeDocument, false, 20, "Store: the job has changed by status: spec."},
		{succeeded, false, 300, "JI9: the success of"},
		{failsLate, false, 300, "JI9: the success of"},
	} {
		name := string(c.bug)
		if c.late {
			name += ", seen late"
		}
		t.Run(name, func(t *testing.T) { kittest.Within(t, 5, c.lives, c.story, purging(c.bug, c.late)) })
	}
}
