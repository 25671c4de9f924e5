package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/upgrade"
)

// upgradeCommand shows what differs between two releases of Kubernetes.
func (p *program) upgradeCommand() *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "upgrade --from RELEASE --to RELEASE [FILE|FOLDER|-]...",
		Short: "Say what another release of Kubernetes does differently with Jobs and CronJobs",
		Long: `Upgrade reads manifests, or the objects of a cluster as kubectl prints them, and says what
another release of Kubernetes does differently with each Job and CronJob: which fields it
drops or honours, and where the plans of the two Job controllers part. For that, random
lives of each Job are played in both releases.

A release is 1.31 to 1.37, with a patch if it is not the newest one, and feature gates if they
differ from the defaults: 1.33,JobManagedBy=false or 1.35.4.

Exit status: 0 nothing changes for the objects; 1 something does; 2 the command or the input
is wrong.`,
		Example: `  batchwhy upgrade --from 1.31 --to 1.36 manifests/
  kubectl get jobs,cronjobs -A -o json | batchwhy upgrade --from 1.33 --to 1.36 -o json`,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error { return p.upgrade(cmd, from, to, args) },
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "the `release` that runs now")
	f.StringVar(&to, "to", "", "the `release` to come")
	f.StringVarP(&p.output, "output", "o", "text", "`format` of the output: text or json")
	f.IntVar(&p.limit, "max-objects", 1_000_000, "the most Jobs, CronJobs and Pods to keep")
	return cmd
}

func (p *program) upgrade(cmd *cobra.Command, from, to string, args []string) error {
	if p.output != "text" && p.output != "json" {
		return fmt.Errorf("--output: %q: must be text or json", p.output)
	}

	var releases [2]release.Release
	for i, flag := range [...]struct{ name, value string }{{"--from", from}, {"--to", to}} {
		if flag.value == "" {
			return fmt.Errorf("%s is required: a release such as 1.33", flag.name)
		}
		r, err := release.Parse(flag.value)
		if err != nil {
			return fmt.Errorf("%s: %w", flag.name, err)
		}
		releases[i] = r
	}

	objects := &read.Objects{Limit: p.limit}
	if _, err := p.readAll(cmd.Context(), objects, args); err != nil {
		return err
	}
	if len(objects.Jobs)+len(objects.CronJobs) == 0 && objects.ProblemCount() == 0 {
		return errors.New("the input contains no Job or CronJob")
	}

	report := upgrade.Compare(objects, releases[0], releases[1])
	for _, problem := range objects.Problems {
		p.report(fmt.Errorf("%v", problem))
	}

	switch {
	case objects.ProblemCount() > 0:
		p.status = exitBadInput
	case report.Differs():
		p.status = exitFindings
	}

	if p.output == "text" {
		return report.Write(cmd.OutOrStdout())
	}
	encoder := json.NewEncoder(cmd.OutOrStdout())
	encoder.SetIndent("", "  ")
	return encoder.Encode(report)
}
