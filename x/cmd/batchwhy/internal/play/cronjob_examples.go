package play

// cronJob is the beginning of the manifests of the CronJobs below, up to the spec.
const cronJob = `apiVersion: batch/v1
kind: CronJob
metadata:
  name: report
spec:
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: main
            image: busybox
`

var cronExamples = []Script{
	{
		Title: "CronJob: Forbid",
		Manifest: cronJob + `  schedule: "0 * * * *"
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 1800
`,
		Steps: []string{
			"next",
			"next",
			"tick 10m",
			"complete report-29453820",
			"tick 5m",
			"next",
			"next",
			"complete all",
			"next",
		},
		Notes: []string{
			"A run is due at each full hour. concurrencyPolicy Forbid says that it does not start while the Job of " +
				"another run is active. It may start up to 30 minutes late (startingDeadlineSeconds 1800).",
			"The first run is due: the controller creates its Job.",
			"An hour later the Job is still active, so the run of 02:00 is held back.",
			"Ten minutes pass. The run could still start, until its deadline at 02:30.",
			"The first Job completes, and the run of 02:00 starts immediately, ten minutes late.",
			"Five minutes pass.",
			"The run of 03:00 is due while the one of 02:00 is active: held back again.",
			"It is more than 30 minutes late now: the run is missed, and never starts.",
			"The Job of 02:00 completes. Nothing starts, since no run is due any more.",
			"The run of 04:00 starts in time.",
		},
	},
	{
		Title: "CronJob: catch-up after an outage",
		Manifest: cronJob + `  schedule: "*/30 9-17 * * 1-5"
`,
		Steps: []string{
			"next",
			"complete all",
			"down 2h10m",
			"complete all",
			"down 70h",
			"complete all",
			`edit {"startingDeadlineSeconds": 600}`,
			"next",
			"complete all",
			"down 3h25m",
			"next",
		},
		Notes: []string{
			"A run is due every half hour from 09:00 to 17:30, from Monday to Friday. It is Thursday, 00:00.",
			"The first run starts in time.",
			"Its Job completes.",
			"The controller is down for more than two hours. Four runs come due meanwhile. Back again, the " +
				"controller starts the latest of them; the other three are missed.",
			"The Job completes.",
			"The controller is down again, over the weekend. The latest run was due on Friday at 17:30, and it " +
				"starts now. Kubernetes 1.37 would not have started it, since the gaps between the runs are uneven.",
			"The Job completes.",
			"A user sets startingDeadlineSeconds to 600: from now on a run may start at most ten minutes late.",
			"The first run of Monday starts in time.",
			"The Job completes.",
			"The controller is down once more, until 25 minutes after the latest run was due. That is too late, so " +
				"all runs of that time are missed.",
			"The next run starts in time.",
		},
	},
	{
		Title: "CronJob: Replace",
		Manifest: cronJob + `  schedule: "*/15 * * * *"
  concurrencyPolicy: Replace
`,
		Steps: []string{"next", "next", "complete all", "next", "trigger", "next"},
		Notes: []string{
			"A run is due every 15 minutes. concurrencyPolicy Replace says that it ends the Job of the run before " +
				"if that is still active.",
			"The first run starts.",
			"The Job is still active when the next run is due: it is deleted first, then the new Job is created.",
			"The Job completes in time.",
			"The next run finds nothing to replace.",
			"A user starts a Job by hand. It starts immediately: the policy is only about runs of the schedule.",
			"The next run replaces both, since both are active Jobs of the CronJob.",
		},
	},
	{
		Title: "CronJob: suspend and resume",
		Manifest: cronJob + `  schedule: "*/10 * * * *"
  timeZone: Europe/Berlin
  successfulJobsHistoryLimit: 1
`,
		Steps: []string{
			"next",
			"complete all",
			`edit {"suspend": true}`,
			"tick 2h",
			`edit {"suspend": false}`,
			"complete all",
			"next",
			"fail all",
			`edit {"schedule": "0 6 * * *"}`,
			"next",
		},
		Notes: []string{
			"A run is due every ten minutes, by the clock of Berlin. Of the Jobs that have succeeded, the latest " +
				"one is kept (successfulJobsHistoryLimit 1).",
			"The first run starts.",
			"Its Job completes.",
			"A user suspends the CronJob: nothing starts from now on.",
			"Twelve runs come due in two hours, and none starts.",
			"A user resumes the CronJob, and the latest of the twelve runs starts immediately. To avoid that, set " +
				"startingDeadlineSeconds: a run that is later than that does not start.",
			"The Job completes. The older Job that succeeded is deleted, since only one is kept.",
			"The next run starts.",
			"It fails, and its Job is kept as well: failed Jobs have a limit of their own (failedJobsHistoryLimit).",
			"A user changes the schedule to 06:00 every day.",
			"The next run starts: 06:00 in Berlin is 05:00 UTC.",
		},
	},
}
