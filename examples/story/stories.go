package main

import (
	"time"

	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
)

// story is a job and what happens to it.
type story struct {
	name, about string
	spec        job.Spec
	steps       []step
}

// step is a change of the pods or the spec, at a time after the start.
type step struct {
	at   time.Duration
	says string
	do   func(*world.Job)
}

var stories = []story{
	{
		name: "retry", about: "a pod fails, and its replacement waits for the backoff",
		spec: job.Spec{Completions: ptr[int32](2), Parallelism: ptr[int32](2), Template: never},
		steps: []step{
			{5 * time.Second, "both pods run", run},
			{20 * time.Second, "one of them exits with code 1", exit(1)},
			{40 * time.Second, "the other one succeeds", exit(0)},
			{60 * time.Second, "so does the replacement", exit(0)},
		},
	},
	{
		name: "indexes", about: "index 0 has no retries left, the others go on, and the job fails in the end",
		spec: job.Spec{
			Completions: ptr[int32](3), Parallelism: ptr[int32](1), CompletionMode: job.Indexed,
			BackoffLimitPerIndex: ptr[int32](0), Template: never,
		},
		steps: []step{
			{10 * time.Second, "index 0 exits with code 1", exit(1)},
			{20 * time.Second, "index 1 succeeds", exit(0)},
			{30 * time.Second, "index 2 succeeds", exit(0)},
		},
	},
	{
		name: "deadline", about: "a job is suspended and resumed, and its deadline starts again",
		spec: job.Spec{ActiveDeadlineSeconds: ptr[int64](60), Template: never},
		steps: []step{
			{5 * time.Second, "the pod runs", run},
			{30 * time.Second, "a user suspends the job", suspend(true)},
			{40 * time.Second, "the pod has ended", exit(143)},
			{90 * time.Second, "the user resumes the job", suspend(false)},
			{95 * time.Second, "the new pod runs", run},
			{155 * time.Second, "it receives the signal to stop, and ends", exit(143)},
		},
	},
}

var never = job.Template{RestartPolicy: job.RestartNever}

func ptr[T any](v T) *T { return &v }

// run starts every pod.
func run(w *world.Job) {
	for _, pod := range w.Pods {
		w.Run(pod)
	}
}

// exit ends the oldest pod that has not ended.
func exit(code int32) func(*world.Job) {
	return func(w *world.Job) {
		for _, pod := range w.Pods {
			if pod.Phase < job.PodSucceeded {
				w.Finish(pod, code)
				return
			}
		}
	}
}

func suspend(on bool) func(*world.Job) {
	return func(w *world.Job) { w.Edit(func(s *job.Spec) { s.Suspend = &on }) }
}
