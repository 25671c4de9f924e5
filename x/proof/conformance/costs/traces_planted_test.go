package costs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/trace"
)

// version is a line of a log.
type version struct {
	Type   string `json:"type"`
	Object object `json:"object"`
}

type object map[string]any

// at returns the value at a path of an object, or nil. A path names a condition by its type.
func (o object) at(path string) any {
	var v any = map[string]any(o)
	for _, key := range strings.Split(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[key]
		case []any:
			v = nil
			if i := slices.IndexFunc(in, func(c any) bool { return object(c.(map[string]any)).at("type") == key }); i >= 0 {
				v = in[i]
			}
		default:
			return nil
		}
	}
	return v
}

func (o object) list(path string) []any {
	l, _ := o.at(path).([]any)
	return l
}

func (o object) uid() string { s, _ := o.at("metadata.uid").(string); return s }

// set sets a field, if the object has the parent of the field.
func (o object) set(path string, v any) {
	of, key := map[string]any(o), path
	if i := strings.LastIndex(path, "."); i >= 0 {
		of, _ = o.at(path[:i]).(map[string]any)
		key = path[i+1:]
	}
	if of != nil {
		of[key] = v
	}
}

// plant is a bug of a controller, in the form in which a log shows it. It is planted into one
// object: into the first version that fits, and in many cases into the later versions. Below, the
// i-th version is the first that fits.
type plant struct {
	name, kind, rule string
	// when describes the i-th version in words, and each word must fit. "status.failed" is a
	// field that the version has, "was.status.failed" a field of the version before it,
	// "then.status.failed" a field of the version before that. "status.phase=Failed" means that the
	// text of the field begins with Failed. "!" negates a word. "first" and "deleted" describe the
	// version itself. Without "first", the first version never fits.
	when string
	edit func(versions []*version, i int)
}

const (
	exists    = " !deleted"
	goesOn    = " !status.conditions.Complete !status.conditions.Failed"
	stays     = " !metadata.deletionTimestamp"
	uncounted = "status.uncountedTerminatedPods"
)

var plants = []plant{
	{"failed goes back", "jobs", "JI4", "was.status.failed status.failed", func(v []*version, i int) {
		v[i].Object.set("status.failed", v[i-1].Object.at("status.failed").(float64)-1)
	}},
	{"a failure is counted without its pod", "jobs", "JI1", "status.failed" + goesOn, func(v []*version, i int) {
		v[i].Object.set("status.failed", v[i].Object.at("status.failed").(float64)+1)
	}},
	{"a counted pod is listed again", "jobs", "JI1", "then." + uncounted + ".succeeded !was." + uncounted + ".succeeded " + uncounted + goesOn, func(v []*version, i int) {
		v[i].Object.set(uncounted+".succeeded", v[i-2].Object.at(uncounted+".succeeded"))
	}},
	{"a pod is in both lists", "jobs", "JI2", uncounted + ".succeeded", func(v []*version, i int) {
		v[i].Object.set(uncounted+".failed", v[i].Object.list(uncounted + ".succeeded")[:1])
	}},
	{"the status changes after the end", "jobs", "JI16", "was.status.conditions.Complete" + exists, set("status.succeeded", 99)},
	{"no completionTime", "jobs", "JI17", "!was.status.conditions.Complete status.conditions.Complete", set("status.completionTime", nil)},
	{"more ready than active", "jobs", "JI20", "status.ready" + exists, set("status.ready", 50)},
	{"FailureTarget is forgotten", "jobs", "JI15", "!was.status.conditions.Failed status.conditions.Failed", func(v []*version, i int) {
		v[i].Object.set("status.conditions", slices.DeleteFunc(v[i].Object.list("status.conditions"), func(c any) bool {
			return c.(map[string]any)["type"] == "FailureTarget"
		}))
		for _, before := range v[:i] {
			before.Object.set("status.conditions", nil)
		}
	}},
	{"an index gets lost", "jobs", "JI4 JI6", "was.status.completedIndexes" + exists, func(v []*version, i int) {
		v[i].Object.set("status.completedIndexes", "")
		v[i].Object.set("status.succeeded", 0)
	}},
	{"the start time changes", "jobs", "JI17", "was.status.startTime !spec.suspend=true !status.conditions.Suspended" + exists,
		set("status.startTime", "2031-01-01T00:00:00Z")},
	{"a pod is counted while it has its finalizer", "pods", "JI3", "status.phase=Succeeded !metadata.finalizers" + stays + exists,
		setAll("metadata.finalizers", []any{"batch.kubernetes.io/job-tracking"})},
	{"a pod that runs is counted", "pods", "JI1", "!was.status.phase=Succeeded status.phase=Succeeded" + stays, setAll("status.phase", "Running")},
	{"a pod of a job with all its pods is doubled", "pods", "JI10 JI13", "status.phase=Running" + stays, doubled},
	// In the log the pod now ends an hour later, after its successor was created.
	{"a failed pod is replaced immediately", "pods", "JI21", "status.phase=Failed" + stays, func(v []*version, i int) {
		for _, c := range v[i].Object.list("status.containerStatuses") {
			object(c.(map[string]any)).set("state.terminated.finishedAt", time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		}
	}},
	{"lastScheduleTime goes back", "cronjobs", "CI4", "was.status.lastScheduleTime" + exists, set("status.lastScheduleTime", "2020-01-01T00:00:00Z")},
	{"a run outside of the schedule", "jobs", "CI2", "first metadata.name=cron-0-0-", func(v []*version, _ int) {
		annotations := v[0].Object.at("metadata.annotations").(map[string]any)
		run, err := time.Parse(time.RFC3339, annotations[batchv1.CronJobScheduledTimestampAnnotation].(string))
		if err != nil {
			panic(err)
		}
		annotations[batchv1.CronJobScheduledTimestampAnnotation] = run.Add(7 * time.Second).Format(time.RFC3339)
	}},
	// The job ends too early: its spec has always allowed more.
	{"complete without all successes", "jobs", "J26", ends("SuccessCriteriaMet", "CompletionsReached") + " spec.completions",
		always("spec.completions", 90)},
	{"failed below the limit", "jobs", "J22", ends("FailureTarget", "BackoffLimitExceeded") + " spec.template.spec.restartPolicy=Never",
		always("spec.backoffLimit", 90)},
	{"failed before the deadline", "jobs", "J23", ends("FailureTarget", "DeadlineExceeded"),
		always("spec.activeDeadlineSeconds", 9000)},
	{"failed without a deadline", "jobs", "J23", ends("FailureTarget", "DeadlineExceeded"), always("spec.activeDeadlineSeconds", nil)},
	{"the successPolicy is not met", "jobs", "J25", ends("SuccessCriteriaMet", "SuccessPolicy"), always("spec.successPolicy.rules", []any{
		map[string]any{"succeededCount": 6},
	})},
	{"a pod of an index out of range", "jobs", "J33", "first spec.completionMode=Indexed", always("spec.completions", 1)},
	{"a pod beyond completions", "jobs", "JI10", "first spec.completionMode=NonIndexed spec.completions", always("spec.completions", 1)},
	{"a pod beyond parallelism", "jobs", "JI10", "first spec.completions", always("spec.parallelism", 1)},
	{"a pod beyond backoffLimit", "jobs", "JI21", "status.failed status.active !spec.backoffLimitPerIndex" + goesOn, always("spec.backoffLimit", 0)},
	{"a pod of a work queue after a success", "jobs", "J29", "status.succeeded status.active spec.completionMode=NonIndexed" + goesOn,
		always("spec.completions", nil)},
	{"a pod while the job is suspended", "jobs", "JI18", "first !spec.suspend=true spec.completions", func(v []*version, _ int) {
		setAll("spec.suspend", true)(v, 0)
		setAll("status.conditions", []any{map[string]any{"type": "Suspended", "status": "True"}})(v, 1)
	}},
	{"Suspended without a suspension", "jobs", "J39", "status.active !status.conditions !spec.suspend=true" + exists,
		set("status.conditions", []any{map[string]any{"type": "Suspended", "status": "True"}})},
	{"terminating is negative", "jobs", "JI20", "status.active" + goesOn + exists, set("status.terminating", -1)},
	{"completionTime moves", "jobs", "JI16", "was.status.completionTime" + exists, set("status.completionTime", "2031-01-01T00:00:00Z")},
	{"a run while the CronJob is suspended", "cronjobs", "CI10", "first", always("spec.suspend", true)},
	{"a run of another schedule", "cronjobs", "CI2", "first metadata.name=cron-0-0", always("spec.schedule", "13 4 * * *")},
	{"a run beside one that Forbid protects", "cronjobs", "CI8", "first metadata.name=cron-0-1", always("spec.concurrencyPolicy", "Forbid")},
	{"a success is counted as failed", "jobs", "JI1", uncounted + ".succeeded !was." + uncounted + ".succeeded" +
		" !status.conditions", func(v []*version, i int) {
		l := v[i].Object.list(uncounted + ".succeeded")
		v[i].Object.set(uncounted, map[string]any{"failed": l})
	}},
	{"a UID that no pod has had", "jobs", "JI22", uncounted + ".failed !status.conditions", func(v []*version, i int) {
		v[i].Object.set(uncounted+".failed", append(v[i].Object.list(uncounted+".failed"), "nobody"))
	}},
	{"an index is listed as succeeded", "jobs", "J9", "!was." + uncounted + ".succeeded " + uncounted + ".succeeded", setAll("spec.completionMode", "Indexed")},
	{"an ignored failure counts", "jobs", "J10", uncounted + ".failed !status.conditions", always("spec.podFailurePolicy", map[string]any{
		"rules": []any{rule("Ignore")},
	})},
	{"a failure that ends the job, which continues", "jobs", "J21", uncounted + ".failed !status.conditions", always("spec.podFailurePolicy", map[string]any{
		"rules": []any{rule("FailJob")},
	})},
	{"active counts pods that there are not", "jobs", "J11", "status.active was.status.active" + goesOn, set("status.active", 200)},
	{"active counts a pod that has ended", "jobs", "J11", uncounted + ".failed status.active" + goesOn, func(v []*version, i int) {
		v[i].Object.set("status.active", v[i].Object.at("status.active").(float64)+40)
	}},
	{"a pod after the deletion of its job", "jobs", "J30", "first", func(v []*version, _ int) {
		at, err := time.Parse(time.RFC3339, v[0].Object.at("metadata.creationTimestamp").(string))
		if err != nil {
			panic(err)
		}
		for _, later := range v[min(2, len(v)-1):] {
			later.Object.set("metadata.deletionTimestamp", at.Format(time.RFC3339))
			later.Object.set("metadata.finalizers", []any{"foregroundDeletion"})
		}
	}},
	{"lastSuccessfulTime is no completion", "cronjobs", "CI12", "was.status.lastSuccessfulTime status.lastSuccessfulTime" + exists, func(v []*version, i int) {
		v[i].Object.set("status.lastSuccessfulTime", time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	}},
	{"active has a job that there never was", "cronjobs", "CI5", "was.status.active status.active" + exists, func(v []*version, i int) {
		v[i].Object.list("status.active")[0].(map[string]any)["uid"] = "nobody"
	}},
	// The controller ends the job, and goes on as if it had not.
	{"a pod after the end", "jobs", "JI16", "status.active" + goesOn + exists, set("status.conditions", []any{
		map[string]any{"type": "FailureTarget", "status": "True"}, map[string]any{"type": "Failed", "status": "True"},
	})},
}

// rule is a rule of a podFailurePolicy that each failure matches.
func rule(action string) map[string]any {
	return map[string]any{"action": action, "onExitCodes": map[string]any{"operator": "NotIn", "values": []any{0}}}
}

// ends describes the version that announces an end.
func ends(condition, reason string) string {
	return fmt.Sprintf("!was.status.conditions.%[1]s status.conditions.%[1]s.reason=%[2]s", condition, reason) + goesOn
}

// always sets a field in all versions.
func always(path string, value any) func([]*version, int) {
	return func(v []*version, _ int) { setAll(path, value)(v, 0) }
}

// set sets a field of the version, and setAll sets it in all later versions as well.
func set(path string, value any) func([]*version, int) {
	return func(v []*version, i int) { v[i].Object.set(path, value) }
}

func setAll(path string, value any) func([]*version, int) {
	return func(v []*version, i int) {
		for _, later := range v[i:] {
			later.Object.set(path, value)
		}
	}
}

// fits reports whether the bug can be planted into the i-th version.
func (p *plant) fits(v []*version, i int) bool {
	words := strings.Fields(p.when)
	if !slices.Contains(words, "first") && i == 0 {
		return false
	}
	return !slices.ContainsFunc(words, func(word string) bool {
		word, negated := strings.CutPrefix(word, "!")
		return holds(word, v, i) == negated
	})
}

func holds(word string, v []*version, i int) bool {
	switch word {
	case "first":
		return i == 0
	case "deleted":
		return v[i].Type == "DELETED"
	}
	if rest, ok := strings.CutPrefix(word, "was."); ok {
		return holds(rest, v, i-1)
	}
	if rest, ok := strings.CutPrefix(word, "then."); ok {
		return i >= 2 && holds(rest, v, i-2)
	}
	path, begin, _ := strings.Cut(word, "=")
	has := v[i].Object.at(path)
	return has != nil && strings.HasPrefix(fmt.Sprint(has), begin)
}

// doubled replaces a version of a pod by a copy of the first version with another UID.
func doubled(v []*version, i int) {
	text, err := json.Marshal(v[0])
	if err != nil {
		panic(err)
	}
	var twins version
	if err := json.Unmarshal(text, &twins); err != nil {
		panic(err)
	}
	twins.Object.set("metadata.uid", twins.Object.uid()+"-twin")
	twins.Object.set("metadata.resourceVersion", v[i].Object.at("metadata.resourceVersion"))
	v[i] = &twins
}

// plantAll plants each bug, one at a time, into one object after another until it is found. In some
// objects the bug may not show, for example if the doubled pod is the last one anyway.
func (r *recording) plantAll(t *testing.T) {
	t.Helper()
	texts, lines, versions := map[string][]byte{}, map[string][][]byte{}, map[string][]*version{}
	for _, kind := range kinds {
		text, err := os.ReadFile(filepath.Join(r.folder, kind+".json"))
		must.OK(t, err)
		texts[kind] = text
		for line := range bytes.Lines(text) {
			lines[kind] = append(lines[kind], line)
			versions[kind] = append(versions[kind], decode(t, line))
		}
	}

	for _, p := range plants {
		tried, found := 0, ""
		for planted := range p.everywhere(t, lines[p.kind], versions[p.kind]) {
			var inputs []trace.Log
			for _, kind := range kinds {
				text := texts[kind]
				if kind == p.kind {
					text = planted
				}
				inputs = append(inputs, trace.Log{Name: kind + ".json", Reader: bytes.NewReader(text)})
			}

			tried++
			checkLogs(t, inputs, func(f trace.Finding) {
				if found == "" && strings.Contains(p.rule, f.Rule) {
					found = f.String()
				}
			})
			if found != "" {
				break
			}
		}

		switch {
		case tried == 0:
			t.Logf("%s: nowhere to plant it", p.name)
		case found == "":
			t.Errorf("%s: planted at %d objects and not found", p.name, tried)
		default:
			t.Logf("%s: found at object %d: %s", p.name, tried, found)
		}
	}
}

// everywhere returns up to 20 logs, each with the bug planted into another object.
func (p *plant) everywhere(t *testing.T, lines [][]byte, versions []*version) iter.Seq[[]byte] {
	places, order := map[string][]int{}, []string{}
	for n, v := range versions {
		uid := v.Object.uid()
		if places[uid] == nil {
			order = append(order, uid)
		}
		places[uid] = append(places[uid], n)
	}

	// planted returns the log with the bug in one object, or nil if the bug does not fit the object.
	planted := func(uid string) []byte {
		var of []*version
		for _, n := range places[uid] {
			of = append(of, versions[n])
		}
		i := 0
		for i < len(of) && !p.fits(of, i) {
			i++
		}
		if i == len(of) {
			return nil
		}

		for k, n := range places[uid] {
			of[k] = decode(t, lines[n]) // edits change it
		}
		p.edit(of, i)
		changed := slices.Clone(lines)
		for k, n := range places[uid] {
			line, err := json.Marshal(of[k])
			must.OK(t, err)
			changed[n] = append(line, '\n')
		}
		return bytes.Join(changed, nil)
	}

	return func(yield func([]byte) bool) {
		for left := 20; len(order) > 0 && left > 0; order = order[1:] {
			log := planted(order[0])
			if log == nil {
				continue
			}
			if left--; !yield(log) {
				return
			}
		}
	}
}

func decode(t *testing.T, line []byte) *version {
	t.Helper()
	v := new(version)
	if err := json.Unmarshal(line, v); err != nil {
		t.Fatal(fmt.Errorf("%w: %.200s", err, line))
	}
	return v
}

// TestPlanted plants the bugs into logs that TestTraces has stored: -logs names the folder.
func TestPlanted(t *testing.T) {
	if *logs == "" {
		t.Skip("-logs names no recording")
	}
	for _, s := range sides {
		r := &recording{folder: filepath.Join(*logs, string(s))}
		var found []trace.Finding
		r.check(t, func(f trace.Finding) {
			if !isRestart(f) {
				found = append(found, f)
			}
		})
		if len(found) > 0 {
			t.Errorf("%s: without a bug, found %v", s, found)
		}
		r.plantAll(t)
	}
}
