//go:build go1.25

package batchtest

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/batchplan/batchplan/internal/must"
)

// TestLease: two clusters of one server that serve the same namespace are refused, whichever starts
// first. Once a cluster has stopped, another can start.
func TestLease(t *testing.T) {
	whole := []Option(nil)
	of := func(name string) []Option { return []Option{Namespace(name)} }
	for name, c := range map[string]struct {
		first, second []Option
		want          string // "" if both can run
	}{
		"one namespace":    {of("a"), of("a"), "another cluster of this server serves namespace a ("},
		"two namespaces":   {of("a"), of("b"), ""},
		"whole servers":    {whole, whole, "another cluster of this server serves all namespaces ("},
		"a namespace last": {whole, of("a"), "another cluster of this server serves all namespaces ("},
		"the whole last":   {of("a"), whole, "another cluster of this server serves namespace a ("},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				first, client := inMemory(t, c.first...)
				second, err := startInMemory(t, client, c.second)
				if c.want == "" {
					must.OK(t, err)
					must.OK(t, second.Stop())
					return
				}
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got %v, want %q", err, c.want)
				}

				must.OK(t, first.Stop())
				begun := time.Now()
				_, err = startInMemory(t, client, c.second)
				must.OK(t, err)
				if waited := time.Since(begun); waited > time.Second {
					t.Errorf("waited %v for a cluster that has stopped", waited)
				}
			})
		})
	}
}

// TestLease_Renewed: a cluster that has run for longer than its lease still has it.
func TestLease_Renewed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, client := inMemory(t, Namespace("a"))
		time.Sleep(10 * leaseDuration)
		if _, err := startInMemory(t, client, []Option{Namespace("a")}); err == nil {
			t.Error("a second cluster serves the namespace")
		}
	})
}

// TestLease_Killed: the lease of a process that was killed is waited for, and then taken.
func TestLease_Killed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		now := metav1.NowMicro()
		client := fake.NewSimpleClientset(&coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: leaseName, UID: "killed"},
			Spec:       coordinationv1.LeaseSpec{RenewTime: &now},
		})
		begun := time.Now()
		_, err := startInMemory(t, client, []Option{Namespace("a")})
		must.OK(t, err)
		if waited := time.Since(begun).Truncate(time.Second); waited != leaseDuration {
			t.Errorf("waited %v, want %v", waited, leaseDuration)
		}
	})
}

// TestLease_Refused: without the right to write leases a cluster runs without one, and a namespace
// that does not exist is an error.
func TestLease_Refused(t *testing.T) {
	namespaces := schema.GroupResource{Resource: "namespaces"}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"right":     {forbidden("leases"), ""},
		"kind":      {apierrors.NewNotFound(schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}, ""), ""},
		"namespace": {apierrors.NewNotFound(namespaces, "a"), `Namespace("a"): there is no such namespace`},
		"other":     {apierrors.NewBadRequest("broken"), "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				client := fake.NewSimpleClientset()
				client.PrependReactor("create", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
					return true, nil, c.err
				})
				_, err := startInMemory(t, client, []Option{Namespace("a")})
				switch {
				case c.want == "":
					must.OK(t, err)
				case err == nil || !strings.Contains(err.Error(), c.want):
					t.Errorf("got %v, want %q", err, c.want)
				}
			})
		})
	}
}
