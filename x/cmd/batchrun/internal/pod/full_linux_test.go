package pod

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// If the disk has no room, a supervisor begins nothing. Its exit status asks for another attempt.
func TestNoRoomToBegin(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=256k,mode=0700"); err != nil {
		if errors.Is(err, unix.EPERM) {
			t.Skip("only root can mount")
		}
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	folder := Folder(filepath.Join(disk, "pod"))
	c := shell("a", jobpod.App, "echo a >> trace")
	c.Env = []string{"PATH=" + os.Getenv("PATH")}
	spec, err := json.Marshal(Spec{UID: "no-room", RestartPolicy: "Never", Containers: []ContainerSpec{c}})
	must.OK(t, err)
	must.OK(t, folder.Prepare(spec))
	filler, err := os.Create(filepath.Join(disk, "filler"))
	must.OK(t, err)
	for err == nil {
		_, err = filler.Write(make([]byte, 4096))
	}
	if filler.Close(); !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	cmd, err := Command(folder, best())
	must.OK(t, err)
	if _ = cmd.Run(); cmd.ProcessState.ExitCode() != ExitTryAgain {
		t.Errorf("exit status %d", cmd.ProcessState.ExitCode())
	}
	if _, begun, err := folder.State(); begun || err != nil {
		t.Errorf("begun %v, %v", begun, err)
	}
	must.OK(t, os.Remove(filler.Name()))
	launch(t, folder)()
	if s := final(t, folder); s.Phase != job.PodSucceeded || work(t, folder, "trace") != "a\n" {
		t.Errorf("%+v", s)
	}
}
