package play

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
)

var update = flag.Bool("update", false, "rewrite the stories that are exported from examples")

// TestExportedStories: the exported stories of some examples are also stories in the planners'
// tests. So exported stories can be played, and the planner decides the same in them.
func TestExportedStories(t *testing.T) {
	for _, test := range []struct{ title, file, comment string }{
		{"Failure policy", "job/testdata/failure_policy/guided.txt", "J10 J21: the guided example of the page, as it is exported."},
		{"Backoff per index", "job/testdata/index_backoff/guided.txt", "J18 J24: the guided example of the page, as it is exported."},
		{"CronJob: Forbid", "cronjob/testdata/forbid/guided.txt", "C9 C11: the guided example of the page, as it is exported."},
		{"CronJob: catch-up after an outage", "cronjob/testdata/due/guided.txt", "C7 C9: the guided example of the page, as it is exported."},
		{"CronJob: Replace", "cronjob/testdata/replace/guided.txt", "C12: the guided example of the page, as it is exported."},
		{"CronJob: suspend and resume", "cronjob/testdata/suspend/guided.txt", "C2 C6: the guided example of the page, as it is exported."},
	} {
		file := filepath.Join("../../../../..", test.file)
		s := example(t, test.title)
		story, err := s.Story(len(s.Steps))
		must.OK(t, err)
		got := "# " + test.comment + "\n\n" + strings.TrimSuffix(story, "\n")
		if *update {
			testfile.Write(t, got, file)
		}
		if got != testfile.Read(t, file) {
			t.Errorf("%s: the exported story differs from %s; with -update it is rewritten:\n%s", test.title,
				test.file, got)
		}
	}
}

func example(t *testing.T, title string) *Script {
	t.Helper()
	for i := range Examples {
		if Examples[i].Title == title {
			return &Examples[i]
		}
	}
	t.Fatalf("no example %q", title)
	return nil
}

// TestPasted: the steps that a test kit has printed can be pasted instead of a manifest. The life
// then ends in the state that is stored beside the steps.
func TestPasted(t *testing.T) {
	const of = "../../../../../internal/line/testdata"
	paste := func(name string) Life {
		lines := strings.Split(strings.TrimSpace(testfile.Read(t, of, name)), "\n")
		return play(t, &Script{Manifest: lines[0], Steps: lines[1:]}) // as play.js does
	}
	got := paste("steps.txt").(*Job).world.Job.Status.String() + "\n"
	if want := testfile.Read(t, of, "end.txt"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	got = paste("cronjob_steps.txt").(*CronJob).world.State()
	if want := testfile.Read(t, of, "cronjob_end.txt"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
