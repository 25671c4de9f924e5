package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/x/kubernetes/replica"
)

const manifests = "manifests/"

// TestParse: the configuration has the values of the flags and of the file with the options of the
// planners.
func TestParse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "planners.yaml")
	testfile.Write(t, "job: {pendingTimeout: 1m}", file)
	c, err := parse([]string{"-managed-by", "a.b/c", "-controllers=jobs", "--namespaces", "x,y", "-lease-duration=20s", "-memory-annotation=a.b/memory", "-planners", file}, io.Discard)
	must.OK(t, err)
	if c.ManagedBy != "a.b/c" || !slices.Equal(c.Controllers, []string{"jobs"}) ||
		!slices.Equal(c.Namespaces, []string{"x", "y"}) ||
		c.Lease.Duration != 20*time.Second || c.MemoryAnnotation != "a.b/memory" ||
		c.Planners.Job.PendingTimeout != time.Minute {
		t.Errorf("got %+v", c)
	}
	if c.qps != 50 || c.burst != 100 || c.listen != ":8080" || c.metrics != "127.0.0.1:8081" ||
		c.Lease.Name != replica.DefaultLeaseName || c.Election || c.MergeEvents {
		t.Errorf("without flags: %+v", c)
	}
}

// TestParse_Errors: each error names what is wrong.
func TestParse_Errors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "planners.yaml")
	testfile.Write(t, "job: {pendingTimeout: soon}", file)
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"-managedby=x"}, "managedby"},
		{[]string{"jobs"}, `unexpected argument "jobs"`},
		{[]string{"-planners", file}, "planners.yaml: job.pendingTimeout"},
		{[]string{"-planners", file + ".missing"}, "planners.yaml.missing"},
		{[]string{"-preset", "old"}, "preset: old"},
		{[]string{"-kubeconfig", file + ".missing"}, "kubeconfig"},
	}
	for _, test := range tests {
		if err := run(t.Context(), test.args, io.Discard); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want one with %q", test.args, err, test.want)
		}
	}
}

// TestManifests: an API server would accept every manifest, the kustomization names all manifests
// except those in the folder named more, and the command accepts the arguments of the Deployment.
func TestManifests(t *testing.T) {
	var kustomization struct {
		Resources []string `json:"resources"`
	}
	must.OK(t, yaml.Unmarshal(read(t, "kustomization.yaml"), &kustomization))
	files, err := filepath.Glob(manifests + "*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no manifests", err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if name == "kustomization.yaml" || name == "planners.yaml" {
			continue
		}
		if !slices.Contains(kustomization.Resources, name) {
			t.Errorf("%s is not in the kustomization", name)
		}
		for _, document := range strings.Split(string(read(t, name)), "\n---\n") {
			object := decode(t, name, document)
			checkDeployment(t, object)
			checkRole(t, object)
		}
	}
	more, err := filepath.Glob(manifests + "more/*.yaml")
	if err != nil || len(more) == 0 {
		t.Fatal("no further manifests", err)
	}
	for _, file := range more {
		name := "more/" + filepath.Base(file)
		for _, document := range strings.Split(string(read(t, name)), "\n---\n") {
			decode(t, name, document)
		}
	}
	if _, err := replica.ParsePlanners(read(t, "planners.yaml"), ""); err != nil {
		t.Errorf("planners.yaml: %v", err)
	}
}

// TestReadme: the Job of the README has a name, which kubectl apply requires, and the controllers
// manage it.
func TestReadme(t *testing.T) {
	_, rest, _ := strings.Cut(testfile.Read(t, "README.md"), "```yaml\n")
	text, _, _ := strings.Cut(rest, "```")
	j, ok := decode(t, "README.md", text).(*batchv1.Job)
	if !ok || j.Name == "" || j.Spec.ManagedBy == nil || *j.Spec.ManagedBy != "example.com/batchplan" {
		t.Errorf("the README has %s", text)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	return []byte(testfile.Read(t, manifests+name))
}

func decode(t *testing.T, name, document string) runtime.Object {
	t.Helper()
	decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	object, _, err := decoder.Decode([]byte(document), nil, nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return object
}

func checkDeployment(t *testing.T, object runtime.Object) {
	t.Helper()
	d, ok := object.(*appsv1.Deployment)
	if !ok {
		return
	}
	if limit := d.Spec.Template.Spec.Containers[0].Resources.Limits.Memory(); limit.IsZero() {
		t.Error("the memory has no limit")
	}
	args := d.Spec.Template.Spec.Containers[0].Args
	for i, arg := range args {
		if strings.HasPrefix(arg, "-planners=") {
			args[i] = "-planners=" + manifests + "planners.yaml"
		}
	}
	t.Setenv("POD_NAMESPACE", "batchplan")
	c, err := parse(args, io.Discard)
	must.OK(t, err)
	if c.ManagedBy == "" || c.Lease.Namespace != "batchplan" || !c.Election {
		t.Errorf("the Deployment runs %+v", c.Config)
	}
}

// checkRole checks that the role gives no access to the leases of other programs.
func checkRole(t *testing.T, object runtime.Object) {
	t.Helper()
	role, ok := object.(*rbacv1.Role)
	if !ok {
		return
	}
	for _, rule := range role.Rules {
		if !slices.Equal(rule.ResourceNames, []string{replica.DefaultLeaseName}) &&
			!slices.Equal(rule.Verbs, []string{"create"}) {
			t.Errorf("%s: the rule %v is for leases of every name", role.Name, rule.Verbs)
		}
	}
}

// TestLeaseNamespace: the namespace is that of the flag, or else $POD_NAMESPACE, or else that of
// the context.
func TestLeaseNamespace(t *testing.T) {
	file := kubeconfig(t, "http://127.0.0.1:1", "team")
	for _, test := range []struct {
		pod, want string
		args      []string
	}{
		{"", "team", nil},
		{"in-pod", "in-pod", nil},
		{"in-pod", "named", []string{"-lease-namespace=named"}},
		{"", "others", []string{"-context=d"}},
	} {
		t.Setenv("POD_NAMESPACE", test.pod)
		c, err := parse(append(test.args, "-managed-by=a.b/c", "-leader-elect", "-kubeconfig", file), io.Discard)
		must.OK(t, err)
		if _, err := c.server(); err != nil || c.Lease.Namespace != test.want || c.Validate() != nil {
			t.Errorf("%+v: namespace %q, error %v, %v", test, c.Lease.Namespace, err, c.Validate())
		}
	}
}

// kubeconfig writes a kubeconfig of a server.
func kubeconfig(t *testing.T, server, namespace string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: s, cluster: {server: %q}}],
  users: [{name: u, user: {}}], contexts: [{name: c, context: {cluster: s, user: u, namespace: %s}}, {name: d, context: {cluster: s, user: u, namespace: others}}]}`, server, namespace)
	testfile.Write(t, text, file)
	return file
}

// TestRun_ChecksFirst: errors in the flags are reported before a port is opened.
func TestRun_ChecksFirst(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	defer taken.Close()
	args := []string{"-kubeconfig", kubeconfig(t, "http://127.0.0.1:1", "team"), "-listen", taken.Addr().String()}
	if err := run(t.Context(), args, io.Discard); err == nil || !strings.Contains(err.Error(), "managed-by: required") {
		t.Errorf("error %v", err)
	}
	if err := run(t.Context(), append(args, "-managed-by=a.b/c"), io.Discard); err == nil ||
		!strings.HasPrefix(err.Error(), "-listen: ") {
		t.Errorf("error %v", err)
	}
	args = append(args[:2], "-managed-by=a.b/c", "-listen=", "-metrics-listen", taken.Addr().String())
	if err := run(t.Context(), args, io.Discard); err == nil || !strings.HasPrefix(err.Error(), "-metrics-listen: ") {
		t.Errorf("error %v", err)
	}
}

// TestMain runs the command if a variable asks for it.
func TestMain(m *testing.M) {
	if os.Getenv("BE_THE_COMMAND") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestLog: at level 2, the client library logs nothing about itself, and the log names the controller
// that runs the CronJobs. A command that is interrupted before its caches are full has not failed.
func TestLog(t *testing.T) {
	asked := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/version":
			fmt.Fprint(w, `{"major":"1","minor":"36","gitVersion":"v1.36.0"}`)
		case r.URL.Query().Has("watch"), r.URL.Query().Has("limit"):
			asked <- struct{}{}
			fallthrough
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	file := kubeconfig(t, server.URL, "team")
	command := exec.Command(os.Args[0], "-managed-by=a.b/c", "-v=2", "-kubeconfig", file, "-listen=127.0.0.1:0",
		"-metrics-listen=")
	command.Env = append(os.Environ(), "BE_THE_COMMAND=1")
	var out strings.Builder
	command.Stdout, command.Stderr = &out, &out
	must.OK(t, command.Start())
	<-asked
	if err := errors.Join(command.Process.Signal(os.Interrupt), command.Wait()); err != nil {
		t.Error(err)
	}
	if text := out.String(); strings.Contains(text, "Feature gate") || !strings.Contains(text, "stopping: rounds under way end") || !strings.Contains(text, "CronJobs are left to the built-in controller") {
		t.Errorf("output:\n%s", text)
	}
}

// TestEndpoints: the address of the probes serves no metrics, and that of the metrics no probes.
func TestEndpoints(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "answer"}))
	health, metrics := httptest.NewServer(replica.Health(&replica.Status{})), httptest.NewServer(replica.Metrics(registry))
	defer health.Close()
	defer metrics.Close()
	for _, test := range []struct {
		at         *httptest.Server
		path, want string
		code       int
	}{
		{health, "/healthz", "ok\n", 200},
		{health, "/readyz", "starting\n", 503},
		{health, "/readyz", "starting\n", 503}, // asked again and again
		{health, "/metrics", "", 404},
		{metrics, "/metrics", "answer 0", 200},
		{metrics, "/healthz", "", 404},
	} {
		response, err := http.Get(test.at.URL + test.path)
		must.OK(t, err)
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != test.code || !strings.Contains(string(body), test.want) {
			t.Errorf("%s: %d %q, %v", test.path, response.StatusCode, body, err)
		}
	}
}

// TestCommandLine: the command line is like those of the other commands. Names reach a terminal without
// control characters.
func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		args     []string
		status   int
		out, err string
	}{
		{[]string{"-version"}, 0, "batchplan-controller version ", ""},
		{[]string{"-h"}, 0, "\nExamples:\n  batchplan-controller -managed-by example.com/jobs ", ""},
		{[]string{"-wrong"}, 2, "", "batchplan-controller: flag provided but not defined: -wrong; see batchplan-controller -h\n"},
		{[]string{"-kubeconfig", "/nowhere/\x1b[2J\u202e"}, 2, "", "batchplan-controller: kubeconfig: stat /nowhere/\\u001b[2J\\u202e: no such file"},
	} {
		cmd := exec.Command(os.Args[0], test.args...)
		cmd.Env = append(os.Environ(), "BE_THE_COMMAND=1")
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run()
		if status := cmd.ProcessState.ExitCode(); status != test.status || !strings.Contains(out.String(), test.out) || !strings.HasPrefix(errs.String(), test.err) || test.err == "" && errs.Len() > 0 {
			t.Errorf("%q: status %d, %q, %q", test.args, status, &out, &errs)
		}
	}
}
