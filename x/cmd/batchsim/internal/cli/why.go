package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/sim"
)

func whyCommand() *cobra.Command {
	var in input
	c := &cobra.Command{
		Use:   "why FILE... JOB TIME",
		Short: "Say what the controller knew and decided about a job or CronJob at a time",
		Long: "Say what the controller knew and decided about a job or CronJob at a time:\n" +
			"TIME is a duration since the start, such as 1h30m. The round shown is the last one up to it.",
		Example: `  batchsim why day.yaml backup-3 8h10m`,
		Args:    cobra.MinimumNArgs(3),

		RunE: func(c *cobra.Command, args []string) error {
			files, name, text := args[:len(args)-2], args[len(args)-2], args[len(args)-1]
			at, err := time.ParseDuration(text)
			if err != nil || at < 0 {
				return fmt.Errorf("TIME %q is not a duration since the start, such as 1h30m", text)
			}

			s, err := in.load(files)
			if err != nil {
				return err
			}

			w := s.World(in.seed)
			if w.Until == 0 || w.Until > at {
				w.Until = at + 1 // the simulation can stop, since later events do not matter
			}
			w.Summary = true

			last := &round{name: name}
			w.Watch = last
			r, err := sim.Run(c.Context(), w)
			if err != nil {
				return err
			}
			return last.print(c.OutOrStdout(), at, r)
		},
	}

	in.flags(c)
	return c
}

// round watches a simulation, and keeps the last round of one object.
type round struct {
	name string
	at   time.Duration
	text string
	seen map[string]bool
}

// Job keeps the round if it is a round of the object.
func (w *round) Job(r sim.JobRound) {
	s, c := r.Snapshot, r.Conclusion
	if s.Job.Name != w.name {
		w.notice(s.Job.Name)
		return
	}

	var phases [5]int
	deleted := 0
	for i := range s.Pods {
		if s.Pods[i].Deletion != nil {
			deleted++
		}
		phases[s.Pods[i].Phase]++
	}

	var b strings.Builder
	fmt.Fprintf(&b, "knew:\n  status %s\n  pods:", s.Job.Status)
	for phase, n := range phases {
		if n > 0 {
			fmt.Fprintf(&b, " %d %s", n, job.PodPhase(phase))
		}
	}
	if len(s.Pods) == 0 {
		b.WriteString(" none")
	}
	switch {
	case deleted == 1:
		b.WriteString(", 1 of them is being deleted")
	case deleted > 1:
		fmt.Fprintf(&b, ", %d of them are being deleted", deleted)
	}

	if record := s.Memory.Backoff; record.Failures > 0 {
		fmt.Fprintf(&b, "\n  backoff: %s, the last at %s", value.Count(record.Failures, "failure"),
			record.LastFailure.UTC().Format(time.TimeOnly))
	}
	fmt.Fprintf(&b, "\ndecided:\n  %s\nwrote:\n  status %s\n", indent(r.Plan.String()), c.Status)
	for _, e := range c.Events {
		fmt.Fprintf(&b, "  event %s: %s\n", e.Reason, e.Message)
	}
	w.at, w.text = r.At, b.String()
}

// CronJob keeps the round if it is a round of the object.
func (w *round) CronJob(r sim.CronJobRound) {
	s, c := r.Snapshot, r.Conclusion
	if s.CronJob.Name != w.name {
		w.notice(s.CronJob.Name)
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "knew:\n  status %s\n  %s\ndecided:\n  %s\nwrote:\n  status %s\n", s.CronJob.Status,
		value.Count(len(s.Children), "job"), indent(r.Plan.String()), c.Status)
	for _, e := range c.Events {
		fmt.Fprintf(&b, "  event %s: %s\n", e.Reason, e.Message)
	}
	w.at, w.text = r.At, b.String()
}

// notice keeps a few names of objects. The error lists them if the requested name does not exist.
func (w *round) notice(name string) {
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	if len(w.seen) < 5 {
		w.seen[name] = true
	}
}

func indent(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}

func (w *round) print(out io.Writer, at time.Duration, r *sim.Result) error {
	if w.text == "" {
		if len(w.seen) == 0 {
			return errors.New("no job and no CronJob has been planned up to that time")
		}
		return fmt.Errorf("%s has not been planned up to %v; among others there are %s", w.name, at,
			strings.Join(sortedKeys(w.seen), ", "))
	}
	_, err := fmt.Fprintf(out, "%s, round at %v (%s UTC):\n%s", w.name, w.at,
		r.Start.Add(w.at).Format("2006-01-02 15:04:05.000"), w.text)
	return err
}
