package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/batchplan/batchplan/x/cmd/batchsim/internal/picture"
	"github.com/batchplan/batchplan/x/cmd/internal/command"
	"github.com/batchplan/batchplan/x/sim"
)

func compareCommand() *cobra.Command {
	var in input
	var texts []string
	var seeds, cores int
	var dir string
	c := &cobra.Command{
		Use:   "compare FILE... --variant 'NAME: PATH=VALUE PATH=VALUE' --variant ...",
		Short: "Compare variants of a scenario over many seeds",
		Long: "Compare variants of a scenario over many seeds. A variant is a name and settings, as in\n" +
			"  --variant 'as it is:' --variant 'patient: options.backoff.base=1m jobs.backoffLimit=10'\n" +
			"A value may have blanks: it ends before the next PATH=.\n" +
			"Every variant sees the same draws. Means have confidence intervals of 95 percent.",
		Example: "  batchsim compare day.yaml --seeds 20 --variant 'forbid:' " +
			"--variant 'allow: cronJobs.concurrencyPolicy=Allow'\n" +
			"  batchsim compare spot.yaml --variant 'spot:' " +
			"--variant 'on demand: nodes.0.price=0.10 nodes.0.preempted=0/h' --out report",
		Args: cobra.MinimumNArgs(1),

		RunE: func(c *cobra.Command, files []string) error {
			if seeds < 1 {
				return fmt.Errorf("--seeds %d: must be at least 1", seeds)
			}

			variants, err := in.variants(files, texts)
			if err != nil {
				return err
			}

			bar := newBar(c.ErrOrStderr(), seeds*len(variants))
			samples := picture.NewSamples(len(variants))
			comparison, err := sim.Compare(
				c.Context(),
				variants,
				in.seed,
				seeds,
				cores,
				func(variant, _ int, r *sim.Result) {
					samples.Add(variant, r)
					bar.add()
				},
			)
			bar.end()
			if err != nil {
				return err
			}

			if _, err := fmt.Fprint(c.OutOrStdout(), comparison); err != nil {
				return err
			}

			if dir = command.Path(dir); dir == "" {
				return nil
			}
			report := picture.NewComparison(comparison, samples)
			return errors.Join(os.MkdirAll(dir, 0o755), report.Write(dir))
		},
	}

	in.flags(c)
	c.Flags().StringArrayVar(&texts, "variant", nil, "a variant: its name, a colon, and settings")
	c.Flags().IntVar(&seeds, "seeds", 10, "number of seeds")
	c.Flags().IntVar(&cores, "cores", 0, "cores to use; 0 means all")
	c.Flags().StringVar(&dir, "out", "", "write a report with pictures into this folder")
	return c
}

// settingStart matches the beginning of a setting: its path and the sign after it.
var settingStart = regexp.MustCompile(`(?:^|\s)[\w/-]+(?:\.[\w/-]+)*=`)

// splitSettings splits the settings of a variant. A value reaches up to the next setting.
func splitSettings(text string) (out []string) {
	from := 0
	for _, at := range settingStart.FindAllStringIndex(text, -1) {
		out = append(out, strings.TrimSpace(text[from:at[0]]))
		from = at[0]
	}
	out = append(out, strings.TrimSpace(text[from:]))
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// variants loads the scenario once for each variant.
func (in *input) variants(files, texts []string) (out []sim.Variant, err error) {
	if len(texts) == 0 {
		return nil, errors.New("--variant: at least one is required")
	}
	for _, text := range texts {
		name, rest, ok := strings.Cut(text, ":")
		if !ok {
			return nil, fmt.Errorf("--variant %q: expected a name, a colon, and settings", text)
		}
		s, err := in.load(files, splitSettings(rest)...)
		if err != nil {
			return nil, fmt.Errorf("variant %s: %w", name, err)
		}
		out = append(out, sim.Variant{Name: strings.TrimSpace(name), World: func(seed uint64) sim.World {
			w := s.World(seed)
			w.Summary = true
			return w
		}})
	}
	return out, nil
}

// bar shows the progress of many runs on a terminal.
type bar struct {
	progress *mpb.Progress
	bar      *mpb.Bar
}

func newBar(out io.Writer, total int) *bar {
	f, ok := out.(*os.File)
	if !ok || !isatty.IsTerminal(f.Fd()) {
		return &bar{}
	}
	p := mpb.New(mpb.WithOutput(out), mpb.WithWidth(50))
	return &bar{p, p.AddBar(int64(total),
		mpb.PrependDecorators(decor.CountersNoUnit("%d of %d runs ")),
		mpb.AppendDecorators(decor.Percentage(),
			decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO, decor.WC{W: 6}), " done")),
	)}
}

func (b *bar) add() {
	if b.bar != nil {
		b.bar.Increment()
	}
}

func (b *bar) end() {
	if b.bar != nil {
		b.bar.Abort(false) // has no effect if the bar is complete
		b.progress.Wait()
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// absolute returns the absolute paths of files.
func absolute(files []string) ([]string, error) {
	out := make([]string, len(files))
	for i, f := range files {
		var err error
		if out[i], err = filepath.Abs(f); err != nil {
			return nil, err
		}
	}
	return out, nil
}
