package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/cronjob"
)

func (p *program) triggerCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "trigger CRONJOB",
		Short: "Start a run outside of the schedule",
		Long: `Request a run of a CronJob outside of its schedule. A runner that uses the state
folder starts it immediately; without one, the next run does. It starts even if the
CronJob is suspended, or other runs are active.`,
		Example: `  batchrun trigger backup`,
		Args:    cobra.ExactArgs(1),

		RunE: func(_ *cobra.Command, args []string) error {
			s, err := p.open(false)
			if err != nil {
				return err
			}
			defer s.Close()

			c, err := s.FindCronJob(args[0])
			if err != nil {
				return err
			}
			if !c.Deleted.IsZero() {
				return fmt.Errorf("CronJob %q is being removed", args[0])
			}

			t, err := s.AddTrigger(c.UID)
			if err != nil {
				return err
			}
			fmt.Fprintf(p.out, "requested job %s\n", cronjob.Naming{}.TriggerName(c.Key(), t))

			if used, err := s.InUse(); used || err != nil {
				return err // the runner starts the job
			}
			fmt.Fprintln(p.err, "no runner uses the state folder: the next run will start it")
			return nil
		},
	}
}
