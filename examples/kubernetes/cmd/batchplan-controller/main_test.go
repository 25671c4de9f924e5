package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/batchplan/batchplan/examples/kubernetes/replica"
)

const manifests = "../../manifests/"

// TestParse: flags and the file of the planners.
func TestParse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "planners.yaml")
	if err := os.WriteFile(file, []byte("job: {pendingTimeout: 1m}"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := parse([]string{"-managed-by", "a.b/c", "-controllers=jobs", "--namespaces", "x,y", "-shards=3", "-lease-duration=20s", "-memory-annotation=a.b/memory", "-planners", file}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if c.ManagedBy != "a.b/c" || !slices.Equal(c.Controllers, []string{"jobs"}) || !slices.Equal(c.Namespaces, []string{"x", "y"}) ||
		c.Shards != 3 || c.Lease.Duration != 20*time.Second || c.MemoryAnnotation != "a.b/memory" || c.Planners.Job.PendingTimeout != time.Minute {
		t.Errorf("got %+v", c)
	}
}

// TestParse_Errors: each names what is wrong.
func TestParse_Errors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "planners.yaml")
	if err := os.WriteFile(file, []byte("job: {pendingTimeout: soon}"), 0o600); err != nil {
		t.Fatal(err)
	}
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

// TestManifests: every manifest is one that the server would take, the kustomization names all
// but those in more, and the command takes the arguments of the Deployment.
func TestManifests(t *testing.T) {
	var kustomization struct {
		Resources []string `json:"resources"`
	}
	if err := yaml.Unmarshal(read(t, "kustomization.yaml"), &kustomization); err != nil {
		t.Fatal(err)
	}
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
			checkDeployment(t, decode(t, name, document))
		}
	}
	for _, name := range []string{"more/cronjobs.yaml", "more/ttl.yaml", "more/memory.yaml"} {
		for _, document := range strings.Split(string(read(t, name)), "\n---\n") {
			decode(t, name, document)
		}
	}
	if _, err := replica.ParsePlanners(read(t, "planners.yaml"), ""); err != nil {
		t.Errorf("planners.yaml: %v", err)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(manifests + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
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
	args := d.Spec.Template.Spec.Containers[0].Args
	for i, arg := range args {
		if strings.HasPrefix(arg, "-planners=") {
			args[i] = "-planners=" + manifests + "planners.yaml"
		}
	}
	t.Setenv("POD_NAMESPACE", "batchplan")
	c, err := parse(args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if c.ManagedBy == "" || c.Lease.Namespace != "batchplan" || !c.Election {
		t.Errorf("the Deployment runs %+v", c.Config)
	}
}

// TestEndpoints: the probes and the metrics.
func TestEndpoints(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "answer"}))
	server := httptest.NewServer(replica.Handler(&replica.Status{}, registry))
	defer server.Close()
	for _, test := range []struct {
		path, want string
		code       int
	}{
		{"/healthz", "ok\n", 200},
		{"/readyz", "starting\n", 503},
		{"/metrics", "answer 0", 200},
		{"/secrets", "", 404},
	} {
		response, err := http.Get(server.URL + test.path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != test.code || !strings.Contains(string(body), test.want) {
			t.Errorf("%s: %d %q, %v", test.path, response.StatusCode, body, err)
		}
	}
}
