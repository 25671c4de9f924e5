package e2e

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/batchplan/batchplan/x/proof/conformance/theirs"
)

// logbook keeps what a replica logs.
type logbook struct {
	mu    sync.Mutex
	lines []string
}

// Write implements io.Writer. A logger writes one line at a time.
func (l *logbook) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Quotes inside of quotes are easier to look for without their backslashes.
	l.lines = append(l.lines, strings.ReplaceAll(string(line), `\`, ""))
	return len(line), nil
}

// on returns a context whose logger writes into the book.
func (l *logbook) on(ctx context.Context) context.Context {
	config := textlogger.NewConfig(textlogger.Verbosity(2), textlogger.Output(l))
	return klog.NewContext(ctx, textlogger.NewLogger(config))
}

// any reports whether the function accepts a line.
func (l *logbook) any(is func(line string) bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.lines, is)
}

// count counts the lines that contain all texts.
func (l *logbook) count(texts ...string) (n int) {
	l.any(func(line string) bool {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
			n++
		}
		return false
	})
	return n
}

// showIfFailed shows the end of the log of a failed test.
func (l *logbook) showIfFailed(t *testing.T) {
	if !t.Failed() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t.Logf("the end of the replica's log:\n%s", strings.Join(l.lines[max(0, len(l.lines)-40):], ""))
}

// logErrors makes client-go log its errors to the logger of the context, and nowhere else.
func logErrors() {
	theirs.Quiet()
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
		func(ctx context.Context, err error, message string, about ...any) {
			klog.FromContext(ctx).Error(err, message, about...)
		},
	}
}
