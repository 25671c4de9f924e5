package jobmodel

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/x/proof/explore"
)

// A round depends only on the view that it starts from and on the outcomes of its writes. So each
// round is planned once, and many states share it: a roundID identifies a view and the outcomes so
// far. The executor carries the plan out on a backend where all writes succeed, which yields all
// rounds up to the end. If a write has another outcome, the plan is made again. It is carried out
// on a backend that answers with the outcomes so far and with this outcome.

// roundID is the number of a round under way; 0 is none.
type roundID uint32

// maxTokens is the greatest number of pods in a round, with those that it creates.
const maxTokens = 2 * maxPods

// view is what a controller sees and remembers when a round begins.
type view struct {
	now       uint32
	status    statusID
	deletedAt uint32
	spec      specID
	groups    groups
	// stale is the number of versions by which the job that the controller sees is older than the
	// controller's last write, or 0.
	stale                uint8
	memory               memoryID
	expectedAt           uint32
	creations, deletions uint8
	pods                 [maxPods]seenPod
}

// seenPod is a pod of a view, or what the controller knows about a pod that the view does not show.
type seenPod struct {
	pod    podID
	listed listed
	noted  notes
}

// verb is the kind of a write.
type verb uint8

const (
	verbAdopt verb = iota
	verbRelease
	verbCreate
	verbDelete
	// verbUntrackFirst removes the finalizer of a pod that is to be deleted, if the pod's version
	// is still the same.
	verbUntrackFirst
	verbUntrack
	verbStatus
	// verbGroup creates or resizes the workload or the pod group.
	verbGroup
)

// writeStep is one write of a round.
type writeStep struct {
	verb verb
	// place is the place of the pod in the view.
	place uint8
	// index, failures and ignored describe a pod to create.
	index             job.Index
	failures, ignored int32
	// grouped is true for a pod to create that names the group.
	grouped bool
	// workload, creates and size describe a write to the workload or the pod group.
	workload, creates bool
	size              uint8
	// status is a status to write. listed tells, for each pod of the view, in which uncounted list
	// the status has it.
	status statusID
	listed [maxTokens]listed
}

// outcome is what a controller learns of a write.
type outcome uint8

const (
	outcomeDone outcome = iota
	outcomeFailed
	outcomeGone
	outcomes
)

// round is a round under way: its next write, or its end.
type round struct {
	begun *begun
	// from is the previous round, 0 for none. by is the outcome that led from there to this one.
	from  roundID
	by    outcome
	write writeStep
	end   *ending // nil while a write is left
	// after holds the round that each outcome leads to, 0 if that is unknown. Workers set it at any
	// time.
	after [outcomes]uint32
}

// begun is the part that all rounds with the same view share.
type begun struct {
	view view
	// rules are the rules that the plan exercises, and broken is the invariant that it breaks, or
	// nil.
	rules  explore.RuleSet
	broken error
}

// ending is the result of a finished round.
type ending struct {
	memory               memoryID
	expectedAt           uint32
	creations, deletions uint8
	noted                [maxTokens]notes
	again                uint32
	retry                bool
}

type rounds struct {
	*values
	all      explore.List[round]
	begins   explore.Cache[view, roundID]
	recalled explore.Cache[memoryKey, job.Memory]
	planners sync.Pool // of *job.Planner
	planned  atomic.Int64
}

// begin returns the round that begins with a view, before its first write.
func (r *rounds) begin(v view) roundID {
	return r.begins.Get(v, func() roundID { return r.play(&begun{view: v}, 0, nil) })
}

// next returns the round after the outcome of its write. If two workers plan it concurrently, both
// use the round of the one that finishes first.
func (r *rounds) next(id roundID, o outcome) roundID {
	after := &r.of(id).after[o]
	if atomic.LoadUint32(after) == 0 {
		made := r.play(r.of(id).begun, id, append(r.outcomes(id), o))
		atomic.CompareAndSwapUint32(after, 0, uint32(made))
	}
	return roundID(atomic.LoadUint32(after))
}

// outcomes returns the outcomes that led to a round.
func (r *rounds) outcomes(id roundID) []outcome {
	if round := r.of(id); round.from != 0 {
		return append(r.outcomes(round.from), round.by)
	}
	return nil
}

func (r *rounds) of(id roundID) *round { return r.all.At(uint32(id)) }

// bytes returns about how much memory the rounds take, which is most of the memory of a model.
func (r *rounds) bytes() int64 {
	perRound := int64(unsafe.Sizeof(round{}) + unsafe.Sizeof(ending{}))
	perView := int64(unsafe.Sizeof(begun{})) + 2*int64(unsafe.Sizeof(view{}))
	return int64(r.all.Len())*perRound + int64(r.begins.Len())*perView
}

// play plans a round that began with a view, and carries it out: the first writes have known
// outcomes, and all others succeed. It returns the round right after the known outcomes. The
// argument from is the round before the returned one, or 0 without known outcomes.
func (r *rounds) play(b *begun, from roundID, known []outcome) roundID {
	r.planned.Add(1)
	s := r.snapshot(&b.view)
	planner, _ := r.planners.Get().(*job.Planner)
	if planner == nil {
		planner = new(job.Planner)
	}
	defer r.planners.Put(planner)

	plan, err := planner.Reconcile(&s)
	if err != nil {
		b.broken = fmt.Errorf("the snapshot is refused: %w", err)
		return r.add(round{begun: b, end: &ending{}})
	}

	if len(known) == 0 {
		if found := jobcheck.Plan(&s, plan); len(found) > 0 {
			b.broken = found[0]
		}
		b.rules = rules.Of(&s, plan)
	}

	p := &player{rounds: r, known: known, tokens: b.view.known()}
	conclusion, _ := jobapply.Executor{Parallel: 1}.Apply(context.Background(), p, plan)
	end := r.endingOf(&conclusion)
	return r.addAll(round{begun: b, from: from}, known, p.writes, &end)
}

// addAll adds a round for each write that is left, and one for the end. Each of these rounds leads
// to the next one if its write succeeds.
func (r *rounds) addAll(next round, known []outcome, writes []writeStep, end *ending) (first roundID) {
	if len(known) > 0 {
		next.by = known[len(known)-1]
	}
	for i := range len(writes) + 1 {
		if i < len(writes) {
			next.write = writes[i]
		} else {
			next.write, next.end = writeStep{}, end
		}
		id := r.add(next)
		if i == 0 {
			first = id
		} else {
			atomic.StoreUint32(&r.of(next.from).after[next.by], uint32(id))
		}
		next.from, next.by = id, outcomeDone
	}
	return first
}

func (r *rounds) add(made round) roundID {
	return roundID(r.all.Add(func(v *round) { *v = made }))
}

// known returns the number of places up to the last one that holds a pod.
func (v *view) known() int {
	n := maxPods
	for n > 0 && v.pods[n-1] == (seenPod{}) {
		n--
	}
	return n
}

// token returns the UID of the pod at a place of a view.
func token(place int) job.UID {
	return job.UID([]byte{'u', '0' + byte(place/10), '0' + byte(place%10)})
}

func placeOf(uid job.UID) int {
	place, err := strconv.Atoi(string(uid[1:]))
	if err != nil {
		panic(err)
	}
	return place
}

// jobVersion is the version of the job that the controller sees. Only differences of versions
// matter.
const jobVersion = 1000

// snapshot returns the planner's snapshot of a view.
func (r *rounds) snapshot(v *view) job.Snapshot {
	known := v.pods[:v.known()]
	s := job.Snapshot{
		Job: job.Job{
			Namespace: "default", Name: "j", UID: "job-1", CreationTimestamp: clock(0), Version: jobVersion,
			Spec: r.specs.of(v.spec), Status: r.statuses.with(v.status, listsOf(known)),
		},
		Groups: v.groups.all(), Now: clock(v.now), Options: r.scope.Options, Consistent: !r.scope.Late,
	}

	if v.deletedAt > 0 {
		s.Job.DeletionTimestamp = clock(v.deletedAt - 1)
	}
	for i, p := range known {
		if p.pod == 0 {
			continue
		}

		pod := r.pods.info(p.pod).Pod
		pod.UID, pod.Name = token(i), "p"+string(token(i)[1:])
		detail := *pod.Detail
		detail.ResourceVersion = "1"
		pod.Detail = &detail
		s.Pods = append(s.Pods, pod)
	}

	s.Memory = r.memory(v)
	if v.creations > 0 || v.deletions > 0 {
		s.Memory.Expectations = expectations.Counts{
			Creations: int(v.creations),
			Deletions: int(v.deletions),
			At:        clock(v.expectedAt),
		}
	}
	if v.stale > 0 {
		s.Memory.Written = jobVersion + int64(v.stale)
	}
	return s
}

// memoryKey is a memory with its notes about each pod of a view.
type memoryKey struct {
	id    memoryID
	noted [maxPods]notes
}

// memory returns the controller's memory in a view, without the expectations.
func (r *rounds) memory(v *view) job.Memory {
	key := memoryKey{id: v.memory}
	for i, p := range v.pods {
		key.noted[i] = p.noted
	}
	return r.recalled.Get(key, func() job.Memory {
		return r.memories.with(v.memory, func(n notes) (uids []string) {
			for i, noted := range key.noted {
				if noted&n != 0 {
					uids = append(uids, string(token(i)))
				}
			}
			return uids
		})
	})
}

func listsOf(pods []seenPod) (lists job.UncountedTerminatedPods) {
	for i, p := range pods {
		if p.listed&listedSucceeded != 0 {
			lists.Succeeded = append(lists.Succeeded, token(i))
		}
		if p.listed&listedFailed != 0 {
			lists.Failed = append(lists.Failed, token(i))
		}
	}
	return lists
}

// endingOf converts a conclusion to the model's form.
func (r *rounds) endingOf(c *job.Conclusion) (e ending) {
	taken := r.memories.take(c.Memory)
	e.memory = taken.id
	for _, n := range taken.notes {
		e.noted[placeOf(job.UID(n.uid))] |= n.note
	}
	if counts := c.Memory.Expectations; counts.Creations > 0 || counts.Deletions > 0 {
		e.creations, e.deletions, e.expectedAt = uint8(counts.Creations), uint8(counts.Deletions), seconds(counts.At)
	}
	if !c.Requeue.At.IsZero() {
		e.again = seconds(c.Requeue.At) + 1
	}
	e.retry = c.Retry
	return e
}

// player is a backend that answers with the known outcomes. All further writes succeed, and it
// notes them.
type player struct {
	*rounds
	known  []outcome
	writes []writeStep
	tokens int // for the pods of the view and for those that were created
}

var errFailed = errors.New("injected fault")

// play answers one write.
func (p *player) play(w writeStep) error {
	if len(p.known) == 0 {
		p.writes = append(p.writes, w)
		return nil
	}
	o := p.known[0]
	p.known = p.known[1:]
	switch o {
	case outcomeGone:
		return jobapply.ErrGone
	case outcomeFailed:
		return errFailed
	}
	return nil
}

func (p *player) pod(v verb, ref job.PodRef) error {
	return p.play(writeStep{verb: v, place: uint8(placeOf(ref.UID))})
}

func (p *player) Adopt(_ context.Context, c job.Claim) error   { return p.pod(verbAdopt, c.PodRef) }
func (p *player) Release(_ context.Context, c job.Claim) error { return p.pod(verbRelease, c.PodRef) }

func (p *player) Untrack(_ context.Context, u job.Untracking) error {
	return p.pod(verbUntrack, u.PodRef)
}

func (p *player) Delete(_ context.Context, d job.Deletion) error {
	if d.UntrackFirst {
		if err := p.pod(verbUntrackFirst, d.PodRef); err != nil {
			return err
		}
	}
	return p.pod(verbDelete, d.PodRef)
}

func (p *player) Create(_ context.Context, c job.Creation) (job.PodRef, error) {
	place := p.tokens
	p.tokens++
	err := p.play(writeStep{
		verb: verbCreate, place: uint8(place), index: c.Index, failures: c.FailureCount, ignored: c.IgnoredFailureCount,
		grouped: c.Group.Name != "",
	})
	return job.PodRef{Name: c.NamePrefix + string(token(place)), UID: token(place)}, err
}

func (p *player) WriteStatus(_ context.Context, s job.Status) error {
	w := writeStep{verb: verbStatus, status: p.statuses.number(s)}
	if u := s.UncountedTerminatedPods; u != nil {
		for _, uid := range u.Succeeded {
			w.listed[placeOf(uid)] |= listedSucceeded
		}
		for _, uid := range u.Failed {
			w.listed[placeOf(uid)] |= listedFailed
		}
	}
	return p.play(w)
}
