package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/examples/local/internal/pod"
	"github.com/batchplan/batchplan/examples/local/internal/store"
)

func (p *program) logsCommand() *cobra.Command {
	var at int32
	var container, name string
	cmd := &cobra.Command{
		Use:   "logs JOB|CRONJOB",
		Short: "Print the logs of the pods of a job, or of all jobs of a CronJob",
		Long: `Print the logs of the pods of a job, or of all remaining jobs of a CronJob:
their stdout to standard output, their stderr to standard error, oldest pod
first. With several pods or containers, a line on standard error precedes each.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := p.openToLook()
			if err != nil {
				return err
			}
			defer s.Close()
			pods, err := podsOf(s, args[0])
			if err != nil {
				return err
			}
			pods = slices.DeleteFunc(pods, func(q store.Pod) bool {
				return name != "" && q.Name != name || cmd.Flags().Changed("index") && q.Index != at
			})
			if len(pods) == 0 {
				return fmt.Errorf("%q has no matching pod", args[0])
			}
			return p.writeLogs(s, pods, container)
		},
	}
	cmd.Flags().Int32Var(&at, "index", -1, "only the pods of this completion index")
	cmd.Flags().StringVarP(&container, "container", "c", "", "only this container")
	cmd.Flags().StringVar(&name, "pod", "", "only this pod")
	return cmd
}

// podsOf returns the pods of a job, or of all jobs of a CronJob.
func podsOf(s *store.Store, key string) ([]store.Pod, error) {
	j, c, err := find(s, key)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return s.Pods(j.UID)
	}
	jobs, err := s.JobsOf(c.UID)
	var all []store.Pod
	for i := 0; i < len(jobs) && err == nil; i++ {
		var pods []store.Pod
		pods, err = s.Pods(jobs[i].UID)
		all = append(all, pods...)
	}
	return all, err
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

// copyFile copies a file, which may not exist yet.
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
