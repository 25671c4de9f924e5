// Package podtest plays the supervisor of a pod in tests.
package podtest

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
)

// Write writes a record of a pod, as its supervisor does.
func Write(t testing.TB, f pod.Folder, name string, record any) {
	t.Helper()
	data, err := json.Marshal(record)
	must.OK(t, err)
	sum := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	file := fmt.Sprintf(`{"crc32c":"%08x","record":%s}`+"\n", sum, data)
	must.OK(t, os.WriteFile(filepath.Join(string(f), name), []byte(file), 0o600))
}

// BadCgroup gives a pod what seems to be its cgroup, which cannot be removed. If it seems to have
// processes, they cannot be killed.
func BadCgroup(t testing.TB, f pod.Folder, hasProcesses bool) {
	t.Helper()
	dir, events := f.Work(), ""
	if hasProcesses {
		events = "populated 1\n"
	}
	must.OK(t, os.Mkdir(filepath.Join(dir, "cgroup.kill"), 0o700))
	must.OK(t, os.WriteFile(filepath.Join(dir, "cgroup.events"), []byte(events), 0o600))
	Write(t, f, "guard.json", map[string]string{"cgroup": dir})
}

// AskedToStop asks a pod to stop immediately, and makes it seem that it was asked at a time.
func AskedToStop(t testing.TB, f pod.Folder, at time.Time) {
	t.Helper()
	must.OK(t, f.Stop(0))
	must.OK(t, os.Chtimes(filepath.Join(string(f), "stop"), at, at))
}

// Overtime is the time after which a supervisor that was asked to stop immediately is killed.
const Overtime = 20 * time.Second
