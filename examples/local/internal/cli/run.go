package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/examples/local/internal/manifest"
	"github.com/batchplan/batchplan/examples/local/internal/pod"
	"github.com/batchplan/batchplan/examples/local/internal/report"
	"github.com/batchplan/batchplan/examples/local/internal/store"
	"github.com/batchplan/batchplan/job"
)

// runOptions are the flags of run.
type runOptions struct {
	output          string
	parallel        int
	backoff         backoff.Policy
	restartDelay    time.Duration
	restartDelayMax time.Duration
}

func (p *program) runCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [FILE...]",
		Short: "Run the Jobs of manifests until they have ended",
		Long: `Run the Jobs of manifests (YAML or JSON, - for standard input) until they have ended.

A job that the state folder knows already is gone on with. Without a FILE, all
unfinished jobs of the state folder are.

Ctrl-C suspends the jobs: their processes get SIGTERM, and SIGKILL after the grace
period. Another run goes on. A second Ctrl-C kills at once.

Exit status: 0 all jobs completed; 1 one failed or is suspended; 2 bad input,
nothing was run; 130 interrupted.`,
		RunE: func(_ *cobra.Command, files []string) error { return p.run(files, o) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.output, "output", "o", "auto", "auto (bars on a terminal, else plain), plain, json")
	flags.IntVar(&o.parallel, "parallel", max(16, 4*runtime.NumCPU()), "most pods that run at once, of all jobs")
	flags.DurationVar(&o.backoff.Base, "backoff", 10*time.Second, "delay before a failed pod is replaced; doubles")
	flags.DurationVar(&o.backoff.Max, "backoff-max", 10*time.Minute, "longest delay before a failed pod is replaced")
	flags.DurationVar(&o.restartDelay, "restart-delay", 10*time.Second, "delay before a container restarts again; doubles")
	flags.DurationVar(&o.restartDelayMax, "restart-delay-max", 5*time.Minute, "longest delay before a container restarts")
	return cmd
}

func (p *program) run(files []string, o runOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	jobs, err := p.read(files)
	if err != nil {
		return err
	}
	s, err := p.open(len(jobs) > 0)
	if err != nil {
		return err
	}
	defer s.Close()
	unlock, err := s.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	known, err := s.Jobs()
	if err != nil {
		return err
	}
	if err := compare(known, jobs); err != nil {
		return err
	}
	manifests, err := unfinished(known, jobs)
	if err != nil {
		return err
	}
	isolation, err := isolate(s, manifests)
	if err != nil {
		return err
	}
	chosen, others, err := choose(s, known, jobs)
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		return fmt.Errorf("nothing to run: no FILE is given, and %s holds no unfinished job", s.Dir)
	}
	r := &session{program: p, store: s, options: o, reporter: p.reporter(o)}
	r.settings = manifest.Settings{RestartDelay: o.restartDelay, RestartDelayMax: o.restartDelayMax, Isolation: isolation}
	r.hint(jobs, others)
	p.status, err = r.run(chosen)
	return err
}

func (o *runOptions) check() error {
	if !slices.Contains([]string{"auto", "plain", "json"}, o.output) {
		return fmt.Errorf("--output: %q: is none of auto, plain, json", o.output)
	}
	if o.parallel < 1 {
		return fmt.Errorf("--parallel: %d: must be at least 1", o.parallel)
	}
	for name, d := range map[string]time.Duration{"backoff": o.backoff.Base, "backoff-max": o.backoff.Max,
		"restart-delay": o.restartDelay, "restart-delay-max": o.restartDelayMax} {
		if d <= 0 {
			return fmt.Errorf("--%s: %v: must be positive", name, d)
		}
	}
	return nil
}

// read reads all manifests and names everything that is wrong with them.
func (p *program) read(files []string) ([]*manifest.Job, error) {
	var all []*manifest.Job
	var problems []error
	for _, name := range files {
		jobs, err := p.readFile(name)
		all = append(all, jobs...)
		problems = append(problems, err)
	}
	seen := map[string]*manifest.Job{}
	for _, j := range all {
		if first := seen[j.Key()]; first != nil {
			problems = append(problems, fmt.Errorf("%s: metadata.name: %q: is the name of the job at %s, too", j.Source, j.Object.Name, first.Source))
		}
		seen[j.Key()] = j
	}
	return all, errors.Join(problems...)
}

func (p *program) readFile(name string) ([]*manifest.Job, error) {
	if name == "-" {
		return manifest.Read("standard input", p.in)
	}
	file, err := os.Open(p.input(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return manifest.Read(name, file)
}

// unfinished returns the manifests that are going to run: those given, or else
// those of all unfinished jobs.
func unfinished(known []store.Job, given []*manifest.Job) ([]*manifest.Job, error) {
	if len(given) > 0 {
		return given, nil
	}
	var all []*manifest.Job
	for i := range known {
		if finished(&known[i]) {
			continue
		}
		m, err := manifest.Load(known[i].Manifest)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", known[i].Key(), err)
		}
		m.Source = "job " + known[i].Key()
		all = append(all, m)
	}
	return all, nil
}

// isolate finds out how absolute mounts can be honoured, and refuses them, before
// anything is run, when they cannot.
func isolate(s *store.Store, jobs []*manifest.Job) (pod.Isolation, error) {
	var problems []error
	var isolation pod.Isolation
	var why error
	probed := false
	for _, j := range jobs {
		for _, m := range j.AbsoluteMounts() {
			if inside(s.Dir, filepath.Clean(m.Path)) {
				problems = append(problems, j.Refuse(m, fmt.Errorf("it would hide the state folder %s", s.Dir)))
				continue
			}
			if !probed {
				isolation, why = pod.ProbeIsolation(filepath.Join(s.Dir, "probe"))
				probed = true
			}
			if why != nil {
				problems = append(problems, j.Refuse(m, fmt.Errorf("a process cannot have mounts of its own here: %w", why)))
			}
		}
	}
	return isolation, errors.Join(problems...)
}

func inside(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

func (p *program) reporter(o runOptions) report.Reporter {
	file, ok := p.out.(*os.File)
	switch {
	case o.output == "json":
		return report.NewJSON(p.out, p.err)
	case o.output == "auto" && ok && isatty.IsTerminal(file.Fd()):
		return report.NewBars(p.out)
	}
	return report.NewPlain(p.out, p.err)
}

// hint says once what a user of clusters might not expect.
func (r *session) hint(jobs []*manifest.Job, others int) {
	var ignored []string
	for _, j := range jobs {
		ignored = append(ignored, j.Ignored...)
	}
	slices.Sort(ignored)
	ignored = slices.Compact(ignored)
	if len(jobs) > 0 {
		r.reporter.Note("images are not pulled: commands run as they are found on this machine")
	}
	if ignored = slices.DeleteFunc(ignored, func(f string) bool { return f == "image" }); len(ignored) > 0 {
		r.reporter.Note("ignored, since they make no difference here: " + strings.Join(ignored, ", "))
	}
	if others > 0 {
		r.reporter.Note(fmt.Sprintf("%d other unfinished job(s) are left alone; run without FILE goes on with them", others))
	}
}

// finished reports whether a stored job has ended.
func finished(j *store.Job) bool { return j.Status.Finished() != job.ConditionType("") }
