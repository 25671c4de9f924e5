package backend_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/batchplan/batchplan/internal/must"
)

// server is a fake API server. It answers the requests of each method with the replies of the test,
// and repeats the last reply. The answers of a real server are in
// x/proof/conformance/probe/testdata.
type server struct {
	t       *testing.T
	replies map[string][]reply
	url     string

	mu       sync.Mutex
	requests []string // method, path and body
}

type reply struct {
	code int
	body any
}

func newServer(t *testing.T, replies map[string][]reply) (*server, kubernetes.Interface) {
	s := &server{t: t, replies: replies}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.url = web.URL
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host: web.URL, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
	})
	must.OK(t, err)
	return s, client
}

// withoutNull removes what only old releases of apimachinery write.
var withoutNull = strings.NewReplacer(`"creationTimestamp":null,`, "", `,"creationTimestamp":null`, "", `"creationTimestamp":null`, "")

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+withoutNull.Replace(string(body))))

	answers := s.replies[r.Method]
	if len(answers) == 0 {
		s.t.Errorf("unexpected request %s", s.requests[len(s.requests)-1])
		w.WriteHeader(http.StatusTeapot)
		return
	}
	if len(answers) > 1 {
		s.replies[r.Method] = answers[1:]
	}

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(answers[0].code)
	if err := json.NewEncoder(w).Encode(answers[0].body); err != nil {
		s.t.Error(err)
	}
}

func ok(object any) []reply { return []reply{{http.StatusOK, object}} }

// failure returns the answer to a refused request, with causes as pairs of type and field.
func failure(code int32, reason metav1.StatusReason, causes ...string) []reply {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: code, Reason: reason, Message: "refused", Details: &metav1.StatusDetails{},
	}
	for i := 0; i < len(causes); i += 2 {
		status.Details.Causes = append(status.Details.Causes, metav1.StatusCause{Type: metav1.CauseType(causes[i]), Field: causes[i+1]})
	}
	return []reply{{int(code), status}}
}

// said returns the answer with another message.
func said(answer []reply, message string) []reply {
	status := answer[0].body.(metav1.Status)
	status.Message = message
	return []reply{{answer[0].code, status}}
}

var (
	notFound    = failure(404, metav1.StatusReasonNotFound)
	conflict    = failure(409, metav1.StatusReasonConflict)
	replaced    = said(conflict, "the UID in the precondition (a) does not match the UID in record (b)")
	replaced2   = said(conflict, "Precondition failed: UID in precondition: a, UID in object meta: b")
	exists      = failure(409, metav1.StatusReasonAlreadyExists)
	otherUID    = failure(422, metav1.StatusReasonInvalid, "FieldValueInvalid", "metadata.uid", "FieldValueInvalid", "metadata.uid")
	invalid     = failure(422, metav1.StatusReasonInvalid, "FieldValueInvalid", "spec.containers[0].image")
	forbidden   = failure(403, metav1.StatusReasonForbidden, "FieldValueInvalid", "metadata.uid")
	noUID       = failure(422, metav1.StatusReasonInvalid, "FieldValueForbidden", "metadata.uid")
	bare        = []reply{{422, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: 422, Reason: metav1.StatusReasonInvalid}}}
	terminating = failure(403, metav1.StatusReasonForbidden, string(corev1.NamespaceTerminatingCause), "metadata.namespace")
	down        = failure(500, metav1.StatusReasonInternalError)
)

func aJob() *batchv1.Job {
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "ns", UID: "job-1", ResourceVersion: "5"},
	}
}

func aPod() *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", UID: "pod-1", ResourceVersion: "9"},
	}
}

func aCronJob() *batchv1.CronJob {
	return &batchv1.CronJob{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "CronJob"},
		ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "cron-1", ResourceVersion: "5"},
	}
}
