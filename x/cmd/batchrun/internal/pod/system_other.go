//go:build !linux

package pod

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// errSystem is the reason why pods do not run here. Processes could be started. But if a supervisor
// died, its containers would continue beside their replacements.
var errSystem = fmt.Errorf("pods run on Linux only: on %s nothing would end all processes of a container if its "+
	"supervisor were killed", runtime.GOOS)

const superviseLock = "lock"

// Available returns why pods cannot run on this system.
func Available() error { return errSystem }

// Main does nothing here: no process of this program is a supervisor.
func Main() {}

// ExitTryAgain is the exit status of a supervisor that could not begin for a temporary
// reason.
const ExitTryAgain = 75

// Command returns the same error as Available. So do the other functions that need a supervisor.
func Command(Folder, Containment) (*exec.Cmd, error) { return nil, errSystem }

// ProbeContainment returns the same error as Available.
func ProbeContainment(Containment) error { return errSystem }

// ProbeIsolation returns the same error as Available.
func ProbeIsolation(string) (Isolation, error) { return "", errSystem }

// Alive returns false, since there are no supervisors here.
func (f Folder) Alive() (bool, error) { return false, nil }

// Supervisor returns 0, since there are no supervisors here.
func (f Folder) Supervisor() (int, error) { return 0, nil }

// Reap has nothing to do.
func (f Folder) Reap() (bool, error) { return true, nil }

// Enforce has nothing to do.
func (f Folder) Enforce(time.Time) error { return nil }

func (f Folder) lock(string) (*os.File, error) { return nil, errors.ErrUnsupported }
