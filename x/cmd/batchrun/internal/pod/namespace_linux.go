package pod

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/private"
)

// execCommand starts this program as the helper of a container. The helper sets up mounts first.
const execCommand = "__exec"

// helperInput is what the helper does before it becomes the container.
type helperInput struct {
	Argv  []string `json:"argv,omitempty"`
	Dir   string   `json:"dir,omitempty"`
	Stage string   `json:"stage,omitempty"`
	Binds []bind   `json:"binds,omitempty"`
	// NoNewPrivileges and Drop are those of the container's ContainerSpec.
	NoNewPrivileges bool  `json:"noNewPrivileges,omitempty"`
	Drop            []int `json:"drop,omitempty"`
}

// ProbeIsolation finds out how processes can have their own mounts here. It works in the folder
// scratch.
func ProbeIsolation(scratch string) (Isolation, error) {
	source, stage := filepath.Join(scratch, "source"), filepath.Join(scratch, "stage")
	for _, dir := range []string{source, stage} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
	}
	in := helperInput{Stage: stage, Binds: []bind{{Source: source, Target: "/.batchplan-probe/a"}}}
	var problems []error
	for _, way := range []Isolation{OwnMounts, UserMounts} {
		cmd, err := helper(in, way)
		if err != nil {
			return "", err
		}
		if err = probe(cmd); err == nil {
			return way, nil
		}
		problems = append(problems, fmt.Errorf("%s namespace: %w", way, err))
	}
	return "", errors.Join(problems...)
}

func probe(cmd *exec.Cmd) error {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	cmd.Stdout, cmd.Stderr = null, null
	if err := startCommand(cmd); err != nil {
		return err
	}
	return cmd.Wait()
}

// wrappedCommand returns the helper for a command. The helper mounts and gives up rights before it
// becomes the container.
func wrappedCommand(cmd *exec.Cmd, c *ContainerSpec, binds []bind, folder Folder, way Isolation) (*exec.Cmd, error) {
	in := helperInput{Argv: cmd.Args, Dir: cmd.Dir, Stage: folder.path("root"), Binds: binds,
		NoNewPrivileges: c.NoNewPrivileges, Drop: c.Drop}
	if len(binds) > 0 {
		if err := folder.makeStage(); err != nil {
			return nil, err
		}
	}
	out, err := helper(in, way)
	if err != nil {
		return nil, err
	}
	out.Env = cmd.Env
	return out, nil
}

// makeStage creates the folder on which the container's view of the file system is prepared.
func (f Folder) makeStage() error {
	root, err := f.open()
	if err != nil {
		return err
	}
	defer root.Close()
	return private.MkdirAll(root, "root")
}

func helper(in helperInput, way Isolation) (*exec.Cmd, error) {
	data, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	// The program's file may have been removed meanwhile. The link still leads to it.
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{execCommand, string(data)}}
	attr := &syscall.SysProcAttr{}
	if len(in.Binds) > 0 {
		attr.Cloneflags = unix.CLONE_NEWNS
	}
	if len(in.Binds) > 0 && way == UserMounts {
		ownUser(attr)
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT}
	}
	cmd.SysProcAttr = attr
	return cmd, nil
}

// runHelper mounts, and then becomes the container. It returns only if it fails, or in a probe,
// which has no command.
func runHelper(input string) error {
	const reportFD = 3
	unix.CloseOnExec(reportFD)
	err := mountAndExec(input)
	if err != nil {
		_, _ = os.NewFile(reportFD, "report").WriteString(err.Error())
	}
	return err
}

func mountAndExec(input string) error {
	var in helperInput
	if err := json.Unmarshal([]byte(input), &in); err != nil {
		return err
	}
	if err := mountAll(in.Stage, in.Binds); err != nil {
		return err
	}
	if len(in.Argv) == 0 {
		return nil
	}

	if err := os.Chdir(in.Dir); err != nil {
		return err
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	if err := giveUp(in.Drop, in.NoNewPrivileges); err != nil {
		return fmt.Errorf("give up rights: %w", err)
	}

	path, err := lookPath(in.Argv[0], os.Environ(), in.Dir)
	if err != nil {
		return err
	}
	return fmt.Errorf("start %q: %w", path, syscall.Exec(path, in.Argv, os.Environ()))
}

func mountAll(stage string, binds []bind) error {
	if len(binds) == 0 {
		return nil
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	v := view{stage: stage}
	for _, b := range binds {
		if err := v.bind(b); err != nil {
			return fmt.Errorf("mount %q: %w", b.Target, err)
		}
	}
	return nil
}

// giveUp drops capabilities of this process, including those that it could gain. If this process
// may not drop the ones that it could gain, giveUp sets no_new_privs, which keeps it from gaining
// any.
func giveUp(drop []int, noNew bool) error {
	if len(drop) > 0 {
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var sets [2]unix.CapUserData
		if err := unix.Capget(&header, &sets[0]); err != nil {
			return err
		}

		for _, c := range drop {
			err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
			noNew = noNew || errors.Is(err, unix.EPERM)
			if err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EINVAL) { // unknown to this kernel
				return err
			}

			set, bit := &sets[c/32], uint32(1)<<(c%32)
			set.Effective, set.Permitted, set.Inheritable = set.Effective&^bit, set.Permitted&^bit, set.Inheritable&^bit
		}

		if err := unix.Capset(&header, &sets[0]); err != nil {
			return err
		}
	}
	if noNew {
		return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	return nil
}

// view is the file system as seen by one container.
type view struct {
	stage string
	// replaced has the folders that a folder in memory replaces. volumes has the mounted volumes. A
	// missing mount point can be created directly in a replaced folder, and anywhere in a volume.
	// Elsewhere it would be created on the machine itself.
	replaced, volumes []string
}

// bind mounts the source at the target. If the target is missing, bind does not create it on the
// machine itself. Instead, for this container, a folder in memory replaces the deepest existing
// folder above the target. The folder in memory has the same entries and the mount point.
func (v *view) bind(b bind) error {
	above := b.Target
	for {
		if _, err := os.Stat(above); err == nil {
			break
		} else if !errors.Is(err, os.ErrNotExist) {
			return err
		}
		above = filepath.Dir(above)
	}

	// Another container may have created a link in a volume. The link must not lead out of
	// this container's own folders.
	real, err := filepath.EvalSymlinks(above)
	if err != nil {
		return err
	}

	b.Target, above = filepath.Join(real, strings.TrimPrefix(b.Target, above)), real
	if above != b.Target {
		if !slices.Contains(v.replaced, above) && !v.insideVolume(above) {
			if err := v.replace(above); err != nil {
				return fmt.Errorf("replace %q: %w", above, err)
			}
		}
		if err := os.MkdirAll(b.Target, 0o755); err != nil {
			return err
		}
	}

	if err := unix.Mount(b.Source, b.Target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	v.volumes = append(v.volumes, b.Target)
	if b.ReadOnly {
		return unix.Mount("", b.Target, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
	}
	return nil
}

func (v *view) insideVolume(path string) bool {
	return slices.ContainsFunc(v.volumes, func(dir string) bool { return strings.HasPrefix(path+"/", dir+"/") })
}

// replace mounts a folder in memory over dir. The folder has the same entries as dir.
func (v *view) replace(dir string) error {
	if err := unix.Mount("tmpfs", v.stage, "tmpfs", 0, "mode=0755"); err != nil {
		return err
	}

	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := mirror(filepath.Join(dir, e.Name()), filepath.Join(v.stage, e.Name()), e.Type()); err != nil {
			return err
		}
	}

	v.replaced = append(v.replaced, dir)
	if dir != "/" {
		return unix.Mount(v.stage, dir, "", unix.MS_MOVE, "")
	}

	if err := os.Chdir(v.stage); err != nil {
		return err
	}
	if unix.PivotRoot(".", ".") == nil {
		return unix.Unmount(".", unix.MNT_DETACH)
	}
	// Some root folders cannot be replaced, such as an initramfs. Then the folder in memory is
	// mounted over the root folder.
	if err := unix.Mount(".", "/", "", unix.MS_MOVE, ""); err != nil {
		return err
	}
	if err := unix.Chroot("."); err != nil {
		return err
	}
	return os.Chdir("/")
}

// mirror makes an entry appear at another place.
func mirror(from, to string, kind os.FileMode) error {
	switch {
	case kind&os.ModeSymlink != 0:
		link, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(link, to)
	case kind.IsDir():
		if err := os.Mkdir(to, 0o755); err != nil {
			return err
		}
	default:
		f, err := os.Create(to)
		if err != nil {
			return err
		}
		f.Close()
	}
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("show %q: %w", from, err)
	}
	return nil
}
