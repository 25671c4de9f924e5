package trace_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/trace"
)

// story writes a log as a watch prints it. Each call writes a version of an object.
type story struct {
	t       *testing.T
	now     time.Time
	version int
	objects map[string]map[string]any
	lines   []string
	// form writes an event as a line of the log. If form is nil, the line is a watch event.
	form func(change string, object map[string]any, replaced string) string
}

func newStory(t *testing.T) *story {
	return &story{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), version: 100, objects: map[string]map[string]any{}}
}

func (s *story) wait(d time.Duration) { s.now = s.now.Add(d) }

// time returns a time after the present, in the format of objects.
func (s *story) time(after time.Duration) string { return s.now.Add(after).Format(time.RFC3339) }

func (s *story) parse(format string, args ...any) (m map[string]any) {
	s.t.Helper()
	text := fmt.Sprintf(format, args...)
	if err := json.Unmarshal([]byte("{"+text+"}"), &m); err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
	return m
}

// put writes a version of an object, and returns its UID.
func (s *story) put(change, kind, name string, patch map[string]any) string {
	s.version++
	key := kind + "/" + name
	o := s.objects[key]
	if o == nil {
		group := "batch/v1"
		if kind == "Pod" || kind == "Namespace" {
			group = "v1"
		}
		o = map[string]any{"apiVersion": group, "kind": kind, "metadata": map[string]any{
			"generation": 1, "namespace": "default", "name": name, "uid": fmt.Sprintf("uid-%s-%d", name, s.version), "creationTimestamp": s.time(0),
		}}
	}
	replaced, _ := o["metadata"].(map[string]any)["resourceVersion"].(string)
	o = merged(o, patch)
	o["metadata"].(map[string]any)["resourceVersion"] = fmt.Sprint(s.version)
	s.objects[key] = o
	s.line(change, o, replaced)
	return o["metadata"].(map[string]any)["uid"].(string)
}

func (s *story) line(change string, o map[string]any, replaced string) {
	form := s.form
	if form == nil {
		form = watchLine
	}
	if text := form(change, o, replaced); text != "" {
		s.lines = append(s.lines, text)
	}
}

func text(o any) string {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func watchLine(change string, o map[string]any, _ string) string {
	return fmt.Sprintf(`{"type":%q,"object":%s}`, change, text(o))
}

// merged returns an object after a merge patch.
func merged(o, patch map[string]any) map[string]any {
	out := maps.Clone(o)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range patch {
		sub, isObject := v.(map[string]any)
		switch {
		case v == nil:
			delete(out, k)
		case isObject:
			was, _ := out[k].(map[string]any)
			out[k] = merged(was, sub)
		default:
			out[k] = v
		}
	}
	return out
}

func (s *story) job(name, spec string) {
	s.put("ADDED", "Job", name, s.parse(`"spec":{%s}`, spec))
}

// status replaces fields of a job's status.
func (s *story) status(name, format string, args ...any) {
	s.put("MODIFIED", "Job", name, s.parse(`"status":{%s}`, fmt.Sprintf(format, args...)))
}

// started writes the first status of a job.
func (s *story) started(name string, active int) {
	s.status(name, `"active":%d,"ready":0,"terminating":0,"startTime":%q,"uncountedTerminatedPods":{}`, active, s.time(0))
}

// spec changes the spec of an object.
func (s *story) spec(kind, name, spec string) {
	s.put("MODIFIED", kind, name, s.parse(`"metadata":{"generation":2},"spec":{%s}`, spec))
}

// pod creates a pod of a job.
func (s *story) pod(name, of, annotations string) {
	owner := s.uid("Job/" + of)
	s.put("ADDED", "Pod", name, s.parse(`"metadata":{"finalizers":["batch.kubernetes.io/job-tracking"],"annotations":{%s},
		"ownerReferences":[{"kind":"Job","uid":%q,"controller":true}]},"status":{"phase":"Pending"}`, annotations, owner))
}

func (s *story) uid(key string) string {
	return s.objects[key]["metadata"].(map[string]any)["uid"].(string)
}

// ends makes a pod end at the present time.
func (s *story) ends(name, phase string) {
	s.put("MODIFIED", "Pod", name, s.parse(`"spec":{"nodeName":"n"},"status":{"phase":%q,"containerStatuses":[{"name":"main","state":{"terminated":{"exitCode":0,"finishedAt":%q}}}]}`, phase, s.time(0)))
}

// exits makes a pod fail with this exit code.
func (s *story) exits(name string, code int) {
	s.put("MODIFIED", "Pod", name, s.parse(`"spec":{"nodeName":"n"},"status":{"phase":"Failed","containerStatuses":[
		{"name":"main","state":{"terminated":{"exitCode":%d,"finishedAt":%q}}}]}`, code, s.time(0)))
}

func (s *story) runs(name string) {
	s.put("MODIFIED", "Pod", name, s.parse(`"spec":{"nodeName":"n"},"status":{"phase":"Running"}`))
}

// untrack removes the finalizer of a pod.
func (s *story) untrack(name string) {
	s.put("MODIFIED", "Pod", name, s.parse(`"metadata":{"finalizers":null}`))
}

// remove begins the deletion of a pod.
func (s *story) remove(name string) {
	s.put("MODIFIED", "Pod", name, s.parse(`"metadata":{"deletionTimestamp":%q,"deletionGracePeriodSeconds":30}`, s.time(30*time.Second)))
}

func (s *story) gone(kind, name string) {
	s.put("DELETED", kind, name, nil)
	delete(s.objects, kind+"/"+name)
}

// ending shows a namespace that is being deleted.
func (s *story) ending(namespace string) {
	s.put("MODIFIED", "Namespace", namespace, s.parse(`"metadata":{"deletionTimestamp":%q}`, s.time(0)))
}

// list lists a pod as succeeded or failed in the status of its job.
func (s *story) list(job, pod, list string) {
	s.status(job, `"uncountedTerminatedPods":{%q:[%q]}`, list, s.uid("Pod/"+pod))
}

// end ends a job: it writes first the interim condition, then the final one.
func (s *story) end(job, interim, final, more string) {
	condition := func(kind string) string {
		return fmt.Sprintf(`{"type":%q,"status":"True","reason":"R","lastTransitionTime":%q}`, kind, s.time(0))
	}
	s.status(job, `"conditions":[%s]`, condition(interim))
	s.status(job, `"conditions":[%s,%s],"active":null,"uncountedTerminatedPods":{}%s`, condition(interim), condition(final), more)
}

func (s *story) condition(job, kind, status string) {
	s.status(job, `"conditions":[{"type":%q,"status":%q,"reason":"R","lastTransitionTime":%q}]`, kind, status, s.time(0))
}

func (s *story) cronJob(name, spec string) {
	s.put("ADDED", "CronJob", name, s.parse(`"spec":{%s}`, spec))
}

// run creates the job of a run, and records it in the status.
func (s *story) run(cron, name string, run time.Time, more string) {
	s.put("ADDED", "Job", name, s.parse(`"metadata":{"annotations":{"batch.kubernetes.io/cronjob-scheduled-timestamp":%q},
		"ownerReferences":[{"kind":"CronJob","uid":%q,"controller":true}]},"spec":{"parallelism":1,"completions":1}`, run.Format(time.RFC3339), s.uid("CronJob/"+cron)))
	s.put("MODIFIED", "CronJob", cron, s.parse(`"status":{"lastScheduleTime":%q,"active":[{"name":%q,"uid":%q}]%s}`,
		run.UTC().Format(time.RFC3339), name, s.uid("Job/"+name), more))
}

// runAt creates the job of the run at this minute after 12:00, under its correct name.
func (s *story) runAt(cron string, minute int) string {
	run := time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC)
	name := fmt.Sprintf("%s-%d", cron, run.Unix()/60)
	s.run(cron, name, run, "")
	return name
}

// check checks the log, and returns the rules of the findings, the findings and the summary.
func (s *story) check(o trace.Options) (rules []string, all []trace.Finding, summary trace.Summary) {
	s.t.Helper()
	summary, err := trace.Check(o, func(f trace.Finding) {
		rules, all = append(rules, f.Rule), append(all, f)
	}, trace.Log{Name: "log", Reader: strings.NewReader(strings.Join(s.lines, "\n") + "\n")})
	must.OK(s.t, err)
	return rules, all, summary
}
