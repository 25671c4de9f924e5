package script

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/specgen"
)

// Jobs draws scripts about one job.
func Jobs() *rapid.Generator[*Script] {
	return rapid.Custom(func(t *rapid.T) *Script {
		s := &Script{Stale: rapid.IntRange(0, 3).Draw(t, "stale") == 0}
		var begin []Step
		limits := s.Stale && rapid.IntRange(0, 2).Draw(t, "limits") == 0
		g := wild(t)
		g.Indexed = limits
		s.Job = drawJob(g)
		if limits {
			// An index can fail while its pod still terminates. The steps for that come first,
			// since most jobs end soon.
			if rapid.Bool().Draw(t, "going") {
				begin = goingInFlight(t)
			}
			limitIndexes(s.Job, among("0", "0", "1")(t))
		}
		steps := jobSteps(s.Job)
		if s.Stale {
			steps = append(steps, plot(6, goingInFlight))
			steps = append(steps, of(6, "hold", among("pods", "jobs", "jobs")), of(3, "release", among("pods", "jobs")),
				ofEnding(6, among("all"), among("0")))
		}
		s.Steps = append(begin, drawSteps(t, steps, 8, 25)...)
		switch rapid.IntRange(0, 60).Draw(t, "old") {
		case 0:
			s.Steps = slices.Insert(s.Steps, 0, step(t, "old", one("mode"), among("Sorted")))
		case 1, 2, 3: // if the gate JobManagedBy is off, the server has dropped the field
			at := min(rapid.IntRange(0, 3).Draw(t, "at"), len(s.Steps))
			s.Steps = slices.Insert(s.Steps, at, step(t, "old", one("managedBy"), among("example.com/other")))
		}
		if s.Stale {
			// The real controller may adopt a pod again after releasing it, if its cache still
			// shows the old state. The library does not, since the pod could count twice.
			for i := range s.Steps {
				if op := s.Steps[i].Op; op == "disown" || op == "stray" {
					s.Steps[i] = Step{Op: "touch"}
				}
			}
		}
		return s
	})
}

// Gangs draws scripts about one job whose pods may be scheduled together, for servers with the gate
// WorkloadWithJob.
func Gangs() *rapid.Generator[*Script] {
	return rapid.Custom(func(t *rapid.T) *Script {
		s := &Script{Stale: rapid.IntRange(0, 3).Draw(t, "stale") == 0}
		g := wild(t)
		g.Gangs = true
		s.Job = drawJob(g)
		s.Steps = drawSteps(t, append(jobSteps(s.Job), groupSteps()...), 8, 25)
		return s
	})
}

// groupSteps are steps about workloads and pod groups, and about jobs that may be new.
func groupSteps() []choice {
	kinds := among("workloads", "podgroups")
	return []choice{
		of(6, "parallelism", sizes),
		of(4, "minCount", sizes),
		of(2, "fault", among("create"), kinds, among("conflict", "error", "quota", "lost"), among("all"), delays),
		of(2, "fault", among("patch"), kinds, among("conflict", "error", "lost"), among("all"), delays),
		of(2, "hold", kinds),
		of(4, "release", kinds),
		of(1, "ungroup", kinds),
		of(2, "delete-job", among("Background", "Foreground", "Orphan")),
		of(2, "recreate"),
		of(2, "restart-controllers"),
	}
}

// CronJobs draws scripts about one CronJob, whose jobs run or are ended by steps.
func CronJobs() *rapid.Generator[*Script] {
	return rapid.Custom(func(t *rapid.T) *Script {
		pace := often
		if rapid.Bool().Draw(t, "seldom") {
			pace = seldom
		}

		s := &Script{CronJob: drawCronJob(t, pace), Manual: rapid.Bool().Draw(t, "manual")}
		ahead := drawTurn(t, s)

		steps := cronSteps(pace, s.Manual)
		if !s.Manual {
			steps = append(steps, choicesForPods()...)
		}

		drawn := acrossTurn(t, drawSteps(t, steps, 10, 30), ahead)
		if rapid.IntRange(0, 15).Draw(t, "old") == 0 {
			drawn = slices.Insert(drawn, rapid.IntRange(0, 3).Draw(t, "at"), step(t, "old", one("schedule"),
				among("TZ=Asia/Tokyo */5 * * * *", "CRON_TZ=UTC 0 * * * *")))
		}

		s.Steps = bounded(t, s.CronJob.Schedule, drawn)
		keepJobs(s)
		keepLookUps(s)
		return s
	})
}

// keepJobs makes a script keep the finished jobs if its controllers do not see the CronJob's
// status. Otherwise the job of a run can be gone while the controllers do not see that the run is
// recorded. The real controller, unlike ours, then starts the run again and again.
func keepJobs(s *Script) {
	if !slices.ContainsFunc(s.Steps, func(step Step) bool { return step.String() == "hold cronjobs" }) {
		return
	}
	for _, limit := range [...]*int32{s.CronJob.SuccessfulJobsHistoryLimit, s.CronJob.FailedJobsHistoryLimit} {
		if limit != nil {
			*limit += 10
		}
	}
	for i, step := range s.Steps {
		if step.Op == "successful" || step.Op == "failed" || step.Op == "delete-job" {
			s.Steps[i] = Step{Op: "touch"}
		}
	}
}

// keepLookUps makes look-ups of jobs succeed in a script that holds back the cache of jobs. A
// failed look-up ends the round of the real controller, while the library still starts a run that
// waits for no job.
func keepLookUps(s *Script) {
	if !slices.ContainsFunc(s.Steps, func(step Step) bool { return step.String() == "hold jobs" }) {
		return
	}
	for i, step := range s.Steps {
		if strings.HasPrefix(step.String(), "fault get jobs ") {
			s.Steps[i] = Step{Op: "touch"}
		}
	}
}

// choice is something to draw, with its weight: a step, or several steps that belong together.
type choice struct {
	weight int
	draw   func(*rapid.T) []Step
}

func drawSteps(t *rapid.T, choices []choice, least, most int) []Step {
	var table []func(*rapid.T) []Step
	for _, c := range choices {
		for range c.weight {
			table = append(table, c.draw)
		}
	}
	one := rapid.Custom(func(t *rapid.T) []Step {
		return table[rapid.IntRange(0, len(table)-1).Draw(t, "step")](t)
	})
	return slices.Concat(rapid.SliceOfN(one, least, most).Draw(t, "steps")...)
}

// of returns a choice with one step, whose arguments are drawn one by one.
func of(weight int, op string, args ...func(*rapid.T) string) choice {
	return choice{weight, func(t *rapid.T) []Step { return []Step{step(t, op, args...)} }}
}

// ofEnding returns a choice whose step ends a pod.
func ofEnding(weight int, args ...func(*rapid.T) string) choice {
	return choice{weight, func(t *rapid.T) []Step { return []Step{ending(t, args...)} }}
}

// step draws the arguments of a step. Empty ones are left out.
func step(t *rapid.T, op string, args ...func(*rapid.T) string) Step {
	s := Step{Op: op}
	for _, arg := range args {
		if a := arg(t); a != "" {
			s.Args = append(s.Args, a)
		}
	}
	return s
}

// ending draws the end of a pod. The arguments draw the pod, the exit code and, if there is a third
// argument, the container.
func ending(t *rapid.T, args ...func(*rapid.T) string) Step {
	drawn := step(t, "", args...).Args
	if drawn[1] == "0" {
		return Step{Op: "succeed", Args: drawn[:1]}
	}
	s := Step{Op: "fail", Args: []string{drawn[0], "code=" + drawn[1]}}
	if len(drawn) > 2 {
		s.Args = append(s.Args, "container="+drawn[2])
	}
	return s
}

// one returns a function that draws nothing and always returns the same argument.
func one(arg string) func(*rapid.T) string { return func(*rapid.T) string { return arg } }

// among returns a function that draws one of the arguments.
func among(args ...string) func(*rapid.T) string {
	return func(t *rapid.T) string { return rapid.SampledFrom(args).Draw(t, "arg") }
}

func pod(t *rapid.T) string {
	if rapid.IntRange(0, 4).Draw(t, "all") == 0 {
		return "all"
	}
	return fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "pod"))
}

var (
	exitCodes = among("0", "0", "0", "1", "1", "2", "42", "137")
	sizes     = among("0", "1", "2", "3", "5")
	delays    = among("500ms", "1s", "1s", "1500ms", "3s", "9s", "10s", "11s", "25s", "2m", "6m", "15m")
	shares    = among("all", "all", "even", "odd")
	answers   = among("conflict", "error", "quota", "gone", "lost")
)

// waiting is drawn often, since nothing happens without time.
func waiting(weight int) choice { return of(weight, "tick", delays) }

// choicesForPods lists the steps about pods.
func choicesForPods() []choice {
	return append(plotsOfPods(),
		of(3, "bind", pod),
		of(8, "run", pod),
		of(4, "ready", pod),
		of(2, "unready", pod),
		of(1, "unknown", pod),
		of(2, "restart", pod, among("times=1", "times=2", "times=5"),
			among("", "", "container=main", "container=side", "container=init")),
		ofEnding(12, pod, exitCodes, among("", "", "", "main", "side", "init")),
		of(3, "mark", pod, among("DisruptionTarget", "ConfigIssue"), among("failed", "failed", "")),
		of(4, "delete", pod, among("", "", "0", "1", "60")),
		of(5, "gone", pod, among("", "", "0", "1", "42")),
		of(1, "strip", pod),
		of(1, "annotate", pod, among("index", "failures", "ignored"), among("0", "1", "7", "-1", "x", "2147483648")),
		of(1, "relabel", pod),
		of(1, "disown", pod),
		of(1, "claim", pod),
		of(1, "lost", pod),
		of(1, "part", pod, among("Running", "Failed", "Failed", "Succeeded"), states, states),
	)
}

func jobSteps(spec *batchv1.JobSpec) []choice {
	steps := append(
		choicesForPods(),
		waiting(25),
		of(2, "suspend", among("on", "on", "off", "off", "off")),
		of(3, "parallelism", sizes),
		of(1, "completions", sizes),
		of(1, "limit", sizes),
		of(1, "ttl", among("none", "0", "5", "100")),
		of(1, "deadline", among("none", "1", "10", "100")),
		of(1, "delete-job", among("Background", "Foreground", "Orphan")),
		of(1, "recreate"),
		of(2, "stray", among("", "tracked", "owned", "foreign", "unlabeled"),
			among("", "tracked", "0", "1", "9", elsewhere), among("", "0", "1")),
		of(1, "touch"),
		of(1, "restart-controllers"),
		of(1, "skew", among("0s", "3s", "-3s", "40s", "-40s", "1h", "-1h")),

		of(2, "fault", among("create"), among("pods"), answers, shares, delays),
		of(1, "fault", among("delete"), among("pods"), answers, shares, delays),
		of(1, "fault", among("patch"), among("pods"), among("conflict", "error", "quota", "lost"), shares, delays),
		of(1, "fault", among("update"), among("jobs/status"), among("conflict", "error", "lost"), among("all"), delays),
		of(1, "fault", among("delete"), among("jobs"), among("conflict", "error"), among("all"), delays),
		of(1, "fault", among("get"), among("jobs"), among("error", "gone"), among("all"), delays),
		of(1, "hold", among("pods", "jobs")),
		of(2, "release", among("pods", "jobs")),
		choice{1, func(t *rapid.T) []Step { return []Step{editsCondition(t)} }},
		of(1, "counter", among("active", "ready", "terminating", "failed", "succeeded", "failedIndexes"), sizes),
	)

	steps = append(steps, plotsOfJobs()...)
	if spec.BackoffLimitPerIndex != nil {
		steps = append(steps, plot(6, replacementLost))
	}
	if isIndexed(spec) {
		steps = append(steps, of(4, "resize", sizes))
	}
	return append(steps, of(1, "closing"))
}

// pace holds schedules and waits that fit each other: jobs that do not end accumulate, and a script
// should not have hundreds of them.
type pace struct{ schedules, waits []string }

var (
	often = pace{
		specgen.Often,
		[]string{"1s", "20s", "1m", "1m", "2m", "5m", "10m", "30m"},
	}
	seldom = pace{
		specgen.Seldom,
		[]string{"1s", "1m", "10m", "1h", "1h", "7h", "24h", "100h"},
	}
)

// finishes draws the end of a job. It does nothing in a script with the controller of jobs.
func finishes(t *rapid.T, manual bool, which ...string) Step {
	args := step(t, "", among(which...), among("complete", "fail")).Args
	if manual {
		return Step{Op: args[1], Args: args[:1]}
	}
	return Step{Op: "complete", Args: args[:1]}
}

func cronSteps(p pace, manual bool) []choice {
	return []choice{
		of(30, "tick", among(p.waits...)),
		choice{10, func(t *rapid.T) []Step { return []Step{finishes(t, manual, "0", "1", "2", "3", "4")} }},
		of(2, "cronsuspend", among("on", "off", "off")),
		of(2, "schedule", among(p.schedules...)),
		of(1, "zone", among("none", "Etc/UTC", "Asia/Tokyo", "America/New_York", "Asia/Kathmandu")),
		of(2, "concurrency", among("Allow", "Forbid", "Replace")),
		of(2, "starting", among("none", "0", "1", "30", "200", "100000")),
		of(1, "successful", among("none", "0", "1", "3")),
		of(1, "failed", among("none", "0", "1", "3")),
		of(1, "deletecron", among("Background", "Foreground", "Orphan")),
		of(2, "squat", among("1", "2", "5", "60"), among("", "owned", "restored", "report", elsewhere)),
		of(1, "cronmanual"),
		of(1, "delete-job", among("Background", "Foreground", "Orphan")),
		of(3, "restart-controllers"),
		of(2, "stop-controllers"),
		of(3, "skew", among("0s", "40s", "1h", "1h")),

		of(1, "fault", among("create"), among("jobs"), answers, among("all"), among("1s", "1m", "10m", "5h")),
		of(1, "fault", among("delete"), among("jobs"), among("conflict", "error"), among("all"),
			among("1s", "1m", "10m", "5h")),
		of(1, "fault", among("update"), among("cronjobs/status"), among("conflict", "error", "lost"), among("all"),
			among("1s")),
		of(2, "fault", among("get"), among("cronjobs"), among("error"), among("all"), among("1s", "1m", "10m")),
		of(1, "fault", among("get"), among("jobs"), among("error"), among("all"), among("1s", "1m", "10m")),
		of(1, "fault", among("update"), among("cronjobs/status"), among("conflict", "error", "lost"), among("all"),
			among("1m", "10m")),
		of(1, "hold", among("jobs")),
		of(2, "release", among("jobs", "cronjobs")),
		plot(2, func(t *rapid.T) []Step { return lateRuns(t, manual) }),
		of(1, "closing"),
	}
}
