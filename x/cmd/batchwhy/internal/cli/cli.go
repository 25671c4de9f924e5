// Package cli is the command.
package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/x/cmd/internal/command"
	"github.com/batchplan/batchplan/x/cmd/internal/terminal"
)

// The exit statuses of the command.
const (
	exitFine     = 0             // nothing is wrong
	exitFindings = 1             // something is wrong or will hurt later
	exitBadInput = command.Usage // the command or the input is wrong; what could be read is explained
)

// Main runs the command and returns the exit status.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer, now func() time.Time) int {
	plugin := strings.HasPrefix(filepath.Base(args[0]), "kubectl-")
	p := &program{in: in, out: out, err: errOut, now: now, name: "batchwhy"}
	if plugin {
		p.name = "kubectl-why"
	}

	root := p.rootCommand(plugin)
	if !plugin { // the arguments of a plugin are names
		root.AddCommand(p.serveCommand(), p.pageCommand(), p.upgradeCommand(), p.traceCommand())
	}

	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		path := c.CommandPath()
		if plugin {
			path = p.name
		}
		return fmt.Errorf("%w; see %s -h", err, path)
	})

	root.SetArgs(args[1:])
	root.SetIn(in)
	root.SetOut(terminal.NewWriter(out))
	root.SetErr(terminal.NewWriter(errOut))

	if err := root.ExecuteContext(ctx); err != nil {
		p.report(err)
		p.status = exitBadInput
	}
	return p.status
}

func (p *program) rootCommand(plugin bool) *cobra.Command {
	use := "batchwhy [FILE|FOLDER|-]..."
	if plugin {
		use = "why [NAME]..."
	}

	cmd := &cobra.Command{
		Use: use, Version: command.Version(),
		Short: "Explain why Jobs and CronJobs do what they do, and what comes next",
		Long: `Batchwhy reads what "kubectl get jobs,cronjobs,pods,events -o json" (or yaml) prints, from
files, folders or standard input, and says of each Job and CronJob: its state, what the
controller does next, when and why, and what is wrong or will hurt later.

More than 10 objects are summarised on one screen; --details explains each of them.

Exit status: 0 nothing is wrong; 1 there are errors or warnings; 2 the command is wrong, or
a part of the input cannot be read; what could be read is explained.`,

		Example:       examples(plugin),
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.ArbitraryArgs,

		RunE: func(cmd *cobra.Command, args []string) error {
			if plugin || p.kubectl {
				p.kubectl = true
				p.names = append(p.names, args...)
				args = nil
			}

			if p.following {
				return p.follow(cmd.Context(), args)
			}
			return p.explain(cmd.Context(), args)
		},
	}

	f := cmd.Flags()
	f.StringVar(&p.at, "at", "", "explain this `time`, as in 2026-01-31T18:00:00Z; default: now for a pipe or a "+
		"cluster, the newest time in the objects for files")
	f.StringVar(&p.ahead, "for", "",
		"also say what happens in the next `duration`, as in 24h, if pods go on as they are")
	f.StringVarP(&p.output, "output", "o", "text", "`format` of the output: text or json")
	f.StringVar(&p.plot, "plot", "", "write a timeline to this SVG `file`")
	f.StringVar(&p.colour, "color", "auto", "use colours: auto, always or never")

	f.StringSliceVar(&p.names, "only", nil,
		"explain only the objects of these `names`: NAME, NAMESPACE/NAME, job/NAME or cronjob/NAME")
	f.BoolVar(&p.plan, "plan", false, "show the plan of the controller's next round")
	f.BoolVar(&p.details, "details", false, "explain each object, however many there are, instead of a summary")
	f.BoolVarP(&p.following, "watch", "w", false,
		"explain each change as it comes: of the cluster, or of what kubectl get -w -o json prints")
	f.BoolVarP(&p.following, "follow", "f", false, "the same as --watch")
	f.BoolVar(&p.progress, "progress", isTerminal(p.err), "show a progress line while reading")

	f.IntVar(&p.limit, "max-objects", 1_000_000, "the most Jobs, CronJobs and Pods to keep")

	f.BoolVar(&p.kubectl, "kubectl", false, "ask kubectl for the objects; arguments are names then")
	f.StringVarP(&p.namespace, "namespace", "n", "", "with kubectl: the namespace")
	f.StringVar(&p.context, "context", "", "with kubectl: the context")
	f.BoolVarP(&p.all, "all-namespaces", "A", false, "with kubectl: all namespaces")
	return cmd
}

func examples(plugin bool) string {
	if plugin {
		return `  kubectl why                           everything in the current namespace, a screen of it
  kubectl why job/import                one Job: what it does, what is wrong, what to do
  kubectl why -n prod cronjob/backup --for 24h
  kubectl why -A                        all namespaces
  kubectl why job/import --watch        each change as it comes`
	}
	return `  kubectl get jobs,cronjobs,pods,events -o json | batchwhy
  batchwhy support-bundle --only cronjob/backup --for 24h
  batchwhy jobs.yaml pods.yaml --at 2026-10-14T09:12:00Z -o json
  batchwhy serve`
}
