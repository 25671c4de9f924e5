// Package memory completes client-go's clientset in memory for tests.
package memory

import (
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// Resync is a resync period that no test reaches. Without a resync period, old releases of
// client-go wait on a global channel, and the time of a synctest bubble does not advance.
const Resync = 10_000 * time.Hour

// Number lets a fake clientset do two things that a server does. It sets the name, the UID and the
// creation time of what is created. It refuses an update of an earlier object of the same name.
func Number(server *fake.Clientset) {
	var created atomic.Int32
	server.PrependReactor("create", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		object, err := meta.Accessor(a.(clienttesting.CreateAction).GetObject())
		if err != nil || a.GetSubresource() != "" {
			return false, nil, err
		}
		n := created.Add(1)
		if object.GetName() == "" {
			object.SetName(fmt.Sprint(object.GetGenerateName(), n))
		}
		object.SetUID(types.UID(fmt.Sprint("created-", n)))
		object.SetCreationTimestamp(metav1.Now())
		return false, nil, nil
	})

	server.PrependReactor("update", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		sent, err := meta.Accessor(a.(clienttesting.UpdateAction).GetObject())
		if err != nil || sent.GetUID() == "" {
			return false, nil, err
		}
		stored, err := server.Tracker().Get(a.GetResource(), sent.GetNamespace(), sent.GetName())
		if err != nil {
			return false, nil, nil // the tracker returns the same error
		}
		object, err := meta.Accessor(stored)
		if err == nil && object.GetUID() != sent.GetUID() {
			err = apierrors.NewConflict(a.GetResource().GroupResource(), sent.GetName(), fmt.Errorf(
				"uid %s was sent, the object has %s", sent.GetUID(), object.GetUID()))
		}
		return err != nil, nil, err
	})
}
