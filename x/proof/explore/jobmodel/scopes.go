package jobmodel

import (
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// counted returns a spec of a job that is not Indexed, with a limit of failures.
func counted(completions, parallelism, backoffLimit int32) job.Spec {
	return job.Spec{
		Completions: &completions, Parallelism: &parallelism, BackoffLimit: &backoffLimit,
		Template: job.Template{RestartPolicy: job.RestartNever, Containers: []string{"main"}},
	}
}

func with(s job.Spec, change func(*job.Spec)) job.Spec {
	change(&s)
	return s
}

// gang makes the pods start together or not at all.
func gang(s *job.Spec) {
	s.Scheduling = &jobgroup.Scheduling{SchedulingPolicy: &jobgroup.SchedulingPolicy{Gang: new(jobgroup.Gang)}}
}

func indexed(s *job.Spec) { s.CompletionMode = job.Indexed }

// perIndex limits failures index by index.
func perIndex(limit int32) func(*job.Spec) {
	return func(s *job.Spec) {
		s.CompletionMode, s.BackoffLimit = job.Indexed, nil
		s.BackoffLimitPerIndex = &limit
	}
}

// policyFor42 adds a podFailurePolicy with one action for exit code 42 and another for disruptions.
func policyFor42(exit, disruption job.FailureAction) func(*job.Spec) {
	return func(s *job.Spec) {
		s.PodFailurePolicy = &job.PodFailurePolicy{Rules: []job.PodFailurePolicyRule{
			{Action: exit, OnExitCodes: &job.OnExitCodes{Operator: job.ExitCodeIn, Values: []int32{42}}},
			{Action: disruption, OnPodConditions: []job.PodCondition{{Type: "DisruptionTarget"}}},
		}}
	}
}

// Small are the scopes that are explored completely in each run of the tests.
var Small = []Scope{
	{Name: "one-pod", Covers: "one pod at a time that may fail once, any fault of writes, two of them at most",
		Spec: counted(1, 1, 1), Pods: 3, Exits: []int32{0, 1}, Rest: 60,
		Budget: Budget{Fails: 1, Lost: 1, Crashes: 1, Ticks: 2},
		Must: []string{
			"J8 succeeded",
			"J8 failed",
			"J19 success declared",
			"J20 failure declared",
			"J22 backoffLimit",
			"J31 backoff",
			"J35 recorded before",
		}},
	{Name: "two-pods", Covers: "two pods at once, of which one failure is allowed; counting and the end",
		Spec: counted(2, 2, 1), Pods: 4, Exits: []int32{0, 1}, Rest: 60,
		Budget: Budget{Fails: 1, Ticks: 1},
		Must: []string{
			"J7 terminating counts as failed",
			"J27 ending deletes",
			"J30 replace",
			"J38 end waits for terminating",
		}},
	{
		Name:     "one-pod-late",
		Covers:   "a controller behind a watch, one pod at a time: expectations, unseen statuses and removals",
		Spec:     counted(1, 1, 1),
		Pods:     3,
		Late:     true,
		Exits:    []int32{0, 1},
		Straight: true,
		Rest:     60,
		Budget:   Budget{Fails: 1},
		Must:     []string{"E1 own writes unseen", "E4 finalizer removal unseen", "E5 end unseen"},
	},
	{Name: "one-pod-late-lost", Covers: "the same with a reply that is lost",
		Spec: counted(1, 1, 0), Pods: 3, Late: true, Exits: []int32{0, 1}, Straight: true, Rest: 60,
		Budget: Budget{Lost: 1}},
	{Name: "one-pod-late-crash", Covers: "the same with a crash",
		Spec: counted(1, 1, 0), Pods: 3, Late: true, Exits: []int32{0, 1}, Straight: true, Rest: 60,
		Budget: Budget{Crashes: 1}},
	{Name: "two-pods-late", Covers: "two pods under a controller that sees each object late",
		Spec: counted(2, 2, 0), Pods: 3, Late: true, Exits: []int32{0, 1}, Straight: true, Rest: 60,
		Must: []string{"E1 own writes unseen", "E5 end unseen"}},
	{Name: "scale-late", Covers: "users who suspend, resume and scale, under a controller that sees each object late",
		Spec: counted(2, 1, 0), Pods: 3, Late: true, Exits: []int32{0}, Straight: true, Rest: 60,
		Edits:  []string{`{"suspend": true}`, `{"suspend": false}`, `{"parallelism": 2}`},
		Budget: Budget{Edits: 1},
		Must:   []string{"J28 suspended deletes"}},
	{
		Name:     "versions-late",
		Covers:   "a controller behind a watch that compares versions of the job: no status is planned from twice",
		Spec:     with(counted(2, 1, 1), indexed),
		Pods:     3,
		Late:     true,
		Versions: true,
		Exits:    []int32{0},
		Straight: true,
		Rest:     60,
		Budget:   Budget{Lost: 1},
		Must:     []string{"E6 status unseen", "J14 index succeeded"},
	},
	{Name: "suspend", Covers: "users who suspend, resume and scale, while pods come and go",
		Spec: counted(2, 2, 1), Pods: 4, Exits: []int32{0}, Rest: 60,
		Edits:  []string{`{"suspend": true}`, `{"suspend": false}`, `{"parallelism": 1}`},
		Budget: Budget{Edits: 2, Fails: 1},
		Must:   []string{"J28 suspended deletes", "J29 surplus"}},
	{Name: "elastic", Covers: "an elastic Indexed job that shrinks and grows",
		Spec: with(counted(2, 2, 2), indexed), Pods: 4, Exits: []int32{0}, Rest: 60,
		Edits:  []string{`{"completions": 1, "parallelism": 1}`, `{"completions": 2, "parallelism": 2}`},
		Budget: Budget{Edits: 2, Fails: 1},
		Must:   []string{"J14 index succeeded", "J29 index out of range"}},
	{Name: "per-index", Covers: "backoff and limits index by index: failure counts that replacements carry on",
		Spec: with(counted(2, 2, 0), perIndex(1)), Pods: 5, Exits: []int32{0, 1}, Straight: true, Rest: 80,
		Budget: Budget{Fails: 1, Ticks: 2},
		Must: []string{
			"J17 failure count kept",
			"J18 failure count passed on",
			"J24 failed indexes",
			"J31 index backoff",
		}},
	{Name: "failure-policy", Covers: "exit codes and disruptions that are ignored, counted, or fail the job",
		Spec: with(counted(1, 1, 1),
			policyFor42(job.FailJob, job.IgnoreFailure)), Pods: 3, Exits: []int32{0, 1, 42}, Rest: 60,
		Budget: Budget{Evictions: 1, Fails: 1, Ticks: 1},
		Must:   []string{"J21 FailJob", "J21 Ignore", "J30 held by terminating"}},
	{Name: "success-policy", Covers: "an end by successPolicy while other indexes run",
		Spec: with(with(counted(2, 2, 1), indexed), func(s *job.Spec) {
			s.SuccessPolicy = &job.SuccessPolicy{Rules: []job.SuccessPolicyRule{{SucceededIndexes: new("0")}}}
		}),
		Pods: 4, Exits: []int32{0, 1}, Rest: 60,
		Budget: Budget{Fails: 1, PodDeletes: 1},
		Must:   []string{"J25 successPolicy", "J27 ending deletes"}},
	{Name: "deadline", Covers: "activeDeadlineSeconds, that passes at any time between the steps of a pod",
		Spec: with(counted(1, 1, 1),
			func(s *job.Spec) { s.ActiveDeadlineSeconds = new(int64(15)) }), Pods: 3, Exits: []int32{0, 1}, Rest: 60,
		Edits:  []string{`{"suspend": true}`, `{"suspend": false}`},
		Budget: Budget{Ticks: 2, Edits: 2}, Steps: []time.Duration{15 * time.Second},
		Must: []string{"J23 deadline", "J23 deadline ahead"}},
	{Name: "restarts", Covers: "restartPolicy OnFailure: containers that are restarted count toward the limit",
		Spec: with(counted(1, 1, 1), func(s *job.Spec) {
			s.Template.RestartPolicy = job.RestartOnFailure
		}),
		Pods: 3, Exits: []int32{0}, Rest: 60,
		Budget: Budget{Restarts: 2, Crashes: 1, Fails: 1},
		Must:   []string{"J22 backoffLimit"}},
	{Name: "work-queue", Covers: "no completions: the first success ends the creation of pods",
		Spec: with(counted(1, 2, 1),
			func(s *job.Spec) { s.Completions = nil }), Pods: 4, Exits: []int32{0, 1}, Rest: 60,
		Budget: Budget{Fails: 1}},
	{Name: "clock-back", Covers: "a clock that goes back between failures and ticks",
		Spec: counted(1, 1, 1), Pods: 4, Exits: []int32{0, 1}, Straight: true, Rest: 80,
		Budget: Budget{Ticks: 2, Backs: 2, Fails: 1}, Steps: []time.Duration{time.Minute}},
	{Name: "delete-job", Covers: "a job that is deleted at any time: finalizers",
		Spec: counted(2, 2, 1), Pods: 4, Exits: []int32{0, 1}, Rest: 60,
		Budget: Budget{Deletes: 1, PodDeletes: 1, Crashes: 1},
		Must:   []string{"J37 deleted job"}},
	{Name: "orphans", Covers: "pods that appear without an owner, lose their finalizer or are deleted by others",
		Spec: counted(1, 1, 1), Pods: 3, Exits: []int32{0, 1}, Rest: 60,
		Budget: Budget{Orphans: 1, Strips: 1, PodDeletes: 1, Fails: 1},
		Must:   []string{"J6 adopt", "J29 surplus"}},
	{Name: "capped", Covers: "rounds that record one pod, create one and delete one at most: the rest follows",
		Spec: counted(2, 2,
			1), Options: job.Options{MaxPodWrites: 1, MaxUncounted: 1}, Pods: 4, Exits: []int32{0, 1}, Rest: 80,
		Edits:  []string{`{"suspend": true}`, `{"parallelism": 1}`},
		Budget: Budget{Fails: 1, Edits: 1},
		Must:   []string{"J35 capped", "J29 surplus"}},
	{
		Name: "indexed-late",
		Covers: "an Indexed job behind a watch that compares no versions, with a reply that is lost: " +
			"indexes of finalizers in flight, pods that share an index",
		Spec:     with(counted(2, 2, 1), indexed),
		Pods:     3,
		Late:     true,
		Exits:    []int32{0, 1},
		Straight: true,
		Rest:     60,
		Budget:   Budget{Lost: 1},
		Must:     []string{"J14 index succeeded", "J29 duplicate index", "E4 finalizer removal unseen"},
	},
	{Name: "left-behind", Covers: "pods that are left behind by the end of a job and are being deleted",
		Spec: counted(1, 1, 0), Pods: 3, Late: true, Exits: []int32{0}, Straight: true, Rest: 60,
		Budget: Budget{Lost: 1, PodDeletes: 1},
		Must:   []string{"J36 left behind"}},
	{Name: "two-controllers", Covers: "two controllers that overlap after a lost lease: each pod is still counted once",
		Spec: counted(1, 1, 0), Pods: 3, Controllers: 2, Exits: []int32{0, 1}, Straight: true,
		Must: []string{"J8 succeeded", "J8 failed", "J29 surplus"}},
	{
		Name:     "one-pod-status-late",
		Covers:   "a controller behind a watch whose status write takes effect late or loses its reply",
		Spec:     counted(1, 1, 1),
		Pods:     3,
		Late:     true,
		Exits:    []int32{0, 1},
		Straight: true,
		Rest:     60,
		Budget:   Budget{Delays: 1, Lost: 1},
		Must:     []string{"J8 succeeded", "J8 failed"},
	},
	{Name: "two-pods-status-late", Covers: "the same with two pods of an Indexed job at once and versions to compare",
		Spec: with(counted(2, 2, 0),
			indexed), Pods: 3, Late: true, Versions: true, Exits: []int32{0, 1}, Straight: true, Rest: 60,
		Budget: Budget{Delays: 1},
		Must:   []string{"J14 index succeeded"}},
	{
		Name: "gang",
		Covers: "a gang that grows and shrinks: the workload and the group before the pods, crashes between any " +
			"two writes",
		Spec:     with(counted(2, 2, 1), gang),
		Options:  job.Options{Gangs: true},
		Pods:     4,
		Exits:    []int32{0, 1},
		Straight: true,
		Rest:     60,
		Edits:    []string{`{"parallelism": 1}`, `{"parallelism": 2}`},
		Budget:   Budget{Fails: 1, Lost: 1, Crashes: 1, Edits: 1},
		Must:     []string{"J44 group created", "J45 gang resized"},
	},
	{
		Name: "gang-late",
		Covers: "a gang under a controller that sees its group late: names are locks, and pods may be seen " +
			"before their group",
		Spec:     with(counted(1, 1, 1), gang),
		Options:  job.Options{Gangs: true},
		Pods:     3,
		Late:     true,
		Exits:    []int32{0, 1},
		Straight: true,
		Rest:     60,
		Budget:   Budget{Lost: 1, Crashes: 1},
		Must:     []string{"J44 group created", "J44 in no group"},
	},
	{
		Name:        "two-controllers-suspend",
		Covers:      "two controllers that overlap after a lost lease, while a user suspends and resumes",
		Spec:        counted(1, 1, 0),
		Pods:        3,
		Controllers: 2,
		Exits:       []int32{0, 1},
		Straight:    true,
		Edits:       []string{`{"suspend": true}`, `{"suspend": false}`},
		Budget:      Budget{Edits: 1},
		Must:        []string{"J8 succeeded", "J8 failed", "J28 suspended deletes"},
	},
}

// Large are scopes for runs of minutes and hours.
var Large = []Scope{
	{Name: "one-pod-late-old-list", Covers: "a controller behind a watch that restarts with an older list",
		Spec: counted(1, 1, 0), Pods: 3, Late: true, Exits: []int32{0, 1}, Straight: true, Rest: 60,
		Budget: Budget{Crashes: 1, OldLists: 1, Ticks: 1}},
	{Name: "two-pods-faults", Covers: "two pods at once, any three faults",
		Spec: counted(2, 2, 1), Pods: 4, Exits: []int32{0, 1}, Rest: 60,
		Budget: Budget{Fails: 1, Lost: 1, Crashes: 1, Ticks: 1}},
	{
		Name: "one-pod-late-faults",
		Covers: "a controller behind a watch, one pod at a time, two faults and a wait for writes " +
			"that are never seen",
		Spec:     counted(1, 1, 1),
		Pods:     3,
		Late:     true,
		Exits:    []int32{0, 1},
		Straight: true,
		Rest:     60,
		Budget:   Budget{Fails: 1, Lost: 1, Ticks: 1},
	},
	{Name: "two-pods-late-faults", Covers: "a controller behind a watch, two pods at once",
		Spec: counted(2, 2, 1), Pods: 4, Late: true, Exits: []int32{0, 1}, Straight: true, Rest: 60,
		Budget: Budget{Fails: 1, Ticks: 1}},
	{
		Name:     "indexed-late-faults",
		Covers:   "an Indexed job behind a watch that compares no versions, with a reply that is lost",
		Spec:     with(counted(2, 2, 1), indexed),
		Pods:     4,
		Late:     true,
		Exits:    []int32{0, 1},
		Straight: true,
		Rest:     60,
		Budget:   Budget{Lost: 1},
	},
	{Name: "per-index-late", Covers: "failure counts of indexes behind a watch",
		Spec: with(counted(2, 2, 0),
			perIndex(1)), Pods: 5, Late: true, Versions: true, Exits: []int32{0, 1}, Straight: true, Rest: 80,
		Budget: Budget{Fails: 1, Crashes: 1, Ticks: 2}},
	{
		Name:        "two-controllers-indexed",
		Covers:      "two controllers that overlap after a lost lease, with two pods of an Indexed job at once",
		Spec:        with(counted(2, 2, 0), indexed),
		Pods:        3,
		Controllers: 2,
		Exits:       []int32{0, 1},
		Straight:    true,
	},
	{Name: "two-controllers-indexed-lost", Covers: "the same with a reply that is lost",
		Spec: with(counted(2, 2, 0), indexed), Pods: 3, Controllers: 2, Exits: []int32{0, 1}, Straight: true,
		Budget: Budget{Lost: 1}},
	{Name: "two-controllers-indexed-faults", Covers: "the same with a reply that is lost and a crash",
		Spec: with(counted(2, 2, 0), indexed), Pods: 3, Controllers: 2, Exits: []int32{0, 1}, Straight: true,
		Budget: Budget{Lost: 1, Crashes: 1}},
	{
		Name: "two-controllers-edits",
		Covers: "two controllers that overlap after a lost lease, while a user suspends or scales, " +
			"two pods in all",
		Spec:        counted(2, 1, 0),
		Pods:        3,
		Controllers: 2,
		Exits:       []int32{0},
		Straight:    true,
		Edits:       []string{`{"parallelism": 2}`, `{"suspend": true}`},
		Budget:      Budget{Edits: 1},
	},
}
