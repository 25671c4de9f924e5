package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/logs"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
	"github.com/batchplan/batchplan/x/cmd/internal/terminal"
)

type logOptions struct {
	index     int32
	indexed   bool // --index is given
	pod       string
	container string
	follow    bool
	tail      int
	since     string
}

func (p *program) logsCommand() *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "logs JOB|CRONJOB",
		Short: "Print the logs of the pods of a job, or of all jobs of a CronJob",
		Long: `Print the logs of the pods of a job, or of all remaining jobs of a CronJob:
their stdout to standard output, their stderr to standard error, oldest pod
first. With several pods or containers, a line on standard error precedes each.
On a terminal, control characters in logs are shown as \u001b, so that a log can
neither hide nor do anything there; a file or a pipe gets the bytes as they are.

With -f, print lines as they come, of all pods together, each after the name of its pod,
until the job has ended; for a CronJob until Ctrl-C. With --pod or --index, without the name.`,
		Example: `  batchrun logs hello --index 2
  batchrun logs hello -f --tail 5        # the last five lines of each pod, and what comes
  batchrun logs backup --since 10m`,
		Args: cobra.ExactArgs(1),

		RunE: func(cmd *cobra.Command, args []string) error {
			o.indexed = cmd.Flags().Changed("index")
			which, err := o.selected(time.Now())
			if err != nil {
				return err
			}

			s, err := p.openToLook()
			if err != nil {
				return err
			}
			defer s.Close()

			if o.follow {
				return p.followLogs(cmd.Context(), s, args[0], &o, which)
			}
			pods, _, err := o.pods(s, args[0])
			if err != nil {
				return err
			}
			if len(pods) == 0 {
				return fmt.Errorf("%q has no matching pod", args[0])
			}
			return p.writeLogs(s, pods, which)
		},
	}

	cmd.Flags().Int32Var(&o.index, "index", -1, "only the pods of this completion index")
	cmd.Flags().StringVarP(&o.container, "container", "c", "", "only this container")
	cmd.Flags().StringVar(&o.pod, "pod", "", "only this pod")
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "print lines as they come until the job has ended")
	cmd.Flags().IntVar(&o.tail, "tail", -1, "only the last lines of each log, this many; -1 means all")
	cmd.Flags().StringVar(&o.since, "since", "", "only what was printed since a time, or for a duration (such as "+
		"10m), by this machine's clock; up to a second more")
	return cmd
}

// selected checks the flags.
func (o *logOptions) selected(now time.Time) (logs.Select, error) {
	which := logs.Select{Container: o.container, Tail: o.tail}
	if o.tail < -1 {
		return which, fmt.Errorf("--tail: %d: must be at least -1", o.tail)
	}
	if o.since == "" {
		return which, nil
	}
	if d, err := time.ParseDuration(o.since); err == nil {
		if d < 0 {
			return which, fmt.Errorf("--since: %q: must not be negative", o.since)
		}
		which.Since = now.Add(-d)
		return which, nil
	}
	t, err := parseTime(o.since, now)
	if err != nil {
		return which, fmt.Errorf("--since: %w", err)
	}
	which.Since = t
	return which, nil
}

// pods returns the selected pods of a job, or of all jobs of a CronJob. complete is true if no more
// pods can come.
func (o *logOptions) pods(s *store.Store, key string) (pods []store.Pod, complete bool, err error) {
	j, c, err := find(s, key)
	if err != nil {
		return nil, false, err
	}

	var jobs []store.Job
	if c == nil {
		jobs, complete = []store.Job{*j}, finished(j)
	} else if jobs, err = s.JobsOf(c.UID); err != nil {
		return nil, false, err
	}

	for i := range jobs {
		of, err := s.Pods(jobs[i].UID)
		if err != nil {
			return nil, false, err
		}
		pods = append(pods, of...)
	}
	pods = slices.DeleteFunc(pods, func(q store.Pod) bool {
		if o.indexed && q.Index != o.index {
			return true
		}
		return o.pod != "" && q.Name != o.pod
	})
	return pods, complete, nil
}

func (p *program) writeLogs(s *store.Store, pods []store.Pod, which logs.Select) error {
	found := false
	for i := range pods {
		var spec pod.Spec
		if err := json.Unmarshal(pods[i].Spec, &spec); err != nil {
			return err
		}

		folder := pod.Folder(s.PodFolder(pods[i].UID))
		for _, c := range spec.Containers {
			if which.Container != "" && c.Name != which.Container {
				continue
			}

			found = true
			if len(pods) > 1 || which.Container == "" && len(spec.Containers) > 1 {
				fmt.Fprintf(p.err, "== pod %s, container %s\n", pods[i].Name, c.Name)
			}
			if err := errors.Join(copyLog(forLogs(p.rawOut), folder, c.Name, "stdout", which),
				copyLog(forLogs(p.rawErr), folder, c.Name, "stderr", which)); err != nil {
				return err
			}
		}
	}

	if !found {
		return fmt.Errorf("no pod has a container %q", which.Container)
	}
	return nil
}

// forLogs returns the writer for logs. It neutralises control characters only on a terminal.
func forLogs(out io.Writer) io.Writer {
	if file, ok := out.(*os.File); ok && isatty.IsTerminal(file.Fd()) {
		return terminal.NewWriter(out)
	}
	return out
}

// copyLog copies a log, which may not exist yet.
func copyLog(to io.Writer, folder pod.Folder, container, stream string, which logs.Select) error {
	offset, err := logs.Offset(folder, container, stream, which)
	if err != nil {
		return err
	}
	file, err := folder.OpenLog(container, stream)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(to, file)
	return err
}

// tailing is the state of the command logs -f.
type tailing struct {
	*program
	store   *store.Store
	options *logOptions
	which   logs.Select
	open    map[job.UID]*logs.Reader
	ended   map[job.UID]bool
	out     map[string]io.Writer // by the stream
	failed  error                // of a write
}

// followLogs prints lines as they are written. It ends when no more lines can come.
func (p *program) followLogs(ctx context.Context, s *store.Store, key string, o *logOptions, which logs.Select) error {
	t := &tailing{
		program: p,
		store:   s,
		options: o,
		which:   which,
		open:    map[job.UID]*logs.Reader{},
		ended:   map[job.UID]bool{},
		out:     map[string]io.Writer{"stdout": forLogs(p.rawOut), "stderr": forLogs(p.rawErr)},
	}

	for {
		inUse, err := s.InUse()
		if err != nil {
			return err
		}

		pods, complete, err := o.pods(s, key)
		if errors.Is(err, store.ErrNotFound) && len(t.ended)+len(t.open) > 0 {
			return nil // the object was removed meanwhile
		}
		if err != nil {
			return err
		}
		if err := t.pass(pods); err != nil {
			return err
		}

		t.which = logs.Select{Container: o.container, Tail: -1} // show later logs from their beginning
		switch alive, err := t.alive(); {
		case err != nil:
			return err
		case complete && len(pods) == 0:
			return fmt.Errorf("%q has no matching pod", key)
		case complete && len(t.open) == 0:
			return nil
		case !inUse && !alive:
			fmt.Fprintf(p.err, "no runner is there and no pod runs; %s resumes\n", p.command("run"))
			return nil
		}

		if !sleep(ctx, 2*followTime) {
			return ctx.Err()
		}
	}
}

// alive reports whether any of the followed pods has processes.
func (t *tailing) alive() (bool, error) {
	for uid := range t.open {
		if alive, err := pod.Folder(t.store.PodFolder(uid)).Alive(); alive || err != nil {
			return alive, err
		}
	}
	return false, nil
}

// pass prints the new lines of the pods.
func (t *tailing) pass(pods []store.Pod) error {
	for i := range pods {
		q := &pods[i]
		if t.ended[q.UID] {
			continue
		}
		r := t.open[q.UID]
		if r == nil {
			var err error
			if r, err = logs.Open(pod.Folder(t.store.PodFolder(q.UID)), q, t.which); err != nil {
				return err
			}
			if r.Empty() {
				return fmt.Errorf("no pod has a container %q", t.options.container)
			}
			t.open[q.UID] = r
		}
		// If the pod had already ended when its state was read, its log is complete.
		if err := r.Read(q.Finished() || q.Gone, t.print); err != nil {
			return err
		}
		if t.failed != nil {
			return t.failed
		}
		if q.Finished() || q.Gone {
			delete(t.open, q.UID)
			t.ended[q.UID] = true
		}
	}
	return nil
}

func (t *tailing) print(l logs.Line) {
	name := l.Name() + " | "
	if t.options.pod != "" || t.options.indexed {
		name = ""
	}
	if _, err := fmt.Fprintf(t.out[l.Stream], "%s%s\n", name, l.Text); err != nil {
		t.failed = err
	}
}
