package apiserver

import (
	"bytes"
	"flag"
	"io"
	"sync"
	"testing"

	"k8s.io/klog/v2"
)

// keep is the size of the end of the log that a failed test shows.
const keep = 64 << 10

// capture collects klog's output until the end of the test. If the test fails, it shows the last
// part.
func capture(t testing.TB) io.Writer {
	t.Helper()
	log := &tail{}
	state := klog.CaptureState()
	redirect(t, log)
	t.Cleanup(func() {
		klog.Flush()
		state.Restore()
		if t.Failed() {
			t.Logf("the end of what etcd and kube-apiserver logged:\n%s", log)
		}
	})
	return log
}

// redirect sends all of klog's output to w. With SetOutput alone, errors would also appear on the
// terminal, and each would be written once for every lower severity.
func redirect(t testing.TB, w io.Writer) {
	t.Helper()
	var flags flag.FlagSet
	klog.InitFlags(&flags)
	for name, value := range map[string]string{
		"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL", "one_output": "true",
	} {
		if err := flags.Set(name, value); err != nil {
			t.Fatalf("klog: %v", err)
		}
	}
	klog.SetOutput(w)
}

// tail is a Writer that keeps the end of what was written. It is safe for concurrent use.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (l *tail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, p...)
	if len(l.buf) > 2*keep {
		l.buf = bytes.Clone(l.buf[len(l.buf)-keep:])
	}
	return len(p), nil
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.buf[max(0, len(l.buf)-keep):])
}
