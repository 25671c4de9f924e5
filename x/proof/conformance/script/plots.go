package script

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// A plot is a few steps that belong together. Steps that are drawn one by one rarely
// affect the same pod within a second, which many bugs require.

func plot(weight int, draw func(*rapid.T) []Step) choice { return choice{weight, draw} }

var (
	moments  = among("500ms", "1s", "1500ms", "2s", "3s")
	whiles   = among("11s", "25s", "2m")
	states   = among("waiting", "running", "exit:0", "exit:1", "untimed:1", "none")
	jobTypes = among("Suspended", "Suspended", "Suspended", "FailureTarget", "SuccessCriteriaMet", "Custom")
)

// plotsOfPods are plots for every script with pods.
func plotsOfPods() []choice {
	return []choice{plot(3, partialEnd), plot(2, together), plot(1, restarts)}
}

// plotsOfJobs are plots for scripts about a job.
func plotsOfJobs() []choice {
	return []choice{
		plot(3, lateCaches),
		plot(2, shrinkAndSucceed),
		plot(2, editedCondition),
		plot(2, replacementLost),
		plot(1, failedWrite),
	}
}

// partialEnd fails an older pod with an incomplete report: the states of its containers differ, and
// it may have been unready for a while.
func partialEnd(t *rapid.T) []Step {
	k := one(pod(t))
	steps := []Step{step(t, "run", k), step(t, "tick", whiles)}
	if ready := among("", "ready", "unready", "lost", "lost")(t); ready != "" {
		steps = append(steps, step(t, ready, k), step(t, "tick", moments))
	}
	if rapid.Bool().Draw(t, "evicted") {
		steps = append(steps, step(t, "mark", k, among("DisruptionTarget", "ConfigIssue"), one("failed")))
	} else {
		steps = append(steps,
			step(t, "part", k, among("Running", "Running", "Failed"), states, states),
			step(t, "tick", moments),
			step(t, "part", k, among("Failed", "Failed", "Failed", "Succeeded"), states, states))
	}
	return append(steps, step(t, "tick", moments), step(t, "tick", delays))
}

// together makes several things happen to pods at the same moment.
func together(t *rapid.T) []Step {
	var steps []Step
	for range rapid.IntRange(2, 4).Draw(t, "things") {
		steps = append(steps, thing(t, one(pod(t))))
	}
	return append(steps, step(t, "tick", moments))
}

// restarts lets the containers of running pods restart more often than a job allows.
func restarts(t *rapid.T) []Step {
	k := one(pod(t))
	return []Step{
		step(t, "run", k),
		step(t, "restart", k, among("times=2", "times=5", "times=5")),
		step(t, "tick", moments),
		step(t, "tick", moments),
	}
}

// thing draws an event that makes a round count or replace a pod.
func thing(t *rapid.T, k func(*rapid.T) string) Step {
	switch rapid.IntRange(0, 5).Draw(t, "thing") {
	case 0:
		return step(t, "delete", k, among("", "1", "60"))
	case 1:
		return step(t, "mark", k, among("DisruptionTarget", "ConfigIssue"), one("failed"))
	case 2:
		return step(t, "gone", k, among("", "0", "1"))
	}
	return ending(t, k, exitCodes)
}

// lateCaches lets a round act on a pod. In the next rounds the caches do not show the result yet.
func lateCaches(t *rapid.T) []Step {
	steps := []Step{thing(t, one(pod(t)))}
	if rapid.IntRange(0, 2).Draw(t, "fails") == 0 {
		steps = append(steps, step(t, "fault", one("update"), one("jobs/status"), among("error", "lost", "conflict"),
			one("all"), moments))
	}
	if rapid.Bool().Draw(t, "seen") {
		steps = append(steps, step(t, "tick", one("500ms"))) // the caches show the event, and the round has not begun
	}
	held := among("pods jobs", "pods jobs", "pods", "jobs")(t)
	for _, resource := range []string{"pods", "jobs"} {
		if strings.Contains(held, resource) {
			steps = append(steps, Step{Op: "hold", Args: []string{resource}})
		}
	}
	steps = append(steps, step(t, "tick", moments), step(t, "tick", delays), step(t, "release", among("pods", "jobs")),
		step(t, "tick", moments))
	return append(steps, Step{Op: "release", Args: []string{"pods"}}, Step{Op: "release", Args: []string{"jobs"}},
		step(t, "tick", moments))
}

// goingInFlight deletes pods, which may count as failed while they terminate. The caches are held
// back and do not show that finalizers are gone. Some finalizers stay, so there is another round.
func goingInFlight(t *rapid.T) []Step {
	return []Step{
		step(t, "run", one("all")),
		step(t, "tick", moments),
		step(t, "delete", among("all", "all", "0", "1"), among("", "30", "60")),
		step(t, "tick", one("500ms")),
		step(t, "hold", one("pods")),
		step(t, "hold", one("jobs")),
		step(t, "fault", one("patch"), one("pods"), one("error"), among("even", "odd"), moments),
		step(t, "tick", among("3s", "5s")),
		step(t, "release", one("jobs")),
		step(t, "release", one("pods")),
		step(t, "tick", delays),
	}
}

// shrinkAndSucceed resizes a job at the moment when some of its pods succeed.
func shrinkAndSucceed(t *rapid.T) []Step {
	var steps []Step
	for range rapid.IntRange(1, 3).Draw(t, "successes") {
		steps = append(steps, ending(t, one(pod(t)), among("0", "0", "1")))
	}
	if rapid.Bool().Draw(t, "counted") {
		steps = append(steps, step(t, "tick", moments), ending(t, one(pod(t)), one("0")))
	}
	return append(steps, step(t, "resize", sizes), step(t, "tick", moments), step(t, "tick", delays))
}

// editedCondition makes another writer edit a condition, mostly one that suspending or resuming has
// just set.
func editedCondition(t *rapid.T) []Step {
	var steps []Step
	if rapid.Bool().Draw(t, "suspended") {
		steps = append(steps, step(t, "suspend", one("on")), step(t, "tick", moments))
	}
	if rapid.Bool().Draw(t, "resumed") {
		steps = append(steps, step(t, "suspend", one("off")), step(t, "tick", moments))
	}
	return append(steps, editsCondition(t), step(t, "tick", moments))
}

// editsCondition edits a condition. A condition that ends the job is only set to True: if it were
// False, the real controller would add a second condition of the same type.
func editsCondition(t *rapid.T) Step {
	kind := jobTypes(t)
	statuses := among("", "True", "False")
	if kind == "FailureTarget" || kind == "SuccessCriteriaMet" {
		statuses = one("True")
	}
	return step(t, "condition", one(kind), statuses, among("Edited", "JobSuspended", "JobResumed"), among("", "edited"))
}

// replacementLost fails a pod whose finalizer cannot be removed, and removes its
// replacement.
func replacementLost(t *rapid.T) []Step {
	steps := []Step{
		step(t, "fault", one("patch"), one("pods"), among("error", "conflict"), among("even", "odd"), one("2m")),
		ending(t, one(pod(t)), one("1")), step(t, "tick", whiles),
	}
	switch rapid.IntRange(0, 2).Draw(t, "loss") {
	case 0:
		steps = append(steps, step(t, "suspend", one("on")))
	case 1:
		steps = append(steps, step(t, "parallelism", one("0")))
	case 2:
		k := one(pod(t))
		steps = append(steps, step(t, "strip", k), step(t, "delete", k, one("0")))
	}
	return append(steps, step(t, "tick", moments), step(t, "gone", one("all")), step(t, "tick", one("2m")),
		step(t, "tick", whiles))
}

// failedWrite makes a kind of write fail just when it is needed.
func failedWrite(t *rapid.T) []Step {
	kind := rapid.SampledFrom([][2]string{
		{"create", "pods"}, {"delete", "pods"}, {"patch", "pods"},
		{"update", "jobs/status"}, {"delete", "jobs"}, {"get", "jobs"},
	}).Draw(t, "kind")
	steps := []Step{step(t, "fault", one(kind[0]), one(kind[1]), failures(kind[0]), shares, delays)}
	for range rapid.IntRange(1, 2).Draw(t, "things") {
		steps = append(steps, thing(t, one(pod(t))))
	}
	return append(steps, step(t, "tick", moments), step(t, "tick", delays))
}

// failures draws one of the answers that make sense for a verb.
func failures(verb string) func(*rapid.T) string {
	switch verb {
	case "create", "delete":
		return answers
	case "get":
		return among("error", "gone")
	case "patch":
		return among("conflict", "error", "quota", "lost", "gone")
	}
	return among("conflict", "error", "lost")
}

// Big draws scripts about a job with hundreds of pods or indexes: more than a round
// creates, deletes or accounts for.
func Big() *rapid.Generator[*Script] {
	return rapid.Custom(func(t *rapid.T) *Script {
		g := valid(t)
		g.Indexed = rapid.Bool().Draw(t, "indexes")
		s := &Script{Job: drawJob(g)}
		spec, indexed := s.Job, isIndexed(s.Job)
		spec.ManagedBy = nil
		spec.ActiveDeadlineSeconds, spec.TTLSecondsAfterFinished = nil, nil
		spec.SuccessPolicy, spec.MaxFailedIndexes = nil, nil
		// Without indexes, the order of more than 500 pods is random.
		parallelism, most := among("100", "450"), "450"
		if indexed {
			parallelism, most = among("100", "600", "1200"), "1200"
		}
		spec.Parallelism = int32Of(parallelism(t))
		spec.Completions = int32Of(among("600", "900", "1500")(t))
		if indexed && rapid.Bool().Draw(t, "limits") {
			limitIndexes(spec, among("1", "3")(t))
		}
		if spec.BackoffLimitPerIndex == nil {
			spec.BackoffLimit = int32Of(among("0", "600", "2000")(t))
		}
		// A round creates 500 pods, and the next rounds create the rest.
		steps := bigSteps(parallelism, most)
		if indexed {
			// Without indexes, pods whose finalizer stays would accumulate, and their order would
			// also be random.
			steps = append(steps,
				of(1, "fault", one("patch"), one("pods"), among("error", "conflict"), shares, moments))
		}
		s.Steps = append([]Step{{Op: "tick", Args: []string{"3s"}}}, drawSteps(t, steps, 2, 5)...)
		return s
	})
}

// some draws a range of pods.
func some(t *rapid.T) string {
	from := rapid.SampledFrom([]int{0, 0, 0, 50, 300}).Draw(t, "from")
	return fmt.Sprintf("%d-%d", from, from+rapid.SampledFrom([]int{50, 100, 600, 1200}).Draw(t, "count")-1)
}

func bigSteps(many func(*rapid.T) string, most string) []choice {
	return []choice{
		plot(4, func(t *rapid.T) []Step {
			return []Step{
				ending(t, some, among("0", "0", "1")),
				step(t, "tick", moments),
				step(t, "tick", whiles),
			}
		}),
		plot(4, func(t *rapid.T) []Step {
			return []Step{
				ending(t, some, among("1", "1", "0")),
				step(t, "tick", moments),
				step(t, "parallelism", many),
				step(t, "tick", moments),
				step(t, "tick", whiles),
			}
		}),
		// The lowest indexes wait for their backoff. Then the job needs more pods than a round
		// creates.
		plot(3, func(t *rapid.T) []Step {
			return []Step{
				step(t, "parallelism", one("100")),
				step(t, "tick", moments),
				ending(t, one("0-99"), among("1", "1", "0")),
				step(t, "tick", moments),
				step(t, "parallelism", one(most)),
				step(t, "tick", moments),
				step(t, "tick", whiles),
			}
		}),

		plot(1, func(t *rapid.T) []Step {
			return []Step{
				step(t, "suspend", one("on")),
				step(t, "tick", moments),
				step(t, "gone", one("all")),
				step(t, "suspend", one("off")),
				step(t, "tick", moments),
			}
		}),

		plot(1, func(t *rapid.T) []Step {
			return []Step{
				step(t, "delete", some, among("", "0")),
				step(t, "tick", moments),
				step(t, "gone", some, among("", "1")),
				step(t, "tick", moments),
			}
		}),

		plot(1, func(t *rapid.T) []Step {
			return []Step{
				ending(t, some, among("0", "1")),
				step(t, "resize", many),
				step(t, "tick", moments),
				step(t, "tick", whiles),
			}
		}),

		of(2, "tick", whiles),
		of(1, "fault", among("create", "delete"), one("pods"), among("error", "conflict"), shares, moments),
	}
}

// lateRuns holds back the caches of the CronJob and of its jobs over some runs. It holds back the
// cache of the CronJob for a moment only: each conflict delays the next try, by a random time.
func lateRuns(t *rapid.T, manual bool) []Step {
	var steps []Step
	held := strings.Fields(among("jobs cronjobs", "cronjobs", "jobs")(t))
	for _, resource := range held {
		steps = append(steps, Step{Op: "hold", Args: []string{resource}})
	}
	waits, most := among("20s", "1m", "1m", "5m"), 3
	if slices.Contains(held, "cronjobs") {
		waits, most = among("20s", "1m"), 1
	}
	for range rapid.IntRange(1, most).Draw(t, "runs") {
		steps = append(steps, step(t, "tick", waits))
		if rapid.Bool().Draw(t, "ends") {
			steps = append(steps, finishes(t, manual, "0", "1"))
		}
	}
	for _, resource := range []string{among("jobs", "cronjobs")(t), "cronjobs", "jobs"} {
		steps = append(steps, Step{Op: "release", Args: []string{resource}})
	}
	return append(steps, step(t, "tick", among("1s", "1m")))
}
