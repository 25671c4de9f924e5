package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
)

// examplePlanner is a planner of jobs in Python.
const examplePlanner = "../../../examples/planner/planner.py"

// examine lets jobcheck ask a planner in Python. It returns the rules that are broken, and the last
// line of the output.
func examine(t *testing.T, planner string, questions int) (broken, summary string) {
	t.Helper()
	program, err := exec.LookPath("python3")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("python3 is not installed")
	}
	must.OK(t, err)
	var out, says bytes.Buffer
	c := exec.Command(os.Args[0], "-questions", fmt.Sprint(questions), "-seed", "1", "--", program, planner)
	c.Env, c.Stdout, c.Stderr = append(os.Environ(), asProgram+"=1"), &out, &says
	if err := c.Run(); c.ProcessState == nil || c.ProcessState.ExitCode() > 1 {
		t.Fatalf("%v\n%s", err, &says)
	}
	return out.String(), says.String()
}

func TestPython(t *testing.T) {
	broken, summary := examine(t, examplePlanner, 1100)
	if broken != "" {
		t.Errorf("%s%s", broken, summary)
	}
	var plans, statuses int
	counts := regexp.MustCompile(`plans: \d+, statuses: \d+`).FindString(summary)
	if _, err := fmt.Sscanf(counts, "plans: %d, statuses: %d", &plans, &statuses); err != nil || plans < 400 ||
		statuses < 400 {
		t.Errorf("want 400 plans and statuses: %s (%v)", summary, err)
	}
}

// TestPython_Wrong: mistakes of a planner are found.
func TestPython_Wrong(t *testing.T) {
	text := testfile.Read(t, examplePlanner)
	for rule, change := range map[string][2]string{
		"JI10": {"missing = parallelism -", "missing = parallelism + 1 -"},
		"JI21": {"return due if due > time_of(self.now) else None", "return None"},
		"JI7":  {"if i not in taken", "if True"},
	} {
		if !strings.Contains(text, change[0]) {
			t.Fatalf("planner.py has no %q", change[0])
		}
		planner := filepath.Join(t.TempDir(), "planner.py")
		must.OK(t, os.WriteFile(planner, []byte(strings.Replace(text, change[0], change[1], 1)), 0o600))
		if broken, summary := examine(t, planner, 200); !strings.Contains(broken, `"`+rule+`"`) {
			t.Errorf("%s is not found: %s%s", rule, broken, summary)
		}
	}
}
