package conformance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

// cronDivergences are the rows about CronJobs in which ours differs from Kubernetes by default.
var cronDivergences = []divergence{
	{row: "Nothing can be created any more, as the namespace is being deleted (J34, C14)", about: "a job",
		script: `cronjob {"schedule":"0 * * * *",JOB}; manual; tick 30m; closing; tick 31m`,
		look:   hasReported("NamespaceTerminating"), quirk: cronQuirks(cronjobquirk.SilentMiss),
		theirs: "no NamespaceTerminating",
		ours:   "NamespaceTerminating"},
	{row: "Runs of an irregular schedule were missed (C7, C8, B1)", at: "2000-01-01T08:00:00Z",
		script: `cronjob {"schedule":"*/5 9 * * *",JOB}; manual; stop-controllers; tick 12h; restart-controllers; tick 1m`,
		look:   runs, quirk: cronQuirks(cronjobquirk.Estimate),
		theirs: "",
		ours:   "1 09:55 at 1 20:00"},
	{row: "A run is later than its deadline allows (C9)",
		script: `cronjob {"schedule":"0 * * * *","startingDeadlineSeconds":60,JOB}; manual; stop-controllers; tick 150m; restart-controllers; tick 5m`,
		look:   all(runs, reported("MissSchedule")), quirk: cronQuirks(cronjobquirk.SilentMiss),
		theirs: " | 0 MissSchedule",
		ours:   " | 1 MissSchedule"},
	{row: "A crash between create and status write (C3, C14)", about: "due",
		script: `cronjob {"schedule":"0 * * * *",JOB}; manual; tick 59m59s; fault update cronjobs/status error all 5s; tick 2s; stop-controllers; tick 10m; restart-controllers; tick 1m`,
		look:   all(hasReported("UnexpectedJob"), attempts("create jobs"), cronStatus), quirk: cronQuirks(cronjobquirk.BlindCreate, cronjobquirk.NoNamespace), until: release.V136,
		theirs: "UnexpectedJob | many attempts | active: ",
		ours:   "no UnexpectedJob | 1 attempts | active: 1 01:00; last: 1 01:00"},
	{row: "A crash between create and status write (C3, C14)", about: "1.37, due",
		script: `cronjob {"schedule":"0 * * * *",JOB}; manual; tick 59m59s; fault update cronjobs/status error all 5s; tick 2s; stop-controllers; tick 10m; restart-controllers; tick 1m`,
		look:   all(hasReported("UnexpectedJob"), attempts("create jobs"), cronStatus), quirk: cronQuirks(cronjobquirk.BlindCreate), since: release.V137,
		theirs: "UnexpectedJob | many attempts | active: 1 01:00; last: 1 01:00",
		ours:   "no UnexpectedJob | 1 attempts | active: 1 01:00; last: 1 01:00"},
	{row: "A crash between create and status write (C3, C14)", about: "not due any more",
		script: `cronjob {"schedule":"0 * * * *",JOB}; manual; tick 59m59s; fault update cronjobs/status error all 5s; tick 2s; stop-controllers; tick 61m; restart-controllers; tick 1m`,
		look:   all(hasReported("UnexpectedJob"), cronStatus), quirk: cronQuirks(cronjobquirk.BlindCreate, cronjobquirk.NoNamespace), until: release.V136,
		theirs: "UnexpectedJob | active: 1 02:00; last: 1 02:00",
		ours:   "no UnexpectedJob | active: 1 01:00, 1 02:00; last: 1 02:00"},
	{row: "A crash between create and status write (C3, C14)", about: "1.37, not due any more",
		script: `cronjob {"schedule":"0 * * * *",JOB}; manual; tick 59m59s; fault update cronjobs/status error all 5s; tick 2s; stop-controllers; tick 61m; restart-controllers; tick 1m`,
		look:   all(hasReported("UnexpectedJob"), cronStatus), quirk: cronQuirks(cronjobquirk.BlindCreate), since: release.V137,
		theirs: "UnexpectedJob | active: 1 02:00; last: 1 02:00",
		ours:   "no UnexpectedJob | active: 1 01:00, 1 02:00; last: 1 02:00"},
	{row: "A crash between create and status write (C3, C14)", about: "the next run",
		script: `cronjob {"schedule":"0 * * * *",JOB}; manual; tick 59m59s; fault update cronjobs/status error all 5s; tick 2h`,
		look:   runs, quirk: cronQuirks(cronjobquirk.BlindCreate, cronjobquirk.NoNamespace), until: release.V136,
		theirs: "1 01:00 at 1 01:00, 1 02:00 at 1 02:11:50",
		ours:   "1 01:00 at 1 01:00, 1 02:00 at 1 02:00"},
	{row: "The active list names the job of the due run, `lastScheduleTime` does not (C10)",
		script: `cronjob {"schedule":"0 * * * *","successfulJobsHistoryLimit":0,JOB}; manual; tick 61m; forget; restart-controllers; tick 1m; complete 0; tick 5m`,
		do:     map[string]func(*life){"forget": forget}, look: runs, quirk: cronQuirks(cronjobquirk.BlindCreate, cronjobquirk.EagerHistory),
		theirs: "1 01:00 at 1 01:00, 1 01:00 at 1 01:02",
		ours:   "1 01:00 at 1 01:00"},
	{row: "The name of a run is another's job (C14)",
		script: `cronjob {"schedule":"0 * * * *",JOB}; manual; squat 60; tick 170m`,
		look:   all(runs, hasReported("NameTaken")), quirk: cronQuirks(cronjobquirk.BlindCreate, cronjobquirk.NoNamespace), until: release.V136,
		theirs: "1 02:00 at 1 02:11:50 | no NameTaken",
		ours:   "1 02:00 at 1 02:00 | NameTaken"},
	{row: "The name of a run is another's job (C14)", about: "1.37",
		script: `cronjob {"schedule":"0 * * * *",JOB}; manual; squat 60; tick 170m`,
		look:   all(runs, hasReported("NameTaken")), quirk: cronQuirks(cronjobquirk.BlindCreate), since: release.V137,
		theirs: " | no NameTaken",
		ours:   "1 02:00 at 1 02:00 | NameTaken"},
	{row: "The controller of a job has the CronJob's name, and is of another kind or UID (C1)", about: "its failure",
		script: `cronjob {"schedule":"0 * * * *","failedJobsHistoryLimit":0,JOB}; manual; squat 5 report; tick 61m; fail 0; tick 61m`,
		look:   all(hasReported("UnexpectedJob"), wrote("delete jobs")), quirk: cronQuirks(cronjobquirk.ByName), until: release.V136,
		theirs: "UnexpectedJob | 2h0m0.1s c-15778085 Background; 2h0m0.1s c-15778085 Background -> NotFound",
		ours:   "no UnexpectedJob | "},
	{row: "The controller of a job has the CronJob's name, and is of another kind or UID (C1)", about: "its success",
		script: `cronjob {"schedule":"0 * * * *",JOB}; manual; squat 5 report; tick 10m; complete 0; tick 61m`,
		look:   cronStatus, quirk: cronQuirks(cronjobquirk.ByName), until: release.V136,
		theirs: "active: 1 01:00; last: 1 01:00; succeeded: 1 00:10",
		ours:   "active: 1 01:00; last: 1 01:00"},
	{row: "A job of another namespace names the CronJob and its UID as its controller (C1)",
		script: `cronjob {"schedule":"0 * * * *","successfulJobsHistoryLimit":0,JOB}; manual; squat 5 elsewhere; tick 10m; complete 0; tick 61m`,
		look:   all(wrote("delete jobs"), cronStatus), since: release.V137,
		theirs: "1h0m0.1s c-15778085 Background; 1h0m0.1s c-15778085 Background; 1h0m0.1s c-15778085 Background | active: 1 01:00; last: 1 01:00; succeeded: 1 00:10",
		ours:   " | active: 1 01:00; last: 1 01:00"},
	{row: "A finished job beyond the history limit is not recorded yet (C2)", about: "a run",
		script: `cronjob {"schedule":"0 * * * *","successfulJobsHistoryLimit":0,JOB}; manual; tick 59m59s; fault update cronjobs/status error all 2s; tick 1200ms; complete 0; tick 1m`,
		look:   runs, quirk: cronQuirks(cronjobquirk.EagerHistory),
		theirs: "1 01:00 at 1 01:00, 1 01:00 at 1 01:00",
		ours:   "1 01:00 at 1 01:00"},
	{row: "A finished job beyond the history limit is not recorded yet (C2)", about: "a success",
		script: `cronjob {"schedule":"0 * * * *","successfulJobsHistoryLimit":0,JOB}; manual; tick 61m; fault update cronjobs/status error all 2s; complete 0; tick 1m`,
		look:   cronStatus, quirk: cronQuirks(cronjobquirk.EagerHistory),
		theirs: "active: ; last: 1 01:00",
		ours:   "active: ; last: 1 01:00; succeeded: 1 01:01"},
	{row: "A finished job beyond the history limit is not recorded yet (C2)", about: "the active list",
		script: `cronjob {"schedule":"0 * * * *","failedJobsHistoryLimit":0,JOB}; manual; tick 61m; fault update cronjobs/status error all 2s; fail 0; tick 1m`,
		look:   all(runs, hasReported("MissingJob")), quirk: cronQuirks(cronjobquirk.EagerHistory),
		theirs: "1 01:00 at 1 01:00 | MissingJob",
		ours:   "1 01:00 at 1 01:00 | no MissingJob"},
	{row: "The cache shows a finished job, and a new one has its name (C2)",
		script: `cronjob {"schedule":"0 * * * *",JOB}; manual; tick 59m59s; fault update cronjobs/status error all 3s; tick 1200ms; complete 0; tick 100ms; hold jobs; successful 0; tick 1m`,
		look:   deletions,
		theirs: "5 jobs deleted",
		ours:   "1 jobs deleted"},
	{row: "A run replaces a job found after a crash, or one of a pending trigger (C12)",
		script: `cronjob {"schedule":"0 * * * *","concurrencyPolicy":"Replace",JOB}; manual; tick 59m59s; fault update cronjobs/status error all 5s; tick 2s; stop-controllers; tick 61m; restart-controllers; tick 1m`,
		look:   all(wrote("delete jobs"), cronStatus), quirk: cronQuirks(cronjobquirk.BlindCreate),
		theirs: " | active: 1 02:00; last: 1 02:00",
		ours:   "2h1m1s c-15778140 Background | active: 1 02:00; last: 1 02:00"},
	{row: "An active job is gone, and a run is due under Forbid (C5, C11)",
		script: `cronjob {"schedule":"0 * * * *","concurrencyPolicy":"Forbid",JOB}; manual; tick 125m; delete-job Background; tick 1m`,
		look:   timesOf("update cronjobs/status"),
		theirs: "1h0m0.1s 2h5m0s",
		ours:   "1h0m0.1s 2h5m0s 2h5m0s"},
	{row: "An active job is gone, and a run is due under Forbid (C5, C11)", about: "the status cannot be written",
		script: `cronjob {"schedule":"0 * * * *","concurrencyPolicy":"Forbid",JOB}; manual; tick 125m; fault update cronjobs/status conflict all 3m; delete-job Background; tick 10m`,
		look:   runs,
		theirs: "1 01:00 at 1 01:00, 1 02:00 at 1 02:05",
		ours:   "1 01:00 at 1 01:00, 1 02:00 at 1 02:10:27"},
	{row: "The job that Replace is to delete cannot be looked up (C12)",
		script: `cronjob {"schedule":"0 * * * *","concurrencyPolicy":"Replace",JOB}; manual; tick 119m; fault get jobs error all 5m; tick 10m`,
		look:   runs,
		theirs: "1 01:00 at 1 01:00, 1 02:00 at 1 02:05:27",
		ours:   "1 01:00 at 1 01:00, 1 02:00 at 1 02:00"},
	{row: "An active job that the cache of jobs does not show cannot be looked up (C5)",
		script: `cronjob {"schedule":"0 * * * *",JOB}; manual; tick 59m; hold jobs; tick 60m; fault get jobs error all 5m; tick 10m`,
		look:   runs,
		theirs: "1 01:00 at 1 01:00, 1 02:00 at 1 02:05:27",
		ours:   "1 01:00 at 1 01:00, 1 02:00 at 1 02:00"},
	{row: "The cache of CronJobs does not show that a run was recorded, and the run's job is gone (CI1, B5)",
		script: `cronjob {"schedule":"0 * * * *","concurrencyPolicy":"Replace",JOB}; manual; tick 59m; hold cronjobs; tick 90s; delete-job Background; tick 1m; delete-job Background; tick 1m`,
		look:   runs,
		theirs: "1 01:00 at 1 01:00, 1 01:00 at 1 01:00:30, 1 01:00 at 1 01:01:30",
		ours:   "1 01:00 at 1 01:00"},
	{row: "The cache of CronJobs does not show that a run was recorded, and the run's job is gone (CI1, B5)", about: "the active list",
		script: `cronjob {"schedule":"0 * * * *",JOB}; manual; tick 59m; hold cronjobs; tick 90s; delete-job Background; tick 1m; release cronjobs; complete 0; tick 1m`,
		look:   all(jobs, cronStatus),
		theirs: "c-15778140 Complete Script | active: 1 01:00; last: 1 01:00; succeeded: 1 01:01:30",
		ours:   " | active: ; last: 1 01:00"},
	{row: "A finished job is being deleted (C2)",
		script: `cronjob {"schedule":"0 * * * *","successfulJobsHistoryLimit":0,JOB}; manual; tick 61m; pin; complete 0; tick 150m`,
		do:     map[string]func(*life){"pin": pin}, look: wrote("delete jobs"), quirk: cronQuirks(cronjobquirk.EagerHistory),
		theirs: "1h1m0s c-15778140 Background; 1h1m0s c-15778140 Background; 1h1m0s c-15778140 Background; 2h0m0.1s c-15778140 Background; 2h0m0.1s c-15778140 Background; 2h0m0.1s c-15778140 Background; 3h0m0.1s c-15778140 Background; 3h0m0.1s c-15778140 Background; 3h0m0.1s c-15778140 Background",
		ours:   "1h1m0s c-15778140 Background; 1h1m0s c-15778140 Background"}, // repeated before its cache shows it
	{row: "A schedule runs rarely, such as 29 February over 2100 (C7)", at: "2096-02-28T23:00:00Z",
		script: `cronjob {"schedule":"0 0 29 2 *",JOB}; manual; tick 2h`,
		look:   all(runs, reported("InvalidSchedule")), quirk: asKubernetes,
		theirs: " | 1 InvalidSchedule",
		ours:   "29 00:00 at 29 00:00 | 0 InvalidSchedule"},
	{row: "`@every d` after missed runs (S1)",
		script: `cronjob {"schedule":"@every 1h","startingDeadlineSeconds":5400,JOB}; manual; stop-controllers; tick 5h20m; restart-controllers; tick 1m`,
		look:   runs, quirk: asKubernetes,
		theirs: "1 04:50 at 1 05:20",
		ours:   "1 05:00 at 1 05:20"},
	{
		// The zone of the creation time must not matter here: the server in memory reports the time
		// in UTC, while a client of a real server reads it in the zone of the machine. So the
		// script has a deadline, and the deadline determines what is due.
		row:    "No timeZone is given (S5)",
		script: `cronjob {"schedule":"30 0 * * *","startingDeadlineSeconds":200,JOB}; manual; stop-controllers; tick 19h; restart-controllers; tick 1m`,
		local:  machineZone, look: runs, quirk: schedules(schedule.WithLocation(machineZone)),
		theirs: "1 19:00 at 1 19:00",
		ours:   ""},
	{row: "The snapshot lacks the controller's own last writes, and a run is due under Forbid or Replace (CI15)",
		why: "runs are a minute apart at least, and the caches of the test server are late by milliseconds"},
	{row: "Replace has deleted a job, and its cache or a finalizer still shows it (C3)",
		script: `cronjob {"schedule":"0 * * * *","concurrencyPolicy":"Replace",JOB}; manual; tick 61m; pin; tick 58m; fault create jobs error all 5m; tick 10m`,
		do:     map[string]func(*life){"pin": pin}, look: all(runs, hasReported("UnexpectedJob")), quirk: cronQuirks(cronjobquirk.Stale),
		theirs: "1 01:00 at 1 01:00, 1 02:00 at 1 02:05:27 | UnexpectedJob",
		ours:   "1 01:00 at 1 01:00, 1 02:00 at 1 02:05:27 | no UnexpectedJob"},
	{row: "The namespace is being deleted (C14)",
		script: `cronjob {"schedule":"0 * * * *",JOB}; manual; tick 30m; closing; tick 31m`,
		look:   attempts("create jobs"), quirk: cronQuirks(cronjobquirk.BlindCreate),
		theirs: "many attempts",
		ours:   "1 attempts"},
	{row: "`@every d` after missed runs (S1)", about: "the next run",
		script: `cronjob {"schedule":"@every 1h","startingDeadlineSeconds":5400,JOB}; manual; stop-controllers; tick 5h20m; restart-controllers; tick 45m`,
		look:   runs, quirk: asKubernetes,
		theirs: "1 04:50 at 1 05:20, 1 05:50 at 1 05:50",
		ours:   "1 05:00 at 1 05:20, 1 06:00 at 1 06:00"},
	{row: "A deadline of more than 292 years (C7)",
		script: `cronjob {"schedule":"0 * * * *","startingDeadlineSeconds":10000000000,JOB}; manual; tick 61m`,
		look:   all(runs, cronStatus),
		theirs: " | active: ",
		ours:   "1 01:00 at 1 01:00 | active: 1 01:00; last: 1 01:00"},
	{row: "timeZone `Local` reaches the controller (C6)", show: showLocal},
}

// machineZone is the zone of the machine in the tests of zones.
var machineZone = time.FixedZone("machine", 5*60*60+30*60)

// forget restores the status from before the last run was recorded.
func forget(l *life) {
	err := server.ChangeStatus(l.Server, script.Namespace, "c", func(c *batchv1.CronJob) { c.Status.LastScheduleTime = nil })
	if err != nil {
		panic(err)
	}
}

// deletions counts the jobs that were deleted.
func deletions(l *life) string {
	n := 0
	for _, w := range l.writes {
		if w.Answer == "" && strings.HasPrefix(w.String(), "delete jobs ") {
			n++
		}
	}
	return fmt.Sprintf("%d jobs deleted", n)
}

// pin puts a finalizer on the first job, so that its deletion does not end.
func pin(l *life) {
	j := server.List[*batchv1.Job](l.Server)[0]
	err := server.Change(l.Server, j.Namespace, j.Name, func(j *batchv1.Job) { j.Finalizers = append(j.Finalizers, "example.com/pin") })
	if err != nil {
		panic(err)
	}
}

// showLocal shows that a server refuses the zone Local, and what happens if another server has
// accepted it.
func showLocal(t *testing.T) {
	local := "Local"
	err := server.New().Create(cronJobOf(&batchv1.CronJobSpec{Schedule: "0 0 * * *", TimeZone: &local}))
	if err == nil || !strings.Contains(err.Error(), "spec.timeZone") {
		t.Errorf("the server: %v", err)
	}
	if _, err := time.LoadLocation(local); err != nil { // all that the real controller checks
		t.Errorf("the real controller: %v", err)
	}
	compiled := cronjob.Compile(&cronjob.CronJob{Spec: cronjob.Spec{Schedule: "0 0 * * *", TimeZone: &local}})
	if compiled.Problem != cronjobreason.ProblemUnknownTimeZone {
		t.Errorf("ours: %v", compiled.Problem)
	}
}

func cronJobOf(spec *batchv1.CronJobSpec) *batchv1.CronJob {
	s, err := script.ParseLine(`cronjob {"schedule":"0 0 * * *",JOB}`)
	if err != nil {
		panic(err)
	}
	c := &batchv1.CronJob{Spec: *s.CronJob}
	c.Name, c.Namespace = "c", script.Namespace
	c.Spec.Schedule, c.Spec.TimeZone = spec.Schedule, spec.TimeZone
	return c
}

// asKubernetes has the schedules of the preset, and searches for due runs as Kubernetes does.
// Without that search, ours computes exactly which runs are due.
var asKubernetes = &ours.Options{CronJob: cronjob.Options{Quirks: cronjobquirk.SetOf(cronjobquirk.Estimate)}, Schedule: []schedule.Option{schedule.Kubernetes(release.Newest())}}

// scheduleDivergences holds the rows about schedules. Virtual time passes slowly while controllers
// run, since their work queues tick twice a second. So the controllers are stopped until shortly
// before the run.
var scheduleDivergences = []divergence{
	{row: "D5: a day without midnight, `0 9 * * 6` in America/Santiago", at: "2026-09-05T14:00:00Z",
		script: `cronjob {"schedule":"0 9 * * 6","timeZone":"America/Santiago",JOB}; manual; stop-controllers; tick 21h55m; restart-controllers; tick 10m`,
		look:   runs, quirk: asKubernetes,
		theirs: "6 12:00 at 6 12:00",
		ours:   ""},
	{row: "D6: the same, `0 12 * * 5` in Africa/Cairo", at: "2026-04-23T12:00:00Z",
		script: `cronjob {"schedule":"0 12 * * 5","timeZone":"Africa/Cairo",JOB}; manual; stop-controllers; tick 20h55m; restart-controllers; tick 10m`,
		look:   runs, quirk: asKubernetes,
		theirs: "",
		ours:   "24 09:00 at 24 09:00"},
	{row: "D8, D10: shifts of 30 and 45 minutes, Lord Howe and Chatham", about: "Lord Howe", at: "2026-10-03T01:30:00Z",
		script: `cronjob {"schedule":"0 3 * * *","timeZone":"Australia/Lord_Howe",JOB}; manual; stop-controllers; tick 14h25m; restart-controllers; tick 10m`,
		look:   runs, quirk: asKubernetes,
		theirs: "",
		ours:   "3 16:00 at 3 16:00"},
	{row: "D8, D10: shifts of 30 and 45 minutes, Lord Howe and Chatham", about: "Chatham", at: "2026-09-25T14:00:00Z",
		script: `cronjob {"schedule":"45 2 * * *","timeZone":"Pacific/Chatham",JOB}; manual; stop-controllers; tick 23h55m; restart-controllers; tick 10m`,
		look:   runs, quirk: asKubernetes,
		theirs: "26 14:00 at 26 14:00",
		ours:   ""},
	{row: "D9: a month that begins in a gap, America/Asuncion", at: "2023-09-30T04:00:00Z",
		script: `cronjob {"schedule":"0 12 1 10 *","timeZone":"America/Asuncion",JOB}; manual; stop-controllers; tick 34h55m; restart-controllers; tick 10m`,
		look:   runs, quirk: asKubernetes,
		theirs: "",
		ours:   "1 15:00 at 1 15:00"},
	{row: "D11: a day that does not exist, Pacific/Apia 2011", why: "the search of the real controller does not end, and nothing can stop it"},
	{row: "Y2: more than five years without a run", show: showNext("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", "0001-01-01T00:00:00Z", "2104-02-29T00:00:00Z")},
	{row: "Offsets with odd seconds (Paramaribo 1944)",
		show: showNext("*/5 * * * *", "America/Paramaribo", "1944-05-01T00:00:00Z", "1944-05-01T00:05:36Z", "1944-05-01T00:00:36Z")},
	{row: "`@every`", show: showNext("@every 1h", "UTC", "2000-01-01T00:20:00Z", "2000-01-01T01:20:00Z", "2000-01-01T01:00:00Z")},
	{row: "The zone `Local` by name", show: showLocalSchedule},
}

// showNext asks both sides' schedules for the run after a time.
func showNext(spec, zone, after, theirs, ours string) func(*testing.T) {
	return func(t *testing.T) {
		from, err := time.Parse(time.RFC3339, after)
		must.OK(t, err)
		real, err := parseSchedule("TZ=" + zone + " " + spec)
		must.OK(t, err)
		if next := real.Next(from).UTC().Format(time.RFC3339); next != theirs {
			t.Errorf("theirs: %s, want %s", next, theirs)
		}
		if next := nextOf(t, from, spec, zone); next != ours {
			t.Errorf("ours: %s, want %s", next, ours)
		}
		if next := nextOf(t, from, spec, zone, schedule.Kubernetes(release.Newest())); next != theirs {
			t.Errorf("ours with the preset: %s, want %s", next, theirs)
		}
	}
}

func nextOf(t *testing.T, from time.Time, spec, zone string, o ...schedule.Option) string {
	s, err := schedule.Parse(spec, append(o, schedule.WithTimeZone(zone))...)
	must.OK(t, err)
	return s.Next(from).UTC().Format(time.RFC3339)
}

func showLocalSchedule(t *testing.T) {
	if _, err := parseSchedule("TZ=Local 0 0 * * *"); err != nil {
		t.Errorf("theirs: %v", err)
	}
	if _, err := schedule.Parse("0 0 * * *", schedule.WithTimeZone("Local")); err == nil {
		t.Error("ours takes it")
	}
	if _, err := schedule.Parse("0 0 * * *", schedule.WithLocation(time.Local)); err != nil {
		t.Errorf("ours with the option: %v", err)
	}
}
