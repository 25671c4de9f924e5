package upgrade

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobadmit"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
)

func rows() (all []*difference) {
	for i := range cluster {
		all = append(all, &cluster[i])
	}
	for i := range ofCronJobs {
		all = append(all, &ofCronJobs[i])
	}
	return all
}

// TestRows: each case differs between two neighbouring releases exactly if a change of its row lies
// between them.
func TestRows(t *testing.T) {
	for _, d := range rows() {
		neighbours(func(before, r release.Release) {
			c, differs := d.between(before, r)
			bounds := append(d.until, append(d.also, d.since)[0])
			isBound := func(b release.Release) bool { return b.Minor() == r.Minor() && d.isIn(r) != d.isIn(before) }
			if differs != slices.ContainsFunc(bounds, isBound) {
				t.Errorf("%s: from %v to %v it differs: %t (%+v)", d.up, before, r, differs, c.Shown)
			}
			if differs && (c.FoundBy == foundCase) == (c.Shown == nil) {
				t.Errorf("%s: found by %q, shown %v", d.up, c.FoundBy, c.Shown)
			}
		})
	}
}

// finding is a difference between two neighbouring releases in a random case.
type finding struct {
	what          string // what is compared
	to            release.Release
	before, after string
	// If a round differs, gate or quirk is the option that causes the difference.
	gate  release.Gate
	quirk any
	// paths are the fields that change in a template.
	paths []string
}

func (f *finding) String() string {
	return fmt.Sprintf("%s, to %v (%v %v %v):\n%s\n%s", f.what, f.to, f.gate, f.quirk, f.paths, f.before, f.after)
}

const onlyStart = "refused: status.startTime: <nil>: is required when finished"

// claims has a function for each row, which reports whether a difference belongs to the row. The
// key is the row's description of its case. If the row plays no case, the key is how the change was
// found, such as "lives", and the name of the difference.
var claims = map[string]func(f *finding) bool{
	"a controller writes Failed without FailureTarget": func(f *finding) bool {
		return f.what == "status" && f.to == release.V132() && f.before == "taken" && f.after != onlyStart
	},
	"a suspended job completes without startTime": func(f *finding) bool {
		return f.what == "status" && f.to == release.V132() && f.before == "taken" && f.after == onlyStart
	},
	"one of two pods must go, and the sidecar of the older one has restarted": func(f *finding) bool { return f.quirk == jobquirk.SidecarsUnranked },
	"a job is complete, and the cache shows it as it was before":              func(f *finding) bool { return f.quirk == jobquirk.UnseenEnd },
	"the first status is written, and the cache does not show it":             func(f *finding) bool { return f.gate == release.StaleControllerConsistencyJob },
	"a suspended job that has run gets another nodeSelector": func(f *finding) bool {
		return f.what == "template" && f.to == release.V136() && f.after == "taken" && areDirectives(f.paths)
	},
	"a suspended job that never ran gets other resources": func(f *finding) bool {
		return f.what == "template" && f.to == release.V136() && f.after == "taken" && !areDirectives(f.paths)
	},
	"a suspended job without startTime gets another nodeSelector while a pod is active": func(f *finding) bool {
		return f.what == "template" && f.to == release.V136() && f.before == "taken"
	},
	"spec.scheduling gets another policy": func(f *finding) bool {
		return f.what == "update" && f.to == release.V137() && strings.HasPrefix(f.after, "refused: spec.scheduling")
	},
	"a Job of another kind of the CronJob's name has ended, and the history limit is 0": func(f *finding) bool { return f.quirk == cronjobquirk.ByName },
	"a job was created, and no status tells of it": func(f *finding) bool {
		return f.quirk == cronjobquirk.NoNamespace && f.what == cronjobreason.ResultAlreadyExists.String()
	},
	"another's job has the name of a run": func(f *finding) bool {
		return f.quirk == cronjobquirk.NoNamespace && f.what == cronjobreason.ResultNameTaken.String()
	},
	"fields: managedBy": func(f *finding) bool { return f.what == "fields" && f.before == "managedBy" && f.to == release.V132() },
	"lives: managedBy": func(f *finding) bool {
		return f.gate == release.JobManagedBy || f.what == "managedBy in lives" && f.to == release.V132()
	},
	"lives: startTime": func(f *finding) bool {
		return f.gate == release.MutableSchedulingDirectivesForSuspendedJobs ||
			f.what == "startTime in lives" && f.to == release.V136()
	},
	"lives: active": func(f *finding) bool {
		return f.quirk == jobquirk.HeldIsIdle || f.what == "active in lives" && f.to == release.V134()
	},
}

// claim counts a difference for the row that claims it. It fails unless exactly one row claims the
// difference.
func claim(t *rapid.T, found map[string]int, f *finding) {
	var by []string
	for name, isOf := range claims {
		if isOf(f) {
			by = append(by, name)
		}
	}
	if len(by) != 1 {
		t.Fatalf("%d rows claim a difference: %q\n%v", len(by), by, f)
	}
	for _, d := range rows() {
		if d.when == by[0] && d.since != f.to {
			t.Fatalf("the row %q is of %v\n%v", d.when, d.since, f)
		}
	}
	found[by[0]]++
}

// TestLaw_Claims: each row of the table that plays a case has a claim. The other claims, "lives: "
// and "fields: ", are of rows that [TestDocumented] finds in manifests.
func TestLaw_Claims(t *testing.T) {
	left := 0
	for name := range claims {
		if strings.HasPrefix(name, "lives: ") || strings.HasPrefix(name, "fields: ") {
			left++
		}
	}
	for _, d := range rows() {
		if d.play == nil {
			continue
		}
		if left++; claims[d.when] == nil {
			t.Errorf("nothing is claimed by the row %q", d.when)
		}
	}
	if left != len(claims) {
		t.Errorf("%d claims for %d rows", len(claims), left)
	}
}

// neighbours calls look for each pair of a release and the next one.
func neighbours(look func(from, to release.Release)) {
	all := release.All()
	for i, r := range all[1:] {
		look(all[i], r)
	}
}

// TestLaw_Statuses: if the API server of one release refuses a status that the release before or
// after it accepts, the table has a row for it.
func TestLaw_Statuses(t *testing.T) {
	found := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		spec := jobgen.Specs().Draw(t, "spec")
		old, next := drawStatus(t, "old"), drawStatus(t, "next")
		neighbours(func(from, to release.Release) {
			a, b := verdict(jobstatus.CheckServed(old, next, spec, from)), verdict(jobstatus.CheckServed(old, next, spec, to))
			if kindOf(a) != kindOf(b) {
				claim(t, found, &finding{what: "status", to: to, before: a, after: all(jobstatus.CheckServed(old, next, spec, to), b)})
			}
		})
	})
	t.Log(found)
}

func all(err error, verdict string) string {
	if err == nil {
		return verdict
	}
	return "refused: " + err.Error()
}

// drawStatus draws a status, often one that no controller would write.
func drawStatus(t *rapid.T, label string) (s job.Status) {
	if rapid.Bool().Draw(t, label+" of a life") {
		s = jobgen.Statuses().Draw(t, label)
	}
	times := []time.Time{{}, world.Start, world.Start.Add(time.Minute)}
	for range rapid.IntRange(0, 3).Draw(t, label+" changes") {
		switch rapid.IntRange(0, 5).Draw(t, label+" change") {
		case 0:
			s.StartTime = rapid.SampledFrom(times).Draw(t, "startTime")
		case 1:
			s.CompletionTime = rapid.SampledFrom(times).Draw(t, "completionTime")
		case 2:
			s.Active, s.Ready = rapid.Int32Range(-1, 2).Draw(t,
				"active"), new(rapid.Int32Range(0, 2).Draw(t, "ready"))
		case 3:
			s.Succeeded, s.Failed = rapid.Int32Range(0, 2).Draw(t, "succeeded"), rapid.Int32Range(0, 2).Draw(t,
				"failed")
		case 4:
			s.Conditions = drawConditions(t)
		case 5:
			s.CompletedIndexes = rapid.SampledFrom([]string{"", "0", "0-2", "2,1", "x"}).Draw(t, "completedIndexes")
		}
	}
	return s
}

func drawConditions(t *rapid.T) (out []job.Condition) {
	for _, c := range [...]job.ConditionType{job.ConditionSuspended, job.ConditionFailureTarget, job.ConditionSuccessCriteriaMet, job.ConditionFailed, job.ConditionComplete} {
		if rapid.IntRange(0, 2).Draw(t, string(c)) == 0 {
			out = append(out, isNow(c))
		}
	}
	return out
}

// TestLaw_Fields: if the API servers of two neighbouring releases drop different fields, the table
// has a row for it.
func TestLaw_Fields(t *testing.T) {
	found := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		spec := drawManaged(t)
		neighbours(func(from, to release.Release) {
			a, b := spec, spec
			x, y := strings.Join(jobadmit.DropDisabled(nil, &a, from),
				", "), strings.Join(jobadmit.DropDisabled(nil, &b, to), ", ")
			if x != y {
				claim(t, found, &finding{what: "fields", to: to, before: x, after: y})
			}
		})
	})
	t.Log(found)
}

// drawManaged draws a spec. In some, managedBy names another controller.
func drawManaged(t *rapid.T) job.Spec {
	spec := jobgen.Specs().Draw(t, "spec")
	if rapid.IntRange(0, 3).Draw(t, "managed") == 0 {
		spec.ManagedBy = new("example.com/x")
	}
	return spec
}

// TestLaw_Updates: if the API servers of two neighbouring releases differ in whether they accept a
// change of a spec, the table has a row for it. Updates of CronJobs do not depend on the release.
func TestLaw_Updates(t *testing.T) {
	found := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		gang := func(size int32) *jobgroup.Scheduling {
			return &jobgroup.Scheduling{SchedulingPolicy: &jobgroup.SchedulingPolicy{Gang: &jobgroup.Gang{MinCount: &size}}}
		}
		basic := &jobgroup.Scheduling{SchedulingPolicy: &jobgroup.SchedulingPolicy{Basic: new(struct{})}}
		schedulings := []*jobgroup.Scheduling{nil, basic, gang(1), gang(2)}
		old := job.Job{Spec: drawManaged(t), Status: drawStatus(t, "status")}
		next := old.Spec
		switch rapid.IntRange(0, 3).Draw(t, "new spec") {
		case 0:
			next = drawManaged(t)
		case 1:
			next.Completions = new(int32(2))
		case 2:
			next.PodReplacementPolicy = ""
		}
		old.Spec.Scheduling = rapid.SampledFrom(schedulings).Draw(t, "old scheduling")
		next.Scheduling = rapid.SampledFrom(schedulings).Draw(t, "new scheduling")
		neighbours(func(from, to release.Release) {
			a, b := verdict(jobadmit.ValidateUpdate(&old, next, from)), verdict(jobadmit.ValidateUpdate(&old, next, to))
			if kindOf(a) != kindOf(b) {
				claim(t, found, &finding{what: "update", to: to, before: a, after: b})
			}
		})
	})
	t.Log(found)
}

// changes are changes of a template by an update.
var changes = []struct {
	path   string
	change func(template, spec, container map[string]any)
}{
	{"template.metadata.labels", func(t, _, _ map[string]any) {
		t["metadata"].(map[string]any)["labels"] = map[string]any{"a": "b"}
	}},
	{"template.metadata.finalizers", func(t, _, _ map[string]any) { t["metadata"].(map[string]any)["finalizers"] = []any{"a/b"} }},
	{"template.spec.nodeSelector", func(_, s, _ map[string]any) { s["nodeSelector"] = map[string]any{"a": "b"} }},
	{"template.spec.tolerations", func(_, s, _ map[string]any) { s["tolerations"] = []any{map[string]any{"key": "a"}} }},
	{"template.spec.containers[0].resources", func(_, _, c map[string]any) { c["resources"] = map[string]any{"requests": map[string]any{"cpu": "2"}} }},
	{"template.spec.containers[0].image", func(_, _, c map[string]any) { c["image"] = "other" }},
}

func areDirectives(paths []string) bool {
	return !slices.ContainsFunc(paths, func(p string) bool {
		return p == "template.metadata.finalizers" || strings.Contains(p, "containers")
	})
}

// TestLaw_Templates is like TestLaw_Updates, for changes of the template of a job.
func TestLaw_Templates(t *testing.T) {
	found := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		old := job.Job{Spec: caseSpec(rapid.IntRange(0, 3).Draw(t, "runs") > 0), Status: drawStatus(t, "status")}
		container := map[string]any{"name": "main", "image": "i"}
		spec := map[string]any{"containers": []any{container}}
		template := map[string]any{"metadata": map[string]any{}, "spec": spec}
		was := toJSON(t, template)
		var paths []string
		for range rapid.IntRange(1, 2).Draw(t, "changes") {
			c := rapid.SampledFrom(changes).Draw(t, "change")
			c.change(template, spec, container)
			paths = append(paths, c.path)
		}
		is := toJSON(t, template)
		neighbours(func(from, to release.Release) {
			a, b := verdict(jobadmit.ValidateTemplateUpdate(&old, was, is, from)), verdict(jobadmit.ValidateTemplateUpdate(&old, was, is, to))
			if kindOf(a) != kindOf(b) {
				claim(t, found, &finding{what: "template", to: to, before: a, after: b, paths: paths})
			}
		})
	})
	t.Log(found)
}

func toJSON(t *rapid.T, v any) []byte {
	data, err := json.Marshal(v)
	must.OK(t, err)
	return data
}

// TestLaw_Rounds turns the options of a release into those of the next one, one gate or quirk at a
// time. If such a step changes a round, the difference belongs to the row of the gate or quirk.
// After the last step, the options are equal.
func TestLaw_Rounds(t *testing.T) {
	found := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		neighbours(func(from, to release.Release) {
			at, end := job.Kubernetes(from), job.Kubernetes(to)
			before := roundOf(t, w, at, from)
			step := func(f finding, toward release.Release) {
				f.what, f.to, f.before = "round", to, before
				if f.after = roundOf(t, w, at, toward); f.after != before {
					claim(t, found, &f)
				}
				before = f.after
			}
			for _, quirk := range differing(at.Quirks.All(), end.Quirks.All()) {
				at.Quirks = toggled(at.Quirks, quirk)
				step(finding{quirk: quirk}, from)
			}
			for _, gate := range differing(at.Without.All(), end.Without.All()) {
				at.Without = toggled(at.Without, gate)
				toward := from
				if gate == release.StaleControllerConsistencyJob {
					toward = to
				}
				step(finding{gate: gate}, toward)
			}
			if at != end {
				t.Fatalf("from %v to %v more than gates and quirks differs: %+v, %+v", from, to, at, end)
			}
		})
	})
	t.Log(found)
}

// TestLaw_Lives: if a life differs between two neighbouring releases, the table has a row for it.
func TestLaw_Lives(t *testing.T) {
	found := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		spec, seed := drawManaged(t), rapid.Uint64().Draw(t, "life")
		neighbours(func(from, to release.Release) {
			p := newPair(spec, from, to)
			if kind, parting := p.play(rand.New(rand.NewPCG(24, seed))); kind != "" {
				claim(t, found,
					&finding{what: kind + " in lives", to: to, before: parting.Before, after: parting.Behind})
			}
		})
	})
	t.Log(found)
}

// drawWorld draws a job in the middle of its life. Its pods may have sidecars that have restarted.
func drawWorld(t *rapid.T) *world.Job {
	w := jobgen.Lives(rapid.Bool().Draw(t, "late")).Draw(t, "life")
	if rapid.IntRange(0, 9).Draw(t, "managed") == 0 {
		w.Edit(func(s *job.Spec) { s.ManagedBy = new("example.com/x") })
	}
	if rapid.IntRange(0, 3).Draw(t, "fewer") == 0 {
		w.Edit(func(s *job.Spec) { s.Parallelism = new(int32(1)) })
	}
	for _, p := range w.Pods {
		if n := rapid.Int32Range(0, 2).Draw(t, "restarts"); n > 0 && p.Detail != nil {
			detail := *p.Detail
			detail.Containers = append(slices.Clip(detail.Containers),
				jobpod.Container{Name: "sidecar", Kind: jobpod.RestartableInit, Restarts: n})
			p.Detail = &detail
		}
	}
	return w
}

// roundOf returns what a round plans and changes under the options. With
// StaleControllerConsistencyJob, a controller remembers the version of its last write; here a stale
// cache does not show that version yet.
func roundOf(t *rapid.T, w *world.Job, options job.Options, r release.Release) string {
	c := w.Clone()
	c.Options = options
	if c.Stale && c.Memory.JobUID == c.Job.UID && r.Has(release.StaleControllerConsistencyJob) {
		c.Memory.Written = int64(c.View.Version) + 1
	}
	written := c.Memory.Written
	plan, err := c.Round()
	must.OK(t, err)
	if c.Memory.Written == written {
		c.Memory.Written = 0 // a write that is only remembered is no difference
	}
	return string(toJSON(t, []any{plan.String(), c.Job, c.Events, c.Memory, c.Requeue, c.Retry})) + c.State()
}

// TestLaw_CronJobs is like TestLaw_Rounds, for the rounds of CronJobs.
func TestLaw_CronJobs(t *testing.T) {
	found := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := cronjobgen.Snapshots().Draw(t, "snapshot")
		result := rapid.SampledFrom([]cronjobreason.Result{
			cronjobreason.ResultDone, cronjobreason.ResultAlreadyExists, cronjobreason.ResultNameTaken, cronjobreason.ResultRefused, cronjobreason.ResultUnsuccessful,
		}).Draw(t, "what becomes of creations")
		neighbours(func(from, to release.Release) {
			at, end := cronjob.Kubernetes(from), cronjob.Kubernetes(to)
			plan := func() string {
				s.Options = at
				plan, err := cronjob.Reconcile(s)
				must.OK(t, err)
				w := cronjob.Writes{}
				for range plan.Create {
					w.Created = append(w.Created, cronjob.Effect{Result: result})
				}
				end := plan.Conclude(cronjob.Outcome{Writes: w, Settled: cronjob.Reply{Result: cronjobreason.ResultDone}})
				return plan.String() + string(toJSON(t, []any{end.Status, end.Retry, end.Requeue, end.Memory}))
			}
			before := plan()
			step := func(f finding) {
				f.what, f.to, f.before = result.String(), to, before
				if f.after = plan(); f.after != before {
					claim(t, found, &f)
				}
				before = f.after
			}
			for _, quirk := range differing(at.Quirks.All(), end.Quirks.All()) {
				at.Quirks = toggled(at.Quirks, quirk)
				step(finding{quirk: quirk})
			}
			for _, gate := range differing(at.Without.All(), end.Without.All()) {
				at.Without = toggled(at.Without, gate)
				step(finding{gate: gate})
			}
			if !reflect.DeepEqual(at, end) {
				t.Fatalf("from %v to %v more than gates and quirks differs: %+v, %+v", from, to, at, end)
			}
		})
	})
	t.Log(found)
}

// differing returns the members that only one of the two sets has.
func differing[M cmp.Ordered](a, b iter.Seq[M]) []M {
	left, right := slices.Collect(a), slices.Collect(b)
	isShared := func(m M) bool { return slices.Contains(left, m) && slices.Contains(right, m) }
	return slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(append(left, right...)))), isShared)
}

// toggled returns a copy of a set. It adds the member if the set does not have it, or else removes
// it.
func toggled[M any, S interface {
	Has(M) bool
	With(...M) S
	Without(...M) S
}](set S, member M) S {
	if set.Has(member) {
		return set.Without(member)
	}
	return set.With(member)
}
