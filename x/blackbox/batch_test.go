package blackbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// worker is a controller of Jobs that looks at everything every fifty seconds. It notes the names
// of the pods that it has counted, and then removes their finalizers. Each field that is set is a
// mistake that it makes.
type worker struct {
	naive // for its client

	tooMany, neverStops, forgetsEnd, countsAgain, keepsFinalizers, ignoresSuspend, failsEarly,
	noRetry, busyAfter, leavesRunning bool
	succeedsEarly, twins, waitsForEdit, dropsKilled bool

	// These need several parents, or a parent that is created again.
	byPrefix, limitsAll, blocks, endsForGood bool

	countsExisting, runsGone, quitsAtStart bool

	writesLast bool // is no mistake: it writes the status at the end of a round

	dropped map[string]bool // the pods that it does not look at again
	endings map[string]bool // the Jobs that have ended
}

func podsPath(of Object) string { return "/api/v1/namespaces/" + of.Namespace() + "/pods" }

func (w worker) subject() *Batch {
	return &Batch{
		Program: Program{
			Resources: []Resource{Jobs(), Pods()},
			Parent:    JobKind, Child: PodKind,
			Start: func(ctx context.Context, config *rest.Config) error {
				c := w
				c.client = &http.Client{Transport: config.Transport}
				c.endings = make(map[string]bool)
				for first := true; ctx.Err() == nil; first = false {
					if err := c.round(ctx); err != nil && (c.noRetry || first && c.quitsAtStart) {
						<-ctx.Done()
					} else if err != nil && c.waitsForEdit {
						for before := c.generation(ctx); ctx.Err() == nil && c.generation(ctx) == before; {
							time.Sleep(50 * time.Second)
						}
					}
					time.Sleep(cmp.Or(c.every, 50*time.Second))
				}
				return nil
			},
		},
		New: NewJob, Edit: EditJob, Tally: JobTally, Index: PodIndex,
	}
}

// generation reads the sum of the generations of all parents.
func (w *worker) generation(ctx context.Context) (sum float64) {
	list, _, _ := w.do(ctx, http.MethodGet, allJobs, nil)
	for _, parent := range list.List("items") {
		generation, _ := parent.Get("metadata", "generation").(float64)
		sum += generation
	}
	return sum
}

// round looks at each parent, and releases the pods of those that are gone.
func (w *worker) round(ctx context.Context) error {
	parents, _, err := w.do(ctx, http.MethodGet, allJobs, nil)
	if err != nil {
		return err
	}
	list, _, err := w.do(ctx, http.MethodGet, "/api/v1/pods", nil)
	if err != nil {
		return err
	}

	var all error
	running, orphans := 0, list.List("items")
	for _, pod := range orphans {
		if !PodEnded(pod) && !pod.isDeleted() {
			running++
		}
	}
	for _, parent := range parents.List("items") {
		isOwn := func(pod Object) bool {
			isSimilar := pod.Namespace() == parent.Namespace() && strings.HasPrefix(pod.Name(), parent.Name()+"-")
			return pod.IsOwnedBy(parent.UID()) || w.byPrefix && isSimilar
		}
		var own []Object
		for _, pod := range list.List("items") {
			if isOwn(pod) {
				own = append(own, pod)
			}
		}
		orphans = slices.DeleteFunc(orphans, isOwn)
		err := w.look(ctx, parent, own, running-len(own))
		if err != nil && w.blocks {
			return err
		}
		all = errors.Join(all, err)
	}
	return errors.Join(all, w.release(ctx, orphans))
}

// look counts the pods of a parent, and starts or deletes some.
func (w *worker) look(ctx context.Context, parent Object, own []Object, others int) error {
	number := func(field string) int {
		n, _ := parent.Get("spec", field).(float64)
		return int(n)
	}

	counted := map[string]bool{} // how each counted pod has ended, by its name
	for _, c := range parent.List("status", "counted") {
		counted[c.Text("name")] = c.Get("succeeded").(bool)
	}
	exists := map[string]bool{}
	for _, pod := range own {
		exists[pod.Name()] = true
	}
	if w.countsExisting {
		maps.DeleteFunc(counted, func(name string, _ bool) bool { return !exists[name] })
	}

	var active []Object
	done := map[string]bool{} // the indexes of succeeded pods
	for _, pod := range own {
		if _, is := counted[pod.Name()]; !is && (PodEnded(pod) || pod.isDeleted()) {
			counted[pod.Name()] = Pod.Succeeded(pod)
		}
		if !PodEnded(pod) && !pod.isDeleted() {
			active = append(active, pod)
		}
	}

	succeeded, failed := 0, 0
	for name, is := range counted {
		if is {
			succeeded++
			done[strings.Split(strings.TrimPrefix(name, parent.Name()), "-")[1]] = exists[name] || !w.runsGone
		} else {
			failed++
		}
	}

	parent = parent.clone()
	var list []any
	for name, is := range counted {
		list = append(list, map[string]any{"name": name, "succeeded": is})
	}
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	parent.Set(list, "status", "counted")
	parent.Set(float64(succeeded), "status", "succeeded")
	parent.Set(float64(failed), "status", "failed")

	if w.endsForGood && w.endings[keyOf(parent)] {
		return nil
	}
	if w.countsAgain {
		before, _ := parent.Get("status", "seen").(float64)
		parent.Set(before+1, "status", "seen")
		if succeeded > 0 {
			parent.Set(float64(succeeded)+before, "status", "succeeded")
		}
	}

	wanted, retries := number("completions"), number("backoffLimit")
	if w.succeedsEarly {
		wanted--
	}
	if w.failsEarly {
		retries--
	}

	ended := JobEnded(parent)
	switch {
	case ended && w.forgetsEnd:
		parent.Unset("status", "conditions")
		ended = false
	case ended:
		if w.busyAfter {
			parent.Set(now(), "status", "seen")
		}
	case succeeded >= wanted:
		setCondition(parent, "Complete", "True", "")
		ended = true
	case failed > retries:
		setCondition(parent, "Failed", "True", "")
		ended = true
	}

	record := func() error {
		_, _, err := w.do(ctx, http.MethodPut, jobsPath(parent)+"/"+parent.Name()+"/status", parent)
		return err
	}
	if !w.writesLast {
		if err := record(); err != nil {
			return err
		}
	}
	w.endings[keyOf(parent)] = ended
	if !w.keepsFinalizers {
		if err := w.releasePods(ctx, own); err != nil {
			return err
		}
	}

	want := min(number("parallelism"), wanted-succeeded)
	if w.tooMany {
		want = number("parallelism")
	}
	if w.limitsAll {
		want = min(want, max(4-others, 0))
	}
	if ended || parent.Get("spec", "suspend") == true && !w.ignoresSuspend {
		want = 0
	}
	if ended && w.leavesRunning {
		return nil
	}

	for len(active) > want && !w.neverStops {
		if _, _, err := w.do(ctx, http.MethodDelete, podsPath(active[0])+"/"+active[0].Name(), nil); err != nil {
			return err
		}
		active = active[1:]
	}
	err := w.fill(ctx, parent, active, done, want, len(counted))
	if err == nil && w.writesLast {
		err = record()
	}
	return err
}

// fill starts pods for the first free indexes.
func (w *worker) fill(ctx context.Context, parent Object, active []Object,
	done map[string]bool, want, attempt int) error {
	for _, pod := range active {
		done[PodIndex(pod)] = true
	}
	for index := 0; len(active) < want; {
		text := fmt.Sprint(index)
		if done[text] {
			index++
			continue
		}
		done[text] = !w.twins
		pod := Object{"metadata": map[string]any{
			"name": fmt.Sprintf("%s-%d-%d-%d", parent.Name(), index, attempt, len(active)), "annotations": map[string]any{"batch.kubernetes.io/job-completion-index": text},
			"finalizers":      []any{"example.com/counted"},
			"ownerReferences": []any{map[string]any{"uid": parent.UID(), "name": parent.Name(), "kind": "Job", "apiVersion": "batch/v1", "controller": true}},
		}}
		created, code, err := w.do(ctx, http.MethodPost, podsPath(parent), pod)
		if err != nil && code != http.StatusConflict {
			return err
		}
		active = append(active, created)
	}
	return nil
}

// releasePods removes the finalizer of pods that have ended.
func (w *worker) releasePods(ctx context.Context, all []Object) error {
	for _, pod := range all {
		if (PodEnded(pod) || pod.isDeleted()) && len(finalizers(pod)) > 0 && !w.dropped[pod.Name()] {
			pod.Unset("metadata", "finalizers")
			_, code, err := w.do(ctx, http.MethodPut, podsPath(pod)+"/"+pod.Name(), pod)
			switch {
			case err == nil, code == http.StatusNotFound:
			case w.dropsKilled && pod.isDeleted():
				if w.dropped == nil {
					w.dropped = make(map[string]bool)
				}
				w.dropped[pod.Name()] = true
			default:
				return err
			}
		}
	}
	return nil
}

// release removes the finalizers of the pods of jobs that are gone.
func (w *worker) release(ctx context.Context, orphans []Object) error {
	if w.keepsFinalizers {
		return nil
	}
	return w.releasePods(ctx, orphans)
}

// TestBatchPlay: each mistake is found by its check, in a life that a correct controller passes.
func TestBatchPlay(t *testing.T) {
	wait := Step{Do: Wait, For: 2 * time.Minute}
	two := BatchSettings{Wanted: 2, AtOnce: 2, Retries: 1, Indexed: true}
	for _, test := range []struct {
		name     string
		wrong    worker
		settings BatchSettings
		steps    []Step
		want     Check
	}{
		{"starts more than are wanted", worker{tooMany: true}, two, []Step{wait, {Do: Succeed}, wait}, NoMoreThanWanted},
		{"starts two of an index", worker{twins: true}, two, nil, OneEach},
		{"counts pods again", worker{countsAgain: true}, two, []Step{wait, {Do: Succeed}, wait, wait}, CountedOnce},
		{"takes the end back", worker{forgetsEnd: true}, two, []Step{wait, {Do: Fail}, {Do: Fail}, wait, wait}, EndsOnce},
		{"succeeds early", worker{succeedsEarly: true}, two, []Step{wait, {Do: Succeed}, wait}, EndsRightly},
		{"fails early", worker{failsEarly: true}, two, []Step{wait, {Do: Fail}, wait}, EndsRightly},
		{"gives up after a refusal", worker{noRetry: true}, two, []Step{{Do: Break, Fault: Refuse, Nth: 1}, wait}, Ends},
		{"gives up at the end until an edit", worker{waitsForEdit: true}, two, []Step{wait, {Do: Succeed}, {Do: Succeed}, {Do: Break, Fault: Refuse, Nth: 1}, wait}, Ends},
		{"never ends after a refusal", worker{noRetry: true}, two, []Step{wait, {Do: Succeed}, {Do: Succeed}, {Do: Break, Fault: Refuse, Nth: 1}, wait}, Ends},
		{"leaves pods running", worker{leavesRunning: true}, two, []Step{wait, {Do: Fail}, wait, wait, {Do: Fail}, wait}, NothingLeft},
		{"keeps finalizers", worker{keepsFinalizers: true}, two, nil, NothingLeft},
		{"ignores suspend", worker{ignoresSuspend: true}, two, []Step{wait, {Do: Suspend}, wait}, NothingRuns},
		{"starts although it is suspended", worker{ignoresSuspend: true}, two, []Step{wait, {Do: Suspend}, wait, {Do: Remove}, wait}, NothingStarts},
		{"stops nothing", worker{neverStops: true}, two, []Step{wait}, NothingRuns},
		{"forgets a pod that has expired", worker{countsExisting: true}, two, []Step{{Do: Expire}, wait, {Do: Succeed}, wait, wait}, CountedOnce},
		{"runs the index of a pod again that has expired", worker{runsGone: true}, BatchSettings{Wanted: 2, AtOnce: 2, Retries: 6, Indexed: true}, []Step{{Do: Expire}, wait, {Do: Succeed}, wait, {Do: Fail}, wait}, EndsRightly},
		{"gives up after an error at its start", worker{quitsAtStart: true}, two, []Step{{Do: Break, Fault: Refuse, Nth: 1}, wait}, Ends},
		{"takes up a Job again that is created anew", worker{endsForGood: true}, two, []Step{wait, {Do: Succeed}, {Do: Succeed}, wait, {Do: Delete}, wait}, Ends},
		{"writes without end", worker{busyAfter: true}, two, nil, Bounded},
	} {
		t.Run(test.name, func(t *testing.T) {
			life := BatchLife{Settings: test.settings, Begin: 10*time.Hour + 10*time.Second, Steps: test.steps}
			if right := (worker{}).subject().Play(t, life); len(right.Violations) > 0 {
				t.Errorf("a right controller: %v\n%s", right.Violations, strings.Join(right.Story, "\n"))
			}
			result := test.wrong.subject().Play(t, life)
			if !slices.ContainsFunc(result.Violations, func(v Violation) bool { return v.Check == test.want }) {
				t.Errorf("found %v, want %s\n%s", result.Violations, test.want, strings.Join(result.Story, "\n"))
			}
			missed := slices.DeleteFunc(result.Violations, func(v Violation) bool { return v.Check != Ends })
			if len(missed) > 1 {
				t.Errorf("one missing end is found more than once: %v", missed)
			}
		})
	}
}

// TestNoMoreThanWanted_CountedOnceOff: a program whose status counts the children that exist may replace one that has
// succeeded and that a user has deleted, also before it writes the status.
func TestNoMoreThanWanted_CountedOnceOff(t *testing.T) {
	wait := Step{Do: Wait, For: 2 * time.Minute}
	subject := worker{countsExisting: true, writesLast: true}.subject()
	subject.Off = map[Check]string{CountedOnce: "the status counts the children that exist"}
	result := subject.Play(t, BatchLife{
		Settings: BatchSettings{Wanted: 3, AtOnce: 3, Retries: 6, Indexed: true},
		Begin:    10*time.Hour + 10*time.Second,
		Steps:    []Step{wait, {Do: Succeed}, wait, {Do: Remove}, wait},
	})
	for _, v := range result.Violations {
		if v.Check == NoMoreThanWanted {
			t.Errorf("%s\n%s", v.Problem, strings.Join(result.Story, "\n"))
		}
	}
}

// TestBatchFind: random lives find nothing in a correct controller. They find a mistake, and report
// the shortest life that shows it.
func TestBatchFind(t *testing.T) {
	for _, f := range (worker{}).subject().Find(t, Search{Seed: 3, Lives: 3}) {
		t.Errorf("%s", f)
	}
	found := worker{keepsFinalizers: true}.subject().Find(t, Search{Seed: 3, Lives: 1})
	if len(found) != 1 || found[0].Check != NothingLeft || len(found[0].Life.Steps) > 0 ||
		!strings.Contains(found[0].GoTest(), "blackbox.BatchLife{") {
		t.Errorf("%v", found)
	}
}

// TestBatchFind_Late: a mistake in the last writes of a long life is found. After one of 20 pods has failed, the
// others are deleted, and the finalizer of a deleted pod is not removed if that fails once.
func TestBatchFind_Late(t *testing.T) {
	subject := worker{naive: naive{every: 19 * time.Second}, dropsKilled: true}.subject()
	subject.Settings = []BatchSettings{{Wanted: 20, AtOnce: 20}}
	lives := livesUntil(t, profile[BatchSettings](subject), NothingLeft, 1, 0)
	if lives == 0 {
		t.Errorf("%s is not found", NothingLeft)
	}
	t.Logf("found in life %d", lives)
}

// TestFaultsIn: a life with few writes has each fault in each write. One with many has faults in all parts,
// and no more than any other.
func TestFaultsIn(t *testing.T) {
	for _, test := range []struct{ writes, total, least, most, gap int }{
		{0, 0, 0, 0, 0}, {1, 5, 5, 5, 1}, {16, 80, 5, 5, 1}, {17, 80, 4, 5, 1}, {80, 80, 1, 1, 1}, {81, 80, 0, 1, 2}, {400, 80, 0, 1, 5},
	} {
		var writes []int
		for n := range test.writes {
			writes = append(writes, 10+n)
		}
		perWrite, perFault, last := make(map[int]int), make(map[Fault]int), 9
		steps := faultsIn(writes)
		for _, s := range steps {
			if s.Nth-last > max(test.gap, 1) || s.Nth < last {
				t.Errorf("%d writes: none broken between %d and %d", test.writes, last, s.Nth)
			}
			perWrite[s.Nth]++
			perFault[s.Fault]++
			last = s.Nth
		}
		if len(steps) != test.total || test.writes > 0 && 9+test.writes-last >= test.gap {
			t.Errorf("%d writes: %d faults, the last in %d", test.writes, len(steps), last)
		}
		for _, nth := range writes {
			if n := perWrite[nth]; n < test.least || n > test.most {
				t.Errorf("%d writes: %d faults in write %d, want %d to %d", test.writes, n, nth, test.least, test.most)
			}
		}
		for _, fault := range faults {
			if n := perFault[fault]; n != test.total/5 {
				t.Errorf("%d writes: fault %v occurs %d times", test.writes, fault, n)
			}
		}
	}
}
