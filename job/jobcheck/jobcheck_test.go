package jobcheck_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

func ptr[T any](v T) *T { return &v }

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// spec returns the spec of a job with three completions, two at a time.
func spec(change func(*job.Spec)) job.Spec {
	s := job.Spec{Completions: ptr[int32](3), Parallelism: ptr[int32](2)}
	if change != nil {
		change(&s)
	}
	job.Default(&s)
	return s
}

func indexed(s *job.Spec) { s.CompletionMode = job.Indexed }

func rules(all []jobcheck.Violation) (numbers []string) {
	for _, v := range all {
		numbers = append(numbers, v.Rule)
	}
	return numbers
}

// expect checks that want is the first broken rule. An empty want means that no rule is broken.
func expect(t *testing.T, got []jobcheck.Violation, want string) {
	t.Helper()
	switch numbers := rules(got); {
	case want == "" && len(got) > 0:
		t.Errorf("nothing is wrong, and got %v", got)
	case want != "" && (len(got) == 0 || numbers[0] != want):
		t.Errorf("got %v, want %s", got, want)
	}
}

func creations(indexes ...int32) (all []job.Creation) {
	for _, i := range indexes {
		all = append(all, job.Creation{NamePrefix: "j-", Index: job.IndexAt(i)})
	}
	return all
}

// TestPlan checks plans, most of which break a rule.
func TestPlan(t *testing.T) {
	ref := job.PodRef{UID: "a", Name: "j-a"}
	running := job.Pod{UID: "a", Name: "j-a", Phase: job.PodRunning, Index: job.IndexAt(0)}
	leaving := running
	leaving.Deletion = &job.PodDeletion{Timestamp: now}
	foreign, orphan := running, running
	foreign.Owner, orphan.Owner = jobpod.Foreign, jobpod.Orphan

	for _, c := range []struct {
		name string
		spec func(*job.Spec)
		pods []job.Pod
		edit func(*job.Snapshot)
		plan job.Plan
		want string
	}{
		{name: "one more pod", pods: []job.Pod{running}, plan: job.Plan{Create: creations(-1)}},
		{name: "two more pods", pods: []job.Pod{running}, plan: job.Plan{Create: creations(-1, -1)}, want: "JI10"},
		{name: "beside a pod that leaves", pods: []job.Pod{leaving}, plan: job.Plan{Create: creations(-1, -1)}},
		{name: "beside a pod that leaves, where only failed ones are replaced", pods: []job.Pod{leaving},
			spec: func(s *job.Spec) { s.PodReplacementPolicy = job.ReplaceFailed },
			plan: job.Plan{Create: creations(-1, -1)}, want: "JI11"},
		{name: "a running index", spec: indexed, pods: []job.Pod{running}, plan: job.Plan{Create: creations(0)}, want: "JI7"},
		{name: "a completed index", spec: indexed, edit: func(s *job.Snapshot) { s.Job.Status.CompletedIndexes = "0,1" }, plan: job.Plan{Create: creations(1)}, want: "JI7"},
		{name: "an index twice", spec: indexed, plan: job.Plan{Create: creations(2, 2)}, want: "JI7"},
		{name: "an index out of range", spec: indexed, plan: job.Plan{Create: creations(3)}, want: "JI7"},
		{name: "the next index", spec: indexed, pods: []job.Pod{running}, plan: job.Plan{Create: creations(1)}},
		{name: "creates and deletes", pods: []job.Pod{running}, plan: job.Plan{Create: creations(-1), Delete: []job.Deletion{{PodRef: ref}}}, want: "JI13"},
		{name: "suspended", spec: func(s *job.Spec) { s.Suspend = ptr(true) }, plan: job.Plan{Create: creations(-1)}, want: "JI18"},
		{name: "after the end", edit: func(s *job.Snapshot) {
			s.Job.Status.Conditions = []job.Condition{{Type: job.ConditionComplete, Status: job.ConditionTrue}}
		}, plan: job.Plan{Create: creations(-1)}, want: "JI16"},
		{name: "501 pods", spec: func(s *job.Spec) { s.Parallelism = ptr[int32](1000) }, plan: job.Plan{Create: make([]job.Creation, 501)}, want: "JI5"},
		{name: "adopts an orphan", pods: []job.Pod{orphan}, plan: job.Plan{Adopt: []job.Claim{{PodRef: ref}}}},
		{name: "adopts its own pod", pods: []job.Pod{running}, plan: job.Plan{Adopt: []job.Claim{{PodRef: ref}}}, want: "JI22"},
		{name: "deletes another owner's pod", pods: []job.Pod{foreign}, plan: job.Plan{Delete: []job.Deletion{{PodRef: ref}}}, want: "JI22"},
		{name: "deletes a pod of its own", pods: []job.Pod{running}, plan: job.Plan{Delete: []job.Deletion{{PodRef: ref}}}},
		{name: "deletes a pod that nobody has seen", plan: job.Plan{Delete: []job.Deletion{{PodRef: ref}}}, want: "JI22"},
		{name: "untracks another owner's pod", pods: []job.Pod{foreign}, plan: job.Plan{Untrack: []job.Untracking{{PodRef: ref}}}, want: "JI22"},
		{name: "another controller's job", spec: func(s *job.Spec) { s.ManagedBy = ptr("example.com/other") }, plan: job.Plan{Create: creations(-1)}, want: "JI23"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := job.Snapshot{Job: job.Job{Name: "j", UID: "j", Spec: spec(c.spec)}, Pods: c.pods, Now: now}
			if c.edit != nil {
				c.edit(&s)
			}
			expect(t, jobcheck.Plan(&s, &c.plan), c.want)
		})
	}
}

// before returns a job with a recorded and uncounted success, and a running pod.
func before(change func(*job.Spec)) *jobcheck.State {
	done := &job.Pod{UID: "a", Name: "j-a", Phase: job.PodSucceeded, Untracked: true, Index: job.IndexAt(0)}
	runs := &job.Pod{UID: "b", Name: "j-b", Phase: job.PodRunning, Index: job.IndexAt(1)}
	h := &jobcheck.History{MaxParallelism: 2}
	for _, p := range []*job.Pod{done, runs} {
		h.Born(p)
	}
	h.Ended(done)
	return &jobcheck.State{
		Job: &job.Job{Name: "j", UID: "j", Spec: spec(change), Status: job.Status{
			StartTime: now, Active: 1, Ready: ptr[int32](0), Terminating: ptr[int32](0),
			UncountedTerminatedPods: &job.UncountedTerminatedPods{Succeeded: []job.UID{"a"}},
		}},
		Pods:    []*job.Pod{done, runs},
		History: h,
	}
}

// TestState_Status checks statuses, most of which break a rule.
func TestState_Status(t *testing.T) {
	count := func(s *job.Status) { s.Succeeded, s.UncountedTerminatedPods = 1, nil }
	end := func(s *job.Status) {
		count(s)
		s.Active, s.CompletionTime = 0, now
		s.Conditions = []job.Condition{{Type: job.ConditionSuccessCriteriaMet, Status: job.ConditionTrue},
			{Type: job.ConditionComplete, Status: job.ConditionTrue}}
	}

	for _, c := range []struct {
		name string
		spec func(*job.Spec)
		old  func(*jobcheck.State)
		next func(*job.Status)
		want string
	}{
		{name: "the same again", next: func(*job.Status) {}},
		{name: "counts a pod", next: count},
		{name: "counts a pod twice", next: func(s *job.Status) { count(s); s.Succeeded = 2 }, want: "JI1"},
		{name: "loses a pod", next: func(s *job.Status) { count(s); s.Succeeded = 0 }, want: "JI1"},
		{name: "counts a pod with its finalizer", old: func(st *jobcheck.State) { st.Pods[0].Untracked = false }, next: count, want: "JI3"},
		{name: "moves a pod to the other list", next: func(s *job.Status) {
			s.UncountedTerminatedPods = &job.UncountedTerminatedPods{Failed: []job.UID{"a"}}
		}, want: "JI1"},
		{name: "records a pod that runs", next: func(s *job.Status) { s.UncountedTerminatedPods.Succeeded = []job.UID{"a", "b"} }, want: "JI1"},
		{name: "records a counted pod", old: func(st *jobcheck.State) { st.History.Of("b").Counted = jobreason.CountedSucceeded },
			next: func(s *job.Status) { s.UncountedTerminatedPods.Succeeded = []job.UID{"a", "b"} }, want: "JI1"},
		{name: "fails a pod that runs", next: func(s *job.Status) { s.UncountedTerminatedPods.Failed = []job.UID{"b"} }, want: "J27"},
		{name: "lists a pod twice", next: func(s *job.Status) { s.UncountedTerminatedPods.Succeeded = []job.UID{"a", "a"} }, want: "JI2"},
		{name: "lists a pod in both lists", next: func(s *job.Status) { s.UncountedTerminatedPods.Failed = []job.UID{"a"} }, want: "JI2"},
		{name: "succeeded falls", old: func(st *jobcheck.State) { st.Job.Status.Succeeded = 2 }, next: func(s *job.Status) { s.Succeeded = 1 }, want: "JI4"},
		{name: "more ready than active", next: func(s *job.Status) { s.Ready = ptr[int32](2) }, want: "JI20"},
		{name: "withdraws a condition", old: func(st *jobcheck.State) {
			st.Job.Status.Conditions = []job.Condition{{Type: job.ConditionFailureTarget, Status: job.ConditionTrue}}
		}, next: func(s *job.Status) { s.Conditions = nil }, want: "JI14"},
		{name: "complete out of nothing", next: func(s *job.Status) {
			end(s)
			s.Conditions = s.Conditions[1:]
		}, want: "JI15"},
		{name: "complete out of nothing, without SuccessCriteriaMet", old: func(st *jobcheck.State) {
			st.Pods, st.Options.NoSuccessCriteriaMet = st.Pods[:1], true
		}, next: func(s *job.Status) {
			end(s)
			s.Conditions = s.Conditions[1:]
		}},
		{name: "complete while a pod terminates, without SuccessCriteriaMet", old: func(st *jobcheck.State) {
			st.Pods, st.Options.NoSuccessCriteriaMet = st.Pods[:1], true
		}, next: func(s *job.Status) {
			end(s)
			s.Conditions, s.Terminating = s.Conditions[1:], nil
		}},
		{name: "complete with an unknown number of terminating pods", old: func(st *jobcheck.State) { st.Pods = st.Pods[:1] },
			next: func(s *job.Status) { end(s); s.Terminating = nil }, want: "JI8"},
		{name: "failed out of nothing, without SuccessCriteriaMet", old: func(st *jobcheck.State) {
			st.Pods, st.Options.NoSuccessCriteriaMet = st.Pods[:1], true
		}, next: func(s *job.Status) {
			count(s)
			s.Active, s.Conditions = 0, []job.Condition{{Type: job.ConditionFailed, Status: job.ConditionTrue}}
		}, want: "JI15"},
		{name: "complete out of nothing, by a successPolicy", spec: func(s *job.Spec) {
			indexed(s)
			s.SuccessPolicy = &job.SuccessPolicy{Rules: []job.SuccessPolicyRule{{SucceededCount: ptr[int32](1)}}}
		}, old: func(st *jobcheck.State) {
			st.Pods, st.Options.NoSuccessCriteriaMet = st.Pods[:1], true
		}, next: func(s *job.Status) {
			end(s)
			s.Conditions = s.Conditions[1:]
		}, want: "JI15"},
		{name: "ends while a pod is active", next: end, want: "JI16"},
		{name: "ends", old: func(st *jobcheck.State) { st.Pods = st.Pods[:1] }, next: end},
		{name: "ends with an uncounted pod", old: func(st *jobcheck.State) { st.Pods = st.Pods[:1] }, next: func(s *job.Status) {
			lists := s.UncountedTerminatedPods
			end(s)
			s.Succeeded, s.UncountedTerminatedPods = 0, lists
		}, want: "JI8"},
		{name: "another start", next: func(s *job.Status) { s.StartTime = now.Add(time.Second) }, want: "JI17"},
		{name: "an index that has not succeeded", spec: indexed, next: func(s *job.Status) { count(s); s.CompletedIndexes = "1" }, want: "JI6"},
		{name: "two billion indexes that have not", spec: func(s *job.Spec) { indexed(s); s.Completions = ptr[int32](1<<31 - 1) },
			next: func(s *job.Status) { count(s); s.Succeeded, s.CompletedIndexes = 1<<31-1, "0-2147483646" },
			want: "JI6"},
		{name: "an index that has", spec: indexed, next: func(s *job.Status) { count(s); s.CompletedIndexes = "0" }},
		{name: "a list that is not canonical", spec: indexed, next: func(s *job.Status) { count(s); s.CompletedIndexes = "0-0" }, want: "JI6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := before(c.spec)
			if c.old != nil {
				c.old(st)
			}

			next := st.Job.Status
			lists := *next.UncountedTerminatedPods
			next.UncountedTerminatedPods = &lists
			c.next(&next)
			expect(t, st.Status(&next), c.want)
		})
	}
}

// TestState_Pods checks the writes of pods.
func TestState_Pods(t *testing.T) {
	for _, c := range []struct {
		name  string
		old   func(*jobcheck.State)
		check func(*jobcheck.State) []jobcheck.Violation
		want  string
	}{
		{"within the parallelism", nil, func(st *jobcheck.State) []jobcheck.Violation { return st.Create(new(job.Creation), 2) }, ""},
		{"beyond the parallelism", nil, func(st *jobcheck.State) []jobcheck.Violation { return st.Create(new(job.Creation), 3) }, "JI10"},
		{"as many as replies were lost", func(st *jobcheck.State) { st.History.LostCreates = 1 },
			func(st *jobcheck.State) []jobcheck.Violation { return st.Create(new(job.Creation), 3) }, ""},
		{"a recorded pod loses its finalizer", func(st *jobcheck.State) { st.Pods[0].Untracked = false },
			func(st *jobcheck.State) []jobcheck.Violation { return st.Untrack(st.Pods[0]) }, ""},
		{"a pod that is not recorded does", func(st *jobcheck.State) {
			st.Pods[0].Untracked = false
			st.Job.Status.UncountedTerminatedPods = nil
		}, func(st *jobcheck.State) []jobcheck.Violation { return st.Untrack(st.Pods[0]) }, "JI3"},
		{"a pod that a job has left behind does", func(st *jobcheck.State) {
			st.Pods[0].Untracked = false
			st.Job.Status.UncountedTerminatedPods = nil
			st.Job.Status.Conditions = []job.Condition{{Type: job.ConditionFailed, Status: job.ConditionTrue}}
		}, func(st *jobcheck.State) []jobcheck.Violation { return st.Untrack(st.Pods[0]) }, ""},
		{"a success is deleted", func(st *jobcheck.State) { st.Pods[0].Untracked = false },
			func(st *jobcheck.State) []jobcheck.Violation { return st.DeleteUntracked(st.Pods[0]) }, "JI9"},
		{"a running pod is deleted", nil, func(st *jobcheck.State) []jobcheck.Violation { return st.DeleteUntracked(st.Pods[1]) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := before(nil)
			if c.old != nil {
				c.old(st)
			}
			expect(t, c.check(st), c.want)
		})
	}
}

// TestHistory_Long: a long history gives the same answers as a short one.
func TestHistory_Long(t *testing.T) {
	var h jobcheck.History
	pods := make([]job.Pod, 100)
	for i := range pods {
		pods[i] = job.Pod{UID: job.UID(rune('A' + i)), Index: job.IndexAt(int32(i))}
		h.Born(&pods[i])
		if i%3 == 0 {
			pods[i].Phase = job.PodSucceeded
			h.Ended(&pods[i])
		}
	}
	c := h.Clone()
	for i := range pods {
		if l := c.Of(pods[i].UID); l == nil || l.Index != int32(i) || (l.Ended == job.PodSucceeded) != (i%3 == 0) {
			t.Fatalf("pod %d: %+v", i, l)
		}
	}
	st := jobcheck.State{Job: &job.Job{Spec: spec(func(s *job.Spec) { indexed(s); s.Completions = ptr[int32](100) })},
		History: &h}
	expect(t, st.Status(&job.Status{CompletedIndexes: "0,99", Succeeded: 2}), "")
	expect(t, st.Status(&job.Status{CompletedIndexes: "0,98", Succeeded: 2}), "JI6")
}

// TestGroups checks plans and writes of groups, most of which break a rule.
func TestGroups(t *testing.T) {
	ref := func(name string) jobgroup.Ref { return jobgroup.Ref{Name: name, UID: job.UID("uid of " + name)} }
	workload := jobgroup.Workload{Ref: ref("w"), Templates: []jobgroup.Template{{Name: "t", MinCount: 2}}}
	basic := jobgroup.Workload{Ref: ref("w"), Templates: []jobgroup.Template{{Name: "t"}}}
	group := jobgroup.PodGroup{Ref: ref("g"), Workload: "w", MinCount: 2}
	newGroup := jobgroup.Write{Kind: jobgroup.KindPodGroup, Ref: jobgroup.Ref{Name: "h"}, MinCount: 2,
		Workload: jobgroup.Ref{Name: "w"}}
	small := newGroup
	small.MinCount, small.Template = 1, "t"
	resize := func(ref jobgroup.Ref, size int32) *job.Plan {
		return &job.Plan{Groups: []jobgroup.Write{{Kind: jobgroup.KindPodGroup, Ref: ref, Template: "t",
			MinCount: size}}}
	}
	of := func(groups ...jobgroup.Ref) (all []job.Creation) {
		for _, g := range groups {
			all = append(all, job.Creation{Group: g})
		}
		return all
	}
	gang := func(size *int32) *jobgroup.Scheduling {
		return &jobgroup.Scheduling{SchedulingPolicy: &jobgroup.SchedulingPolicy{Gang: &jobgroup.Gang{MinCount: size}}}
	}
	has := func(s *job.Snapshot) {
		s.Groups.Workloads, s.Groups.PodGroups = []jobgroup.Workload{workload}, []jobgroup.PodGroup{group}
	}
	for _, test := range []struct {
		name   string
		change func(*job.Snapshot)
		plan   *job.Plan
		want   string
	}{
		{"a new group and its pods", nil, &job.Plan{Groups: []jobgroup.Write{newGroup}, Create: of(jobgroup.Ref{Name: "h"})}, ""},
		{"pods of a group that exists", has, &job.Plan{Create: of(ref("g"), ref("g"))}, ""},
		{"pods without a group", nil, &job.Plan{Create: of(jobgroup.Ref{})}, ""},
		{"a pod of a group that does not exist", has, &job.Plan{Create: of(ref("h"))}, "JI28"},
		{"a pod of a workload", nil, &job.Plan{Groups: []jobgroup.Write{{Kind: jobgroup.KindWorkload, Ref: jobgroup.Ref{Name: "w"}, MinCount: 2}}, Create: of(jobgroup.Ref{Name: "w"})}, "JI28"},
		{"pods of two groups", has, &job.Plan{Create: of(ref("g"), jobgroup.Ref{})}, "JI28"},
		{"pods beside their group", has, &job.Plan{Create: of(jobgroup.Ref{})}, "JI28"},
		{"pods of a job whose template names another group", func(s *job.Snapshot) { has(s); s.Groups.Preset = true }, &job.Plan{Create: of(jobgroup.Ref{})}, ""},
		{"pods of a job whose controller leaves it no group", func(s *job.Snapshot) { has(s); s.Groups.Controlled = true }, &job.Plan{Create: of(jobgroup.Ref{})}, ""},
		{"pods beside a lent group", func(s *job.Snapshot) {
			has(s)
			s.Groups.Controlled, s.Groups.Template, s.Groups.Workloads[0].Foreign = true, new(string), true
		}, &job.Plan{Create: of(jobgroup.Ref{})}, "JI28"},
		{"pods beside another's group", func(s *job.Snapshot) { has(s); s.Groups.PodGroups[0].Foreign = true }, &job.Plan{Create: of(jobgroup.Ref{})}, ""},
		{"pods beside a group of another workload", func(s *job.Snapshot) { has(s); s.Groups.PodGroups[0].Workload = "v" }, &job.Plan{Create: of(jobgroup.Ref{})}, ""},
		{"pods beside two groups", func(s *job.Snapshot) { has(s); s.Groups.PodGroups = append(s.Groups.PodGroups, group) }, &job.Plan{Create: of(jobgroup.Ref{})}, ""},
		{"pods beside two workloads", func(s *job.Snapshot) { has(s); s.Groups.Workloads = append(s.Groups.Workloads, workload) }, &job.Plan{Create: of(jobgroup.Ref{})}, ""},
		{"groups that nobody asked for", func(s *job.Snapshot) { s.Options.Gangs = false }, &job.Plan{Groups: []jobgroup.Write{newGroup}}, "JI29"},
		{"a second group", has, &job.Plan{Groups: []jobgroup.Write{newGroup}}, "JI29"},
		{"a second workload", has, &job.Plan{Groups: []jobgroup.Write{{Kind: jobgroup.KindWorkload, Ref: jobgroup.Ref{Name: "v"}}}}, "JI29"},
		{"a group of a job that has run", func(s *job.Snapshot) { s.Job.Status.StartTime = now }, &job.Plan{Groups: []jobgroup.Write{newGroup}}, "JI29"},
		{"a group of a job that has a failure", func(s *job.Snapshot) { s.Job.Status.Failed = 1 }, &job.Plan{Groups: []jobgroup.Write{newGroup}}, "JI29"},
		{"a new group of another size", nil, &job.Plan{Groups: []jobgroup.Write{small}}, "JI30"},
		{"a new group of a workload that is no gang", func(s *job.Snapshot) {
			s.Groups.Workloads = []jobgroup.Workload{basic}
		}, &job.Plan{Groups: []jobgroup.Write{small}}, "JI30"},
		{"a new group of a job that asks for no gang any more", func(s *job.Snapshot) {
			s.Groups.Workloads, s.Job.Spec.Scheduling = []jobgroup.Workload{{Ref: ref("w"),
				Templates: []jobgroup.Template{{Name: "t", MinCount: 1}}}}, nil
		}, &job.Plan{Groups: []jobgroup.Write{small}}, ""},
		{"the size of parallelism", has, resize(ref("g"), 2), ""},
		{"another size", has, resize(ref("g"), 1), "JI30"},
		{"the size of parallelism, beside a workload that is no gang", func(s *job.Snapshot) { has(s); s.Groups.Workloads = []jobgroup.Workload{basic} }, resize(ref("g"), 2), ""},
		{"another size, beside a workload that is no gang", func(s *job.Snapshot) { has(s); s.Groups.Workloads = []jobgroup.Workload{basic} }, resize(ref("g"), 1), "JI30"},
		{"a group that is no gang", func(s *job.Snapshot) {
			has(s)
			s.Groups.PodGroups = []jobgroup.PodGroup{{Ref: ref("g"), Workload: "w"}}
		}, resize(ref("g"), 2), "JI30"},
		{"the size that is asked for", func(s *job.Snapshot) { s.Job.Spec.Scheduling = gang(ptr[int32](1)) }, resize(ref("g"), 1), ""},
		{"a size that nobody asked for", func(s *job.Snapshot) { s.Job.Spec.Scheduling = nil }, resize(ref("g"), 2), "JI30"},
		{"the size of a template", func(s *job.Snapshot) { has(s); s.Groups.Controlled = true; s.Job.Spec.Scheduling = nil }, resize(ref("g"), 2), ""},
		{"another size than that of a template", func(s *job.Snapshot) { has(s); s.Groups.Controlled = true }, resize(ref("g"), 1), "JI30"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := job.Snapshot{Job: job.Job{Name: "j", UID: "j",
				Spec: spec(func(s *job.Spec) { s.Scheduling = gang(nil) })}, Now: now,
				Options: job.Options{Gangs: true}}
			if test.change != nil {
				test.change(&s)
			}
			expect(t, jobcheck.Plan(&s, test.plan), test.want)
		})
	}
	st := func(late bool) *jobcheck.State {
		groups := jobgroup.Groups{Workloads: []jobgroup.Workload{workload}, PodGroups: []jobgroup.PodGroup{group}}
		return &jobcheck.State{Job: new(job.Job), Groups: groups, History: &jobcheck.History{Late: late},
			Options: job.Options{Gangs: true}}
	}
	expect(t, st(false).Group(&newGroup), "JI29")
	expect(t, st(false).Group(&jobgroup.Write{Kind: jobgroup.KindWorkload, Ref: jobgroup.Ref{Name: "v"}}), "JI29")
	expect(t, st(false).Group(&jobgroup.Write{Kind: jobgroup.KindPodGroup, Ref: ref("g")}), "")
	expect(t, (&jobcheck.State{History: new(jobcheck.History)}).Group(&newGroup), "")
	for _, test := range []struct {
		group jobgroup.Ref
		late  bool
		want  string
	}{
		{ref("g"), false, ""},
		{jobgroup.Ref{Name: "g", UID: "of an earlier group"}, false, "JI28"},
		{ref("h"), true, "JI28"},
		{jobgroup.Ref{}, false, "JI28"},
		{jobgroup.Ref{}, true, ""},
	} {
		expect(t, st(test.late).Create(&job.Creation{Group: test.group}, 0), test.want)
	}

	removed := st(true)
	removed.History.Ungrouped = true
	expect(t, removed.Create(&job.Creation{Group: ref("h")}, 0), "")
	removed.History.Late = false
	expect(t, removed.Create(&job.Creation{Group: ref("h")}, 0), "JI28")
}
