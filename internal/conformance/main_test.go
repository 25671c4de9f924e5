package conformance

import (
	"os"
	"testing"

	"github.com/batchplan/batchplan/internal/conformance/ours"
	"github.com/batchplan/batchplan/internal/conformance/script"
	"github.com/batchplan/batchplan/internal/conformance/theirs"
)

func TestMain(m *testing.M) {
	theirs.Quiet()
	code := m.Run()
	if longRun != nil {
		longRun.conclude()
	}
	os.Exit(code)
}

const template = `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i"}]}}`

func TestFirst(t *testing.T) {
	s, err := script.Parse(`
job {"parallelism":2,"completions":3,"completionMode":"Indexed",` + template + `}
run all
wait 2s
exit 0 1
wait 30s
run all
exit all 0
wait 2s
exit all 0
wait 2s
exit all 0
wait 20s
`)
	if err != nil {
		t.Fatal(err)
	}
	r := Play(t, s, ours.Kubernetes136())
	t.Log(r.Steps)
	if r.Difference != "" {
		t.Error(r.Difference)
	}
}
