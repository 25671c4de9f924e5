package play

import "slices"

// Examples are lives to look at, one for each feature.
var Examples = slices.Concat(jobExamples, cronExamples)

// jobWith returns the manifest of a Job with these fields in its spec.
func jobWith(fields string) string {
	return `apiVersion: batch/v1
kind: Job
metadata:
  name: j
spec:
` + fields + `  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: busybox
`
}

var jobExamples = []Script{
	{
		Title: "Retries and backoff",
		Manifest: jobWith(`  completions: 2
  parallelism: 2
  backoffLimit: 2
`),
		Steps: []string{
			"run all",
			"tick 20s",
			"fail j-1 code=1",
			"next",
			"run j-3",
			"tick 5s",
			"fail j-3 code=1",
			"next",
			"succeed j-2",
			"succeed all",
		},
		Notes: []string{
			"Two pods must succeed (completions 2), and two may run at a time (parallelism 2): the controller " +
				"creates two.",
			"Both pods start on their nodes.",
			"Twenty seconds pass.",
			"One pod fails: it exits with code 1. The controller waits ten seconds before it creates another one. " +
				"That wait is called the backoff.",
			"The backoff is over, and the controller creates a new pod.",
			"It starts.",
			"Five seconds pass.",
			"It fails as well. After two failures in a row the backoff doubles to 20 seconds. backoffLimit 2 " +
				"allows two failures: with one more the Job fails.",
			"The backoff is over again, and the controller creates the next pod.",
			"j-2, which has run since the beginning, succeeds. After a success the backoff begins at ten seconds " +
				"again.",
			"The last pod succeeds. That makes two, as wanted: the Job is complete.",
		},
	},
	{
		Title: "Indexed: each index once",
		Manifest: jobWith(`  completions: 5
  parallelism: 3
  completionMode: Indexed
`),
		Steps: []string{
			"run all",
			"tick 30s",
			"succeed j-1-2",
			"run all",
			"succeed j-0-1",
			"evict j-2-3",
			"tick 40s",
			`edit {"parallelism": 1}`,
		},
		Notes: []string{
			"The Job has five parts with the numbers 0 to 4, called indexes. Three pods may run at a time, and " +
				"each does one index: the lowest ones come first.",
			"The pods of the indexes 0 to 2 start.",
			"Half a minute passes.",
			"Index 1 succeeds, and the controller creates a pod for index 3, the next one.",
			"It starts.",
			"Index 0 succeeds, and index 4 gets a pod. The status lists the indexes that are done, in " +
				"completedIndexes.",
			"The node of index 2 is emptied for maintenance, so its pod is evicted: it is asked to stop. Index 2 " +
				"gets a new pod immediately, while the old one stops.",
			"The old pod has stopped, within the 30 seconds that a pod has for it (its grace period).",
			"A user lowers parallelism to 1, and the controller deletes the pods that are too many: those that are " +
				"not ready yet go first.",
		},
	},
	{
		Title: "Backoff per index",
		Manifest: jobWith(`  completions: 3
  parallelism: 3
  completionMode: Indexed
  backoffLimitPerIndex: 1
`),
		Steps: []string{
			"run all",
			"fail j-0-1 code=1",
			"next",
			"run all",
			"fail j-0-4 code=1",
			"succeed j-1-2",
			"succeed j-2-3",
		},
		Notes: []string{
			"The Job has three parts, called indexes. Each may fail once and is tried again (backoffLimitPerIndex 1).",
			"All start.",
			"Index 0 fails, and waits ten seconds for its next try. The other indexes run on.",
			"The wait is over, and index 0 gets its second pod. An annotation of the pod counts the failures of " +
				"the index.",
			"It starts.",
			"It fails again. Index 0 has no try left: it has failed for good.",
			"Index 1 succeeds.",
			"Index 2 succeeds as well. All indexes have ended and one has failed, so the Job fails, with the " +
				"reason FailedIndexes, and names index 0.",
		},
	},
	{
		Title: "Failure policy",
		Manifest: jobWith(`  completions: 4
  parallelism: 2
  backoffLimit: 0
  podFailurePolicy:
    rules:
    - action: FailJob
      onExitCodes:
        containerName: main
        operator: In
        values: [42]
    - action: Ignore
      onPodConditions:
      - type: DisruptionTarget
`),
		Steps: []string{"run all", "evict j-1", "next", "next", "run all", "fail j-2 code=42", "next"},
		Notes: []string{
			"backoffLimit 0 allows no failure. The podFailurePolicy has exceptions, tried in order: rule 0 fails " +
				"the Job on exit code 42; rule 1 does not count pods that the cluster stopped (disrupted).",
			"Both pods start.",
			"The node of j-1 is emptied for maintenance, so j-1 is asked to stop. A Job with a podFailurePolicy " +
				"replaces a pod only when it has failed: while j-1 stops, the controller creates nothing.",
			"The 30 seconds for stopping are over, and j-1 is killed with exit code 137. Its condition " +
				"DisruptionTarget says that the cluster stopped it, so rule 1 matches: the failure does not count. " +
				"The controller still waits ten seconds before it creates a new pod.",
			"The wait is over, and the controller creates a new pod.",
			"It starts.",
			"j-2 exits with code 42, and rule 0 matches: a retry cannot help. The Job is going to fail, and the " +
				"controller deletes its other pods.",
			"The last pod is gone. Only now is the Job marked as Failed.",
		},
	},
	{
		Title: "Success policy",
		Manifest: jobWith(`  completions: 4
  parallelism: 4
  completionMode: Indexed
  successPolicy:
    rules:
    - succeededIndexes: "0-1"
      succeededCount: 1
`),
		Steps: []string{"run all", "succeed j-3-4", "succeed j-1-2", "next"},
		Notes: []string{
			"The Job has four parts, called indexes. Its successPolicy has one rule (rule 0): the Job succeeds as " +
				"soon as index 0 or index 1 does, whatever the others do.",
			"All four pods start.",
			"Index 3 succeeds, but the rule does not name it.",
			"Index 1 succeeds, and rule 0 is met. The controller gives the Job the condition SuccessCriteriaMet " +
				"and deletes the other pods.",
			"The pods are gone, and the Job is Complete with two of four indexes done.",
		},
	},
	{
		Title: "Suspend and resume",
		Manifest: jobWith(`  completions: 2
  parallelism: 2
  activeDeadlineSeconds: 60
`),
		Steps: []string{
			"run all",
			"tick 40s",
			`edit {"suspend": true}`,
			"next",
			"tick 10m",
			`edit {"suspend": false}`,
			"run all",
			"next",
			"next",
		},
		Notes: []string{
			"The Job may be active for 60 seconds (activeDeadlineSeconds). After that it fails.",
			"Both pods start.",
			"40 seconds pass: 20 are left.",
			"A user suspends the Job, and the controller deletes its pods. They do not count as failures, and the " +
				"time of the Job stops.",
			"The pods have stopped, within the 30 seconds that they have for it (the grace period).",
			"Ten minutes pass, and nothing happens.",
			"A user resumes the Job, and the controller creates new pods. The Job has a new start time, and 60 " +
				"seconds again.",
			"The pods start.",
			"The 60 seconds are over: the controller deletes the pods, and the Job is going to fail.",
			"The last pod has stopped. Now the Job is marked as Failed, with the reason DeadlineExceeded.",
		},
	},
}
