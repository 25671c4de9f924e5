package play

// cronJob is the manifest of the CronJobs below, with its spec still to come.
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

// cronExamples are lives of CronJobs.
var cronExamples = []Script{
	{
		Title: "CronJob: Forbid",
		Manifest: cronJob + `  schedule: "0 * * * *"
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 1800
`,
		Steps: []string{"next", "next", "tick 10m", "complete report-29453820", "tick 5m", "next", "next", "complete all", "next"},
		Notes: []string{
			"A run is due at each full hour. Under Forbid it does not start while another is active, and it may start up to 30 minutes late.",
			"The first run is due: the controller creates its Job.",
			"The Job is still active an hour later, so the next run is held back.",
			"Ten minutes pass. The run could still start, until its deadline at 02:30.",
			"The first Job completes, and the run of 02:00 starts immediately, ten minutes late.",
			"Five minutes pass.",
			"The run of 03:00 is due while the one of 02:00 is active: held back again.",
			"Its deadline has passed. The run is missed, and never starts.",
			"The Job of 02:00 completes. Nothing starts, since no run is due any more.",
			"The run of 04:00 starts in time.",
		},
	},
	{
		Title: "CronJob: catch-up after an outage",
		Manifest: cronJob + `  schedule: "*/30 9-17 * * 1-5"
`,
		Steps: []string{"next", "complete all", "down 2h10m", "complete all", "down 70h", "complete all", `edit {"startingDeadlineSeconds": 600}`, "next", "complete all", "down 3h25m", "next"},
		Notes: []string{
			"A run is due every half hour from nine to half past five, from Monday to Friday. It is midnight of a Thursday.",
			"The first run starts in time.",
			"Its Job completes.",
			"The controller is down for more than two hours. Back again, it makes up for the latest of the four runs that came due; the other three are missed.",
			"The Job completes.",
			"The next outage lasts over the weekend. The latest run was due on Friday at 17:30, and it starts now, however uneven the gaps between the runs are. Kubernetes 1.36 would not have started it.",
			"The Job completes.",
			"From now on a run may start at most ten minutes late.",
			"The first run of Monday starts in time.",
			"The Job completes.",
			"Another outage ends 25 minutes after the latest run was due. Its deadline has passed, so all of its runs are missed.",
			"The next run starts in time.",
		},
	},
	{
		Title: "CronJob: Replace",
		Manifest: cronJob + `  schedule: "*/15 * * * *"
  concurrencyPolicy: Replace
`,
		Steps: []string{"next", "next", "complete all", "next", "start", "next"},
		Notes: []string{
			"A run is due every 15 minutes, and replaces the one before if that is still active.",
			"The first run starts.",
			"The Job is still active when the next run is due: it is deleted first, then the new Job is created.",
			"The Job completes in time.",
			"The next run finds nothing to replace.",
			"A user asks for a Job beside the schedule. It starts immediately: the policy is about runs of the schedule.",
			"The next run replaces both, since both are active Jobs of the CronJob.",
		},
	},
	{
		Title: "CronJob: suspend and resume",
		Manifest: cronJob + `  schedule: "*/10 * * * *"
  timeZone: Europe/Berlin
  successfulJobsHistoryLimit: 1
`,
		Steps: []string{"next", "complete all", `edit {"suspend": true}`, "tick 2h", `edit {"suspend": false}`, "complete all", "next", "fail all", `edit {"schedule": "0 6 * * *"}`, "next"},
		Notes: []string{
			"A run is due every ten minutes, in the zone of Berlin. One Job that has succeeded is kept.",
			"The first run starts.",
			"Its Job completes.",
			"The CronJob is suspended: nothing starts from now on.",
			"Twelve runs come due in two hours, and none starts.",
			"On resumption the latest of them starts immediately: a suspension is made up for like an outage. Set startingDeadlineSeconds to avoid that.",
			"The Job completes. The older one that succeeded is deleted, since the history keeps one.",
			"The next run starts.",
			"It fails, and is kept beside: failures have a limit of their own.",
			"The schedule changes to six o'clock in the morning.",
			"Six o'clock in Berlin is five o'clock UTC.",
		},
	},
}
