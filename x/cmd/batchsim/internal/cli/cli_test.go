package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest/mistakes"
	"github.com/batchplan/batchplan/x/cmd/internal/terminal"
)

// TestMistakes: the command reports the same mistakes in manifests as the other commands.
func TestMistakes(t *testing.T) {
	mistakes.Check(t, func() string {
		_, err := simulate(t, "run", "f.yaml")
		return fmt.Sprint(err)
	})
}

func simulate(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), args, terminal.NewWriter(&out), terminal.NewWriter(&out))
	return out.String(), err
}

// succeedOut is like succeed, but returns the standard output alone.
func succeedOut(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if err := run(t.Context(), args, terminal.NewWriter(&out), terminal.NewWriter(&errs)); err != nil {
		t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return out.String()
}

// succeed runs the command, which must not fail, and returns what it prints.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	out, err := simulate(t, args...)
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return out
}

const (
	day    = "../../testdata/day.yaml"
	render = "../../testdata/render.yaml"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	plans, trace := filepath.Join(dir, "plans.jsonl"), filepath.Join(dir, "trace.json")
	out := succeed(t, "run", day, "--out", dir, "--plans", plans, "--trace", trace)
	if !strings.Contains(out, "runs missed") || !strings.Contains(out, "pod events in") {
		t.Errorf("got %s", out)
	}
	for _, name := range []string{"report.html", "gantt.svg", "load.svg", "cronjobs.svg", "retries.svg"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 ||
			info.Mode().Perm()&0o111 != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	checkTrace(t, trace, 100)
	for line := range strings.Lines(testfile.Read(t, plans)) {
		var plan struct {
			At           float64
			Job, CronJob string
			Why          string
		}
		if err := json.Unmarshal([]byte(line), &plan); err != nil || plan.Why == "" ||
			plan.Job == "" == (plan.CronJob == "") {
			t.Fatalf("%s: %v", line, err)
		}
	}
}

// checkTrace checks that a trace has at least a number of events. If jobs overlap, they must be on
// different lines. So must the pods of a node.
func checkTrace(t *testing.T, file string, atLeast int) {
	t.Helper()
	var events []struct {
		Name, Cat, Ph string
		Ts, Dur       int64
		Pid, Tid      int
	}
	if err := json.Unmarshal([]byte(testfile.Read(t, file)), &events); err != nil || len(events) < atLeast {
		t.Errorf("the trace has %d events: %v", len(events), err)
	}
	free := map[[2]int]int64{}
	for _, e := range events {
		line := [2]int{e.Pid, e.Tid}
		if e.Cat == "run" || e.Ph != "X" {
			continue
		}
		if e.Ts < free[line]-1 { // microseconds; an event may be rounded by one
			t.Errorf("%s begins at %d on a line that is free at %d", e.Name, e.Ts, free[line])
		}
		free[line] = e.Ts + e.Dur
	}
}

func TestRun_SameSeedSameText(t *testing.T) {
	text := func(args ...string) string {
		var out, errs bytes.Buffer // out has no text about how fast the run was
		if status := Main(t.Context(), append([]string{"run", day}, args...), &out, &errs); status != 0 ||
			!strings.Contains(errs.String(), " a second\n") {
			t.Fatal(status, &errs)
		}
		return out.String()
	}
	if a := text(); a != text() || a == text("--seed", "2") {
		t.Error("the seed does not decide")
	}
}

func TestRun_StopsAtUntil(t *testing.T) {
	out := succeed(t, "run", render, "--until", "5m")
	if !strings.Contains(out, "still open: 1 job, 0 pods pending, 4 running: render; render waits: 4 active pods not finished") {
		t.Errorf("got %s", out)
	}
}

func TestWhy(t *testing.T) {
	out := succeed(t, "why", day, "backup-3", "8h10m1s")
	for _, want := range []string{"backup-3, round at 8h10m0s", "knew:\n  status", "decided:\n", "missed", "wrote:"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in %s", want, out)
		}
	}
	// After "knew", the output has the state from which the round was planned. After "wrote", it
	// has what the round wrote.
	out = succeed(t, "why", render, "render", "1ms")
	if _, after, _ := strings.Cut(out, "knew:\n  status"); !strings.HasPrefix(after, " active=0") ||
		!strings.Contains(after, "wrote:\n  status active=4") {
		t.Errorf("got %s", out)
	}
	if _, err := simulate(t, "why", day, "nobody", "1h"); err == nil ||
		!strings.Contains(err.Error(), "nobody has not been planned up to 1h0m0s; among others there are") {
		t.Errorf("got %v", err)
	}
}

func TestCompare(t *testing.T) {
	dir := t.TempDir()
	args := []string{"compare", render, "--variant", "few: jobs.parallelism=2", "--variant", "many: jobs.parallelism=12", "--seeds", "4"}
	one, two := succeed(t, append(args, "--cores", "1", "--out", dir)...), succeed(t, append(args, "--cores", "2")...)
	if one != two || !strings.Contains(one, "4 seeds") || !strings.Contains(one, "±") {
		t.Errorf("one core:\n%s\ntwo:\n%s", one, two)
	}
	data, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil || bytes.Count(data, []byte("<svg")) < 3 {
		t.Errorf("the report lacks pictures: %v", err)
	}
}

// sweepArgs returns the arguments of a sweep over a grid of four points with two seeds each.
func sweepArgs(db string, more ...string) []string {
	return append([]string{"sweep", render, "--grid", "jobs.parallelism=2|6", "--grid", "jobs.backoffLimitPerIndex=0|3",
		"--seeds", "2", "--db", db, "--show", "makespan,pods failed"}, more...)
}

func TestSweep_SharesAreMerged(t *testing.T) {
	dir := t.TempDir()
	whole := succeed(t, sweepArgs(filepath.Join(dir, "whole.sqlite"))...)
	if strings.Count(whole, "jobs.parallelism=") != 4 || strings.Contains(whole, "missing") {
		t.Errorf("got %s", whole)
	}
	var parts []string
	for share := range 3 {
		t.Setenv("JOB_COMPLETION_INDEX", fmt.Sprint(share))
		succeed(t, sweepArgs(filepath.Join(dir, "part.sqlite"), "--shares", "3")...)
		parts = append(parts, filepath.Join(dir, fmt.Sprintf("part-%d.sqlite", share)))
	}
	t.Setenv("JOB_COMPLETION_INDEX", "")
	merged := filepath.Join(dir, "merged.sqlite")
	if _, err := simulate(t, append([]string{"merge", merged}, parts[:2]...)...); err == nil ||
		!strings.Contains(err.Error(), merged+": 2 runs missing") {
		t.Errorf("two of three parts: %v", err)
	}
	if out := succeed(t, append([]string{"merge", merged}, parts...)...); !strings.Contains(out, "complete") {
		t.Errorf("got %s", out)
	}
	one := testfile.Read(t, dir, "whole.sqlite")
	if joined := testfile.Read(t, merged); joined != one {
		t.Errorf("the merged file differs from the file of one process: %d and %d bytes", len(joined), len(one))
	}
	// A sweep with that file has nothing left to do, and prints the same table.
	if again := succeed(t, sweepArgs(merged)...); again != whole {
		t.Errorf("merged:\n%s\nwhole:\n%s", again, whole)
	}
}

// Spot nodes cost less and take longer. The comparison reports both.
func TestSpot(t *testing.T) {
	out := succeed(t, "compare", "../../testdata/spot.yaml", "--seeds", "3",
		"--variant", "spot:", "--variant", "on demand: nodes.0.price=0.10 nodes.0.preempted=0/h")
	for _, metric := range []string{"cost of busy nodes ", "nodes lost ", "evictions ", "jobs complete "} {
		if !strings.Contains(out, metric) {
			t.Errorf("no %s in\n%s", metric, out)
		}
	}
	if _, err := simulate(t, "run", "../../testdata/spot.yaml", "--set", "nodes.0.preempted=5"); err == nil ||
		!strings.Contains(err.Error(), `"5" is not a rate such as 5%/h`) {
		t.Errorf("got %v", err)
	}
}

func TestSweep_RefusesTheFileOfAnother(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.sqlite")
	succeed(t, sweepArgs(db)...)
	if _, err := simulate(t, sweepArgs(db, "--seed", "9")...); err == nil ||
		!strings.Contains(err.Error(), "another sweep") {
		t.Errorf("got %v", err)
	}
	other := filepath.Join(t.TempDir(), "other.sqlite")
	succeed(t, sweepArgs(other, "--seed", "9")...)
	if _, err := simulate(t, "merge", filepath.Join(t.TempDir(), "both.sqlite"), db, other); err == nil ||
		!strings.Contains(err.Error(), other+": is part of another sweep than ") {
		t.Errorf("got %v", err)
	}
	if _, err := simulate(t, "merge", db, render); err == nil ||
		!strings.Contains(err.Error(), "is not the result of a sweep") {
		t.Errorf("got %v", err)
	}
}

// When a sweep is complete, its points are drawn, even if it was complete before the command.
func TestSweep_Report(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "x.sqlite")
	succeed(t, sweepArgs(db, "--shares", "2", "--share", "0", "--out", filepath.Join(dir, "part"))...)
	if _, err := os.Stat(filepath.Join(dir, "part")); err == nil {
		t.Error("half of a sweep was drawn")
	}
	for range 2 {
		succeed(t, sweepArgs(db, "--out", filepath.Join(dir, "report"))...)
		data, err := os.ReadFile(filepath.Join(dir, "report", "report.html"))
		if err != nil || !bytes.Contains(data, []byte("jobs.parallelism=6 jobs.backoffLimitPerIndex=3")) ||
			bytes.Count(data, []byte("<svg")) < 3 {
			t.Errorf("%v: %d bytes with %d pictures", err, len(data), bytes.Count(data, []byte("<svg")))
		}
		must.OK(t, os.RemoveAll(filepath.Join(dir, "report")))
	}
}

func TestBadArguments(t *testing.T) {
	for want, args := range map[string][]string{
		"--variant: at least one":                                     {"compare", render},
		"expected a name, a colon":                                    {"compare", render, "--variant", "x"},
		"--seeds 0: must be at least 1":                               {"compare", render, "--variant", "x:", "--seeds", "0"},
		"expected PATH=VALUE|VALUE":                                   {"sweep", render, "--grid", "x"},
		"share 7: must be from 0 to 1":                                {"sweep", render, "--shares", "2", "--share", "7"},
		"expected PATH=VALUE":                                         {"run", render, "--set", "x"},
		"--until -1s: must not be negative":                           {"run", render, "--until", "-1s"},
		"until: is required with CronJobs":                            {"run", "../../testdata/backup.yaml"},
		"\"nodes\" is not a place":                                    {"run", day, "--set", "load.nodes=1"},
		"no such file":                                                {"run", "none.yaml"},
		"TIME \"x\" is not a duration":                                {"why", day, "a", "x"},
		"--shares: at least 2":                                        {"manifest", day},
		"is a scenario already":                                       {"run", day, day},
		"jobs.backofLimit: no such field; did you mean backoffLimit?": {"run", day, "--set", "jobs.backofLimit=0"},
		"variant x: ../../testdata/day.yaml:2: jobs.paralelism: no such field; did you mean parallelism?": {"compare", day, "--variant", "x: jobs.paralelism=1"},
		"jobs.template.spec.restartpolicy: no such field; did you mean restartPolicy":                     {"sweep", day, "--grid", "jobs.template.spec.restartpolicy=Never|OnFailure"},
		"cronJobs.timezone: no such field; did you mean timeZone?":                                        {"run", day, "--set", "cronJobs.timezone=UTC"},
		"nodes.0.cuont: no such field; did you mean count?":                                               {"run", day, "--set", "nodes.0.cuont=3"},
		"zone: no such field; there are controlPlane, cronJobs":                                           {"run", day, "--set", "zone=3"},
		"durration: no such value; did you mean duration?":                                                {"run", day, "--set", "pods.0.durration=3s"},
		"jobs: json: cannot unmarshal string":                                                             {"run", day, "--set", "jobs.backoffLimit=many"},
	} {
		if _, err := simulate(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %s", args, err, want)
		}
	}
}

// A value in the settings of a variant may contain blanks.
func TestSplitSettings(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                 nil,
		" a=1 b.0.c=2 ":                    {"a=1", "b.0.c=2"},
		"s.x=0 5 * * *  u=uniform(1s, 2s)": {"s.x=0 5 * * *", "u=uniform(1s, 2s)"},
		"a= b=":                            {"a=", "b="},
		"a=[{x: y, z: 1}] b={}":            {"a=[{x: y, z: 1}]", "b={}"},
		"a=x<=3":                           {"a=x<=3"},
		"word a=1":                         {"word", "a=1"},
	} {
		if have := splitSettings(text); !slices.Equal(have, want) {
			t.Errorf("%q: %q, want %q", text, have, want)
		}
	}
}
