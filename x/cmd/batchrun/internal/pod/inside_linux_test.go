package pod

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// No path that a manifest can name leads out of a pod's folder, neither by dots nor by links.
// Nothing is created outside of the folder, and the container does not start.
func TestPathsStayInside(t *testing.T) {
	for _, path := range []string{"../x", "../../x", "a/../../x", "out/x", "out", "out/../x", "deep/out/x"} {
		for _, field := range []struct {
			name string
			set  func(c *ContainerSpec)
		}{
			{"workingDir", func(c *ContainerSpec) { c.Dir = path }},
			{"mountPath", func(c *ContainerSpec) { c.Mounts = []Mount{{Volume: "v", Path: path}} }},
			{"subPath", func(c *ContainerSpec) { c.Mounts = []Mount{{Volume: "v", SubPath: path, Path: "here"}} }},
			{"volume", func(c *ContainerSpec) { c.Mounts = []Mount{{Volume: path, Path: "here"}} }},
		} {
			if field.name == "mountPath" && path == "out" || path == "out/../x" {
				continue // the name "out" is taken, and "out/../x" is not outside
			}
			t.Run(field.name+" "+strings.ReplaceAll(path, "/", ":"), func(t *testing.T) {
				t.Parallel()
				c := shell("a", jobpod.App, "echo ran > ran")
				folder := prepare(t, "Never", c)
				outside := filepath.Join(filepath.Dir(string(folder)), "outside")
				for _, root := range []string{folder.Work(), folder.path("volumes"), folder.path("volumes", "v")} {
					must.OK(t, os.MkdirAll(filepath.Join(root, "deep"), 0o700))
					for _, link := range []string{"out", "deep/out"} {
						must.OK(t, os.Symlink(outside, filepath.Join(root, link)))
					}
				}
				must.OK(t, os.Mkdir(outside, 0o700))
				spec, err := folder.readSpec()
				must.OK(t, err)
				field.set(&spec.Containers[0])
				writeSpec(t, folder, spec)
				launch(t, folder)()
				if s := final(t, folder); s.Phase != job.PodFailed || s.Containers[0].Reason != ReasonStartError {
					t.Errorf("%+v", s)
				}
				if left, _ := os.ReadDir(outside); len(left) > 0 {
					t.Errorf("made outside: %v", left)
				}
				entries, _ := os.ReadDir(filepath.Dir(outside))
				for _, e := range entries {
					if e.Name() != "outside" && e.Name() != "pod" {
						t.Errorf("made outside: %s", e.Name())
					}
				}
			})
		}
	}
}

// One container leaves a link in a volume. The mount point of another container is then not created
// on the machine itself.
func TestMountsStayInside(t *testing.T) {
	machine := t.TempDir()
	first := shell("i", jobpod.Init, "ln -s "+machine+" /batchplan-data/out")
	first.Mounts = []Mount{{Volume: "v", Path: "/batchplan-data"}}
	second := shell("a", jobpod.App, "echo x > /batchplan-data/out/new/file; ls "+machine+" > seen")
	second.Mounts = []Mount{{Volume: "v", Path: "/batchplan-data"}, {Volume: "w", Path: "/batchplan-data/out/new"}}
	folder := prepare(t, "Never", first, second)
	launch(t, folder)()
	if s := final(t, folder); s.Phase != job.PodSucceeded {
		t.Errorf("%+v", s)
	}
	if left, err := os.ReadDir(machine); err != nil || len(left) > 0 {
		t.Errorf("made on the machine: %v, %v", left, err)
	}
	if seen := work(t, folder, "seen"); seen != "new\n" {
		t.Errorf("the container sees %q", seen)
	}
	if data, err := os.ReadFile(folder.path("volumes", "w", "file")); err != nil || string(data) != "x\n" {
		t.Errorf("the volume holds %q, %v", data, err)
	}
}

// If a manifest drops rights, the container does not have them, and its children cannot get them
// back.
func TestRightsAreGivenUp(t *testing.T) {
	c := shell("a", jobpod.App, "grep -E '^(Cap(Prm|Eff|Bnd)|NoNewPrivs)' /proc/self/status > status")
	c.NoNewPrivileges, c.Drop = true, []int{0, 13}
	folder := prepare(t, "Never", c)
	launch(t, folder)()
	status := map[string]string{}
	for line := range strings.Lines(work(t, folder, "status")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		status[name] = strings.TrimSpace(value)
	}
	if status["NoNewPrivs"] != "1" || len(status) != 4 {
		t.Errorf("%v", status)
	}
	if os.Geteuid() != 0 {
		return
	}
	for _, set := range []string{"CapPrm", "CapEff", "CapBnd"} {
		if v := status[set]; !strings.HasSuffix(v, "dffe") && !strings.HasSuffix(v, "5ffe") {
			t.Errorf("%s is %s", set, v)
		}
	}
}
