package blackbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/schedule"
)

var taskKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Task"}

// naive is a controller that looks at everything every five seconds. Each field that is set is a
// mistake that it makes.
type naive struct {
	client *http.Client
	every  time.Duration // the time between two rounds; 0 means five seconds

	randomNames, forgetsForbid, ignoresSuspend, startsEarly, keepsAll, neverReplaces,
	forgetsDeadline, givesUp, catchesUp, busy, oldList bool

	neverReports, reportsHeld, reportsStarted, reportsTwice, waitsForEnd bool

	startsAll, startsTwo, forgetsEdits, swallows, endsSuspended, deletesRunning, deletesNewest,
	countsAllEnded, deletesAll, listsLate bool

	staysInvalid, takesLabels, remembers, startsDeleted bool

	startsGone, losesTimes, quitsAtStart, panics bool

	// These need several parents.
	forgetsNamespaces, sharesList, countsOthers, blocks, forbidsAll, truncates, byLabel, byPrefix, deletesOthers bool

	seen map[string]Object    // the parents in the last round, by namespace and name
	last map[string]time.Time // the last run of each parent, by its name
}

// subject returns a Cron that runs the controller.
func (n naive) subject() *Cron {
	return &Cron{Schedules: []string{"* * * * *", "*/5 * * * *"}, Program: Program{
		Resources: []Resource{{GroupVersionKind: taskKind, Plural: "tasks", Status: true}, Jobs()},
		Parent:    taskKind, Child: JobKind,
		Start: func(ctx context.Context, config *rest.Config) error {
			c := n
			c.client = &http.Client{Transport: config.Transport}
			c.seen, c.last = make(map[string]Object), make(map[string]time.Time)
			for first := true; ctx.Err() == nil; first = false {
				if err := c.round(ctx); err != nil && (n.givesUp || first && n.quitsAtStart) {
					<-ctx.Done()
				} else if err != nil && n.waitsForEnd {
					for before := c.ended(ctx); ctx.Err() == nil && c.ended(ctx) == before; {
						time.Sleep(5 * time.Second)
					}
				}
				if !n.busy {
					time.Sleep(cmp.Or(n.every, 5*time.Second))
				}
			}
			return nil
		},
		Off: map[Check]string{},
	},
		New: func(s CronSettings) any {
			return Object{"spec": map[string]any{
				"schedule": s.Schedule, "policy": s.Policy, "deadline": s.StartingDeadlineSeconds, "succeeded": s.KeepSucceeded, "failed": s.KeepFailed, "suspend": s.Suspend,
			}}
		},
		Skipped: skippedByNaive,
		Run:     func(o Object) time.Time { return o.Time("metadata", "annotations", "run") },
		Active:  ActiveUIDs,
		Times: func(o Object) []time.Time {
			return []time.Time{o.Time("status", "last"), o.Time("status", "succeeded")}
		},
	}
}

func (n *naive) do(ctx context.Context, method, path string, in any) (Object, int, error) {
	data, err := json.Marshal(in)
	if err != nil {
		return nil, 0, err
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://blackbox.invalid"+path, bytes.NewReader(data))
	if err != nil {
		return nil, 0, err
	}
	answer, err := n.client.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer answer.Body.Close()
	if data, err = io.ReadAll(answer.Body); err != nil {
		return nil, 0, err
	}
	o, err := decodeObject(data)
	if err == nil && answer.StatusCode >= 300 {
		err = fmt.Errorf("%s", o.Text("message"))
	}
	return o, answer.StatusCode, err
}

const (
	jobs    = "/apis/batch/v1/namespaces/default/jobs"
	allJobs = "/apis/batch/v1/jobs"
)

// taskPath is the path of a Task, and jobsPath that of the Jobs in the namespace of an object.
func taskPath(parent Object) string {
	return "/apis/example.com/v1/namespaces/" + parent.Namespace() + "/tasks/" + parent.Name()
}

func jobsPath(of Object) string { return "/apis/batch/v1/namespaces/" + of.Namespace() + "/jobs" }

func keyOf(o Object) string { return o.Namespace() + "/" + o.Name() }

// ended returns how many jobs have ended.
func (n *naive) ended(ctx context.Context) (ended int) {
	list, _, _ := n.do(ctx, http.MethodGet, allJobs, nil)
	for _, o := range list.List("items") {
		if JobEnded(o) {
			ended++
		}
	}
	return ended
}

// round reads the parents and their children, and looks at each parent.
func (n *naive) round(ctx context.Context) error {
	tasks, _, err := n.do(ctx, http.MethodGet, "/apis/example.com/v1/tasks", nil)
	if err != nil {
		return err
	}
	list, _, err := n.do(ctx, http.MethodGet, allJobs, nil)
	if err != nil {
		return err
	}

	parents, children := tasks.List("items"), list.List("items")
	for _, name := range slices.Sorted(maps.Keys(n.seen)) {
		if slices.ContainsFunc(parents, func(o Object) bool { return keyOf(o) == name }) {
			continue
		}
		gone := n.seen[name]
		if n.startsDeleted {
			parents = append(parents, gone.clone())
		}
		for _, child := range children {
			if n.deletesOthers && child.Text("metadata", "labels", "task") == gone.Name() {
				_, _, _ = n.do(ctx, http.MethodDelete, jobsPath(child)+"/"+child.Name(), nil)
			}
		}
	}

	var all error
	var active []Object
	for _, parent := range parents {
		if !n.sharesList {
			active = nil
		}
		var ended []Object
		for _, o := range children {
			switch {
			case !JobEnded(o) && n.owns(parent, o):
				active = append(active, o)
			case JobEnded(o) && (n.countsOthers || n.owns(parent, o)):
				ended = append(ended, o)
			}
		}
		isBusy := n.forbidsAll && slices.ContainsFunc(children, func(o Object) bool { return !JobEnded(o) })

		err := n.look(ctx, parent, slices.Clone(active), ended, isBusy)
		if err != nil && n.blocks {
			return err
		}
		all = errors.Join(all, err)
	}
	return all
}

// owns reports whether a child is one of the parent's.
func (n *naive) owns(parent, child Object) bool {
	switch {
	case n.byLabel:
		return child.Text("metadata", "labels", "task") == parent.Name()
	case n.byPrefix:
		return child.Namespace() == parent.Namespace() && strings.HasPrefix(child.Name(), parent.Name()+"-")
	}
	return child.IsOwnedBy(parent.UID())
}

// look deletes old children of a parent, writes its status and starts its latest run.
func (n *naive) look(ctx context.Context, parent Object, active, ended []Object, isBusy bool) error {
	seenBefore := n.seen[keyOf(parent)]
	if n.remembers && seenBefore != nil && seenBefore.UID() != parent.UID() {
		parent["status"] = seenBefore["status"]
	}
	n.seen[keyOf(parent)] = parent

	was := parent.clone()
	if err := n.clean(ctx, parent, ended); err != nil {
		return err
	}
	now := time.Now()
	if n.startsEarly {
		now = now.Add(10 * time.Second)
	}

	s, err := schedule.Parse(parent.Text("spec", "schedule"))
	if err != nil || n.staysInvalid && parent.Get("status", "invalid") != nil {
		if n.staysInvalid {
			parent.Set(true, "status", "invalid")
		}
		parent.Set("invalid", "status", "seen")
		return errors.Join(n.record(ctx, was, parent, active), err)
	}

	succeeded := parent.Time("status", "succeeded")
	if n.losesTimes {
		succeeded = time.Time{}
	}
	last := parent.Time("status", "last")
	if n.startsGone {
		last = time.Time{}
	}
	for _, child := range slices.Concat(active, ended) {
		if at := child.Time("status", "completionTime"); at.After(succeeded) {
			succeeded = at
		}
		if run := child.Time("metadata", "annotations", "run"); run.After(last) && n.startsGone {
			last = run
		}
	}
	if parent.Unset("status", "succeeded"); !succeeded.IsZero() {
		parent.Set(succeeded.Format(time.RFC3339), "status", "succeeded")
	}
	if n.panics && len(ended) > 1 {
		panic("two have ended")
	}
	from := parent.Time("metadata", "creationTimestamp")
	if last.After(from) || !last.IsZero() && n.remembers {
		from = last
	}

	// Runs that were missed before an edit or a resume are not started.
	seen := fmt.Sprint(parent.Text("spec", "schedule"), parent.Get("spec", "suspend"))
	if n.takesLabels {
		seen += parent.Text("metadata", "labels", "touched")
	}
	if seen != parent.Text("status", "seen") {
		if parent.Text("status", "seen") != "" {
			parent.Set(time.Now().Format(time.RFC3339Nano), "status", "since")
		}
		parent.Set(seen, "status", "seen")
	}
	if since := parent.Time("status", "since"); since.After(from) && !n.forgetsEdits {
		from = since
	}

	run, due := s.Latest(from, now)
	if due && n.startsAll && parent.Get("spec", "suspend") != true {
		return n.startEach(ctx, parent, s, from, now)
	}
	if due && n.startsTwo && s.Count(from, now) > 1 {
		run = s.Next(from)
	}
	if n.catchesUp && due && s.Count(from, now) > 100 {
		return nil
	}
	if !due && n.randomNames && !last.IsZero() && now.Sub(last) < 7*time.Second {
		run, due = last, true // as after a crash
	}

	suspended := parent.Get("spec", "suspend") == true && !n.ignoresSuspend
	if d, limited := parent.Get("spec", "deadline").(float64); limited && !n.forgetsDeadline &&
		now.Sub(run) > time.Duration(d)*time.Second {
		due = false
	}

	if n.endsSuspended && suspended || n.deletesRunning && due && parent.Text("spec", "policy") == "Forbid" {
		for _, o := range active {
			if _, _, err := n.do(ctx, http.MethodDelete, jobsPath(o)+"/"+o.Name(), nil); err != nil {
				return err
			}
		}
		active = nil
	}

	held := false
	if due && !suspended {
		switch policy := parent.Text("spec", "policy"); {
		case policy == "Forbid" && (len(active) > 0 || isBusy) && !n.forgetsForbid:
			due, held = false, true
		case policy == "Replace" && !n.neverReplaces:
			for _, o := range active {
				if _, _, err := n.do(ctx, http.MethodDelete, jobsPath(o)+"/"+o.Name(), nil); err != nil {
					return err
				}
			}
			active = nil
		}
	}

	if n.forgetsNamespaces && !run.After(n.last[parent.Name()]) {
		due = false
	}
	if due && !suspended {
		name := parent.Name()
		if n.truncates {
			name = name[:min(len(name), 40)]
		}
		name = fmt.Sprintf("%s-%d", name, run.Unix())
		if n.randomNames {
			name = fmt.Sprintf("subject-%d", now.UnixNano())
		}
		started, code, err := n.do(ctx, http.MethodPost, jobsPath(parent), childOf(parent, name, run.Format(time.RFC3339)))
		if err != nil && code != http.StatusConflict && !n.swallows {
			return err
		}
		if err == nil {
			active = append(active, started)
		}
		parent.Set(run.Format(time.RFC3339), "status", "last")
		n.last[parent.Name()] = run
	}

	if err := n.record(ctx, was, parent, active); err != nil {
		return err
	}
	return n.report(ctx, parent, due && !suspended, held, s, from, run)
}

func childOf(parent Object, name, run string) Object {
	return Object{"metadata": map[string]any{
		"name": name, "annotations": map[string]any{"run": run}, "labels": map[string]any{"task": parent.Name()},
		"ownerReferences": []any{map[string]any{"uid": parent.UID(), "name": parent.Name(), "kind": "Task", "apiVersion": "example.com/v1", "controller": true}},
	}}
}

// start starts a run without any check.
func (n *naive) start(ctx context.Context, run string) error {
	parent, _, err := n.do(ctx, http.MethodGet, "/apis/example.com/v1/namespaces/default/tasks/subject", nil)
	if err == nil {
		_, _, err = n.do(ctx, http.MethodPost, jobs,
			childOf(parent, strings.ToLower("subject-"+strings.ReplaceAll(run, ":", "-")), run))
	}
	return err
}

// startEach starts each run that was missed.
func (n *naive) startEach(ctx context.Context, parent Object, s schedule.Schedule, from, now time.Time) error {
	for run := range s.Between(from, now) {
		child := childOf(parent, fmt.Sprintf("%s-%d", parent.Name(), run.Unix()), run.Format(time.RFC3339))
		if _, code, err := n.do(ctx, http.MethodPost, jobsPath(parent), child); err != nil && code != http.StatusConflict {
			return err
		}
		parent.Set(run.Format(time.RFC3339), "status", "last")
	}
	return n.record(ctx, Object{}, parent, nil)
}

// report reports the runs that are skipped for a later run. Its possible mistakes: it reports the
// later run itself, reports a run twice, reports a run that waits, or reports nothing.
func (n *naive) report(ctx context.Context, parent Object, started, held bool, s schedule.Schedule, from, run time.Time) error {
	left := 0
	switch {
	case started && n.reportsStarted, held && n.reportsHeld:
		left = 1
	case started && s.Count(from, run) > 1:
		left, run = s.Count(from, run)-1, s.Prev(run)
	}
	if left == 0 || n.neverReports {
		return nil
	}
	event := Object{
		"metadata":       map[string]any{"name": fmt.Sprintf("%s-%x", parent.Name(), time.Now().UnixNano())},
		"involvedObject": map[string]any{"kind": "Task", "namespace": parent.Namespace(), "name": parent.Name()},
		"type":           "Normal", "reason": "Skipped", "message": fmt.Sprintf("%d until %d", left, run.Unix()),
	}
	events := "/api/v1/namespaces/" + parent.Namespace() + "/events"
	_, _, err := n.do(ctx, http.MethodPost, events, event)
	if err == nil && n.reportsTwice {
		event["count"] = 2
		_, _, err = n.do(ctx, http.MethodPut, events+"/"+event.Name(), event)
	}
	return err
}

func skippedByNaive(e Event) (latest time.Time, runs int) {
	var at int64
	if e.Reason == "Skipped" {
		_, _ = fmt.Sscanf(e.Message, "%d until %d", &runs, &at) // else none
	}
	return time.Unix(at, 0).UTC(), runs
}

// record writes the status with the list of active children, if it has changed.
func (n *naive) record(ctx context.Context, was, parent Object, active []Object) error {
	refs := []any{}
	for _, o := range active {
		refs = append(refs, map[string]any{"uid": o.UID()})
	}
	if !n.oldList && !(n.listsLate && len(refs) == 0) {
		parent.Set(refs, "status", "active")
	}
	if equalObjects(was, parent) {
		return nil
	}
	_, _, err := n.do(ctx, http.MethodPut, taskPath(parent)+"/status", parent)
	return err
}

// clean deletes the oldest children beyond the limits, except children of runs later than the last
// one in the status.
func (n *naive) clean(ctx context.Context, parent Object, ended []Object) error {
	kept := map[bool]int{}
	slices.SortFunc(ended, func(a, b Object) int { return strings.Compare(b.Name(), a.Name()) })
	if n.deletesNewest {
		slices.Reverse(ended)
	}
	for _, o := range ended {
		succeeded := o.Text("status", "completionTime") != "" || n.countsAllEnded
		limit, limited := parent.Get("spec", map[bool]string{true: "succeeded", false: "failed"}[succeeded]).(float64)
		if kept[succeeded]++; !limited ||
			kept[succeeded] <= int(limit) && !n.deletesAll || n.keepsAll ||
			o.Time("metadata", "annotations", "run").After(parent.Time("status", "last")) {
			continue
		}
		if _, _, err := n.do(ctx, http.MethodDelete, jobsPath(o)+"/"+o.Name(), nil); err != nil {
			return err
		}
	}
	return nil
}

// TestPlay: each mistake is found by its check, in a life that a correct controller passes.
func TestPlay(t *testing.T) {
	wait := Step{Do: Wait, For: 3 * time.Minute}
	outage := []Step{{Do: Restart, For: 6 * time.Minute}, wait}
	for _, test := range []struct {
		name     string
		wrong    naive
		settings CronSettings
		steps    []Step
		want     Check
	}{
		{"starts runs again under random names", naive{randomNames: true}, CronSettings{}, []Step{wait}, NoRunTwice},
		{"forgets Forbid", naive{forgetsForbid: true}, CronSettings{Policy: "Forbid"}, []Step{wait}, Forbids},
		{"ignores suspend", naive{ignoresSuspend: true}, CronSettings{}, []Step{{Do: Suspend}, wait}, Suspended},
		{"starts early", naive{startsEarly: true}, CronSettings{}, []Step{wait}, OnSchedule},
		{"keeps all that have ended", naive{keepsAll: true}, CronSettings{KeepSucceeded: ptr[int32](1)}, nil, History},
		{"replaces nothing", naive{neverReplaces: true}, CronSettings{Policy: "Replace"}, []Step{wait}, Replaces},
		{"forgets the deadline", naive{forgetsDeadline: true}, CronSettings{StartingDeadlineSeconds: ptr[int64](15)}, []Step{{Do: Restart, For: 150 * time.Second}, wait}, Deadline},
		{"gives up after a refusal", naive{givesUp: true}, CronSettings{}, []Step{{Do: Break, Fault: Refuse, Nth: 1}, wait}, Starts},
		{"gives up after a conflict", naive{givesUp: true}, CronSettings{}, []Step{{Do: Break, Fault: Conflict, Nth: 3}, wait}, Starts},
		{"gives up after a lost reply", naive{givesUp: true}, CronSettings{}, []Step{{Do: Break, Fault: LoseReply, Nth: 2}, wait}, Starts},
		{"gives up after 100 missed runs", naive{catchesUp: true}, CronSettings{}, []Step{{Do: Restart, For: 2 * time.Hour}}, Starts},
		{"gives up until a job ends", naive{waitsForEnd: true}, CronSettings{}, []Step{wait, {Do: Break, Fault: Refuse, Nth: 1}, wait}, Starts},
		{"never rests", naive{busy: true}, CronSettings{}, nil, Bounded},
		{"writes no list", naive{oldList: true}, CronSettings{}, nil, ActiveList},
		{"reports no run that it skips", naive{neverReports: true}, CronSettings{}, outage, ReportsPassed},
		{"reports no run that is too late", naive{neverReports: true}, CronSettings{Schedule: "*/5 * * * *", StartingDeadlineSeconds: ptr[int64](15)}, []Step{{Do: Restart, For: 6 * time.Minute}, wait, wait}, ReportsLate},
		{"reports runs that start later", naive{reportsHeld: true}, CronSettings{Policy: "Forbid"}, []Step{wait, {Do: Succeed}, wait}, ReportsOnce},
		{"reports runs that it starts", naive{reportsStarted: true}, CronSettings{}, []Step{wait}, ReportsOnce},
		{"reports runs twice", naive{reportsTwice: true}, CronSettings{}, outage, ReportsOnce},
		{"starts all that it missed", naive{startsAll: true}, CronSettings{}, []Step{{Do: Restart, For: 6 * time.Minute}, wait}, Bursts},
		{"starts all that it missed while it was suspended", naive{startsAll: true, forgetsEdits: true}, CronSettings{Suspend: true}, []Step{wait, {Do: Resume}, wait}, Bursts},
		{"starts the oldest that it missed", naive{startsTwo: true}, CronSettings{}, []Step{{Do: Restart, For: 6 * time.Minute}, wait}, Bursts},
		{"starts what it missed at a resume", naive{forgetsEdits: true}, CronSettings{Suspend: true}, []Step{wait, {Do: Resume}, wait}, NotInRetrospect},
		{"starts what an edited schedule has", naive{forgetsEdits: true}, CronSettings{Schedule: "0 * * * *"}, []Step{wait, {Do: Edit, Schedule: "*/2 * * * *"}, wait}, NotInRetrospect},
		{"swallows the error of a creation", naive{swallows: true}, CronSettings{Schedule: "*/5 * * * *"}, []Step{{Do: Wait, For: 4*time.Minute + 47*time.Second}, {Do: Break, Fault: Refuse, Nth: 1}, wait, wait, wait}, Retries},
		{"a suspension ends what runs", naive{endsSuspended: true}, CronSettings{}, []Step{wait, {Do: Suspend}, wait}, KeepsRunning},
		{"Forbid ends what runs", naive{deletesRunning: true}, CronSettings{Policy: "Forbid"}, []Step{wait}, KeepsRunning},
		{"deletes the newest", naive{deletesNewest: true}, CronSettings{KeepSucceeded: ptr[int32](1)}, nil, History},
		{"counts the failed as succeeded", naive{countsAllEnded: true}, CronSettings{KeepSucceeded: ptr[int32](1), KeepFailed: ptr[int32](3)}, []Step{wait, {Do: Fail}, {Do: Fail}, {Do: Fail}, wait}, History},
		{"deletes all that have ended", naive{deletesAll: true}, CronSettings{KeepSucceeded: ptr[int32](3)}, nil, History},
		{"lists what has ended until the next run", naive{listsLate: true}, CronSettings{Schedule: "*/5 * * * *"}, nil, ActiveList},
		{"does not come back from an invalid schedule", naive{staysInvalid: true}, CronSettings{}, []Step{wait, {Do: Edit, Schedule: "x"}, wait, {Do: Edit, Schedule: "*/2 * * * *"}, wait}, Starts},
		{"takes a label for an edit", naive{takesLabels: true}, CronSettings{Schedule: "*/5 * * * *"}, []Step{{Do: Wait, For: 4*time.Minute + 47*time.Second}, {Do: Touch}, wait, wait, wait}, Retries},
		{"takes a new parent for the old one", naive{remembers: true}, CronSettings{}, []Step{wait, {Do: Delete}, wait}, OnSchedule},
		{"starts runs of a parent that is gone", naive{startsDeleted: true}, CronSettings{}, []Step{wait, {Do: Delete}, wait}, Left},
		{"starts a run again whose child has expired", naive{startsGone: true}, CronSettings{Schedule: "*/5 * * * *"}, []Step{{Do: Expire, For: 10 * time.Second}, {Do: Wait, For: 9 * time.Minute}, {Do: Succeed}, wait}, NoRunTwice},
		{"forgets a time whose child has expired", naive{losesTimes: true}, CronSettings{Schedule: "*/5 * * * *"}, []Step{{Do: Expire, For: 30 * time.Second}, {Do: Wait, For: 9 * time.Minute}, {Do: Succeed}, wait}, KeepsTimes},
		{"gives up after an error at its start", naive{quitsAtStart: true}, CronSettings{}, []Step{{Do: Break, Fault: Refuse, Nth: 1}, wait}, Starts},
		{"panics", naive{panics: true}, CronSettings{}, []Step{wait, {Do: Succeed}, {Do: Fail}, wait}, Panics},
		{"starts runs again after a crash", naive{randomNames: true}, CronSettings{}, []Step{{Do: Break, Fault: CrashAfter, Nth: 2}, wait}, NoRunTwice},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.settings.Schedule, test.settings.Policy = cmp.Or(test.settings.Schedule, "* * * * *"),
				cmp.Or(test.settings.Policy, "Allow")
			life := CronLife{Settings: test.settings, Begin: 10*time.Hour + 10*time.Second, Steps: test.steps}
			if right := (naive{}).subject().Play(t, life); len(right.Violations) > 0 {
				t.Errorf("a right controller: %v\n%s", right.Violations, strings.Join(right.Story, "\n"))
			}
			result := test.wrong.subject().Play(t, life)
			if !slices.ContainsFunc(result.Violations, func(v Violation) bool { return v.Check == test.want }) {
				t.Errorf("found %v, want %s\n%s", result.Violations, test.want, strings.Join(result.Story, "\n"))
			}
		})
	}
}

// TestOverlap: a crashed replica ends even if the other replica still runs. Once the watches have
// shown a child of one replica, the other replica must not start a child beside it.
func TestOverlap(t *testing.T) {
	for _, test := range []struct {
		name       string
		steps      []Step
		after      time.Duration // how long after the second replica the first one starts a child
		want, left int
	}{
		{"not shown", []Step{{Do: Overlap, For: 3 * time.Minute}}, 5 * time.Second, 0, 1},
		{"shown", []Step{{Do: Overlap, For: 3 * time.Minute}}, 30 * time.Second, 1, 1},
		{"the first crashes", []Step{{Do: Break, Fault: CrashAfter, Nth: 1}, {Do: Overlap, For: 3 * time.Minute}}, -5 * time.Second, 0, 1},
		{"the second crashes", []Step{{Do: Break, Fault: CrashAfter, Nth: 1}, {Do: Overlap, For: 3 * time.Minute}}, 5 * time.Second, 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var started, alive atomic.Int32
			left := 0
			subject := naive{}.subject()
			subject.Start = func(ctx context.Context, config *rest.Config) error {
				alive.Add(1)
				defer alive.Add(-1)
				n := naive{client: &http.Client{Transport: config.Transport}}
				run, at := "2000-01-01T10:03:00Z", 115*time.Second
				number := started.Add(1)
				if number == 1 {
					run, at = "2000-01-01T10:02:00Z", at+test.after
				}

				begin := time.Date(2000, 1, 1, 10, 1, 10, 0, time.UTC)
				if number <= 2 && sleep(ctx, time.Until(begin.Add(at))) {
					if err := n.start(ctx, run); err != nil && ctx.Err() == nil {
						return err
					}
				}
				if sleep(ctx, time.Until(begin.Add(5*time.Minute))) {
					left = max(left, int(alive.Load()))
				}
				<-ctx.Done()
				return nil
			}

			life := CronLife{
				Settings: CronSettings{Schedule: "* * * * *", Policy: "Forbid"},
				Begin:    10*time.Hour + 70*time.Second,
				Lag:      10 * time.Second,
				Steps:    append(test.steps, Step{Do: Wait, For: 6 * time.Minute}),
			}
			result, beside := subject.Play(t, life), 0
			for _, v := range result.Violations {
				if v.Check == Forbids {
					beside++
				}
			}

			if beside != test.want || left != test.left {
				t.Errorf("%d children beside others, want %d; %d replicas at the end, want %d\n%s",
					beside, test.want, left, test.left, strings.Join(result.Story, "\n"))
			}
		})
	}
}

// sleep lets the time pass. It returns false if the context ends before that.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// TestHold_Ends: a watch that is held for an hour shows everything as soon as the faults end.
func TestHold_Ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newServer(Jobs())
		a.lag = map[string]time.Duration{"": time.Second}
		i := &incarnation{api: a}
		answer, err := (&http.Client{Transport: i}).Get("http://blackbox.invalid" +
			jobs + "?watch=true&resourceVersion=0")
		must.OK(t, err)
		defer answer.Body.Close()

		var shown atomic.Int32
		go func() {
			n, _ := answer.Body.Read(make([]byte, 10_000))
			shown.Store(int32(n))
		}()
		a.mu.Lock()
		a.hold("jobs", time.Hour)
		a.mu.Unlock()
		if err := a.add(Object{"apiVersion": "batch/v1", "kind": "Job",
			"metadata": map[string]any{"name": "a", "namespace": "default"}}); err != nil {
			t.Fatal(err)
		}

		time.Sleep(time.Minute)
		if synctest.Wait(); shown.Load() != 0 {
			t.Error("the job is shown while the watch shows nothing")
		}
		a.mu.Lock()
		clear(a.held)
		a.wake()
		a.mu.Unlock()
		if synctest.Wait(); shown.Load() == 0 {
			t.Error("the job is not shown")
		}
		a.close()
	})
}

// TestFind: random lives find nothing in a correct controller. In a wrong one they find the mistake,
// and report its story and a test with the shortest life that shows it.
func TestFind(t *testing.T) {
	for _, f := range (naive{}).subject().Find(t, Search{Seed: 3, Lives: 4, Short: 1}) {
		t.Errorf("%s", f)
	}
	subject := naive{forgetsForbid: true}.subject()
	subject.Policies = []string{"Forbid"}
	found := subject.Find(t, Search{Seed: 3, Lives: 4})
	if len(found) != 1 || found[0].Check != Forbids || len(found[0].Life.Steps) > 1 || len(found[0].Story) == 0 ||
		!strings.Contains(found[0].GoTest(), `Policy: "Forbid"`) {
		t.Errorf("%v", found)
	}
}

// TestFind_Planted: a search finds each mistake within the stated number of lives. Mistakes that
// need a fault are searched with short lives first.
func TestFind_Planted(t *testing.T) {
	for _, test := range []struct {
		name         string
		wrong        naive
		want         Check
		short, lives int
	}{
		{"starts the oldest that it missed", naive{startsTwo: true}, Bursts, 0, 60},
		{"starts what it missed at a resume", naive{forgetsEdits: true}, NotInRetrospect, 0, 60},
		{"swallows the error of a creation", naive{swallows: true}, Retries, 1, 0},
		{"a suspension ends what runs", naive{endsSuspended: true}, KeepsRunning, 0, 300},
		{"Forbid ends what runs", naive{deletesRunning: true}, KeepsRunning, 0, 40},
		{"deletes the newest", naive{deletesNewest: true}, History, 0, 60},
		{"counts the failed as succeeded", naive{countsAllEnded: true}, History, 0, 150},
		{"deletes all that have ended", naive{deletesAll: true}, History, 0, 60},
		{"lists what has ended until the next run", naive{listsLate: true}, ActiveList, 0, 60},
		{"does not come back from an invalid schedule", naive{staysInvalid: true}, Starts, 0, 400},
		{"starts a run again whose child has expired", naive{startsGone: true}, NoRunTwice, 1, 0},
		{"forgets a time whose child has expired", naive{losesTimes: true}, KeepsTimes, 1, 0},
		{"gives up after an error at its start", naive{quitsAtStart: true}, Starts, 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.wrong.every = 20*time.Second + 70*time.Millisecond // never at the instant of a step
			subject := test.wrong.subject()
			lives := livesUntil(t, profile[CronSettings](subject), test.want, test.short, test.lives)
			if lives == 0 {
				t.Errorf("%s is not found in %d short lives and %d others", test.want, test.short, test.lives)
			}
			t.Logf("found in life %d", lives)
		})
	}
}

// livesUntil plays short lives with each fault, and then random ones, until a life breaks the
// check. It returns how many lives that took, or 0 if none broke the check. Lives with an action of skipped are
// counted, and not played: they cannot show the mistake.
func livesUntil[S Settings](t *testing.T, c profile[S], want Check, short, random int, skipped ...Action) (lives int) {
	found := false
	eachLife(c, Search{Seed: 1, Short: short, Lives: random}, func(_ int, l Life[S]) (Result, bool) {
		lives++
		if has(l.Steps, skipped...) {
			return Result{}, true
		}
		result := c.Play(t, l)
		found = slices.ContainsFunc(result.Violations, func(v Violation) bool { return v.Check == want })
		return result, !found
	})
	if !found {
		return 0
	}
	return lives
}

// TestOff: a check that is off finds nothing.
func TestOff(t *testing.T) {
	subject := naive{oldList: true}.subject()
	subject.Off[ActiveList] = "the status has no list"
	if found := subject.Find(t, Search{Seed: 3, Lives: 3}); len(found) > 0 {
		t.Errorf("%v", found)
	}
}

// TestEvents: the events of the program are kept in both API versions. An event whose count is n is
// kept n times.
func TestEvents(t *testing.T) {
	subject := naive{}.subject()
	subject.Start = func(ctx context.Context, config *rest.Config) error {
		n := naive{client: &http.Client{Transport: config.Transport}}
		write := func(method, path, name string, o Object) {
			o.Set(name, "metadata", "name")
			if method != http.MethodPost {
				path += "/" + name
			}
			if _, _, err := n.do(ctx, method, path, o); err != nil {
				t.Error(err)
			}
		}

		const core, later = "/api/v1/namespaces/default/events", "/apis/events.k8s.io/v1/namespaces/default/events"
		about := map[string]any{"kind": "Task", "name": "subject"}
		first := Object{"reason": "First", "message": "one", "type": "Warning", "involvedObject": about}
		write(http.MethodPost, core, "a", first)
		first["count"] = 3
		write(http.MethodPut, core, "a", first)
		write(http.MethodPut, core, "a", first)
		write(http.MethodPost, core, "a",
			Object{"reason": "Third", "message": "of the same instant", "type": "Normal", "involvedObject": about})

		second := Object{"reason": "Second", "note": "two", "type": "Normal", "regarding": about}
		write(http.MethodPost, later, "b", second)
		second["series"] = map[string]any{"count": 2}
		write(http.MethodPut, later, "b", second)
		<-ctx.Done()
		return nil
	}

	var got []string
	for _, e := range subject.Play(t, CronLife{Settings: CronSettings{Schedule: "0 * * * *"}}).Events {
		got = append(got, fmt.Sprint(e.Type, e.Reason, e.Message, e.Regarding.Text("name")))
	}
	if want := []string{"WarningFirstonesubject", "WarningFirstonesubject",
		"WarningFirstonesubject", "NormalThirdof the same instantsubject",
		"NormalSecondtwosubject", "NormalSecondtwosubject"}; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
}

// TestPass: a program that crashes at the instant at which a step ends is started again in that
// step.
func TestPass(t *testing.T) {
	result := naive{}.subject().Play(t, CronLife{
		Settings: CronSettings{Schedule: "* * * * *", Policy: "Allow"},
		Begin:    10*time.Hour + 10*time.Second,
		Steps:    []Step{{Do: Break, Fault: CrashAfter, Nth: 1}, {Do: Wait, For: 50 * time.Second}, {Do: Touch}},
	})
	lineOf := func(text string) int {
		return slices.IndexFunc(result.Story, func(line string) bool { return strings.Contains(line, text) })
	}
	if crash, start, label := lineOf("CrashAfter"), lineOf("starts again"), lineOf("labels it"); crash < 0 || start < crash || label < start {
		t.Errorf("%s", strings.Join(result.Story, "\n"))
	}
}

// TestStart: a program whose context ends immediately after its start has made all its first reads.
// The cache of a manager that cannot read waits in a busy loop when its context ends.
func TestStart(t *testing.T) {
	subject := naive{}.subject()
	run := subject.Start
	subject.Start = func(ctx context.Context, config *rest.Config) error {
		c := naive{client: &http.Client{Transport: config.Transport}}
		for range 100 {
			if _, _, err := c.do(ctx, http.MethodGet, "/apis/example.com/v1/tasks", nil); err != nil {
				t.Error(err)
				return run(ctx, config)
			}
		}
		return run(ctx, config)
	}
	result := subject.Play(t, CronLife{
		Settings: CronSettings{Schedule: "* * * * *", Policy: "Allow"},
		Steps:    []Step{{Do: Restart, For: time.Minute}, {Do: Restart}, {Do: Overlap}, {Do: Restart, For: time.Minute}},
	})
	for _, v := range result.Violations {
		t.Errorf("%s: %s", v.Check, v.Problem)
	}
}
