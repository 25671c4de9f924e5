package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/batchplan/batchplan/internal/share"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchsim/internal/picture"
	"github.com/batchplan/batchplan/x/cmd/batchsim/internal/store"
	"github.com/batchplan/batchplan/x/cmd/internal/command"
	"github.com/batchplan/batchplan/x/sim"
)

// sweep is a grid of settings over a scenario.
type sweep struct {
	in    input
	axes  []string
	seeds int
	cores int
	share share.Share
	show  []string
	dir   string
}

func (s *sweep) flags(c *cobra.Command) {
	s.in.flags(c)
	c.Flags().StringArrayVar(&s.axes, "grid", nil, "an axis of the grid: PATH=VALUE|VALUE|...; repeatable")
	c.Flags().IntVar(&s.seeds, "seeds", 10, "number of seeds at each point")
	c.Flags().IntVar(&s.cores, "cores", 0, "cores to use; 0 means all")
	c.Flags().StringVar(&s.share.File, "db", "sweep.sqlite",
		"the SQLite file of the results; runs that it has are not repeated")
	c.Flags().IntVar(&s.share.Of, "shares", 1,
		"number of shares that the runs are divided into; each writes its own file, with its number in the name")
	c.Flags().IntVar(&s.share.Mine, "share", -1, "the share to run, from 0; "+job.IndexVariable+" otherwise")
	c.Flags().StringSliceVar(&s.show, "show",
		[]string{"jobs failed", "makespan", "turnaround mean", "pods failed", "runs missed"}, "metrics to print")
}

func sweepCommand() *cobra.Command {
	var s sweep
	c := &cobra.Command{
		Use:   "sweep FILE... --grid PATH=VALUE|VALUE --grid ...",
		Short: "Simulate a scenario at every point of a grid of settings",
		Long: "Simulate a scenario at every point of a grid of settings, over many seeds and on all cores. " +
			"The results\ngo into a SQLite file as they come: the same command goes on where it was interrupted.",
		Example: "  batchsim sweep render.yaml --grid 'jobs.parallelism=2|4|8' " +
			"--grid 'jobs.backoffLimitPerIndex=0|2' --seeds 20",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error { return s.run(c, files) },
	}
	s.flags(c)
	c.Flags().StringVar(&s.dir, "out", "",
		"write a report with pictures of the points into this folder, once all runs are there")
	return c
}

// points returns the settings of each point of the grid.
func (s *sweep) points() ([][]string, error) {
	points := [][]string{nil}
	for _, axis := range s.axes {
		path, list, ok := strings.Cut(axis, "=")
		if !ok || path == "" || list == "" {
			return nil, fmt.Errorf("--grid %q: expected PATH=VALUE|VALUE and so on", axis)
		}
		var next [][]string
		for _, point := range points {
			for value := range strings.SplitSeq(list, "|") {
				next = append(next, append(append([]string{}, point...), path+"="+value))
			}
		}
		points = next
	}
	return points, nil
}

// definition returns a text that contains everything on which the results depend.
func (s *sweep) definition(files []string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "grid %q\nset %q\nseed %d, %d seeds\nuntil %v\n", s.axes, s.in.settings, s.in.seed, s.seeds,
		s.in.until)
	for _, f := range files {
		data, err := os.ReadFile(command.Input(f))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "file %s %x\n", filepath.Base(f), sha256.Sum256(data))
	}
	return b.String(), nil
}

func (s *sweep) run(c *cobra.Command, files []string) error {
	if s.seeds < 1 {
		return fmt.Errorf("--seeds %d: must be at least 1", s.seeds)
	}
	if err := s.share.Check(); err != nil {
		return err
	}

	points, err := s.points()
	if err != nil {
		return err
	}

	worlds := make([]func(uint64) sim.World, len(points))
	for i, settings := range points {
		loaded, err := s.in.load(files, settings...)
		if err != nil {
			return fmt.Errorf("%s: %w", strings.Join(settings, " "), err)
		}
		worlds[i] = loaded.World
	}

	definition, err := s.definition(files)
	if err != nil {
		return err
	}
	db, err := store.Open(command.Path(s.share.Path()), definition, len(points)*s.seeds)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := s.fill(c, db, points, worlds); err != nil {
		return err
	}
	return s.print(c, db)
}

// fill simulates those runs of this share whose results are not in the file yet.
func (s *sweep) fill(c *cobra.Command, db *store.Store, points [][]string, worlds []func(uint64) sim.World) error {
	done, err := db.Done()
	if err != nil {
		return err
	}

	var todo []store.Key
	for seed := range s.seeds {
		for point := range points {
			k := store.Key{Point: point, Seed: s.in.seed + uint64(seed)}
			if s.share.Has(seed*len(points)+point) && !done[k] {
				todo = append(todo, k)
			}
		}
	}

	bar := newBar(c.ErrOrStderr(), len(todo))
	defer bar.end()
	return sim.Each(c.Context(), len(todo), s.cores, func(ctx context.Context, i int) error {
		k := todo[i]
		w := worlds[k.Point](k.Seed)
		w.Summary = true

		r, err := sim.Run(ctx, w)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%s, seed %d: %w", strings.Join(points[k.Point], " "), k.Seed, err)
		}
		bar.add()
		return db.Add(ctx, k, strings.Join(points[k.Point], " "), r.Metrics())
	})
}

func (s *sweep) print(c *cobra.Command, db *store.Store) error {
	points, err := db.Points()
	if err != nil {
		return err
	}

	t := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	noise := false
	fmt.Fprintf(t, "point\t%s\n", strings.Join(s.show, "\t"))

	for i, p := range points {
		fmt.Fprintf(t, "%s", p.Settings)
		for _, metric := range s.show {
			mark := ""
			if i > 0 && sim.IsNoise(points[0].Values[metric], p.Values[metric]) {
				mark, noise = " ~", true
			}
			fmt.Fprintf(t, "\t%s%s", sim.EstimateOf(p.Values[metric]), mark)
		}
		fmt.Fprintln(t)
	}

	if err := t.Flush(); err != nil {
		return err
	}
	if noise {
		fmt.Fprintln(c.OutOrStdout(), noiseNote)
	}

	missing, err := db.Missing()
	if missing > 0 {
		fmt.Fprintf(c.OutOrStdout(), "%s in other shares or missing\n", value.Count(missing, "run"))
	}
	if err != nil || missing > 0 || s.dir == "" {
		return err
	}
	return s.report(points)
}

// report draws a comparison of the points.
func (s *sweep) report(points []store.Point) error {
	comparison := &sim.Comparison{Metrics: (&sim.Result{}).Metrics()}
	for i := range s.seeds {
		comparison.Seeds = append(comparison.Seeds, s.in.seed+uint64(i))
	}
	for _, p := range points {
		comparison.Variants = append(comparison.Variants, p.Settings)
		var values [][]float64
		for _, m := range comparison.Metrics {
			values = append(values, p.Values[m.Name])
		}
		comparison.Values = append(comparison.Values, values)
	}
	report := picture.NewComparison(comparison, picture.NewSamples(len(points)))
	report.Title = "Sweep"
	dir := command.Path(s.dir)
	return errors.Join(os.MkdirAll(dir, 0o755), report.Write(dir))
}

// noiseNote explains the mark ~ after a figure.
const noiseNote = "~: may be chance: over these seeds, it cannot be told from the first point (95 percent)"

func mergeCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "merge FILE PART...",
		Short:   "Join the results of the shares of a sweep into one file",
		Example: `  batchsim merge sweep.sqlite sweep-0.sqlite sweep-1.sqlite sweep-2.sqlite sweep-3.sqlite`,
		Args:    cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			missing, err := store.Merge(command.Path(args[0]), inputs(args[1:]))
			if err != nil {
				return err
			}
			if missing > 0 {
				return fmt.Errorf("%s: %s missing", args[0], value.Count(missing, "run"))
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s: complete\n", args[0])
			return err
		},
	}
}

func manifestCommand() *cobra.Command {
	var s sweep
	var name, image, command, claim string
	c := &cobra.Command{
		Use:   "manifest FILE... --shares N --grid ...",
		Short: "Print an Indexed Job that runs a sweep on a cluster",
		Long: "Print an Indexed Job that runs a sweep on a cluster: each index runs its share of the grid and " +
			"writes its own\nfile, and merge joins them. " +
			"Files and results are on a volume (--claim), or in the image and at absolute paths.",
		Example: "  batchsim manifest render.yaml --grid 'jobs.parallelism=2|4|8' " +
			"--shares 4 --claim data --image example.com/batchsim",
		Args: cobra.MinimumNArgs(1),

		RunE: func(c *cobra.Command, files []string) error {
			if s.share.Of < 2 {
				return errors.New("--shares: at least 2 are required")
			}
			if _, err := s.points(); err != nil {
				return err
			}

			if claim == "" {
				var err error
				if files, err = absolute(files); err != nil {
					return err
				}
				if s.share.File, err = filepath.Abs(s.share.File); err != nil {
					return err
				}
			}

			data, err := yaml.Marshal(s.indexedJob(name, image, command, claim, files))
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(data)
			return err
		},
	}

	s.flags(c)
	c.Flags().StringVar(&name, "name", "sweep", "name of the job")
	c.Flags().StringVar(&image, "image", "batchsim", "image of the container")
	c.Flags().StringVar(&command, "command", "batchsim", "the program in the image")
	c.Flags().StringVar(&claim, "claim", "", "name of a volume claim with the files, in whose folder the program runs")
	return c
}

type object = map[string]any

// indexedJob returns the manifest of an Indexed Job that runs the sweep.
func (s *sweep) indexedJob(name, image, command, claim string, files []string) object {
	words := append([]string{command, "sweep"}, files...)
	for _, axis := range s.axes {
		words = append(words, "--grid", axis)
	}
	for _, setting := range s.in.settings {
		words = append(words, "--set", setting)
	}
	if s.in.until > 0 {
		words = append(words, "--until", s.in.until.String())
	}

	words = append(words, "--seed", strconv.FormatUint(s.in.seed, 10), "--seeds", strconv.Itoa(s.seeds),
		"--shares", strconv.Itoa(s.share.Of), "--db", s.share.File)

	container := object{"name": "sweep", "image": image, "command": words}
	pod := object{"restartPolicy": "Never", "containers": []object{container}}
	if claim != "" {
		container["workingDir"] = "/data"
		container["volumeMounts"] = []object{{"name": "data", "mountPath": "/data"}}
		pod["volumes"] = []object{{"name": "data", "persistentVolumeClaim": object{"claimName": claim}}}
	}

	return object{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": object{"name": name},
		"spec": object{
			"completions": s.share.Of, "parallelism": s.share.Of, "completionMode": "Indexed",
			"backoffLimitPerIndex": 3,
			"template":             object{"spec": pod},
		},
	}
}
