package pod

import (
	"fmt"
	"os"

	"github.com/batchplan/batchplan/examples/local/internal/private"
)

// capLogs cuts the logs of the containers that have grown beyond their limit. It
// keeps the beginning and adds a line at the cut.
//
// Containers write directly into their logs, since a supervisor in between would lose
// the last lines when it is killed. So a log can be too long until the supervisor
// looks.
func (s *supervisor) capLogs() {
	if s.spec.MaxLog <= 0 {
		return
	}
	for i := range s.state.Containers {
		c := &s.state.Containers[i]
		for _, stream := range []string{"stdout", "stderr"} {
			cut, err := capLog(s.folder.Log(c.Name, stream), s.spec.MaxLog)
			if err != nil {
				fmt.Fprintln(os.Stderr, "cut a log:", err)
			}
			if cut && !c.LogCut {
				c.LogCut, s.dirty = true, true
			}
		}
	}
}

// capLog cuts one log; it returns true if there was something to cut.
func capLog(path string, most int64) (bool, error) {
	info, err := os.Stat(path)
	if err != nil || info.Size() <= most {
		if os.IsNotExist(err) {
			err = nil
		}
		return false, err
	}
	mark := fmt.Sprintf("\n[cut here: --max-log is %d bytes]\n", most)
	whole := most + int64(len(mark))
	if info.Size() == whole {
		return false, nil // already cut
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, private.FileMode)
	if err != nil {
		return false, err
	}
	defer file.Close()
	if err := file.Truncate(most); err != nil {
		return false, err
	}
	_, err = file.WriteString(mark)
	return true, err
}
