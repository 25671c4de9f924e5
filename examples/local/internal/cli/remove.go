package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/examples/local/internal/pod"
	"github.com/batchplan/batchplan/examples/local/internal/store"
)

func (p *program) removeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rm JOB",
		Short: "Forget a job with its pods and logs; what still runs is stopped",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := p.open(false)
			if err != nil {
				return err
			}
			defer s.Close()
			unlock, err := s.Lock()
			if err != nil {
				return err
			}
			defer unlock()
			j, err := s.FindJob(args[0])
			if err != nil {
				return err
			}
			return p.remove(s, &j)
		},
	}
}

// remove stops the pods, waits for their supervisors, and deletes the folders
// before the job: an interrupted rm can be repeated.
func (p *program) remove(s *store.Store, j *store.Job) error {
	pods, err := s.Pods(j.UID)
	if err != nil {
		return err
	}
	for i := range pods {
		folder := pod.Folder(s.PodFolder(pods[i].UID))
		if _, err := folder.Cancel(time.Now()); err != nil {
			return err
		}
	}
	for i := range pods {
		folder := pod.Folder(s.PodFolder(pods[i].UID))
		for {
			alive, err := folder.Alive()
			if err != nil {
				return err
			}
			if !alive {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err := os.RemoveAll(string(folder)); err != nil {
			return err
		}
	}
	if err := s.RemoveJob(j.UID); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "job %s removed\n", j.Key())
	return nil
}
