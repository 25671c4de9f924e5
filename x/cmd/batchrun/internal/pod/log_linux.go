package pod

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// stream is the log of a container's stdout or stderr. The container writes into a pipe, and the
// supervisor copies from the pipe into the file. So the file never exceeds MaxLog, and the
// container has no descriptor of the file. The supervisor opens the file before anything runs and
// keeps it open, so a container cannot replace it. If the supervisor is killed, the contents of the
// pipe are lost.
type stream struct {
	in   *os.File // the container's end of the pipe, which is the same after a restart
	out  *os.File // the end that the supervisor reads
	file *os.File
	// times is the file with the times of the log; see LogSince.
	times  *os.File
	size   int64 // of the file
	lastAt time.Time
	room   int64 // bytes that may still be written; negative for no limit
	mark   string
	lost   int64 // bytes that could not be written, for example on a full disk
	cut    atomic.Bool
	done   chan struct{}
}

// openStreams creates the logs of all containers.
func (s *supervisor) openStreams() error {
	for i := range s.spec.Containers {
		for k, name := range []string{"stdout", "stderr"} {
			file, err := s.folder.openFile(os.O_WRONLY|os.O_CREATE|os.O_APPEND, "logs",
				s.spec.Containers[i].Name+"."+name)
			if err != nil {
				return fmt.Errorf("open a log: %w", err)
			}
			times, err := s.folder.openFile(os.O_WRONLY|os.O_CREATE|os.O_APPEND, "logs",
				s.spec.Containers[i].Name+"."+name+timesSuffix)
			if err != nil {
				return fmt.Errorf("open the times of a log: %w", err)
			}
			if s.runs[i].streams[k], err = newStream(file, times, s.spec.MaxLog); err != nil {
				return err
			}
		}
	}
	return nil
}

func newStream(file, times *os.File, most int64) (*stream, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s := &stream{in: in, out: out, file: file, times: times, room: most, done: make(chan struct{}),
		mark: fmt.Sprintf("\n[cut here: --max-log is %s]\n", value.Count(most, "byte"))}
	if most <= 0 {
		s.room = -1
	}
	go s.copy()
	return s, nil
}

// copy copies until no process can write any more. It reads even if the log or the disk is full,
// since otherwise the container would have to wait.
func (s *stream) copy() {
	defer close(s.done)
	buffer := make([]byte, 32<<10)
	for {
		n, err := s.out.Read(buffer)
		s.write(buffer[:n])
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrDeadlineExceeded) {
				fmt.Fprintln(os.Stderr, "read a container's output:", err)
			}
			return
		}
	}
}

// write writes as much as there is room for. It writes a line where the log is cut or has a gap.
func (s *stream) write(data []byte) {
	if len(data) == 0 || s.cut.Load() {
		return
	}

	s.note(time.Now())
	if s.lost > 0 {
		n, err := fmt.Fprintf(s.file, "\n[%s lost here: the write failed]\n", value.Count(s.lost, "byte"))
		if s.size += int64(n); err != nil {
			s.lost += int64(len(data))
			return
		}
		s.lost = 0
	}

	whole := data
	if s.room >= 0 {
		data = data[:min(int64(len(data)), s.room)]
	}

	n, err := s.file.Write(data)
	s.size += int64(n)
	if s.room >= 0 {
		s.room -= int64(n)
	}
	if err != nil {
		if s.lost = int64(len(data) - n); s.lost > 0 {
			fmt.Fprintln(os.Stderr, "write a log:", err)
		}
		return
	}

	if len(data) < len(whole) {
		s.cut.Store(true)
		_, _ = s.file.WriteString(s.mark) // LogCut says the same if this fails
	}
}

// note writes the present offset of the log and the time, at most once a second. If the write
// fails, for example on a full disk, the times are only less exact.
func (s *stream) note(now time.Time) {
	if !s.lastAt.IsZero() && now.Sub(s.lastAt) < timesStep {
		return
	}
	s.lastAt = now
	_, _ = fmt.Fprintf(s.times, "%d %d\n", s.size, now.UnixNano())
}

// drainTime is how long to wait for the end of a log. If a container has passed its descriptor to a
// process outside of the pod, that process could keep the pipe open.
const drainTime = time.Second

// closeStreams completes the logs after all processes of the pod have ended.
func (s *supervisor) closeStreams() {
	for i := range s.runs {
		for _, stream := range s.runs[i].streams {
			stream.in.Close()
			_ = stream.out.SetReadDeadline(time.Now().Add(drainTime))
		}
	}
	for i := range s.runs {
		for _, stream := range s.runs[i].streams {
			<-stream.done
			stream.out.Close()
			stream.file.Close()
			stream.times.Close()
		}
	}
}

// noteCuts records which logs were cut.
func (s *supervisor) noteCuts() {
	for i := range s.runs {
		c := &s.state.Containers[i]
		for _, stream := range s.runs[i].streams {
			if stream.cut.Load() && !c.LogCut {
				c.LogCut, s.dirty = true, true
			}
		}
	}
}
