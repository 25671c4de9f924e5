//go:build go1.25

package controller_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// reel is a film whose status has numbers instead of pointers to them, and times in seconds.
type reel struct {
	film
	ready, terminating int32
}

func (r *reel) DeepCopyObject() runtime.Object {
	return &reel{*r.film.DeepCopyObject().(*film), r.ready, r.terminating}
}

// TestKind_StatusOfItsOwn: a kind may store its status in another form than a job does.
func TestKind_StatusOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		number := func(n int32) *int32 {
			if n == 0 {
				return nil
			}
			return &n
		}

		reels, c := newShelf[*reel](&reel{}), newCluster(t)
		kind := controller.Kind[*reel]{
			GroupVersionKind: example.WithKind("Reel"),
			Spec:             func(r *reel) *batchv1.JobSpec { return &r.Spec },
			Status: func(r *reel) *batchv1.JobStatus {
				s := r.film.Status
				s.Ready, s.Terminating = number(r.ready), number(r.terminating)
				return &s
			},
			SetStatus: func(r *reel, s batchv1.JobStatus) {
				if s.Ready != nil {
					r.ready = *s.Ready
				}
				if s.Terminating != nil {
					r.terminating = *s.Terminating
				}
				s.Ready, s.Terminating = nil, nil
				text, _ := json.Marshal(s) // a time is in seconds
				r.film.Status = batchv1.JobStatus{}
				_ = json.Unmarshal(text, &r.film.Status)
			},
			Objects: func(string) backend.OwnerClient[*reel] { return reels },
		}

		jobs, err := controller.NewJobReconciler(kindOf(kind, c, reels.informer, c.podCache), controller.JobOptions{})
		must.OK(t, err)

		r := &reel{film: film{ObjectMeta: metav1.ObjectMeta{Name: "r", Namespace: "ns", UID: "uid-r"}, Spec: scene(corev1.RestartPolicyNever)}}
		_, err = reels.put("create", r)
		must.OK(t, err)
		_, err = jobs.Reconcile(logged(t, &c.log), types.NamespacedName{Namespace: "ns", Name: "r"})
		if got := reels.all()[0].film.Status; err != nil || got.Active != 1 || got.StartTime == nil {
			t.Errorf("status %+v, %v", got, err)
		}
	})
}
