package jobtest_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/kittest"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/jobtest"
)

// bug is a likely mistake.
type bug string

const (
	none             bug = ""
	staleReplica     bug = "the list is read from a stale replica"
	finalizerFirst   bug = "the finalizer is removed before the status is written"
	memoryByName     bug = "the memory of another job is used"
	requeueOfPlan    bug = "no requeue after a capped round"
	neverObserved    bug = "expectations are never lowered"
	notExpected      bug = "creations are not expected"
	removalForgotten bug = "removals of finalizers are forgotten"
	endForgotten     bug = "the end of the job is forgotten"
	unconditional    bug = "the status is written without a condition"
	lostSuccess      bug = "a finalizer is removed without a condition"
	unsafeCreate     bug = "pods are created without their index"
	swallowedFailure bug = "an error of a write is swallowed"
	orphansForgotten bug = "the pods of a job that is gone are forgotten"
	minutesOnly      bug = "finish times are read by the minute"
	noDetails        bug = "details are not read"
	goneStay         bug = "pods that are gone stay in the table"
	goneStayInCache  bug = "pods that are gone stay in the cache"
	untrackIgnored   bug = "UntrackFirst is ignored"
	specOnce         bug = "the spec is read once"
	startByDay       bug = "the start time is kept by the day"
	managedByRead    bug = "managedBy is read although its gate is off"
	wakeUpLost       bug = "a change in the middle of a round is lost"
	oneTimer         bug = "one timer serves all jobs"
	failureDropped   bug = "a job is dropped when its round fails"
	firstAlone       bug = "a start finds the first job alone"
)

// replica is the first backend of the tutorial: a store whose reads come from a replica, which
// is one write behind. It is tested with the loop of jobtest.
type replica struct {
	*store
	bug    bug
	behind []job.Pod
}

func (r *replica) Look(ctx context.Context) (job.Snapshot, jobapply.Backend, error) {
	s, b, err := r.store.Look(ctx)
	if r.bug == staleReplica {
		s.Pods, r.behind = r.behind, s.Pods
	}
	return s, b, err
}

// worker is the second backend: it carries out plans without an executor, and keeps its memory in a
// table.
type worker struct {
	*store
	bug      bug
	memories map[string]job.Memory // by the key of the job
}

// key returns the key under which a memory is stored.
func (w *worker) key(j *job.Job) string {
	if w.bug == memoryByName {
		return j.Namespace + "/" + j.Name
	}
	return string(j.UID)
}

func (w *worker) round(ctx context.Context) (time.Time, error) {
	s, b, err := w.Look(ctx)
	if err != nil {
		return time.Time{}, err
	}

	s.Now, s.Options = w.env.Now(), w.env.Options()
	s.Memory = w.memories[w.key(&s.Job)]
	if w.bug == memoryByName {
		s.Memory.JobUID = s.Job.UID // so that the memory of another job is used
	}

	plan, err := job.Reconcile(s)
	if err != nil {
		return time.Time{}, err
	}

	w.env.Planned(&s, &plan)
	end := w.carryOut(ctx, w.env.Backend(b), &plan)
	if err := w.env.Write("store the memory",
		func() error { w.memories[w.key(&s.Job)] = end.Memory; return nil }); err != nil {
		return time.Time{}, err
	}

	switch {
	case end.Retry:
		return w.env.Now().Add(time.Second), nil
	case w.bug == requeueOfPlan:
		return plan.Requeue.At, nil
	}
	return end.Requeue.At, nil
}

// carryOut makes the writes of a plan in their order.
func (w *worker) carryOut(ctx context.Context, b jobapply.Backend, plan *job.Plan) job.Conclusion {
	var writes job.Writes
	writes.Claimed.Result = w.claim(ctx, b.(jobapply.Adopter), plan)
	if writes.Claimed.Result == jobreason.ResultDone {
		for _, d := range plan.Delete {
			writes.Deleted = append(writes.Deleted, job.Effect{Result: result(b.Delete(ctx, d))})
		}
		for _, c := range plan.Create {
			ref, err := b.Create(ctx, c)
			writes.Created = append(writes.Created, job.Effect{Result: result(err), Pod: ref})
		}
	}

	recording := plan.Record(writes)
	var untracked []job.Reply
	untrack := func() {
		for _, u := range recording.Untrack {
			untracked = append(untracked, job.Reply{Result: result(b.Untrack(ctx, u))})
		}
	}

	recorded := jobreason.ResultDone
	if w.bug == finalizerFirst {
		untrack()
	}
	if recording.Write {
		recorded = result(b.WriteStatus(ctx, recording.Status))
	}
	if w.bug != finalizerFirst && recorded == jobreason.ResultDone {
		untrack()
	}

	settlement := recording.Settle(job.Reply{Result: recorded}, untracked)
	settled := jobreason.ResultDone
	if settlement.Write {
		settled = result(b.WriteStatus(ctx, settlement.Status))
	}
	return settlement.Conclude(job.Reply{Result: settled})
}

func (w *worker) claim(ctx context.Context, b jobapply.Adopter, plan *job.Plan) jobreason.Result {
	for _, ref := range plan.Adopt {
		if err := b.Adopt(ctx, ref); err != nil {
			return jobreason.ResultUnsuccessful
		}
	}
	for _, ref := range plan.Release {
		if err := b.Release(ctx, ref); err != nil {
			return jobreason.ResultUnsuccessful
		}
	}
	return jobreason.ResultDone
}

func result(err error) jobreason.Result {
	switch err {
	case nil:
		return jobreason.ResultDone
	case jobapply.ErrGone:
		return jobreason.ResultGone
	}
	return jobreason.ResultUnsuccessful
}

// careless is the store with a mistake in one of its methods.
type careless struct {
	*store
	bug  bug
	spec *job.Spec // as it was read first
}

func (c *careless) Look(ctx context.Context) (job.Snapshot, jobapply.Backend, error) {
	s, b, err := c.store.Look(ctx)
	switch {
	case c.bug == orphansForgotten && s.Job.UID == "", c.bug == managedByRead && s.Job.Spec.ManagedBy != nil:
		s.Pods = nil
	}
	if c.bug == specOnce {
		if c.spec == nil {
			c.spec = &s.Job.Spec
		}
		s.Job.Spec = *c.spec
	}
	for i := range s.Pods {
		s.Pods[i].Detail = c.read(s.Pods[i].Detail)
	}
	return s, &carelessBackend{b.(*backend), c.bug}, err
}

// read returns the detail of a pod as the program reads it.
func (c *careless) read(d *job.PodDetail) *job.PodDetail {
	switch {
	case c.bug == noDetails:
		return nil
	case c.bug != minutesOnly || len(d.Containers) == 0:
		return d
	}
	detail := *d
	detail.Containers = slices.Clone(d.Containers)
	for i := range detail.Containers {
		detail.Containers[i].FinishedAt = detail.Containers[i].FinishedAt.Truncate(time.Minute)
	}
	return &detail
}

type carelessBackend struct {
	*backend
	bug bug
}

func (b *carelessBackend) WriteStatus(ctx context.Context, s job.Status) error {
	switch b.bug {
	case unconditional:
		b.seen = b.version
	case startByDay:
		s.StartTime = s.StartTime.Truncate(24 * time.Hour)
	case swallowedFailure:
		_ = b.backend.WriteStatus(ctx, s)
		return nil
	}
	return b.backend.WriteStatus(ctx, s)
}

func (b *carelessBackend) Delete(ctx context.Context, d job.Deletion) error {
	if b.bug == untrackIgnored {
		d.UntrackFirst = false
	}
	if b.bug == lostSuccess && d.UntrackFirst {
		for _, p := range b.pods {
			if p.UID == d.UID {
				d.ResourceVersion = p.Detail.ResourceVersion
			}
		}
	}
	return b.backend.Delete(ctx, d)
}

func (b *carelessBackend) Create(ctx context.Context, c job.Creation) (job.PodRef, error) {
	if b.bug == unsafeCreate && c.Index.Int32() >= 0 {
		c.Index = job.IndexAt(0)
	}
	return b.backend.Create(ctx, c)
}

// open returns the subject of that kind with the bug.
func open(kind string, b bug) func(*jobtest.Env) jobtest.Subject {
	return func(env *jobtest.Env) jobtest.Subject {
		s := &store{env: env}
		switch kind {
		case "replica":
			r := &replica{store: s, bug: b}
			return jobtest.Subject{Store: s, Start: jobtest.Loop(env, r.Look)}
		case "worker":
			w := &worker{store: s, bug: b, memories: map[string]job.Memory{}}
			return jobtest.Subject{Store: s, Start: func(forget bool) jobtest.Program {
				if forget {
					clear(w.memories)
				}
				return w.round
			}}
		case "watcher":
			w := &watcher{store: s, bug: b}
			return jobtest.Subject{Store: s, Start: w.start, Cache: w}
		}

		c := &careless{store: s, bug: b}
		s.keeps = c.bug == goneStay
		if kind == "orphans" {
			return jobtest.Subject{Store: orphaning{labelled{s}}, Start: jobtest.Loop(env, c.Look)}
		}
		return jobtest.Subject{Store: s, Start: jobtest.Loop(env, c.Look)}
	}
}

// TestTutorial_Right finds nothing wrong with the backends of the tutorial without their bugs.
func TestTutorial_Right(t *testing.T) {
	for _, kind := range []string{"replica", "worker", "watcher", "store", "orphans"} {
		t.Run(kind, func(t *testing.T) { jobtest.TestBackend(t, open(kind, none)) })
	}
	t.Run("queue", func(t *testing.T) { jobtest.TestQueue(t, openQueue(none)) })
}

var planted = []struct {
	kind string
	bug  bug
	rule string
}{
	{"replica", staleReplica, "Store"},
	{"worker", finalizerFirst, "JI3"},
	{"worker", memoryByName, "JI22"},
	{"worker", requeueOfPlan, "L9"},
	{"watcher", neverObserved, "E1"},
	{"watcher", notExpected, "JI10"},
	{"watcher", removalForgotten, "JI1"},
	{"watcher", endForgotten, "JI16"},
	{"store", unconditional, "Store"},
	{"store", lostSuccess, "JI9"},
	{"store", unsafeCreate, "Store"},
	{"store", swallowedFailure, "Store"},
	{"orphans", orphansForgotten, "L4"},
	{"store", minutesOnly, "Store"},
	{"store", noDetails, "Store"},
	{"store", goneStay, "Store"},
	{"store", untrackIgnored, "Store"},
	{"store", specOnce, "Store"},
	{"store", startByDay, "Store"},
	{"store", managedByRead, "Store"},
	{"watcher", goneStayInCache, "Store"},
	{"queue", wakeUpLost, "L9"},
	{"queue", oneTimer, "L9"},
	{"queue", failureDropped, "L9"},
	{"queue", firstAlone, "L9"},
}

// TestTutorial finds each bug of the tutorial, with the story in docs/testing.md. The smallest life
// that shows the bug is stored. After a change of the generators, -search finds a new one.
func TestTutorial(t *testing.T) {
	for _, p := range planted {
		t.Run(string(p.bug), func(t *testing.T) {
			story := find(t, string(p.bug), p.rule, testOf(p.kind, p.bug))
			if !strings.Contains(story, "  "+p.rule+": ") {
				t.Errorf("the story does not end with %s:\n%s", p.rule, story)
			}
			checkDocument(t, string(p.bug), story)
		})
	}
}

var (
	update = flag.Bool("update", false, "rewrite the stories of the tutorial")
	search = flag.Bool("search", false,
		"look for the bugs of the tutorial again, among 3000 lives of each of five seeds, and keep the shortest story")
)

// find runs the test with the life that is stored under that name, and returns the story. With
// -search it stores the shortest life that breaks the rule.
func find(t *testing.T, name, rule string, test func(testing.TB)) string {
	t.Helper()
	file := filepath.Join("testdata", "tutorial", strings.ReplaceAll(name, " ", "_")+".fail")

	if *search {
		kittest.Set(t, map[string]string{"rapid.checks": "3000"})
		shortest := ""
		for seed := range 5 {
			kittest.Set(t, map[string]string{"rapid.seed": strconv.Itoa(1000*seed + 1)})
			found := filepath.Join("testdata", "rapid")
			_ = os.RemoveAll(found)
			story := storyWithin(t, test)
			files, _ := filepath.Glob(filepath.Join(found, "*", "*.fail"))
			if len(files) != 1 {
				t.Fatalf("rapid has stored %v", files)
			}
			if strings.Contains(story, "  "+rule+": ") && (shortest == "" || len(story) < len(shortest)) {
				shortest = story
				if err := os.Rename(files[0], file); err != nil {
					t.Fatal(err)
				}
			}
			_ = os.RemoveAll(found)
		}
		return shortest
	}

	if _, err := os.Stat(file); err != nil {
		t.Fatalf("no life is stored for this bug: %v", err)
	}
	kittest.Set(t, map[string]string{"rapid.nofailfile": "true", "rapid.failfile": file})
	return storyWithin(t, test)
}

// testOf returns the test of a subject with a bug.
func testOf(kind string, b bug) func(testing.TB) {
	return func(tb testing.TB) {
		if kind == "queue" {
			jobtest.TestQueue(tb, openQueue(b))
			return
		}
		jobtest.TestBackend(tb, open(kind, b))
	}
}

// storyWithin returns the story of a test, without the advice how to repeat it.
func storyWithin(t *testing.T, test func(testing.TB)) string {
	t.Helper()
	said := kittest.Story(t, test)
	return said[:strings.LastIndex(said, "\n\n")]
}

// checkDocument compares a story with the one in the tutorial: a code block after a comment with
// the name of the bug. It skips bugs that the tutorial does not mention.
func checkDocument(t *testing.T, name, story string) {
	t.Helper()
	const file = "../../docs/testing.md"
	text := testfile.Read(t, file)
	before, rest, told := strings.Cut(text, "<!-- story: "+name+" -->\n")
	if !told {
		return
	}
	block, after, ok := strings.Cut(rest, "<!-- end -->")
	if !ok {
		t.Fatalf("%s: the story of %q has no end", file, name)
	}
	want := "```text\n" + story + "\n```\n"
	switch {
	case block == want:
	case *update:
		text = before + "<!-- story: " + name + " -->\n" + want + "<!-- end -->" + after
		testfile.Write(t, text, file)
	default:
		t.Errorf("%s tells another story of %q, rewrite it with -update:\n%s", file, name, story)
	}
}
