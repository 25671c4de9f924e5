package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/logs"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/report"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// lastLines is how many of the last lines of the last failed pod are shown.
const lastLines = 10

// failure returns why a job has failed, or nil if the job has not failed.
func (p *program) failure(s *store.Store, j *store.Job, status *job.Status) (*report.Failure, error) {
	if status.Finished() != job.ConditionFailed {
		return nil, nil
	}
	f, failed, err := p.lastFailed(s, j)
	if err != nil || failed == nil {
		return f, err
	}
	f.Log, err = logs.Last(pod.Folder(s.PodFolder(failed.UID)), failed, f.Container, lastLines)
	if err != nil {
		err = fmt.Errorf("the log of pod %s: %w", failed.Name, err)
	}
	return f, err
}

// lastFailed finds the last failed pod of a job, and the container that made it fail.
func (p *program) lastFailed(s *store.Store, j *store.Job) (*report.Failure, *store.Pod, error) {
	pods, err := s.Pods(j.UID)
	if err != nil {
		return nil, nil, err
	}

	f := &report.Failure{Next: [][2]string{{p.command("status", j.Key()), "its pods and events"}}}
	var last *store.Pod
	var at time.Time
	itself := false // the pod ended by itself: it was not stopped after the failure of the job

	for i := range pods {
		if pods[i].State.Phase != job.PodFailed {
			continue
		}

		c, end := culprit(&pods[i].State)
		own := pods[i].State.Reason != pod.ReasonStopped && pods[i].State.Reason != pod.ReasonNeverStarted
		switch {
		case last == nil:
		case own == itself && end.Before(at), itself && !own:
			continue
		}

		last, at, itself = &pods[i], end, own
		f.Pod, f.Container, f.ExitCode, f.Reason = last.Name, "", 0, last.State.Reason
		if c != nil {
			f.Container, f.ExitCode = c.Name, c.ExitCode
		}
	}
	if last == nil {
		return nil, nil, nil
	}

	f.Next = append([][2]string{{p.command("logs", j.Key(), "--pod", last.Name), "all that it has printed"}}, f.Next...)
	if j.CronJob == "" {
		f.Next = append(f.Next, [2]string{p.command("rm", j.Key()), "before it can run again"})
	}
	return f, last, nil
}

// culprit returns the container that was the last to end with a status other than 0, and the time
// of that end.
func culprit(s *pod.State) (c *pod.Container, at time.Time) {
	for i := range s.Containers {
		k := &s.Containers[i]
		failed := k.State == jobpod.Terminated && k.ExitCode != 0
		if failed && k.Kind != jobpod.RestartableInit && !k.FinishedAt.Before(at) {
			c, at = k, k.FinishedAt
		}
	}
	return c, at
}

// command returns a command for the user to type, with the same state folder.
func (p *program) command(words ...string) string {
	if p.state != defaultState {
		words = append(words, "--state", p.state)
	}
	return "batchrun " + strings.Join(words, " ")
}
