package costs

import (
	"flag"
	"os"
	"testing"

	"github.com/batchplan/batchplan/x/proof/conformance/theirs"
)

var (
	onServer  = flag.Bool("server", false, "measure on a real API server")
	pods      = flag.Int("pods", 100, "pods that run, and to which little happens")
	finishing = flag.Int("finishing", 50, "pods that end together")
	jobs      = flag.Int("jobs", 30, "jobs to run to completion")
	crowd     = flag.Int("crowd", 100, "jobs of ten running pods that exist when a side starts")
	repeat    = flag.Int("repeat", 1, "how often everything is measured")
	profiles  = flag.String("profiles", "", "folder for processor profiles of each phase")
)

// TestMain runs the tests, or one side of the comparison in a process of its own. Parallel tests
// mostly wait, so all of them may run at the same time.
func TestMain(m *testing.M) {
	theirs.Quiet()
	if text := os.Getenv(sideVariable); text != "" {
		os.Exit(beSide(text))
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "40"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
