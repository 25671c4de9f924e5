package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/report"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
	"github.com/batchplan/batchplan/x/cmd/internal/terminal"
)

func (p *program) statusCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "status [JOB|CRONJOB]",
		Short: "Show all jobs and CronJobs, or one with its pods or jobs and its events",
		Example: `  batchrun status                  # all, in at most 100 columns
  batchrun status hello -o wide    # one, with its folders and whole messages
  batchrun status -o json          # the objects, as an API server has them`,
		Args: cobra.MaximumNArgs(1),

		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains([]string{"plain", "wide", "json"}, output) {
				return fmt.Errorf("--output: %q: must be plain, wide or json", output)
			}

			s, err := p.openToLook()
			if err != nil {
				return err
			}
			defer s.Close()
			if len(args) == 0 {
				return p.list(s, output)
			}

			j, c, err := find(s, args[0])
			switch {
			case err != nil:
				return err
			case c != nil:
				return p.showCronJob(s, c, output)
			}
			return p.showJob(s, j, output)
		},
	}

	cmd.Flags().StringVarP(&output, "output", "o", "plain",
		"plain (at most 100 columns), wide, or json: the objects with their status")
	return cmd
}

// find returns the job or the CronJob that has a name. The other one is nil.
func find(s *store.Store, key string) (*store.Job, *store.CronJob, error) {
	j, err := s.FindJob(key)
	if err == nil {
		return &j, nil, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return nil, nil, err
	}

	c, err := s.FindCronJob(key)
	if err == nil {
		return nil, &c, nil
	}
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("job or CronJob %q: %w", key, store.ErrNotFound)
	}
	return nil, nil, err
}

func (p *program) list(s *store.Store, output string) error {
	jobs, err := s.Jobs()
	if err != nil {
		return err
	}
	cronJobs, err := s.CronJobs()
	if err != nil {
		return err
	}

	if output == "json" {
		for i := range cronJobs {
			if err := p.writeCronJob(&cronJobs[i]); err != nil {
				return err
			}
		}
		for i := range jobs {
			if err := p.writeJob(&jobs[i]); err != nil {
				return err
			}
		}
		return nil
	}

	if len(cronJobs) > 0 {
		if err := p.tableOfCronJobs(s, cronJobs, output == "wide"); err != nil || len(jobs) == 0 {
			return err
		}
		fmt.Fprintln(p.out)
	}
	return p.tableOfJobs(s, jobs, output == "wide")
}

// tableOfJobs lists jobs. For a failed job it shows the exit status of the container that made the
// job fail. With -o wide it also shows the creation time, the active pods, and why a job has ended.
func (p *program) tableOfJobs(s *store.Store, jobs []store.Job, wide bool) error {
	now, err := timeOf(s)
	if err != nil {
		return err
	}

	titles := []string{"JOB", "AGE", "DONE", "FAILED", "EXIT", "STATE"}
	if wide {
		titles = []string{"JOB", "AGE", "CREATED", "ACTIVE", "DONE", "FAILED", "EXIT", "STATE"}
	}
	t := newTable(wide, titles...)

	for i := range jobs {
		j := &jobs[i]
		m, err := manifest.Load(j.Manifest)
		if err != nil {
			return err
		}

		done := fmt.Sprint(j.Status.Succeeded)
		if c := m.Spec.Completions; c != nil {
			done += fmt.Sprintf("/%d", *c)
		}
		exit, err := p.exitStatus(s, j)
		if err != nil {
			return err
		}

		failed, state := fmt.Sprint(j.Status.Failed), stateOf(j, wide)
		if wide {
			t.add(j.Key(), age(j.Created, now), local(j.Created), fmt.Sprint(j.Status.Active), done, failed, exit,
				state)
		} else {
			t.add(j.Key(), age(j.Created, now), done, failed, exit, state)
		}
	}
	return t.write(p.out)
}

// stateOf describes the state of a job: a word and a reason, or the whole message if wide is true.
func stateOf(j *store.Job, wide bool) string {
	end := j.Status.Finished()
	state := report.Verdict(&j.Status)
	if reason := j.Status.Condition(end).Reason; !wide && end != "" {
		if state = string(end); end == job.ConditionFailed {
			state += ": " + reason
		}
	}
	if !j.Deleted.IsZero() {
		state += ", being deleted"
	}
	return state
}

// exitStatus returns the exit status with which a job has ended, or "-" if there is none.
func (p *program) exitStatus(s *store.Store, j *store.Job) (string, error) {
	switch j.Status.Finished() {
	case job.ConditionComplete:
		return "0", nil
	case job.ConditionFailed:
		f, _, err := p.lastFailed(s, j)
		if f != nil && f.Container != "" {
			return fmt.Sprint(f.ExitCode), err
		}
		return "-", err
	}
	return "-", nil
}

// local formats a time in this machine's zone.
func local(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 MST") }

// writeJob prints the Job object as an API server would return it.
func (p *program) writeJob(j *store.Job) error {
	return p.writeObject(j.Manifest, j.UID, j.Namespace, j.Created, j.Deleted, j.Status)
}

func (p *program) writeObject(
	raw json.RawMessage, uid job.UID, namespace string, created, deleted time.Time, status any,
) error {
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		return err
	}
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return errors.New("state.db is damaged: a stored object has no metadata")
	}
	metadata["uid"], metadata["namespace"] = uid, namespace
	metadata["creationTimestamp"] = created.Format(time.RFC3339)
	if !deleted.IsZero() {
		metadata["deletionTimestamp"] = deleted.Format(time.RFC3339)
	}
	object["status"] = status
	return json.NewEncoder(p.out).Encode(object)
}

func (p *program) showJob(s *store.Store, j *store.Job, output string) error {
	if output == "json" {
		return p.writeJob(j)
	}

	pods, err := s.Pods(j.UID)
	if err != nil {
		return err
	}
	events, err := s.Events(j.UID)
	if err != nil {
		return err
	}
	now, err := timeOf(s)
	if err != nil {
		return err
	}

	wide := output == "wide"
	p.facts(wide, j.Key()+": "+report.Verdict(&j.Status), j.Status.String(), "")

	titles := []string{"POD", "INDEX", "AGE", "PHASE", "EXIT CODES"}
	if wide {
		titles = append(titles, "FOLDER")
	}
	t := newTable(wide, titles...)

	for i := range pods {
		q := &pods[i]
		cells := []string{q.Name, index(q), age(q.Created, now), phase(q), codes(&q.State)}
		if wide {
			cells = append(cells, s.PodFolder(q.UID))
		}
		t.add(cells...)
	}
	if err := t.write(p.out); err != nil {
		return err
	}
	return tableOfEvents(p.out, events, wide)
}

func tableOfEvents(out io.Writer, events []store.StoredEvent, wide bool) error {
	if len(events) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	t := newTable(wide, "TIME ("+events[0].At.Local().Format("MST")+")", "TYPE", "REASON", "MESSAGE")
	for _, e := range events {
		t.add(e.At.Local().Format(time.DateTime), string(e.Type), string(e.Reason), e.Message)
	}
	return t.write(out)
}

func index(p *store.Pod) string {
	if p.Index < 0 {
		return "-"
	}
	return fmt.Sprint(p.Index)
}

func phase(p *store.Pod) string {
	text := p.State.Phase.String()
	if p.State.Reason != "" {
		text += " (" + terminal.Text(p.State.Reason) + ")"
	}
	switch {
	case p.Gone:
		text += ", deleted"
	case !p.Deleted.IsZero():
		text += ", being deleted"
	}
	return text
}

func codes(s *pod.State) string {
	text := ""
	for i := range s.Containers {
		c := &s.Containers[i]
		if len(c.Exits) == 0 {
			continue
		}

		if text != "" {
			text += " "
		}
		text += c.Name + "="
		for k, e := range c.Exits {
			if k > 0 {
				text += ","
			}
			text += fmt.Sprint(e.Code)
		}

		if c.Message != "" {
			text += " (" + terminal.Text(c.Message) + ")"
		}
		if c.LogCut {
			text += " (log cut at --max-log)"
		}
	}
	return text
}
