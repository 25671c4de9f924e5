package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
)

// failedJob returns a Job and its failed pod. message is what the pod's container has left, or "".
func failedJob(message string) string {
	return fmt.Sprintf(`{"apiVersion": "v1", "kind": "List", "items": [
{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "import", "namespace": "prod", "uid": "u",
 "creationTimestamp": "2026-11-25T08:00:00Z"}, "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main"}]}}},
 "status": {"failed": 1, "startTime": "2026-11-25T08:00:00Z"}},
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "import-a", "namespace": "prod", "uid": "p",
 "creationTimestamp": "2026-11-25T08:00:00Z", "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "import", "uid": "u",
 "controller": true}]}, "spec": {"containers": [{"name": "main"}]}, "status": {"phase": "Failed", "containerStatuses": [{"name": "main",
 "state": {"terminated": {"exitCode": 2, "finishedAt": "2026-11-25T08:10:00Z", "message": %q}}}]}}]}`, message)
}

// TestLogs: if a container has failed without a message, the explanation quotes its log. The plugin
// asks for the log, and a folder of kubectl cluster-info dump contains it.
func TestLogs(t *testing.T) {
	const log = "connecting\n\nretrying\nno route to db-7\nexiting\n"
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	plugin := func(message, logs string) string {
		t.Helper()
		testfile.Write(t, failedJob(message), bin, "objects")
		testfile.Write(t, log, bin, "log")
		script := "#!/bin/sh\ncase $1-$2 in\nlogs-*) echo \"$@\" >" + bin + "/asked; " + logs + " ;;\n" +
			"get-jobs) cat " + bin + "/objects ;;\n" +
			"*) echo '{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": []}' ;;\nesac\n"
		must.OK(t, os.WriteFile(filepath.Join(bin, "kubectl"), []byte(script), 0o755))
		_, out, errOut := run(t, "", "/usr/bin/kubectl-why", "--context", "c", "job/import")
		return strings.Join(strings.Fields(out+errOut), " ")
	}

	const quoted = `it said "retrying no route to db-7 exiting"`
	if out := plugin("", "cat "+bin+"/log"); !strings.Contains(out, quoted) {
		t.Errorf("plugin: %s", out)
	}
	const asked = "logs import-a --namespace prod --container main --tail 3 --limit-bytes 4096 --context c\n"
	if got := testfile.Read(t, bin, "asked"); got != asked {
		t.Errorf("kubectl was called with %q, want %q", got, asked)
	}
	if out := plugin("", "echo forbidden >&2; exit 1"); strings.Contains(out, "it said") || strings.Contains(out, "forbidden") {
		t.Errorf("logs that cannot be read: %s", out)
	}
	if out := plugin("disk full", "cat "+bin+"/log"); !strings.Contains(out, `it said "disk full"`) {
		t.Errorf("a container with a message of its own: %s", out)
	}

	dump := t.TempDir()
	testfile.Write(t, failedJob(""), dump, "prod", "jobs.json")
	part := func(container, log string) string {
		of := "logs for container " + container + " of pod prod/import-a ====\n"
		return "==== START " + of + log + "==== END " + of
	}
	testfile.Write(t, part("other", "fine\n")+part("main", log), dump, "prod", "import-a", "logs.txt")
	if _, out, _ := run(t, "", "batchwhy", dump); !strings.Contains(strings.Join(strings.Fields(out), " "), quoted) {
		t.Errorf("a folder: %s", out)
	}
}
