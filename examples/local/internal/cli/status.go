package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/examples/local/internal/manifest"
	"github.com/batchplan/batchplan/examples/local/internal/pod"
	"github.com/batchplan/batchplan/examples/local/internal/report"
	"github.com/batchplan/batchplan/examples/local/internal/store"
	"github.com/batchplan/batchplan/job"
)

func (p *program) statusCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "status [JOB|CRONJOB]",
		Short: "Show all jobs and CronJobs, or one with its pods or jobs and its events",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
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
	cmd.Flags().StringVarP(&output, "output", "o", "plain", "plain, or json: the objects with their status")
	return cmd
}

// find returns the job or the CronJob of a name; the other is nil.
func find(s *store.Store, key string) (*store.Job, *store.CronJob, error) {
	j, err := s.FindJob(key)
	if err == nil {
		return &j, nil, nil
	}
	c, cronErr := s.FindCronJob(key)
	if cronErr == nil {
		return nil, &c, nil
	}
	if errors.Is(err, store.ErrNotFound) && errors.Is(cronErr, store.ErrNotFound) {
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
		if err := p.tableOfCronJobs(s, cronJobs); err != nil || len(jobs) == 0 {
			return err
		}
		fmt.Fprintln(p.out)
	}
	return tableOfJobs(p.out, jobs)
}

func tableOfJobs(out io.Writer, jobs []store.Job) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "JOB\tSTATE\tACTIVE\tSUCCEEDED\tFAILED")
	for i := range jobs {
		j := &jobs[i]
		m, err := manifest.Load(j.Manifest)
		if err != nil {
			return err
		}
		wanted := ""
		if c := m.Spec.Completions; c != nil {
			wanted = fmt.Sprintf("/%d", *c)
		}
		state := report.Verdict(&j.Status)
		if !j.Deleted.IsZero() {
			state += ", being deleted"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d%s\t%d\n", j.Key(), state, j.Status.Active, j.Status.Succeeded, wanted, j.Status.Failed)
	}
	return w.Flush()
}

// writeJob prints the Job object as an API server would.
func (p *program) writeJob(j *store.Job) error {
	return p.writeObject(j.Manifest, j.UID, j.Namespace, j.Created, j.Deleted, j.Status)
}

func (p *program) writeObject(raw json.RawMessage, uid job.UID, namespace string, created, deleted time.Time, status any) error {
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		return err
	}
	metadata, _ := object["metadata"].(map[string]any)
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
	fmt.Fprintf(p.out, "%s: %s\n%s\n\n", j.Key(), report.Verdict(&j.Status), j.Status)
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "POD\tINDEX\tPHASE\tEXIT CODES\tFOLDER")
	for i := range pods {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", pods[i].Name, index(&pods[i]), phase(&pods[i]), codes(&pods[i].State), s.PodFolder(pods[i].UID))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return tableOfEvents(p.out, events)
}

func tableOfEvents(out io.Writer, events []store.StoredEvent) error {
	if len(events) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nTIME\tTYPE\tREASON\tMESSAGE")
	for _, e := range events {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.At.Local().Format(time.DateTime), e.Type, e.Reason, e.Message)
	}
	return w.Flush()
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
		text += " (" + p.State.Reason + ")"
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
			text += " (" + c.Message + ")"
		}
		if c.LogCut {
			text += " (log cut at --max-log)"
		}
	}
	return text
}
