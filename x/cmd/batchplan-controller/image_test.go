//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	_ "time/tzdata" // for the test alone: the command is built separately

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
)

// apiServer is a fake API server with the endpoints that a CronJob needs. It keeps created objects.
type apiServer struct {
	mu      sync.Mutex
	cronJob *batchv1.CronJob
	created chan *batchv1.Job
	events  chan string // as "type reason message"
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	_, path, _ := strings.Cut(r.URL.Path, "/apis/batch/v1/")
	switch query := r.URL.Query(); {
	case r.URL.Path == "/version":
		fmt.Fprint(w, `{"major":"1","minor":"36","gitVersion":"v1.36.0"}`)
	case query.Has("sendInitialEvents"):
		w.WriteHeader(http.StatusUnprocessableEntity)
		answer(metav1.Status{Status: "Failure", Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity})
	case query.Has("watch"):
		s.mu.Unlock()
		<-r.Context().Done()
		s.mu.Lock()
	case r.Method == http.MethodGet && path == "cronjobs":
		answer(batchv1.CronJobList{TypeMeta: metav1.TypeMeta{Kind: "CronJobList", APIVersion: "batch/v1"},
			ListMeta: metav1.ListMeta{ResourceVersion: "5"}, Items: []batchv1.CronJob{*s.cronJob}})
	case r.Method == http.MethodGet && path == "jobs":
		answer(batchv1.JobList{TypeMeta: metav1.TypeMeta{Kind: "JobList", APIVersion: "batch/v1"}, ListMeta: metav1.ListMeta{ResourceVersion: "5"}})
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/jobs"):
		j := decoded[*batchv1.Job](r)
		if j.UID = "uid-j"; !query.Has("dryRun") {
			s.created <- j
		}
		answer(j)
	case r.Method == http.MethodPut && strings.HasSuffix(path, "/status"):
		answer(decoded[*batchv1.CronJob](r))
	case strings.HasSuffix(r.URL.Path, "/events"):
		e := decoded[*corev1.Event](r)
		s.events <- e.Type + " " + e.Reason + " " + e.Message
		answer(e)
	default:
		http.NotFound(w, r)
	}
}

// decoded returns the object in the body of a request.
func decoded[T any](r *http.Request) (object T) {
	data, err := io.ReadAll(r.Body)
	if err == nil {
		o, kind, failed := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
		if err = failed; err == nil {
			o.GetObjectKind().SetGroupVersionKind(*kind)
			object = o.(T)
		}
	}
	if err != nil {
		panic(err)
	}
	return object
}

// TestImage runs the command as the Containerfile builds it, in a root that has only the files that
// Kubernetes mounts: no zones, certificates, users, home or folder for temporary files. The command
// starts a run in a time zone.
func TestImage(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a process another root")
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	must.OK(t, err)
	s := &apiServer{created: make(chan *batchv1.Job, 9), events: make(chan string, 99)}
	zone, now := "Europe/Berlin", time.Now().In(berlin)
	s.cronJob = &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "uid-c", ResourceVersion: "4", CreationTimestamp: metav1.NewTime(now.AddDate(0, 0, -2))},
		Spec: batchv1.CronJobSpec{Schedule: "0 3 * * *", TimeZone: &zone, ConcurrencyPolicy: batchv1.AllowConcurrent,
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}}}}},
	}
	server := httptest.NewTLSServer(s)
	defer server.Close()
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	must.OK(t, err)

	root := t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(root, "batchplan-controller"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	account := filepath.Join(root, "var/run/secrets/kubernetes.io/serviceaccount")
	must.OK(t, os.MkdirAll(account, 0o755))
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for name, text := range map[string]string{"token": "t", "ca.crt": string(certificate), "namespace": "batchplan"} {
		testfile.Write(t, text, filepath.Join(account, name))
	}
	must.OK(t, os.Chmod(root, 0o755))

	command := exec.Command("/batchplan-controller", "-managed-by=example.com/batchplan", "-controllers=cronjobs",
		"-listen=127.0.0.1:0", "-metrics-listen=")
	command.Env = []string{"KUBERNETES_SERVICE_HOST=" + host, "KUBERNETES_SERVICE_PORT=" + port}
	command.Dir = "/"
	command.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Start(); err != nil {
		if os.Getenv("CI") != "true" {
			t.Skipf("this root cannot give a process another root: %v", err)
		}
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()

	// The last three o'clock in Berlin.
	want := time.Date(now.Year(), now.Month(), now.Day(), 3, 0, 0, 0, berlin)
	if want.After(now) {
		want = want.AddDate(0, 0, -1)
	}
	var started *batchv1.Job
	for started == nil {
		select {
		case started = <-s.created:
		case e := <-s.events:
			if t.Log(e); strings.HasPrefix(e, corev1.EventTypeWarning) {
				started = &batchv1.Job{}
			}
		case err := <-ended:
			t.Fatalf("it has ended: %v\n%s", err, out.String())
		case <-time.After(time.Minute):
			_ = command.Process.Kill()
			<-ended
			t.Fatalf("no run has started\n%s", out.String())
		}
	}
	at, err := time.Parse(time.RFC3339, started.Annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"])
	if err != nil || !at.Equal(want) {
		t.Errorf("a run of %s, want %s, %v", at, want, err)
	}
	must.OK(t, command.Process.Signal(syscall.SIGTERM))
	if err := <-ended; err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}
