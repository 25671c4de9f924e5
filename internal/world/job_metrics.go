package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
)

// tally compares what the metrics report with what has happened (JI27).
type tally struct {
	told job.Metrics // the sums of all rounds
	ends int         // how often the end was reported
	// Three sets of pods. matches: the metrics have reported that the pod matches the
	// podFailurePolicy. due: the metrics must have reported the match, because the pod has lost its
	// finalizer. plain: the pod was recorded as failed before it matched.
	matches, due, plain map[job.UID]bool
	// created counts the confirmed creations; completed and failed count the new indexes of the written statuses.
	created, completed, failed int
	untracked                  int // removed finalizers of ended pods
	// job is the UID of the job, and status the status that was last written.
	job    job.UID
	status job.Status
	// forgot is set once a round has ended without a conclusion, or a memory was lost:
	// then it is unknown what was reported.
	forgot bool
	// late is set once a round was planned from late snapshots.
	late bool
}

func (t *tally) clone() tally {
	c := *t
	c.matches, c.due, c.plain = maps.Clone(t.matches), maps.Clone(t.due), maps.Clone(t.plain)
	return c
}

// add puts a UID into a set, which may be nil.
func add(set *map[job.UID]bool, uid job.UID) {
	if *set == nil {
		*set = make(map[job.UID]bool)
	}
	(*set)[uid] = true
}

// noticeEdits ends the comparison of the metrics if another writer has changed the status. Some
// stories do that.
func (t *tally) noticeEdits(w *Job) {
	t.forgot = t.forgot || !reflect.DeepEqual(&t.status, &w.Job.Status)
}

// Resume restarts the controller with its stored memory.
func (w *Job) Resume() { w.Memory = stored(w.Memory) }

// stored returns a memory as a restarted program reads it.
func stored[M any](m M) (found M) {
	data, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(data, &found)
	}
	if err != nil {
		panic(err)
	}
	return found
}

// checkMetrics checks JI27 for the metrics of one round.
func (w *Job) checkMetrics(o job.Outcome, f *job.Metrics) {
	for name, n := range map[string]int32{
		"PodsSucceeded": f.PodsSucceeded, "PodsFailed": f.PodsFailed,
		"IndexesSucceeded": f.IndexesSucceeded, "IndexesFailed": f.IndexesFailed,
		"PodsCreated": f.PodsCreated, "PodsNotCreated": f.PodsNotCreated, "Untracked": f.Untracked,
		"FailJob": f.Policy.FailJob, "FailIndex": f.Policy.FailIndex,
		"Ignore": f.Policy.Ignore, "Count": f.Policy.Count,
	} {
		if n < 0 {
			w.fail("JI27", fmt.Sprintf("%s is %d", name, n))
		}
	}

	w.Metrics = append(w.Metrics, *f)
	t := &w.tally
	if t.job != w.Job.UID { // another job of the same name
		*t = tally{job: w.Job.UID, forgot: true}
	}
	t.late = t.late || w.Stale
	t.forgot = t.forgot || w.Options.Quirks.Has(jobquirk.Miscount)

	t.told.PodsSucceeded += f.PodsSucceeded
	t.told.PodsFailed += f.PodsFailed
	t.told.IndexesSucceeded += f.IndexesSucceeded
	t.told.IndexesFailed += f.IndexesFailed
	t.told.PodsCreated += f.PodsCreated
	t.told.Untracked += f.Untracked
	if f.Finished != "" {
		t.ends++
	}

	w.checkMatches(o, f)
	w.compareTally()
	if w.wrote == w.Writes && !w.Retry {
		w.checkTold()
	}
}

// checkMatches checks that no match is reported twice.
func (w *Job) checkMatches(o job.Outcome, told *job.Metrics) {
	r := w.plan.Record(o.Writes)
	matches := told.Policy.FailJob + told.Policy.FailIndex + told.Policy.Ignore + told.Policy.Count

	if r.Write && o.Recorded.Result != jobreason.ResultDone {
		if matches > 0 {
			w.fail("JI27", fmt.Sprintf("%d matches are reported, and the status was not written", matches))
		}
		return
	}

	for _, u := range r.Untrack {
		if u.Policy == "" {
			continue
		}
		matches--
		if w.tally.matches[u.UID] && !w.tally.forgot {
			w.fail("JI27", fmt.Sprintf("the match of %s is reported twice", u.Name))
		}
		add(&w.tally.matches, u.UID)
	}

	if matches != 0 {
		w.fail("JI27", fmt.Sprintf("%d matches too many are reported", matches))
	}
}

// compareTally checks that the metrics report nothing that has not happened.
func (w *Job) compareTally() {
	t, s := &w.tally, &w.Job.Status
	if t.forgot || w.history.Traveled {
		return
	}

	succeeded := int(s.Succeeded)
	if w.Job.Spec.CompletionMode == job.Indexed {
		succeeded = t.completed
	}
	for _, f := range [...]struct {
		name           string
		told, happened int
	}{
		{"PodsSucceeded", int(t.told.PodsSucceeded), succeeded},
		{"PodsFailed", int(t.told.PodsFailed), int(s.Failed)},
		{"IndexesSucceeded", int(t.told.IndexesSucceeded), t.completed},
		{"IndexesFailed", int(t.told.IndexesFailed), t.failed},
		{"PodsCreated", int(t.told.PodsCreated), t.created},
		{"Untracked", int(t.told.Untracked), t.untracked},
		{"Finished", t.ends, 1},
	} {
		if f.name == "Untracked" && t.late {
			continue // a late snapshot shows finalizers that a release has removed
		}
		if f.told > f.happened {
			w.fail("JI27", fmt.Sprintf("%s reports %d, there were %d", f.name, f.told, f.happened))
		}
	}
}

// checkTold checks that everything about a job that has ended is reported, once a round has nothing
// left to write (JI27).
func (w *Job) checkTold() {
	t, s := &w.tally, &w.Job.Status
	isUnsure := t.forgot || w.history.Traveled || w.Stale
	if isUnsure || s.Finished() == "" {
		return
	}

	indexed := w.Job.Spec.CompletionMode == job.Indexed
	succeeded := int(s.Succeeded)
	if indexed {
		succeeded = t.completed
	}
	podsTold := int(t.told.PodsSucceeded) == succeeded && t.told.PodsFailed == s.Failed
	indexesTold := int(t.told.IndexesFailed) == t.failed &&
		(!indexed || int(t.told.IndexesSucceeded) == t.completed)
	lifeTold := int(t.told.PodsCreated) == t.created && t.ends == 1
	if !podsTold || !indexesTold || !lifeTold {
		w.fail("JI27", fmt.Sprintf("reported %+v and %d ends; completed %d and failed %d indexes, created %d pods",
			t.told, t.ends, t.completed, t.failed, t.created))
	}

	for _, uid := range slices.Sorted(maps.Keys(t.due)) {
		if !t.matches[uid] {
			w.fail("JI27", fmt.Sprintf("the match of %s is not reported", uid))
		}
	}
}

// tallyStatus counts the indexes that a status adds.
func (w *Job) tallyStatus(old, s *job.Status) {
	w.tally.status = *s
	failedBefore, failed := value.Of(old.FailedIndexes), value.Of(s.FailedIndexes)
	dropped := indexset.Added(s.CompletedIndexes, old.CompletedIndexes) +
		indexset.Added(failed, failedBefore)
	if w.Stale && !w.Versions && dropped > 0 {
		w.tally.forgot = true // an older snapshot shows indexes that an elastic job has dropped
	}
	w.tally.completed += indexset.Added(old.CompletedIndexes, s.CompletedIndexes)
	w.tally.failed += indexset.Added(failedBefore, failed)

	known := value.Of(old.UncountedTerminatedPods).Failed
	for _, uid := range value.Of(s.UncountedTerminatedPods).Failed {
		if p := w.find(uid); p != nil && !slices.Contains(known, uid) && !w.matchesPolicy(p) {
			add(&w.tally.plain, uid)
		}
	}
}

// tallyUntrack notes a pod that loses its finalizer. If the pod matches a rule of the
// podFailurePolicy, the controller must report the match, unless its view is stale and may not show
// it.
func (w *Job) tallyUntrack(p *job.Pod) {
	if p.Untracked {
		return
	}
	if p.Phase >= job.PodSucceeded {
		w.tally.untracked++
	}

	s, i := &w.Job.Status, p.Index.Int32()
	valid := w.Job.Spec.CompletionMode != job.Indexed || i >= 0 && i < *w.Job.Spec.Completions
	counted := slices.Contains(value.Of(s.UncountedTerminatedPods).Failed, p.UID)
	failed := p.Phase == job.PodFailed && valid
	if w.Stale || s.Finished() != "" {
		return
	}
	if !counted && !failed {
		return
	}
	if w.matchesPolicy(p) && !w.tally.plain[p.UID] {
		add(&w.tally.due, p.UID)
	}
}

// matchesPolicy reports whether a rule matches, as far as the controller sees. Generated rules look
// for exit code 42 or for a disruption.
func (w *Job) matchesPolicy(p *job.Pod) bool {
	if w.Job.Spec.PodFailurePolicy == nil {
		return false
	}
	if w.Seen != nil {
		s := job.Snapshot{Pods: []job.Pod{*p}}
		w.Seen(&s)
		p = &s.Pods[0]
	}

	exited := slices.ContainsFunc(p.Detail.Containers, func(c jobpod.Container) bool {
		return c.State == jobpod.Terminated && c.ExitCode == 42
	})
	disrupted := slices.ContainsFunc(p.Detail.Conditions, func(c job.PodCondition) bool {
		return c.Type == "DisruptionTarget"
	})
	return slices.ContainsFunc(w.Job.Spec.PodFailurePolicy.Rules, func(r job.PodFailurePolicyRule) bool {
		byCode := exited && r.OnExitCodes != nil
		byCondition := disrupted && r.OnPodConditions != nil
		return byCode || byCondition
	})
}
