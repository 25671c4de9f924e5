package pod

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// timesSuffix ends the name of the file with the times of a log. Each line of that file has two
// numbers: an offset in the log, and the time at which the log was written from this offset on, in
// nanoseconds since 1970.
const timesSuffix = ".times"

// timesStep is the minimum time between two lines in the file with the times.
const timesStep = time.Second

// OpenLog opens the log of a stream, "stdout" or "stderr", of a container.
func (f Folder) OpenLog(container, stream string) (*os.File, error) {
	return f.openFile(os.O_RDONLY, "logs", container+"."+stream)
}

// LogSize returns the size of a log, or 0 if the log does not exist. It takes one system call, and
// does not check whether the log can be opened.
func (f Folder) LogSize(container, stream string) int64 {
	info, err := os.Lstat(f.path("logs", container+"."+stream))
	if err != nil {
		return 0
	}
	return info.Size()
}

// LogSince returns the offset of what was written to a log since a time, or up to a second before
// it. A log of an earlier version has no times. Then the offset is 0 if anything was written since
// the time, and otherwise the end of the log.
func (f Folder) LogSince(container, stream string, since time.Time) (int64, error) {
	times, err := f.openFile(os.O_RDONLY, "logs", container+"."+stream+timesSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		info, err := os.Lstat(f.path("logs", container+"."+stream))
		if err != nil || !info.ModTime().Before(since) {
			return 0, nil
		}
		return info.Size(), nil
	}
	if err != nil {
		return 0, err
	}
	defer times.Close()
	marks := bufio.NewReader(times)
	for {
		var offset, nano int64
		_, err := fmt.Fscanln(marks, &offset, &nano)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return f.LogSize(container, stream), nil
		case err != nil:
			return 0, nil // a container has written to the file of the times
		case offset >= 0 && time.Unix(0, nano).Add(timesStep).After(since):
			return offset, nil
		}
	}
}
