// Story plays the life of a job in memory, in virtual time, and prints what
// happens: each step of its pods, each new plan with its reasons, and the final
// status. It needs no cluster and never sleeps.
//
//	go run ./examples/story          # all stories
//	go run ./examples/story retry    # one of them
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/world"
)

func main() {
	wanted := os.Args[1:]
	for _, name := range wanted {
		if !slices.ContainsFunc(stories, func(s story) bool { return s.name == name }) {
			fmt.Fprintf(os.Stderr, "story: unknown story %q: want one of %s\n", name, strings.Join(names(), ", "))
			os.Exit(2)
		}
	}
	for _, s := range stories {
		if len(wanted) > 0 && !slices.Contains(wanted, s.name) {
			continue
		}
		if err := tell(os.Stdout, s); err != nil {
			fmt.Fprintln(os.Stderr, "story:", err)
			os.Exit(1)
		}
	}
}

func names() (all []string) {
	for _, s := range stories {
		all = append(all, s.name)
	}
	return all
}

// tell plays a story. Before each step, it plays the rounds of the controller that are due by then.
func tell(out io.Writer, s story) error {
	fmt.Fprintf(out, "# %s: %s\n", s.name, s.about)
	w := world.NewJob(s.spec)
	t := &teller{out: out, world: w}
	if err := t.settle(); err != nil {
		return err
	}

	for _, step := range s.steps {
		for w.Now.Before(world.Start.Add(step.at)) && t.wakes(step.at) {
			w.Now = t.next
			fmt.Fprintf(out, "\n%s  time to plan again\n", t.clock())
			if err := t.settle(); err != nil {
				return err
			}
		}

		w.Now = world.Start.Add(step.at)
		fmt.Fprintf(out, "\n%s  %s\n", t.clock(), step.says)
		step.do(w)
		if err := t.settle(); err != nil {
			return err
		}
	}

	fmt.Fprintf(out, "\nstatus    %s\n\n", w.Job.Status)
	return w.Err()
}

// teller prints the rounds of a controller.
type teller struct {
	out   io.Writer
	world *world.Job
	next  time.Time // when the last plan requested the next round
	plan  string    // the last plan
}

// settle runs rounds until nothing is left to write. It prints each plan that writes something. It
// also prints the first plan, unless the previous call has ended with the same plan.
func (t *teller) settle() error {
	for first := true; ; first = false {
		before := t.world.Writes
		plan, err := t.world.Round()
		if err != nil {
			return err
		}

		text, wrote := plan.String(), t.world.Writes > before
		if wrote || first && text != t.plan {
			fmt.Fprint(t.out, indent(text))
		}
		t.plan, t.next = text, plan.Requeue.At
		if !wrote || t.world.Job.Status.Finished() != "" {
			return nil
		}
	}
}

// wakes reports whether the last plan requested a round before the next step.
func (t *teller) wakes(step time.Duration) bool {
	return t.next.After(t.world.Now) && t.next.Before(world.Start.Add(step))
}

func (t *teller) clock() string { return t.world.Now.Format("15:04:05") }

func indent(text string) string {
	return "          " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n          ") + "\n"
}
