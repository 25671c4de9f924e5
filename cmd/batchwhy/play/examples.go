package play

import "slices"

// Examples are lives to look at, one for each feature.
var Examples = slices.Concat(jobExamples, cronExamples)

// jobExamples are lives of Jobs.
var jobExamples = []Script{
	{
		Title: "Retries and backoff",
		Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  name: j
spec:
  completions: 2
  parallelism: 2
  backoffLimit: 2
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: busybox
`,
		Steps: []string{"run all", "tick 20s", "fail j-1 code=1", "next", "run j-3", "tick 5s", "fail j-3 code=1", "next", "succeed j-2", "succeed all"},
		Notes: []string{
			"Two completions are wanted and two pods may run together: the controller creates two.",
			"A kubelet starts both pods.",
			"Twenty seconds pass.",
			"One pod exits with code 1. Its replacement waits for a backoff of 10 seconds.",
			"The backoff is over, and the replacement is created.",
			"It starts.",
			"Five seconds pass.",
			"It fails as well. Two failures in a row double the backoff: 20 seconds. One more failure, and backoffLimit 2 is exceeded.",
			"The next replacement is created.",
			"The first pod of all succeeds. A success resets the backoff.",
			"So does the last one: the Job is complete.",
		},
	},
	{
		Title: "Indexed: each index once",
		Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  name: j
spec:
  completions: 5
  parallelism: 3
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: busybox
`,
		Steps: []string{"run all", "tick 30s", "succeed j-1-2", "run all", "succeed j-0-1", "evict j-2-3", "tick 40s", `edit {"parallelism": 1}`},
		Notes: []string{
			"Five indexes are to be done, three at a time: the lowest ones come first.",
			"The pods of the indexes 0 to 2 start.",
			"Half a minute passes.",
			"Index 1 succeeds, and index 3 takes its place.",
			"It starts.",
			"Index 0 succeeds: the status lists completed indexes, not pods.",
			"A node is drained and evicts the pod of index 2. The pod is terminating, and its index gets a new pod immediately.",
			"The old pod ends within its grace period of 30 seconds.",
			"With parallelism 1, surplus pods are deleted: those that are not ready yet go first.",
		},
	},
	{
		Title: "Backoff per index",
		Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  name: j
spec:
  completions: 3
  parallelism: 3
  completionMode: Indexed
  backoffLimitPerIndex: 1
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: busybox
`,
		Steps: []string{"run all", "fail j-0-1 code=1", "next", "run all", "fail j-0-4 code=1", "succeed j-1-2", "succeed j-2-3"},
		Notes: []string{
			"Each of three indexes may fail once without failing for good.",
			"All start.",
			"Index 0 fails. The other indexes are not concerned; only index 0 waits for its backoff.",
			"Ten seconds later it gets its second pod, which carries the count of failures in an annotation.",
			"It starts.",
			"It fails again: index 0 has failed, and is never run again.",
			"Index 1 succeeds.",
			"Index 2 succeeds as well. All indexes have ended, so the Job fails with FailedIndexes and names index 0.",
		},
	},
	{
		Title: "Failure policy",
		Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  name: j
spec:
  completions: 4
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
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: busybox
`,
		Steps: []string{"run all", "evict j-1", "next", "next", "run all", "fail j-2 code=42", "next"},
		Notes: []string{
			"backoffLimit 0 allows no failure, but rule 1 ignores pods that are disrupted.",
			"Both pods start.",
			"A node is drained. The policy replaces only pods that have failed, so nothing is created while the pod is terminating.",
			"After the grace period the kubelet kills the pod: exit code 137, and the condition DisruptionTarget. Rule 1 matches, and no failure counts; the backoff holds the replacement for ten seconds all the same.",
			"The replacement is created.",
			"It starts.",
			"Exit code 42 says that no retry can help. Rule 0 matches: the Job is going to fail, and its other pods are deleted.",
			"The last pod is gone. Only now the Job is Failed.",
		},
	},
	{
		Title: "Success policy",
		Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  name: j
spec:
  completions: 4
  parallelism: 4
  completionMode: Indexed
  successPolicy:
    rules:
    - succeededIndexes: "0-1"
      succeededCount: 1
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: busybox
`,
		Steps: []string{"run all", "succeed j-3-4", "succeed j-1-2", "next"},
		Notes: []string{
			"The Job succeeds as soon as one of the indexes 0 and 1 has, whatever becomes of the others.",
			"All four pods start.",
			"Index 3 succeeds, but no rule asks for it.",
			"Index 1 succeeds, and rule 0 is met. The other pods are deleted; the Job has the condition SuccessCriteriaMet.",
			"The pods are gone, and the Job is Complete with two of four indexes done.",
		},
	},
	{
		Title: "Suspend and resume",
		Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  name: j
spec:
  completions: 2
  parallelism: 2
  activeDeadlineSeconds: 60
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: busybox
`,
		Steps: []string{"run all", "tick 40s", `edit {"suspend": true}`, "next", "tick 10m", `edit {"suspend": false}`, "run all", "next", "next"},
		Notes: []string{
			"The Job may be active for 60 seconds.",
			"Both pods start.",
			"40 seconds pass: 20 are left.",
			"A user suspends the Job. Its pods are deleted and do not count as failures; the deadline stops.",
			"The pods end with the grace period.",
			"Ten minutes pass, and nothing happens.",
			"The Job is resumed: new pods, a new start time, and the deadline begins anew.",
			"The pods start.",
			"60 seconds later the deadline passes: the pods are deleted, and the Job is going to fail.",
			"With the end of the last pod it has failed: DeadlineExceeded.",
		},
	},
}
