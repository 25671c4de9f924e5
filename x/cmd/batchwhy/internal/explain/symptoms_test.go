package explain_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// TestSymptoms: the first advice about a failed pod begins with what its container has printed.
func TestSymptoms(t *testing.T) {
	for message, want := range map[string]string{
		"dial tcp 10.0.0.1:5432: connect: connection refused":               "Look what should listen at 10.0.0.1:5432,",
		"Error: connect ECONNREFUSED 10.0.0.1:6379":                         "Look what should listen at 10.0.0.1:6379,",
		"curl: (6) Could not resolve host: api.example.com":                 "Correct the host name api.example.com:",
		"getaddrinfo EAI_AGAIN db":                                          "Correct the host name db:",
		"Get \"https://hub.example.com/v1\": context deadline exceeded":     "Look what lies between the pod and hub.example.com:",
		"tls: x509: certificate signed by unknown authority":                "Give the program the CA",
		"certificate has expired":                                           "Renew the certificate",
		"FATAL: password authentication failed for user \"app\"":            "Correct the credentials",
		"HTTP 401 for /token":                                               "Correct the credentials",
		"AccessDenied: no s3:GetObject":                                     "Give the identity",
		"ERROR: permission denied for table orders":                         "Give the identity",
		"429 Too Many Requests":                                             "Ask less often",
		"pq: deadlock detected":                                             "Find out who holds the lock",
		"Error acquiring the state lock":                                    "Find out who holds the lock",
		"Dirty database version 7. Fix and force version.":                  "Repair the schema by hand",
		"FATAL: sorry, too many clients already":                            "Let fewer pods run at a time",
		"write /tmp/x: no space left on device":                             "Make room",
		"open /x: read-only file system":                                    "Let it write to a volume",
		"open /x: permission denied":                                        "Give the user of the container the rights",
		"worker is killed by signal: Bus error":                             "Mount a volume with emptyDir {medium: Memory} at /dev/shm",
		"too many open files":                                               "Let the program close files",
		"bind: address already in use":                                      "Choose another port",
		"unknown flag: --full":                                              "Correct command or args",
		"ModuleNotFoundError: No module named 'pandas'":                     "Build the image with the part",
		"ERROR: relation \"orders\" does not exist":                         "Look whether the schema is up to date",
		"duplicate key value violates unique constraint \"a\"":              "Look what an earlier try has left",
		"KeyError: 'TOKEN'":                                                 "Set the environment variable",
		"upstream: 503 Service Unavailable":                                 "Look at the other side,",
		"FileNotFoundError: [Errno 2] No such file or directory: 'day.csv'": "Correct the path",
		"line 1\nvalue 3 is out of bounds":                                  "Correct the cause of \"value 3 is out of bounds\"",
		"dial tcp: lookup db on 10.96.0.10:53: read udp 10.1.1.1:4000->10.96.0.10:53: i/o timeout": "Look whether the DNS server answers",
		"Unknown host":                          "Correct the host name that it gives:",
		"wget: bad address 'db:80'":             "Correct the host name db:80:",
		"HTTP/1.1 429":                          "Ask less often",
		"{\"status\": 403}":                     "Give the identity",
		"The requested URL returned error: 401": "Correct the credentials",
		"ERROR: database is locked":             "Find out who holds the lock",
		"Error: connect to db:5432 timed out":   "Look what lies between the pod and db:5432",
		"dial tcp db:5432: connection refused\nError: exit status 1": "Look what should listen at db:5432",

		// words that mean something else
		"ValueError: bad row 14290":              "Correct the cause",
		"panic: expected 500 rows, got 403 rows": "Correct the cause",
		"processed 401 of 500 files":             "Correct the cause",
		"NOTICE:  relation \"orders\" already exists, skipping\nERROR:  null value in column \"x\"": "Correct the cause of \"ERROR: null",
		"ERROR: null value in column \"x\" of relation \"orders\"":                                  "Correct the cause",
		"mkdir: /data/out already exists\nValueError: division by zero":                             "Correct the cause of \"ValueError",
		"fatal: working tree is dirty":                                                              "Correct the cause",
		"ERROR: canceling statement due to statement timeout":                                       "Correct the cause",
		"Error: test run exceeded timeout of 30s":                                                   "Correct the cause",
		"token is not yet valid (nbf)":                                                              "Correct the cause",
		"read: Bad address (EFAULT)":                                                                "Correct the cause",
		"ORA-28000: the account is locked":                                                          "Correct the cause",
		"WARN: connect timeout\nIntegrityError: checksum differs":                                   "Correct the cause of \"IntegrityError",
		"": "Read what it printed.",
	} {
		text := fmt.Sprintf(`{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a", "namespace": "n", "uid": "u"}, "spec": {"backoffLimit": 0, "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}}, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}, "status": {"failed": 1, "startTime": "2026-01-01T08:00:00Z", "conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "lastTransitionTime": "2026-01-01T08:01:00Z"}]}}
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a-1", "namespace": "n", "uid": "p", "labels": {"batch.kubernetes.io/controller-uid": "u"}, "ownerReferences": [{"kind": "Job", "name": "a", "uid": "u", "controller": true}]}, "spec": {"containers": [{"name": "c"}]}, "status": {"phase": "Failed", "containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 1, "reason": "Error", "message": %q, "finishedAt": "2026-01-01T08:00:30Z"}}}]}}`, message)
		o := &read.Objects{}
		s := o.Stream("f.json")
		_, err := s.Write([]byte(text))
		must.OK(t, err)
		must.OK(t, s.Close())
		at := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
		f := explain.All(o, explain.Options{At: at}).Objects[0].Findings[0]
		if got := f.Remedies[0].Do; !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %q, want %q", message, got, want)
		}
	}
}

// TestSummary_PileUp: Jobs that pile up are counted with their CronJob only.
func TestSummary_PileUp(t *testing.T) {
	q := readQuestion(t, "testdata/corners/piled_up_unstarted.yaml")
	var b strings.Builder
	s := explain.Summary{Command: func(kind, namespace, name string) string { return "--only " + kind + "/" + name }}
	r := explain.All(q.objects, q.options)
	for i := range r.Objects {
		s.Add(&r.Objects[i])
	}
	p := explain.Printer{Out: &b}
	must.OK(t, p.Summary(&s, r))
	if got := b.String(); !strings.Contains(got, "PileUp") || strings.Contains(got, "--only job/") {
		t.Errorf("the Jobs are another kind of trouble:\n%s", got)
	}
}
