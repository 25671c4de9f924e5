package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

func (p *program) removeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rm JOB|CRONJOB",
		Short: "Remove a job with its pods and logs, or a CronJob with its jobs; running pods are stopped",
		Args:  cobra.ExactArgs(1),
		Example: `  batchrun rm hello     # stop it and remove its logs; run FILE then starts it again
  batchrun rm backup    # a CronJob with its jobs`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := pod.Available(); err != nil {
				return err
			}
			s, err := p.open(false)
			if err != nil {
				return err
			}
			defer s.Close()
			return p.removeNamed(s, args[0])
		},
	}
}

// removeNamed removes a job or CronJob. If a runner uses the state folder, the runner does the
// work, and removeNamed waits until the work is done or the runner is gone.
func (p *program) removeNamed(s *store.Store, key string) error {
	asked := ""
	for {
		j, c, err := find(s, key)
		if asked != "" && errors.Is(err, store.ErrNotFound) {
			fmt.Fprintf(p.out, "%s removed\n", asked)
			return nil
		}
		if err != nil {
			return err
		}

		unlock, err := s.Lock()
		if err == nil {
			defer unlock()
			if c != nil {
				return p.removeCronJob(s, c)
			}
			return p.remove(s, j)
		}
		if !errors.Is(err, store.ErrLocked) {
			return err
		}

		if asked, err = askToRemove(s, j, c); err != nil {
			return err
		}
		time.Sleep(interval)
	}
}

// askToRemove marks an object, so that the runner removes it. It returns a description of the
// object.
func askToRemove(s *store.Store, j *store.Job, c *store.CronJob) (string, error) {
	now, err := timeOf(s)
	if err != nil {
		return "", err
	}
	if c != nil {
		return "CronJob " + c.Key(), s.DeleteCronJob(c.UID, now)
	}
	_, err = s.DeleteJob(j.UID, now)
	return "job " + j.Key(), err
}

// clear removes objects that are marked for removal, if a given manifest uses their name again.
func (p *program) clear(s *store.Store, given manifest.Objects) error {
	for _, j := range given.Jobs {
		old, err := s.FindJob(j.Key())
		if err == nil && !old.Deleted.IsZero() {
			err = p.remove(s, &old)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	for _, c := range given.CronJobs {
		old, err := s.FindCronJob(c.Key())
		if err == nil && !old.Deleted.IsZero() {
			err = p.removeCronJob(s, &old)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// removeCronJob removes the jobs before the CronJob, so that an interrupted rm can be repeated.
// Objects that are marked for removal do not run.
func (p *program) removeCronJob(s *store.Store, c *store.CronJob) error {
	now, err := timeOf(s)
	if err == nil {
		err = s.DeleteCronJob(c.UID, now)
	}
	if err != nil {
		return err
	}

	jobs, err := s.Jobs()
	if err != nil {
		return err
	}
	for i := range jobs {
		if jobs[i].CronJob != c.UID {
			continue
		}
		if err := p.remove(s, &jobs[i]); err != nil {
			return err
		}
	}

	if err := s.RemoveDeletedCronJobs(); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "CronJob %s removed\n", c.Key())
	return nil
}

// remove stops the pods, waits for their supervisors, and deletes the folders. It removes the job
// last, so that an interrupted rm can be repeated.
func (p *program) remove(s *store.Store, j *store.Job) error {
	pods, err := s.Pods(j.UID)
	if err != nil {
		return err
	}

	for i := range pods {
		folder := pod.Folder(s.PodFolder(pods[i].UID))
		if _, err := folder.Cancel(time.Now()); err != nil && !pod.IsUnreadable(err) {
			return err // an unreadable record is no obstacle: the folder is removed with it
		}
	}

	for i := range pods {
		folder := pod.Folder(s.PodFolder(pods[i].UID))
		for {
			over, err := folder.Reap()
			if err == nil && !over {
				err = folder.Enforce(time.Now())
			}
			if err != nil {
				return err
			}
			if over {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}

		if err := folder.Remove(); err != nil {
			return err
		}
	}

	if err := s.RemoveJob(j.UID); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "job %s removed\n", j.Key())
	return nil
}
