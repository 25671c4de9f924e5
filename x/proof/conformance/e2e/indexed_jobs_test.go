package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
)

// testIndexedJobs runs a sweep and the search as Indexed Jobs of four indexes, whose pods are
// processes. Index 2 is killed the first time and retried. The merged results of all indexes are
// what one process writes, byte for byte.
func testIndexedJobs(t *testing.T, c *cluster) {
	p := c.newPlace(t)
	p.start(p.config())
	build := func(name, dir, from string) func(dir string, args ...string) string {
		program := filepath.Join(c.kubelet.node, name)
		output(t, dir, "go", "build", "-o", program, from)
		return func(dir string, args ...string) string { return output(t, dir, program, args...) }
	}
	manifests := map[string]string{
		"search": testfile.Read(t, "../../explore/run/search.yaml"),
		"rounds": testfile.Read(t, "../rounds/rounds.yaml"), "scripts": testfile.Read(t, "../scripts.yaml"),
	}
	for name, manifest := range manifests {
		if _, err := p.BatchV1().Jobs(p.namespace).Create(t.Context(), p.jobIn(manifest), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			t.Errorf("%s.yaml: %v", name, err)
		}
	}

	explore := build("explore", "../..", "./explore/run")
	small := strings.Replace(manifests["search"], "-size=large", "-depth=3", 1) // seconds instead of hours
	dir := p.runShares(small, "search")
	merged := explore(dir, "-merge", "search-0.txt", "search-1.txt", "search-2.txt", "search-3.txt")
	if whole := explore(dir, "-brief", "-depth=3"); merged != whole || strings.Count(whole, "\n") < 20 {
		t.Errorf("the search, merged:\n%s\nin one process:\n%s", merged, whole)
	}

	simulate := build("batchsim", "../../../cmd/batchsim", ".")
	studies := p.claim("studies")
	testfile.Write(t, testfile.Read(t, "../../../cmd/batchsim/testdata/render.yaml"), studies, "render.yaml")
	sweep := func(command, db string, more ...string) string {
		args := []string{command, "render.yaml", "--grid", "jobs.parallelism=2|6", "--grid", "jobs.backoffLimitPerIndex=0|3", "--seeds", "2", "--db", db}
		return simulate(studies, append(args, more...)...)
	}
	p.runShares(sweep("manifest", "part.sqlite", "--shares", "4", "--claim", "studies"), "studies")
	simulate(studies, "merge", "merged.sqlite", "part-0.sqlite", "part-1.sqlite", "part-2.sqlite", "part-3.sqlite")
	whole := sweep("sweep", "whole.sqlite")
	if strings.Count(whole, "jobs.parallelism=") != 4 {
		t.Errorf("the sweep has not four points:\n%s", whole)
	}
	one, joined := testfile.Read(t, studies, "whole.sqlite"), testfile.Read(t, studies, "merged.sqlite")
	if joined != one {
		t.Errorf("the merged file of the sweep differs from the file of one process: %d and %d bytes", len(joined), len(one))
	}
}

// jobIn reads a Job, and gives it to the controller under test.
func (p *place) jobIn(manifest string) *batchv1.Job {
	p.Helper()
	j := &batchv1.Job{}
	must.OK(p.T, yaml.UnmarshalStrict([]byte(manifest), j))
	j.Spec.ManagedBy = pointTo(name)
	return j
}

// claim returns the folder of a claim.
func (p *place) claim(name string) string {
	p.Helper()
	dir := filepath.Join(p.kubelet.node, p.namespace, name)
	must.OK(p.T, os.MkdirAll(dir, 0o755))
	return dir
}

// runShares runs the Job of a manifest with four indexes, of which one is killed, and returns the
// folder of its claim.
func (p *place) runShares(manifest, claim string) (dir string) {
	p.Helper()
	dir = p.claim(claim)
	j := p.jobIn(manifest)
	j.Spec.Template.Annotations = map[string]string{exitsAnnotation: "x,x,kx,x"}
	p.create(j)
	p.awaitSuccess(j.Name, 4, 1)
	return dir
}

func output(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}
