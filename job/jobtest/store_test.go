package jobtest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/batchplan/batchplan/internal/kittest"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobtest"
)

// store is a correct store in memory, with which the tutorial begins.
type store struct {
	env      *jobtest.Env
	job      job.Job
	version  int
	pods     []job.Pod
	created  int
	revision int
	isMap    bool   // returns pods in any order, and has no namespaces
	keeps    bool   // keeps pods that are gone
	prefix   string // of UIDs, if there are several stores
	changes  []string
}

func (s *store) CreateJob(j job.Job) error {
	s.job = j
	if s.isMap {
		s.job.Namespace = ""
	}
	s.version++
	return nil
}

func (s *store) RemoveJob() error {
	s.job, s.pods = job.Job{}, nil
	return nil
}

func (s *store) UpdateSpec(spec job.Spec) error {
	s.job.Spec = spec
	s.version++
	return nil
}

func (s *store) DeleteJob(at time.Time) error {
	s.job.DeletionTimestamp = at
	s.version++
	return nil
}

func (s *store) Job() (job.Job, error) {
	if s.job.UID == "" {
		return job.Job{}, errors.New("there is no job")
	}
	j := s.job
	j.Version = int64(s.version)
	return j, nil
}

func (s *store) Pods() ([]job.Pod, error) { return kittest.Listed(s.pods, s.isMap), nil }

func (s *store) UpdatePod(p job.Pod) error {
	return s.update(p.UID, func(old *job.Pod) error {
		*old = p
		return nil
	})
}

// update changes a pod, and removes it if it is being deleted and nothing keeps it.
func (s *store) update(uid job.UID, change func(*job.Pod) error) error {
	i := slices.IndexFunc(s.pods, func(p job.Pod) bool { return p.UID == uid })
	if i < 0 {
		return jobapply.ErrGone
	}
	if err := change(&s.pods[i]); err != nil {
		return err
	}
	s.changes = append(s.changes, fmt.Sprint(s.pods[i].Name, " ", s.pods[i].Phase))
	s.touch(&s.pods[i])
	if world.IsCollected(&s.pods[i]) && !s.keeps {
		s.pods = slices.Delete(s.pods, i, i+1)
	}
	return nil
}

// touch gives a pod a new version.
func (s *store) touch(p *job.Pod) {
	s.revision++
	detail := job.PodDetail{}
	if p.Detail != nil {
		detail = *p.Detail
	}
	detail.ResourceVersion = strconv.Itoa(s.revision)
	p.Detail = &detail
}

// Look reads the job and its pods at one moment.
func (s *store) Look(context.Context) (job.Snapshot, jobapply.Backend, error) {
	snapshot := job.Snapshot{Job: s.job, Pods: kittest.Listed(s.pods, s.isMap), Consistent: true}
	return snapshot, &backend{s, s.version}, nil
}

// backend carries out the plan that was made from one look.
type backend struct {
	*store
	seen int // the version of the job
}

func (b *backend) Create(_ context.Context, c job.Creation) (job.PodRef, error) {
	b.created++
	p := c.Pod(fmt.Sprint(c.NamePrefix, b.created), job.UID(fmt.Sprint(b.prefix, "uid-", b.created)), b.env.Now())
	b.touch(&p)
	b.pods = append(b.pods, p)
	return job.PodRef{Name: p.Name, UID: p.UID}, nil
}

func (b *backend) Delete(_ context.Context, d job.Deletion) error {
	return b.update(d.UID, func(p *job.Pod) error {
		if d.UntrackFirst {
			if p.Detail.ResourceVersion != d.ResourceVersion {
				return world.ErrConflict
			}
			p.Untracked = true
		}
		world.DeletePod(p, b.env.Now())
		return nil
	})
}

func (b *backend) Untrack(_ context.Context, u job.Untracking) error {
	return b.update(u.UID, func(p *job.Pod) error {
		p.Untracked = true
		return nil
	})
}

func (b *backend) WriteStatus(_ context.Context, s job.Status) error {
	if b.seen != b.version {
		return world.ErrConflict
	}
	b.job.Status = s
	b.version++
	b.seen = b.version
	return nil
}

func (b *backend) JobVersion() int64 { return int64(b.seen) }

// Adopt makes an orphan a pod of the job, unless the job is being deleted.
func (b *backend) Adopt(_ context.Context, ref job.Claim) error {
	if !b.job.DeletionTimestamp.IsZero() {
		return errors.New("the job is being deleted")
	}
	return b.update(ref.UID, func(p *job.Pod) error {
		if p.Owner == jobpod.Orphan {
			p.Owner, p.Untracked = jobpod.Owned, false
		}
		return nil
	})
}

func (b *backend) Release(_ context.Context, ref job.Claim) error {
	return b.update(ref.UID, func(p *job.Pod) error {
		p.Owner, p.Untracked = jobpod.Foreign, true
		return nil
	})
}

// labelled is the store with pods that belong to the job by their labels.
type labelled struct{ *store }

func (s labelled) AddPod(p job.Pod) error {
	s.touch(&p)
	s.pods = append(s.pods, p)
	return nil
}

func (s labelled) Relabel(pod job.UID, matches bool) error {
	return s.update(pod, func(p *job.Pod) error {
		if p.Owner = jobpod.OwnedUnmatched; matches {
			p.Owner = jobpod.Owned
		}
		return nil
	})
}

// orphaning is the store whose jobs can be removed without their pods.
type orphaning struct{ labelled }

func (s orphaning) RemoveJobOnly() error {
	s.job = job.Job{}
	return nil
}

// grouping is the store with workloads and pod groups.
type grouping struct {
	labelled
	groups *jobgroup.Groups
	// mistake is a name in TestBackend_CarelessWithGroups, or empty
	mistake string
}

func newGrouping(s *store, mistake string) grouping {
	return grouping{labelled{s}, new(jobgroup.Groups), mistake}
}

func (s grouping) Groups() (jobgroup.Groups, error) { return *s.groups, nil }

func (s grouping) RemoveJob() error {
	*s.groups = jobgroup.Groups{}
	return s.store.RemoveJob()
}

func (s grouping) Look(ctx context.Context) (job.Snapshot, jobapply.Backend, error) {
	seen, b, err := s.store.Look(ctx)
	if seen.Groups = *s.groups; s.mistake == "groups are not read" {
		seen.Groups = jobgroup.Groups{}
	}
	return seen, groupingBackend{b.(*backend), s}, err
}

type groupingBackend struct {
	*backend
	to grouping
}

// WriteGroup makes new lists, because a snapshot may have the old ones.
func (b groupingBackend) WriteGroup(_ context.Context, w jobgroup.Write) (job.UID, error) {
	g, uid := b.to.groups, w.UID
	g.Workloads, g.PodGroups = slices.Clone(g.Workloads), slices.Clone(g.PodGroups)
	workload := slices.IndexFunc(g.Workloads, func(o jobgroup.Workload) bool { return o.Name == w.Name })
	group := slices.IndexFunc(g.PodGroups, func(o jobgroup.PodGroup) bool { return o.Name == w.Name })
	isWorkload := w.Kind == jobgroup.KindWorkload

	isThere := group >= 0
	if isWorkload {
		isThere = workload >= 0
	}
	switch {
	case w.UID == "" && isThere && b.to.mistake != "a name is no lock":
		return "", errors.New("the name is taken")
	case w.UID != "" && !isThere:
		return "", errors.New("there is no such object")
	case w.UID == "":
		b.revision++
		uid = job.UID(fmt.Sprint(b.prefix, "group-", b.revision))
	}

	ref := jobgroup.Ref{Name: w.Name, UID: uid}
	template := []jobgroup.Template{{Name: w.Template, MinCount: w.MinCount}}
	switch {
	case w.UID == "" && isWorkload:
		g.Workloads = append(g.Workloads, jobgroup.Workload{Ref: ref, Templates: template})
	case w.UID == "":
		g.PodGroups = append(g.PodGroups, jobgroup.PodGroup{Ref: ref, Workload: w.Workload.Name, MinCount: w.MinCount})
	case isWorkload:
		g.Workloads[workload].Templates = template
	case b.to.mistake != "a group keeps its size":
		g.PodGroups[group].MinCount = w.MinCount
	}
	return uid, nil
}

func (b groupingBackend) Delete(ctx context.Context, d job.Deletion) error {
	if b.to.mistake == "the groups go with a pod" {
		*b.to.groups = jobgroup.Groups{}
	}
	return b.backend.Delete(ctx, d)
}

// openLateGroups is openLate for a store with groups.
func openLateGroups(env *jobtest.Env, s grouping) jobtest.Subject {
	start, cache := jobtest.LateLoop(env, func(seen job.Job) jobapply.Backend {
		return groupingBackend{&backend{s.store, int(seen.Version)}, s}
	})
	return jobtest.Subject{Store: s, Start: start, Cache: cache}
}
