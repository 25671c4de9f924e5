package apiserver

import (
	"bytes"
	"flag"
	"io"
	"sync"
	"testing"

	"k8s.io/klog/v2"
)

// keep is how much of the log a failed test shows: its end, where the reason most likely is.
const keep = 64 << 10

// capture takes klog's output away from the terminal until the end of the test and shows its end if the
// test failed.
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

// redirect sends what klog logs to w, and nothing elsewhere. SetOutput alone would leave errors on
// the terminal too, and write each of them once for every severity below.
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

// tail is a Writer that remembers the end of what was written. Many goroutines may write.
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
