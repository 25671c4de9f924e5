package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/schedule"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/control"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

func (p *program) nextCommand() *cobra.Command {
	var n int
	cmd := &cobra.Command{
		Use:   "next FILE|CRONJOB",
		Short: "Show when CronJobs run next, and what may be surprising about their schedules",
		Example: `  batchrun next backup.yaml -n 10
  batchrun next backup             # one in the state folder`,
		Args: cobra.ExactArgs(1),

		RunE: func(_ *cobra.Command, args []string) error {
			if n < 1 {
				return fmt.Errorf("-n: %d: must be at least 1", n)
			}

			cronJobs, now, err := p.look(args[0])
			if err != nil {
				return err
			}
			for i := range cronJobs {
				if err := p.showNext(&cronJobs[i], now, n); err != nil {
					return err
				}
			}
			return nil
		},
	}

	cmd.Flags().IntVarP(&n, "number", "n", 5, "how many runs to show")
	return cmd
}

// look returns the CronJobs of a file, or the CronJob of this name in the state folder. It also
// returns the time from which to list runs. An argument that is not a file is a name.
func (p *program) look(name string) ([]store.CronJob, time.Time, error) {
	if _, err := os.Stat(p.input(name)); name != "-" && errors.Is(err, os.ErrNotExist) {
		return p.lookStored(name)
	}
	all, err := readFile(p, name, manifest.ReadCronJobs)
	if err != nil {
		return nil, time.Time{}, err
	}

	now := time.Now()
	var cronJobs []store.CronJob
	for _, c := range all {
		cronJobs = append(cronJobs, store.CronJob{
			Namespace: c.Object.Namespace,
			Name:      cmp.Or(c.Object.Name, c.Object.GenerateName, name),
			Manifest:  c.Raw,
			Created:   now.Truncate(time.Second),
		})
	}
	if len(cronJobs) == 0 {
		err = fmt.Errorf("%s: contains no CronJob", name)
	}
	return cronJobs, now, err
}

func (p *program) lookStored(name string) ([]store.CronJob, time.Time, error) {
	s, err := p.openToLook()
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("%s is not a file, and %w", name, err)
	}
	defer s.Close()
	c, err := s.FindCronJob(name)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("%s is not a file: %w", name, err)
	}
	now, err := timeOf(s)
	return []store.CronJob{c}, now, err
}

// showNext prints the runs of one CronJob, in its zone.
func (p *program) showNext(stored *store.CronJob, now time.Time, n int) error {
	c, err := loadScheduled(stored)
	if err != nil {
		return err
	}
	s := c.compiled.Schedule
	fmt.Fprintf(p.out, "%s: %q, %s: %s\n", c.Key(), c.spec.Schedule, c.zone(), s.Describe())
	if c.spec.Suspend != nil && *c.spec.Suspend {
		fmt.Fprintln(p.out, "  suspended: none of these will start")
	}
	for run := range s.NextN(now, n) {
		fmt.Fprintf(p.out, "  %s\n", run.In(s.Location()).Format("Mon 2006-01-02 15:04:05 -07:00 MST"))
	}
	for _, f := range s.Lint(schedule.Circumstances{
		From: now, StartingDeadlineSeconds: c.spec.StartingDeadlineSeconds, WakeUpLag: control.Lag,
	}) {
		fmt.Fprintf(p.out, "  %s\n", f)
	}
	return nil
}
