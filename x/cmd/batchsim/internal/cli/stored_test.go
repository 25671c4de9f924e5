package cli

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/testfile"
)

var update = flag.Bool("update", false, "rewrite the stored outputs: explain each changed line")

// TestStored compares the output of the commands, and the files that they write, with stored ones.
func TestStored(t *testing.T) {
	const hour, spot = "testdata/hour.yaml", "../../testdata/spot.yaml"
	dir := t.TempDir()
	db := filepath.Join(dir, "sweep.sqlite")
	got := map[string]string{}
	for file, calls := range map[string][][]string{
		"run.txt": {{"run", hour}, {"run", day}, {"run", spot, "--until", "30m", "--seed", "3"}, {"run", "../../testdata/jobs.csv", "--set", "maxEvents=9"},
			{"run", hour, "--set", "load=[]"}},
		"why.txt": {{"why", hour, "render-0", "3m"}, {"why", hour, "render-1", "36m10s"}, {"why", hour, "render-1", "14m"}, {"why", hour, "backup", "37m"}, {"why", hour, "backup", "8m1s"}, {"why", render, "render", "0s"}},
		"studies.txt": {{"compare", render, "--variant", "one: jobs.parallelism=1", "--variant", "patient: options.backoff.base=1m", "--seeds", "3", "--seed", "5"},
			sweepArgs(db), sweepArgs(filepath.Join(dir, "half.sqlite"), "--shares", "2", "--share", "1", "--set",
				"nodes=[{count: 1}]"),
			{"manifest", "day.yaml", "--shares", "3", "--grid", "nodes.0.count=2|4", "--claim", "data", "--image", "registry.example/batchsim", "--name", "nodes",
				"--command", "/bin/batchsim", "--set", "jobs.parallelism=2", "--until", "8h", "--seed", "7", "--seeds", "5", "--db", "nodes.sqlite"}},
		// These are tables of studies/README.md.
		"gangs.txt": {{"compare", "../../studies/gangs/room.yaml", "--seeds", "5", "--variant", "one by one: options.gangs=false", "--variant", "gangs:",
			"--variant", "minCount 6: jobs.scheduling.schedulingPolicy.gang.minCount=6", "--variant", "quota: options.gangs=false quota={pods: 12}"}},
		"autoscaler.txt": {{"compare", "../../studies/autoscaler/day.yaml", "--seeds", "5", "--variant", "always there: nodes.0.autoscale=", "--variant", "autoscaler:",
			"--variant", "idle 1m: nodes.0.autoscale.idle=1m", "--variant", "two stay: nodes.0.autoscale.min=2"}},
		"help.txt": {{"-h"}, {"run", "-h"}, {"compare", "-h"}, {"sweep", "-h"}, {"merge", "-h"}, {"manifest", "-h"}, {"why", "-h"}},
	} {
		for _, args := range calls {
			out := strings.ReplaceAll(fmt.Sprintf("$ batchsim %s\n%s\n", strings.Join(args, " "), succeedOut(t, args...)), dir+string(filepath.Separator), "")
			got[file] += out
		}
	}
	plans, trace := filepath.Join(dir, "plans.jsonl"), filepath.Join(dir, "trace.json")
	succeed(t, "run", hour, "--until", "40m", "--set", "load.0.count=1", "--set", "nodes.0.count=1", "--plans", plans,
		"--trace", trace)
	checkTrace(t, trace, 20)
	got["plans.jsonl"], got["trace.json"] = testfile.Read(t, plans), testfile.Read(t, trace)
	for name, text := range got {
		file := filepath.Join("testdata", name)
		if *update {
			testfile.Write(t, text, file)
		}
		want := testfile.Read(t, file)
		if text == want {
			continue
		}
		have, wanted := strings.Split(text, "\n"), strings.Split(want, "\n")
		for i := range min(len(have), len(wanted)) {
			if have[i] != wanted[i] {
				t.Errorf("%s:%d: got\n%s\nwant\n%s", file, i+1, have[i], wanted[i])
				break
			}
		}
		t.Errorf("%s: %d lines, want %d (-update writes it)", file, len(have), len(wanted))
	}
}
