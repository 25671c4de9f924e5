package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
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
		Use:   "status [JOB]",
		Short: "Show all jobs, or one with its pods and events",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := p.open(false)
			if err != nil {
				return err
			}
			defer s.Close()
			if len(args) == 0 {
				return p.listJobs(s, output)
			}
			j, err := s.FindJob(args[0])
			if err != nil {
				return err
			}
			return p.showJob(s, &j, output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "plain", "plain, or json: the Job objects with their status")
	return cmd
}

func (p *program) listJobs(s *store.Store, output string) error {
	jobs, err := s.Jobs()
	if err != nil {
		return err
	}
	if output == "json" {
		for i := range jobs {
			if err := p.writeObject(&jobs[i]); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
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
		fmt.Fprintf(w, "%s\t%s\t%d\t%d%s\t%d\n", j.Key(), report.Verdict(&j.Status), j.Status.Active, j.Status.Succeeded, wanted, j.Status.Failed)
	}
	return w.Flush()
}

// writeObject writes the Job object as an API server would show it.
func (p *program) writeObject(j *store.Job) error {
	var object map[string]any
	if err := json.Unmarshal(j.Manifest, &object); err != nil {
		return err
	}
	metadata, _ := object["metadata"].(map[string]any)
	metadata["uid"], metadata["namespace"] = j.UID, j.Namespace
	metadata["creationTimestamp"] = j.Created.Format(time.RFC3339)
	object["status"] = j.Status
	return json.NewEncoder(p.out).Encode(object)
}

func (p *program) showJob(s *store.Store, j *store.Job, output string) error {
	if output == "json" {
		return p.writeObject(j)
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
	if err := w.Flush(); err != nil || len(events) == 0 {
		return err
	}
	fmt.Fprintln(w, "\nTIME\tTYPE\tREASON\tMESSAGE")
	for _, e := range events {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.At.Local().Format(time.DateTime), e.Type, e.Reason, e.Message)
	}
	return w.Flush()
}

func index(p *store.Pod) string {
	if p.Index == job.NoIndex {
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
	}
	return text
}

func (p *program) logsCommand() *cobra.Command {
	var at int32
	var container, name string
	cmd := &cobra.Command{
		Use:   "logs JOB",
		Short: "Write what the pods of a job have written",
		Long: `Write what the pods of a job have written: stdout to standard output, stderr to
standard error, pod after pod, oldest first. With several pods or containers,
each is headed by a line on standard error.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := p.open(false)
			if err != nil {
				return err
			}
			defer s.Close()
			j, err := s.FindJob(args[0])
			if err != nil {
				return err
			}
			pods, err := s.Pods(j.UID)
			if err != nil {
				return err
			}
			pods = slices.DeleteFunc(pods, func(q store.Pod) bool {
				return name != "" && q.Name != name || cmd.Flags().Changed("index") && q.Index != at
			})
			if len(pods) == 0 {
				return fmt.Errorf("job %q has no such pod", args[0])
			}
			return p.writeLogs(s, pods, container)
		},
	}
	cmd.Flags().Int32Var(&at, "index", job.NoIndex, "only the pods of this completion index")
	cmd.Flags().StringVarP(&container, "container", "c", "", "only this container")
	cmd.Flags().StringVar(&name, "pod", "", "only this pod")
	return cmd
}

func (p *program) writeLogs(s *store.Store, pods []store.Pod, container string) error {
	found := false
	for i := range pods {
		var spec pod.Spec
		if err := json.Unmarshal(pods[i].Spec, &spec); err != nil {
			return err
		}
		folder := pod.Folder(s.PodFolder(pods[i].UID))
		for _, c := range spec.Containers {
			if container != "" && c.Name != container {
				continue
			}
			found = true
			if len(pods) > 1 || container == "" && len(spec.Containers) > 1 {
				fmt.Fprintf(p.err, "== pod %s, container %s\n", pods[i].Name, c.Name)
			}
			if err := errors.Join(copyFile(p.out, folder.Log(c.Name, "stdout")), copyFile(p.err, folder.Log(c.Name, "stderr"))); err != nil {
				return err
			}
		}
	}
	if !found {
		return fmt.Errorf("no pod has a container %q", container)
	}
	return nil
}

// copyFile writes a file that may not be there yet.
func copyFile(to io.Writer, name string) error {
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(to, file)
	return err
}
