//go:build go1.25

package batchtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

// TestLease: a cluster does not start while another cluster of the server serves one of its
// namespaces. Once the other cluster has stopped, it can start.
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

// TestLease_Killed: a cluster waits for the end of the lease of a killed process, and then takes
// it.
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

// TestLease_Together: two clusters start together while the lease of a killed cluster still exists.
// At most one of the two starts. Afterwards the old lease is gone, and nobody waits for it again.
func TestLease_Together(t *testing.T) {
	of := func(name string) []Option { return []Option{Namespace(name)} }
	for name, c := range map[string]struct {
		dead, deadIn  string
		first, second []Option
	}{
		"one namespace, beside a whole server": {leaseOfServer, metav1.NamespaceDefault, of("a"), of("a")},
		"whole servers, beside a namespace":    {leaseName, "b", nil, nil},
		"the whole server and a namespace":     {leaseName, "b", nil, of("a")},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				now := metav1.NowMicro()
				client := fake.NewSimpleClientset(&coordinationv1.Lease{
					ObjectMeta: metav1.ObjectMeta{Namespace: c.deadIn, Name: c.dead, UID: "killed"},
					Spec:       coordinationv1.LeaseSpec{RenewTime: &now},
				})
				client.PrependReactor("create", "leases", numbered())

				started := make(chan error, 2)
				for i, options := range [][]Option{c.first, c.second} {
					go func() {
						time.Sleep(time.Duration(i) * time.Second)
						_, err := startInMemory(t, client, options)
						started <- err
					}()
				}
				if err1, err2 := <-started, <-started; err1 == nil && err2 == nil {
					t.Error("both have started")
				}

				leases, err := client.CoordinationV1().Leases("").List(t.Context(), metav1.ListOptions{})
				must.OK(t, err)
				for _, l := range leases.Items {
					if l.UID == "killed" {
						t.Errorf("the lease %s/%s is left", l.Namespace, l.Name)
					}
				}
			})
		})
	}
}

// numbered gives each new object a UID.
func numbered() clienttesting.ReactionFunc {
	n := 0
	return func(a clienttesting.Action) (bool, runtime.Object, error) {
		n++
		object := a.(clienttesting.CreateAction).GetObject().(metav1.Object)
		object.SetUID(types.UID(fmt.Sprint(object.GetName(), n)))
		return false, nil, nil
	}
}

// TestLease_Deleted: the test fails if the lease is deleted while the cluster runs.
func TestLease_Deleted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, client := inMemory(t, Namespace("a"))
		f := &fatal{T: t}
		c.t = f
		must.OK(t, client.CoordinationV1().Leases("a").Delete(t.Context(), leaseName, metav1.DeleteOptions{}))
		time.Sleep(leaseDuration)
		must.OK(t, c.Stop())
		if !strings.Contains(f.said, "the lease a/batchtest was deleted") {
			t.Errorf("the test says %q", f.said)
		}
	})
}

// TestStart_Fails: a start that fails leaves nothing: no goroutine, and no lease.
func TestStart_Fails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		client := fake.NewSimpleClientset()
		if _, err := startInMemory(t, client, []Option{JobPlanner(job.Options{Gangs: true})}); err == nil {
			t.Fatal("gangs without their informers")
		}
		leases, err := client.CoordinationV1().Leases("").List(t.Context(), metav1.ListOptions{})
		must.OK(t, err)
		if len(leases.Items) > 0 {
			t.Errorf("%d leases are left", len(leases.Items))
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
