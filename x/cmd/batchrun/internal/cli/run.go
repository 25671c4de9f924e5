package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/control"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/report"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

type runOptions struct {
	output          string
	quiet           bool
	follow          string
	parallel        int
	contain         string
	giveUp          time.Duration
	maxLog          string
	logBytes        int64
	until           string
	runs            int
	speed           float64
	backoff         backoff.Policy
	restartDelay    time.Duration
	restartDelayMax time.Duration
}

func (p *program) runCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [FILE...]",
		Short: "Run the Jobs of manifests until they have ended, and CronJobs until told to stop",
		Example: `  batchrun run job.yaml                           # until it has ended, with what its pods print
  batchrun run job.yaml -f hello-3                # of index 3 only
  batchrun run backup.yaml --speed 3600 --until 72h --state /tmp/trial   # three days in three minutes
  batchrun run                                    # resume what was interrupted`,
		Long: `Run the Jobs of manifests (YAML or JSON, - for standard input) until they have ended.
With CronJobs, continue until interrupted, or until --until or --runs is reached: then no
more runs start, and those under way are completed.

Jobs already in the state folder are resumed. Without FILE, all unfinished jobs and all
CronJobs in the state folder run.

Ctrl-C suspends the jobs: their processes get SIGTERM, and SIGKILL after the grace
period. The next run resumes them. A second Ctrl-C kills immediately.

Exit status: 0 all jobs completed; 1 one failed or is suspended; 2 bad input,
nothing was run; 3 the runner gave up, for example on a full disk: run again to resume;
130 interrupted.`,

		RunE: func(_ *cobra.Command, files []string) error { return p.run(files, o) },
	}

	flags := cmd.Flags()
	flags.StringVarP(&o.output, "output", "o", "auto",
		"auto (live lines on a terminal, else plain), plain, json (without what pods print)")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "do not show what the pods print")
	flags.StringVarP(&o.follow, "follow", "f", "", "show what one pod prints, without its name before each line: a "+
		"pod's name, or its beginning, such as hello-3")

	flags.IntVar(&o.parallel, "parallel", defaultParallel(runtime.NumCPU()),
		"maximum number of pods that run concurrently, over all jobs")
	flags.StringVar(&o.contain, "contain", "auto", "how all processes of a pod are made to end with its "+
		"supervisor: auto, namespace, cgroup, user-namespace or watcher")
	flags.StringVar(&o.maxLog, "max-log", "50Mi",
		"maximum size of the log of each stream of a container; 0 means no limit")

	flags.DurationVar(&o.giveUp, "give-up", 10*time.Minute,
		"how long to retry when the state folder cannot be written, for example on a full disk")
	flags.StringVar(&o.until, "until", "", "start no more runs of CronJobs after this time (RFC 3339, or local "+
		"such as 2026-01-31T18:00) or duration (such as 36h)")
	flags.IntVar(&o.runs, "runs", 0, "start no more runs of CronJobs once this many have ended")
	flags.Float64Var(&o.speed, "speed", 1,
		"how fast time passes for schedules, deadlines, backoff and TTL; processes run in real time")

	flags.DurationVar(&o.backoff.Base, "backoff", 10*time.Second, "delay before a failed pod is replaced; doubles")
	flags.DurationVar(&o.backoff.Max, "backoff-max", 10*time.Minute, "longest delay before a failed pod is replaced")
	flags.DurationVar(&o.restartDelay, "restart-delay", 10*time.Second,
		"delay before a container restarts again; doubles")
	flags.DurationVar(&o.restartDelayMax, "restart-delay-max", 5*time.Minute,
		"longest delay before a container restarts")
	return cmd
}

func (p *program) run(files []string, o runOptions) error {
	if err := errors.Join(pod.Available(), o.check()); err != nil {
		return err
	}

	given, err := p.read(files)
	if err != nil {
		return err
	}
	s, err := p.open(given.Len() > 0)
	if err != nil {
		return err
	}
	defer s.Close()

	unlock, err := s.Lock()
	if err != nil {
		return err
	}
	defer unlock()

	if err := s.CheckPods(); err != nil {
		return err
	}
	if err := p.clear(s, given); err != nil {
		return err
	}
	return p.runIn(s, given, o)
}

// runIn compares the manifests with the state folder, and runs them.
func (p *program) runIn(s *store.Store, given manifest.Objects, o runOptions) error {
	known, err := readKnown(s)
	if err != nil {
		return err
	}
	if err := known.compare(given); err != nil {
		return err
	}

	manifests, err := known.toRun(given)
	if err != nil {
		return err
	}

	isolation, err := isolate(s, manifests)
	if err != nil {
		return err
	}
	containment, err := pod.ChooseContainment(o.contain, pod.ProbeContainment)
	if err != nil {
		return fmt.Errorf("--contain: %w", err)
	}

	crons := len(given.CronJobs) > 0 || given.Len() == 0 && len(known.cronJobs) > 0
	c, until, err := o.startClock(s, crons)
	if err != nil {
		return err
	}
	now, err := control.Now(s, c)
	if err != nil {
		return err
	}

	chosen, others, err := known.choose(s, given, now)
	if err != nil {
		return err
	}
	if chosen.len() == 0 {
		return fmt.Errorf("nothing to run: no FILE is given, and %s has no unfinished job and no CronJob", s.Dir)
	}

	r := newSession(p, s, c, o, p.reporter(o, c, crons))
	r.settings = manifest.Settings{
		RestartDelay:    o.restartDelay,
		RestartDelayMax: o.restartDelayMax,
		Isolation:       isolation,
		MaxLog:          o.logBytes,
	}

	r.until, r.node.Containment = until, containment
	r.hint(given, others)
	p.status, err = r.run(chosen)
	return err
}

// defaultParallel returns how many pods run concurrently on a machine with that many processors.
func defaultParallel(processors int) int { return max(16, 4*processors) }

func (o *runOptions) check() error {
	if o.follow != "" && (o.quiet || o.output == "json") {
		return errors.New("--follow: cannot be combined with --quiet or -o json, which show nothing of the pods")
	}

	if !slices.Contains([]string{"auto", "plain", "json"}, o.output) {
		return fmt.Errorf("--output: %q: must be auto, plain or json", o.output)
	}
	if o.parallel < 1 {
		return fmt.Errorf("--parallel: %d: must be at least 1", o.parallel)
	}

	most, err := resource.ParseQuantity(o.maxLog)
	if err != nil || most.Sign() < 0 {
		return fmt.Errorf("--max-log: %q: must be a size such as 50Mi or 1G", o.maxLog)
	}
	o.logBytes = most.Value()

	if err := o.checkTime(); err != nil {
		return err
	}

	for name, d := range map[string]time.Duration{"backoff": o.backoff.Base, "backoff-max": o.backoff.Max,
		"restart-delay": o.restartDelay, "restart-delay-max": o.restartDelayMax} {
		if d <= 0 {
			return fmt.Errorf("--%s: %v: must be positive", name, d)
		}
	}
	return nil
}

// read reads all manifests and returns all their problems.
func (p *program) read(files []string) (manifest.Objects, error) {
	var all manifest.Objects
	var problems []error
	for _, name := range files {
		objects, err := readFile(p, name, manifest.Read)
		all.Add(objects)
		problems = append(problems, err)
	}

	type source struct{ kind, at string }
	seen := map[string]source{}
	check := func(kind, key, name, at string) {
		if first, ok := seen[key]; ok {
			problems = append(problems, fmt.Errorf("%s: metadata.name: %q: duplicate name: the %s at %s has it", at,
				name, first.kind, first.at))
		}
		seen[key] = source{kind, at}
	}

	for _, j := range all.Jobs {
		check("job", j.Key(), j.Object.Name, j.Source)
	}
	for _, c := range all.CronJobs {
		check("CronJob", c.Key(), c.Object.Name, c.Source)
	}
	return all, errors.Join(problems...)
}

func readFile[T any](p *program, name string, read func(string, io.Reader) (T, error)) (all T, err error) {
	if name == "-" {
		return read("standard input", p.in)
	}
	file, err := os.Open(p.input(name))
	if err != nil {
		return all, err
	}
	defer file.Close()
	return read(name, file)
}

// isolate finds out how this machine can mount at absolute paths. If it cannot, isolate refuses
// such mounts before anything runs.
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
				problems = append(problems,
					j.Refuse(m, fmt.Errorf("a process cannot have mounts of its own here: %w", why)))
			}
		}
	}
	return isolation, errors.Join(problems...)
}

func inside(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

func (p *program) reporter(o runOptions, c *clock.Clock, crons bool) report.Reporter {
	layout := time.TimeOnly
	if crons || !c.IsReal() {
		layout = time.DateTime
	}
	switch o.output {
	case "json":
		return report.NewJSON(p.out, p.err, c.Now)
	case "auto":
		file, ok := p.rawOut.(*os.File)
		if ok && isatty.IsTerminal(file.Fd()) && report.FitLive(file) {
			return report.NewLive(file, layout, c.Now)
		}
	}
	return report.NewPlain(p.out, p.err, layout, c.Now)
}

// hint tells the user once what differs from a cluster.
func (r *session) hint(given manifest.Objects, others int) {
	var ignored []string
	for _, j := range given.Jobs {
		ignored = append(ignored, j.Ignored...)
	}
	for _, c := range given.CronJobs {
		ignored = append(ignored, c.Ignored...)
	}
	slices.Sort(ignored)
	ignored = slices.Compact(ignored)

	if given.Len() > 0 {
		r.reporter.Note("images are not pulled: commands run as found on this machine")
	}
	if ignored = slices.DeleteFunc(ignored, func(f string) bool { return f == "image" }); len(ignored) > 0 {
		r.reporter.Note("ignored, without effect here: " + strings.Join(ignored, ", "))
	}

	r.reporter.Note(r.node.Containment.Promise())
	r.reporter.Note("times are in the zone " + r.clock.Now().Local().Format("MST -07:00"))

	if others > 0 {
		r.reporter.Note(fmt.Sprintf("%d other unfinished job(s) or CronJob(s) are left alone; run without FILE "+
			"resumes them", others))
	}
	if !r.clock.IsReal() {
		r.reporter.Note(fmt.Sprintf("the clock of this state folder shows %s and runs at %v times the machine's speed",
			r.clock.Now().Local().Format(time.DateTime), r.options.speed))
	}
}
