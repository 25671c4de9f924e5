package costs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/kit/trace"
)

// version is a line of a log.
type version struct {
	Type   string `json:"type"`
	Object object `json:"object"`
}

type object map[string]any

// at is what an object has at a path, nil if it has nothing there.
func (o object) at(path ...string) any {
	var v any = map[string]any(o)
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

func (o object) number(path ...string) int {
	n, _ := o.at(path...).(float64)
	return int(n)
}

func (o object) list(path ...string) []any {
	l, _ := o.at(path...).([]any)
	return l
}

func (o object) uid() string { s, _ := o.at("metadata", "uid").(string); return s }

// set sets a field, in objects that exist.
func (o object) set(v any, path ...string) {
	m, _ := o.at(path[:len(path)-1]...).(map[string]any)
	if len(path) == 1 {
		m = o
	}
	if m != nil {
		m[path[len(path)-1]] = v
	}
}

// condition returns the status of a condition.
func (o object) condition(kind string) any {
	for _, c := range o.list("status", "conditions") {
		if c := object(c.(map[string]any)); c.at("type") == kind {
			return c.at("status")
		}
	}
	return nil
}

// plant is a bug of a controller, as a log shows it. It is planted where it can be for the first
// time: into the versions of one object, beginning with the i-th.
type plant struct {
	name, kind, rule string
	edit             func(versions []*version, i int) bool
}

var plants = []plant{
	{"failed goes back", "jobs", "JI4", func(v []*version, i int) bool {
		if i == 0 || v[i-1].Object.number("status", "failed") == 0 || v[i].Object.number("status", "failed") == 0 {
			return false
		}
		v[i].Object.set(float64(v[i-1].Object.number("status", "failed")-1), "status", "failed")
		return true
	}},
	{"a failure is counted without its pod", "jobs", "JI1", func(v []*version, i int) bool {
		if i == 0 || v[i].Object.at("status", "failed") == nil || v[i].Object.condition("Failed") != nil || v[i].Object.condition("Complete") != nil {
			return false
		}
		v[i].Object.set(float64(v[i].Object.number("status", "failed")+1), "status", "failed")
		return true
	}},
	{"a counted pod is listed again", "jobs", "JI1", func(v []*version, i int) bool {
		if i < 2 || v[i].Object.condition("Complete") != nil || v[i].Object.condition("Failed") != nil {
			return false
		}
		was, is := v[i-2].Object.list("status", "uncountedTerminatedPods", "succeeded"), v[i-1].Object.list("status", "uncountedTerminatedPods", "succeeded")
		if len(was) == 0 || len(is) > 0 {
			return false
		}
		v[i].Object.set(was, "status", "uncountedTerminatedPods", "succeeded")
		return v[i].Object.list("status", "uncountedTerminatedPods", "succeeded") != nil
	}},
	{"a pod is in both lists", "jobs", "JI2", func(v []*version, i int) bool {
		is := v[i].Object.list("status", "uncountedTerminatedPods", "succeeded")
		if i == 0 || len(is) == 0 {
			return false
		}
		v[i].Object.set(is[:1], "status", "uncountedTerminatedPods", "failed")
		return true
	}},
	{"the status changes after the end", "jobs", "JI16", func(v []*version, i int) bool {
		if i == 0 || v[i].Type == "DELETED" || v[i-1].Object.condition("Complete") == nil {
			return false
		}
		v[i].Object.set(float64(99), "status", "succeeded")
		return true
	}},
	{"no completionTime", "jobs", "JI17", func(v []*version, i int) bool {
		if i == 0 || v[i].Object.condition("Complete") == nil || v[i-1].Object.condition("Complete") != nil {
			return false
		}
		v[i].Object.set(nil, "status", "completionTime")
		return true
	}},
	{"more ready than active", "jobs", "JI20", func(v []*version, i int) bool {
		if i == 0 || v[i].Object.at("status", "ready") == nil || v[i].Type == "DELETED" {
			return false
		}
		v[i].Object.set(float64(50), "status", "ready")
		return true
	}},
	{"FailureTarget is forgotten", "jobs", "JI15", func(v []*version, i int) bool {
		if i == 0 || v[i].Object.condition("Failed") == nil || v[i-1].Object.condition("Failed") != nil {
			return false
		}
		var rest []any
		for _, c := range v[i].Object.list("status", "conditions") {
			if c.(map[string]any)["type"] != "FailureTarget" {
				rest = append(rest, c)
			}
		}
		v[i].Object.set(rest, "status", "conditions")
		for _, before := range v[:i] {
			before.Object.set(nil, "status", "conditions")
		}
		return true
	}},
	{"an index gets lost", "jobs", "JI4 JI6", func(v []*version, i int) bool {
		if i == 0 || v[i].Type == "DELETED" || v[i-1].Object.at("status", "completedIndexes") == nil {
			return false
		}
		v[i].Object.set("", "status", "completedIndexes")
		v[i].Object.set(float64(0), "status", "succeeded")
		return true
	}},
	{"the start time changes", "jobs", "JI17", func(v []*version, i int) bool {
		if i == 0 || v[i].Type == "DELETED" || v[i-1].Object.at("status", "startTime") == nil || v[i].Object.at("spec", "suspend") == true || v[i].Object.condition("Suspended") != nil {
			return false
		}
		v[i].Object.set("2031-01-01T00:00:00Z", "status", "startTime")
		return true
	}},
	{"a pod is counted while it has its finalizer", "pods", "JI3", func(v []*version, i int) bool {
		if i == 0 || v[i].Type == "DELETED" || v[i].Object.at("status", "phase") != "Succeeded" || v[i].Object.at("metadata", "finalizers") != nil || v[i].Object.at("metadata", "deletionTimestamp") != nil {
			return false
		}
		for _, later := range v[i:] {
			later.Object.set([]any{"batch.kubernetes.io/job-tracking"}, "metadata", "finalizers")
		}
		return true
	}},
	{"a pod that runs is counted", "pods", "JI1", func(v []*version, i int) bool {
		if i == 0 || v[i].Object.at("status", "phase") != "Succeeded" || v[i-1].Object.at("status", "phase") == "Succeeded" || v[i].Object.at("metadata", "deletionTimestamp") != nil {
			return false
		}
		for _, later := range v[i:] {
			later.Object.set("Running", "status", "phase")
		}
		return true
	}},
	{"a pod of a job with all its pods is doubled", "pods", "JI10 JI13", doubled},
	{"a failed pod is replaced immediately", "pods", "JI21", func(v []*version, i int) bool {
		// The pod has ended an hour later than it did, after its successor came.
		if i == 0 || v[i].Object.at("status", "phase") != "Failed" || v[i].Object.at("metadata", "deletionTimestamp") != nil {
			return false
		}
		for _, c := range v[i].Object.list("status", "containerStatuses") {
			object(c.(map[string]any)).set(time.Now().Add(time.Hour).UTC().Format(time.RFC3339), "state", "terminated", "finishedAt")
		}
		return true
	}},
	{"lastScheduleTime goes back", "cronjobs", "CI4", func(v []*version, i int) bool {
		if i == 0 || v[i-1].Object.at("status", "lastScheduleTime") == nil || v[i].Type == "DELETED" {
			return false
		}
		v[i].Object.set("2020-01-01T00:00:00Z", "status", "lastScheduleTime")
		return true
	}},
	{"a run outside of the schedule", "jobs", "CI2", func(v []*version, i int) bool {
		const annotation = "batch.kubernetes.io/cronjob-scheduled-timestamp"
		name, _ := v[0].Object.at("metadata", "name").(string)
		text, _ := v[0].Object.at("metadata", "annotations", annotation).(string)
		run, err := time.Parse(time.RFC3339, text)
		if i > 0 || err != nil || !strings.HasPrefix(name, "cron-0-0-") {
			return false
		}
		v[0].Object.set(run.Add(7*time.Second).Format(time.RFC3339), "metadata", "annotations", annotation)
		return true
	}},
	{"a pod after the end", "jobs", "JI16", func(v []*version, i int) bool {
		if i == 0 || v[i].Object.condition("Complete") != nil || v[i].Object.condition("Failed") != nil || v[i].Object.number("status", "active") == 0 || v[i].Type == "DELETED" {
			return false
		}
		// The controller ends the job, and goes on.
		end := []any{}
		for _, kind := range []string{"FailureTarget", "Failed"} {
			end = append(end, map[string]any{"type": kind, "status": "True"})
		}
		v[i].Object.set(end, "status", "conditions")
		return true
	}},
}

// doubled lets the first version of a pod come again at its end, as a pod of its own.
func doubled(v []*version, i int) bool {
	if i == 0 || v[i].Object.at("status", "phase") != "Running" || v[i].Object.at("metadata", "deletionTimestamp") != nil {
		return false
	}
	text, err := json.Marshal(v[0])
	if err != nil {
		panic(err)
	}
	var twins version
	if err := json.Unmarshal(text, &twins); err != nil {
		panic(err)
	}
	twins.Object.set(twins.Object.uid()+"-twin", "metadata", "uid")
	twins.Object.set(v[i].Object.at("metadata", "resourceVersion"), "metadata", "resourceVersion")
	v[i] = &twins
	return true
}

// plantAll plants each bug, one at a time, at each object until it is found. Where the log does not show
// it by chance, as a pod that is doubled when it is the last, the next object is tried.
func (r *recording) plantAll(t *testing.T) {
	t.Helper()
	texts := map[string][]byte{}
	for _, kind := range kinds {
		text, err := os.ReadFile(filepath.Join(r.folder, kind+".json"))
		must.OK(t, err)
		texts[kind] = text
	}
	for _, p := range plants {
		tried, found := 0, ""
		for _, planted := range p.everywhere(t, texts[p.kind]) {
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

// everywhere returns logs with the bug, planted into one object each, of up to 20 objects.
func (p *plant) everywhere(t *testing.T, text []byte) (logs [][]byte) {
	t.Helper()
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	places, order := map[string][]int{}, []string{}
	for n, line := range lines {
		uid := decode(t, line).Object.uid()
		if places[uid] == nil {
			order = append(order, uid)
		}
		places[uid] = append(places[uid], n)
	}
	for _, uid := range order {
		if len(logs) == 20 {
			break
		}
		var versions []*version
		for _, n := range places[uid] {
			versions = append(versions, decode(t, lines[n]))
		}
		for i := range versions {
			if !p.edit(versions, i) {
				continue
			}
			changed := append([][]byte(nil), lines...)
			for k, n := range places[uid] {
				line, err := json.Marshal(versions[k])
				must.OK(t, err)
				changed[n] = append(line, '\n')
			}
			logs = append(logs, bytes.Join(changed, nil))
			break
		}
	}
	return logs
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
		r.check(t, func(f trace.Finding) { found = append(found, f) })
		if len(found) > 0 {
			t.Errorf("%s: without a bug, found %v", s, found)
		}
		r.plantAll(t)
	}
}
