package main

import "fmt"

// bug is a mistake that the library once made, or nearly made.
type bug struct {
	Name  string
	What  string // goes wrong
	Edits []edit
}

// edit is the change of a file of the library that makes the mistake. The old text
// occurs once.
type edit struct{ File, Old, New string }

// kind is a kind of generated cases.
type kind string

const (
	lives  kind = "scripts"
	rounds kind = "rounds"
)

// most is how many cases may be needed.
var most = map[kind]int{lives: 2000, rounds: 20_000}

var arguments = map[kind][]string{
	lives:  {"-test.run=^TestLongRun$", "-until", "-shrink=0", fmt.Sprint("-scripts=", most[lives])},
	rounds: {"-test.run=^TestRounds$", "-shares=1", fmt.Sprint("-rounds=", most[rounds])},
}

var bugs = []bug{
	{"waiting", "indexes in backoff do not count among the 500 that a round creates (J31)", []edit{{
		"job/creation.go",
		"	if s.Options.Quirks.Has(jobquirk.WaitingTakeRoom) {\n		enough = int64(s.Options.podWrites())\n	}\n",
		"	_ = jobquirk.WaitingTakeRoom\n",
	}}},
	{"progress", "only as many completed indexes are written as finalizers are removed (J35)", []edit{{
		"job/indexes.go",
		"			x.completed.Add(pod.index())\n",
		"			if x.completed.Len() < x.completedSame+maxUncounted {\n				x.completed.Add(pod.index())\n			}\n",
	}}},
	{"carrier", "a failed pod that is recorded loses its finalizer before its replacement exists (J17)", []edit{{
		"job/index_backoff.go",
		"	for _, list := range [...][]int32{c.failed, c.recorded} {\n",
		"	for _, list := range [...][]int32{c.failed} {\n",
	}}},
	{"sidecar", "the finish of a sidecar does not count while an app container waits (J32)", []edit{{
		"job/finish_time.go",
		"	apps, _ := latestFinish(containers, AppContainer)\n",
		"	apps, finished := latestFinish(containers, AppContainer)\n	if !finished {\n		return time.Time{}, false\n	}\n",
	}}},
	{"ready", "a pod whose Ready is Unknown finished then (J32)", []edit{{
		"job/decode.go",
		"			if c.Status == ConditionTrue || c.Status == ConditionFalse {\n",
		"			{\n",
	}, {
		"examples/kubernetes/convert/pod.go",
		"		if c.Status == corev1.ConditionTrue || c.Status == corev1.ConditionFalse {\n",
		"		{\n",
	}}},
	{"suspended", "a condition Suspended with another reason is left alone (J39)", []edit{{
		"job/suspend.go",
		"	if quirks.Has(jobquirk.SuspendedRewritten) {\n",
		"	if quirks.Has(jobquirk.SuspendedRewritten) && is.Type == \"\" {\n",
	}}},
	{"in-flight", "a terminating pod whose finalizer is on its way off is forgotten (J8)", []edit{{
		"job/census.go",
		"	case facts&uidUntracking != 0:\n		list = &c.inFlight\n",
		"	case facts&uidUntracking != 0:\n		if pod.isTerminal() {\n			list = &c.inFlight\n		} else {\n			return\n		}\n",
	}}},
	{"shrink", "the metric of succeeded pods is a difference of counters, also where the job has shrunk (J42)", []edit{{
		"job/metrics.go",
		"		f.countIndexes(&status, &after)\n",
		"		f.countIndexes(&status, &after)\n		f.PodsSucceeded = final.Succeeded - b.Status.Succeeded\n",
	}}},
	{"unclaimed", "a round that could not claim its pods is counted as one that has managed them (J42)", []edit{{
		"job/metrics.go",
		"		f.Action = ActionReconciling // the round stopped before pods were managed\n",
		"",
	}}},
	{"policy", "matches of the failure policy are counted although the status was not written (JI27)", []edit{{
		"job/metrics.go",
		"	if recorded {\n		f.countPolicy(r.Untrack)\n	}\n",
		"	f.countPolicy(r.Untrack)\n",
	}}},
	{"backoff", "a job held by a backoff is counted as tracking (J42)", []edit{{
		"job/manage.go",
		"		createMissing(plan, s, found, missing, buf)\n",
		"		if createMissing(plan, s, found, missing, buf); len(plan.Create) == 0 {\n			b.Action = ActionTracking\n		}\n",
	}}},
	{"zone", "a zone in the schedule beside timeZone causes no event (C6)", []edit{{
		"cronjob/suspend.go",
		`compiled.Problem != unknownTimeZone && strings.Contains(text, "TZ")`,
		`compiled.Problem != unknownTimeZone && strings.Contains(text, "TZ") && s.CronJob.Spec.TimeZone == nil`,
	}}},
	{"namespace", "a namespace that ends is a failed creation of a job (C14)", []edit{{
		"cronjob/cronjobapply/apply.go",
		"		return cronjob.Effect{Result: cronjob.ResultRefused, Error: err.Error()}, nil\n",
		"		return effectOf(made, err)\n",
	}}},
}
