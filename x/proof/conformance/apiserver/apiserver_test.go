package apiserver_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/apiserver"
)

// A second server in the same process shows that the first has left nothing behind.
func TestStart(t *testing.T) {
	for _, name := range []string{"first", "second"} {
		t.Run(name, start)
	}
}

func start(t *testing.T) {
	client := apiserver.Start(t)
	version, err := client.Discovery().ServerVersion()
	must.OK(t, err)
	if got := version.Major + "." + version.Minor; got != release.Newest().String() {
		t.Errorf("the server is %s, want %s", got, release.Newest())
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pod"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main"}}},
	}
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}
