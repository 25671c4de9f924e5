package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
// asks for the log, and a folder of kubectl cluster-info dump
// or of files by kubectl logs contains it.
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
	const asked = "logs import-a --namespace prod --container main --tail 30 --limit-bytes 65536 --context c\n"
	if got := testfile.Read(t, bin, "asked"); got != asked {
		t.Errorf("kubectl was called with %q, want %q", got, asked)
	}
	if out := plugin("", "echo forbidden >&2; exit 1"); strings.Contains(out, "it said") || strings.Contains(out, "forbidden") {
		t.Errorf("logs that cannot be read: %s", out)
	}
	if out := plugin("", "echo 'unable to retrieve container logs for containerd://a'"); strings.Contains(out, "it said") {
		t.Errorf("a kubelet without logs: %s", out)
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
	testfile.Write(t, "fatal: disk: full\n", dump, "logs.txt")
	for name, quotes := range map[string]string{
		"import-a.log": quoted, "import-a_main.log": quoted, "import-a_other.log": "", "import-b.log": "", "import-a.txt": "",
		"import-a_prod_main.log": "", "import-a.LOG": quoted, "import-a_main.Log": quoted,
	} {
		file := filepath.Join(dump, "prod", name)
		testfile.Write(t, log, file)
		_, out, _ := run(t, "", "batchwhy", dump)
		out = strings.Join(strings.Fields(out), " ")
		if !strings.Contains(out, quotes) || strings.Contains(out, "it said") != (quotes != "") {
			t.Errorf("a folder with %s: %s", name, out)
		}
		must.OK(t, os.Remove(file))
	}
	file := filepath.Join(dump, "all.txt")
	testfile.Write(t, part("main", log), file)
	if _, out, _ := run(t, "", "batchwhy", dump); !strings.Contains(strings.Join(strings.Fields(out), " "), quoted) {
		t.Errorf("a file with START lines: %s", out)
	}
	must.OK(t, os.Remove(file))
	for log, quotes := range map[string]string{
		log: quoted, strings.TrimSpace(log): quoted, "Request log error: not found\n": "",
	} {
		testfile.Write(t, part("other", "fine\n")+part("main", log), dump, "prod", "import-a", "logs.txt")
		status, out, _ := run(t, "", "batchwhy", dump)
		out = strings.Join(strings.Fields(out), " ")
		if status != exitFindings || !strings.Contains(out, quotes) || strings.Contains(out, "it said") != (quotes != "") {
			t.Errorf("a folder with log %q: status %d, %s", log, status, out)
		}
	}
}

// TestLogs_Chosen: only the logs of Jobs that are explained one by one are read, several at a time.
func TestLogs_Chosen(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	must.OK(t, exec.Command("mkfifo", filepath.Join(bin, "both")).Run())
	script := strings.ReplaceAll(`#!/bin/sh
case $1-$2 in
logs-j0-a) echo >BIN/both; echo j0 >>BIN/asked ;; # waits for the next call
logs-j1-a) read x <BIN/both; echo j1 >>BIN/asked ;;
logs-*) echo ${2%-a} >>BIN/asked ;;
get-jobs) cat BIN/objects ;;
*) echo '{"apiVersion": "v1", "kind": "List", "items": []}' ;;
esac
`, "BIN", bin)
	must.OK(t, os.WriteFile(filepath.Join(bin, "kubectl"), []byte(script), 0o755))

	const ofCronJob = `"ownerReferences": [{"kind": "CronJob", "name": "night", "uid": "c", "controller": true}], `
	for _, test := range []struct {
		jobs, replicaSets int
		arg, want         string
	}{
		{2, 12, "--plan=false", "j0 j1"},
		{12, 0, "--plan=false", ""},
		{12, 0, "--details", "j0 j1 j10 j11 j2 j3 j4 j5 j6 j7 j8 j9"},
		{12, 0, "job/j3", "j3"},
		{12, 0, "cronjob/night", "j5"},
	} {
		objects := ""
		for i := range test.jobs + test.replicaSets {
			name := fmt.Sprint("j", i)
			one := strings.NewReplacer("import", name, `"u"`, `"u-`+name+`"`, `"p"`, `"p-`+name+`"`).Replace(failedJob(""))
			if i == 5 {
				one = strings.Replace(one, `"creationTimestamp"`, ofCronJob+`"creationTimestamp"`, 1)
			}
			if i >= test.jobs {
				one = strings.ReplaceAll(one, `"batch/v1", "kind": "Job"`, `"apps/v1", "kind": "ReplicaSet"`)
			}
			objects += one
		}
		testfile.Write(t, objects, bin, "objects")
		testfile.Write(t, "", bin, "asked")
		run(t, "", "/usr/bin/kubectl-why", test.arg)
		asked := strings.Fields(testfile.Read(t, bin, "asked"))
		slices.Sort(asked)
		if got := strings.Join(asked, " "); got != test.want {
			t.Errorf("%d Jobs, %d ReplicaSets, %s: the logs of %s were read, want %s", test.jobs, test.replicaSets, test.arg, got, test.want)
		}
	}
}
