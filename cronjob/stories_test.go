package cronjob_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/golden"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// TestStories plays the stories of testdata, each in its own world. Each folder has the stories of
// the rules that one Go file implements. The folder has the name of that file. Rewrite the outputs
// with -update, and commit a rewritten story only if you can explain every line.
//
// A CronJob is created at 2026-01-01T00:00:00Z by the command "cronjob", with a batch/v1 spec as
// input. The commands are the fields of the table stage.commands, each with a comment. A command
// names a run by its time.
func TestStories(t *testing.T) {
	golden.Run(t, "testdata", func() golden.Story {
		s := &stage{}
		return s.play
	})
}

// Each folder of stories is named after the file of its rule.
func TestStories_FoldersAreNamedAfterFiles(t *testing.T) {
	folders, err := filepath.Glob("testdata/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("folders %v, error %v", folders, err)
	}
	for _, folder := range folders {
		name := filepath.Base(folder)
		if _, err := os.Stat(name + ".go"); err != nil && filepath.Ext(name) == "" && name != "rapid" { // where rapid keeps failures
			t.Errorf("testdata/%s is named after no file: %v", name, err)
		}
	}
}

// World renames the type, since an embedded field CronJob would hide the world's own field CronJob.
type World = world.CronJob

// stage is the world of a story, with the story's commands.
type stage struct {
	*World
	t *testing.T
	c *golden.Command
}

func (s *stage) play(t *testing.T, c *golden.Command) string {
	t.Helper()
	s.t, s.c = t, c
	do, ok := s.commands()[c.Name]
	switch {
	case !ok:
		c.Fatalf("no such command")
	case s.World == nil && c.Name != "cronjob" && c.Name != "steps":
		c.Fatalf("the story does not begin with a CronJob")
	}
	return do()
}

func (s *stage) commands() map[string]func() string {
	return map[string]func() string{
		// The CronJob and its users.
		"cronjob":  s.newCronJob, // a spec as input
		"edit":     s.edit,       // changes of the spec as input
		"steps":    s.steps,      // lines as input, as a kit prints them; the controller acts after each
		"options":  s.setOptions, // Options as input
		"combine":  s.combine,    // lines "also ..." and "except ..." as input
		"trigger":  s.trigger,    // ID [overlap=Forbid]
		"backfill": s.ask,        // ID after=TIME until=TIME [overlap=Allow] [max=N]

		// The controller. With fail=N the N-th write of the round fails, with lose=N its reply is
		// lost, and with crash=N the controller crashes before it and loses its memory.
		"round": s.round,
		"plan":  s.plan, // prints what a round would do

		// The jobs, named by their runs or IDs; "all" means all running jobs.
		"complete": func() string { return s.end(job.ConditionComplete) },
		"fail":     func() string { return s.end(job.ConditionFailed) },
		"delete":   s.remove,  // a user deletes a job
		"foreign":  s.foreign, // a job of another owner takes the name of a run

		// The time, and the state of the API server.
		"at":    s.at, // sets the time
		"state": s.State,
	}
}

func (s *stage) newCronJob() string {
	var spec cronjob.Spec
	s.c.Decode(&spec)
	s.World = world.NewCronJob(newCronJob(spec), cronjob.Options{})
	return ""
}

func (s *stage) edit() string {
	s.c.Decode(&s.CronJob.Spec)
	s.Schedule = cronjob.Compile(&s.CronJob)
	return ""
}

func (s *stage) setOptions() string {
	s.c.Decode(&s.Options)
	return ""
}

func (s *stage) combine() string {
	var opts []schedule.Option
	for line := range strings.Lines(s.c.Input) {
		switch word, spec, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "also":
			opts = append(opts, schedule.Also(spec))
		case "except":
			opts = append(opts, schedule.Except(spec))
		default:
			s.c.Fatalf("%q is neither also nor except", word)
		}
	}
	s.Schedule = cronjob.Compile(&s.CronJob, opts...)
	return s.Schedule.Message + s.Schedule.Schedule.Describe()
}

func (s *stage) trigger() string {
	s.Triggers = append(s.Triggers, cronjob.Trigger{ID: s.c.Word(0), Overlap: cronjob.ConcurrencyPolicy(s.c.String("overlap", ""))})
	return ""
}

func (s *stage) ask() string {
	s.Backfills = append(s.Backfills, cronjob.Backfill{
		ID: s.c.Word(0), After: s.time(s.c.String("after", "")), Until: s.time(s.c.String("until", "")),
		Overlap: cronjob.ConcurrencyPolicy(s.c.String("overlap", "Forbid")), MaxActive: int32(s.c.Int("max", 0)),
	})
	return ""
}

func (s *stage) round() string {
	wrong := map[int]world.Fault{s.c.Int("fail", 0): world.Fail, s.c.Int("lose", 0): world.LoseReply, s.c.Int("crash", 0): world.Crash}
	plan := reconcile(s.t, s.Snapshot())
	out, writes := plan.String(), 0
	if ended := carryOut(s.t, s.World, &plan, func() world.Fault {
		writes++
		return wrong[writes]
	}); !ended {
		out += fmt.Sprintf("crash before write %d\n", writes)
	}
	return out + s.State()
}

// steps carries out the lines of its input. The controller has its rounds after each line and while
// time passes. Then steps prints the state.
func (s *stage) steps() string {
	for text := range strings.Lines(s.c.Input) {
		c := s.c.Within(text)
		var err error
		if c.Name == "tick" {
			err = s.Pass(s.duration(c))
		} else {
			outer := s.c
			s.c = c
			do, ok := s.commands()[c.Name]
			if !ok {
				c.Fatalf("no such command")
			}
			do()
			s.c = outer
			err = s.Settle()
		}
		if err != nil {
			c.Fatalf("%v", err)
		}
	}
	return s.State()
}

func (s *stage) duration(c *golden.Command) time.Duration {
	d, err := time.ParseDuration(c.Word(0))
	if err != nil {
		c.Fatalf("%v", err)
	}
	return d
}

func (s *stage) plan() string {
	plan := reconcile(s.t, s.Snapshot())
	return plan.String()
}

// jobs returns the names of the command's jobs.
func (s *stage) jobs() []string {
	word := s.c.Word(0)
	if word == "all" {
		return s.Running()
	}
	name := cronjob.Naming{}.TriggerName("report", cronjob.Trigger{ID: word})
	if run, err := time.Parse(time.RFC3339, word); err == nil {
		name = cronjob.Naming{}.JobName("report", run)
	}
	if _, ok := s.Jobs[name]; !ok {
		s.c.Fatalf("there is no job %s", name)
	}
	return []string{name}
}

func (s *stage) end(how job.ConditionType) string {
	for _, name := range s.jobs() {
		s.Finish(name, how)
	}
	return ""
}

func (s *stage) remove() string {
	for _, name := range s.jobs() {
		delete(s.Jobs, name)
	}
	return ""
}

func (s *stage) foreign() string {
	s.AddForeign(s.time(s.c.Word(0)))
	return ""
}

func (s *stage) time(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		s.c.Fatalf("%v", err)
	}
	return t
}

func (s *stage) at() string {
	s.Now = s.time(s.c.Word(0))
	return ""
}

// TestSteps_Pasted: the steps that a kit has printed can be pasted into a story. Scripts and the
// page have the same test.
func TestSteps_Pasted(t *testing.T) {
	const of = "../internal/line/testdata"
	dir := t.TempDir()
	testfile.Write(t, "steps\n"+testfile.Read(t, of, "cronjob_steps.txt")+"----\n"+testfile.Read(t, of, "cronjob_end.txt"),
		dir, "pasted.txt")
	golden.Run(t, dir, func() golden.Story {
		s := &stage{}
		return s.play
	})
}
