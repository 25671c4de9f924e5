package read

import (
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

// TestLog: the last lines of a log are kept, and the last one before them that looks like an error.
func TestLog(t *testing.T) {
	for log, want := range map[string]string{
		"1\n2\n3\n4":                       "2 3 4",
		"ERROR: a\nERROR: b\n1\n\n2\n3\n4": "ERROR: b 2 3 4",
		"1\nERROR: a\n2\n3":                "ERROR: a 2 3",
		"\n":                               "",

		"ERROR: a" + strings.Repeat("\n1", LogTail-1): "ERROR: a 1 1 1",
		"ERROR: a" + strings.Repeat("\n1", LogTail):   "1 1 1",
	} {
		o := &Objects{}
		key := LogKey{Namespace: "n", Pod: "p", Container: "c"}
		o.AddLog(key, log)
		must.OK(t, o.ReadLogs(strings.NewReader(LogMark+"d of pod n/p ====\n"+log)))
		for _, key.Container = range []string{"c", "d"} {
			if got := strings.ReplaceAll(o.Log(key), "\n", " "); got != want {
				t.Errorf("%q, container %s: got %q, want %q", log, key.Container, got, want)
			}
		}
	}
}
