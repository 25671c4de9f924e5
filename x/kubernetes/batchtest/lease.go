package batchtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// Two clusters that serve one namespace would both act on each of its objects. So a cluster holds a
// lease: in its namespace, or in the namespace default if it serves all namespaces. It renews the
// lease while it runs, and deletes the lease when it has stopped. If a process was killed, the next
// cluster deletes the old lease after it has seen no renewal for leaseDuration.
const (
	leaseName     = "batchtest"
	leaseOfServer = "batchtest-server"
	leaseDuration = 6 * time.Second
	leaseRenewal  = 2 * time.Second
	leasePoll     = time.Second
)

// lease is the lease of a cluster.
type lease struct {
	cluster   *Cluster
	namespace string
	name      string
	uid       types.UID
	holder    string

	cancel  context.CancelFunc
	renewed sync.WaitGroup
}

// takeLease takes the lease of the cluster. It returns an error if another cluster serves the
// namespace, or if the namespace does not exist. Without the right to write leases, it returns nil.
func (c *Cluster) takeLease(ctx context.Context) (*lease, error) {
	host, _ := os.Hostname() // only for people
	l := &lease{
		cluster:   c,
		namespace: c.options.namespace,
		name:      leaseName,
		holder:    fmt.Sprintf("%s, process %d, %s", host, os.Getpid(), uuid.NewUUID()),
	}
	if l.namespace == "" {
		l.namespace, l.name = metav1.NamespaceDefault, leaseOfServer
	}

	if err := l.take(ctx); err != nil {
		return nil, unlessRefused(err)
	}
	renewing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.cancel = cancel
	l.renewed.Add(1)
	go func() {
		defer l.renewed.Done()
		l.renew(renewing)
	}()

	if err := unlessRefused(l.others(ctx)); err != nil {
		l.release()
		return nil, err
	}
	return l, nil
}

// unlessRefused returns nil for an error with which the server refuses leases, does not know them,
// or does not find the lease.
func unlessRefused(err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return nil
	}
	return err
}

// take creates the lease. If there is one already, it first waits for the end of that lease.
func (l *lease) take(ctx context.Context) error {
	leases := l.cluster.client.CoordinationV1().Leases(l.namespace)
	for {
		made, err := leases.Create(ctx, l.object(), metav1.CreateOptions{})
		switch {
		case err == nil:
			l.uid = made.UID
			return nil
		case lacksNamespace(err):
			return fmt.Errorf("Namespace(%q): there is no such namespace: create it before the cluster", l.namespace)
		case !apierrors.IsAlreadyExists(err):
			return err
		}

		held, err := leases.Get(ctx, l.name, metav1.GetOptions{})
		if err == nil {
			err = l.awaitEnd(ctx, *held)
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
}

// lacksNamespace reports whether a server refuses an object because its namespace does not exist.
func lacksNamespace(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Kind == "namespaces"
}

func (l *lease) object() *coordinationv1.Lease {
	seconds, now := int32(leaseDuration/time.Second), metav1.NowMicro()
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: l.name, Namespace: l.namespace},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity:       &l.holder,
			LeaseDurationSeconds: &seconds,
			AcquireTime:          &now,
			RenewTime:            &now,
		},
	}
}

// others returns an error if a cluster of the other kind serves a namespace of this cluster. A
// cluster of one namespace looks for the lease of a cluster of all namespaces. A cluster of all
// namespaces looks for leases in each namespace. A cluster of the same kind is found by take.
func (l *lease) others(ctx context.Context) error {
	leases := l.cluster.client.CoordinationV1()
	if l.name == leaseName {
		held, err := leases.Leases(metav1.NamespaceDefault).Get(ctx, leaseOfServer, metav1.GetOptions{})
		if err != nil {
			return err // usually there is no such lease
		}
		return l.awaitEnd(ctx, *held)
	}

	list, err := leases.Leases("").List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + leaseName})
	if err != nil {
		return err
	}
	isOther := func(l coordinationv1.Lease) bool { return l.Name != leaseName } // a fake client does not select
	return l.awaitEnd(ctx, slices.DeleteFunc(list.Items, isOther)...)
}

// awaitEnd deletes leases that have ended. It returns an error as soon as a holder renews its
// lease. The clocks of the holders may differ from the clock here. So awaitEnd does not read the
// times in the leases: a lease has ended if it is not renewed for leaseDuration.
func (l *lease) awaitEnd(ctx context.Context, held ...coordinationv1.Lease) error {
	leases := l.cluster.client.CoordinationV1()
	for rest := leaseDuration; rest > 0 && len(held) > 0; rest -= leasePoll {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(leasePoll):
		}

		for i := 0; i < len(held); i++ {
			old := &held[i]
			now, err := leases.Leases(old.Namespace).Get(ctx, old.Name, metav1.GetOptions{})
			switch {
			case apierrors.IsNotFound(err):
				held = slices.Delete(held, i, i+1)
				i--
			case err != nil:
				return err
			case now.UID != old.UID, !now.Spec.RenewTime.Equal(old.Spec.RenewTime):
				return taken(now)
			}
		}
	}

	var errs []error
	for i := range held {
		old := &held[i]
		version := &metav1.Preconditions{UID: &old.UID, ResourceVersion: &old.ResourceVersion}
		err := leases.Leases(old.Namespace).Delete(ctx, old.Name, metav1.DeleteOptions{Preconditions: version})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// taken returns the error for a namespace that another cluster serves.
func taken(held *coordinationv1.Lease) error {
	serves := "namespace " + held.Namespace
	if held.Name == leaseOfServer {
		serves = "all namespaces"
	}
	holder := ""
	if held.Spec.HolderIdentity != nil {
		holder = *held.Spec.HolderIdentity
	}
	return fmt.Errorf("another cluster of this server serves %s (%s): both would act on the same objects",
		serves, holder)
}

// renew renews the lease until the context ends.
func (l *lease) renew(ctx context.Context) {
	leases := l.cluster.client.CoordinationV1().Leases(l.namespace)
	tick := time.NewTicker(leaseRenewal)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}

		patch := fmt.Appendf(nil, `{"metadata":{"uid":%q},"spec":{"renewTime":%q}}`,
			l.uid, time.Now().UTC().Format(metav1.RFC3339Micro))
		_, err := leases.Patch(ctx, l.name, types.MergePatchType, patch, metav1.PatchOptions{})
		switch {
		case err == nil || ctx.Err() != nil:
		case apierrors.IsNotFound(err), apierrors.IsConflict(err):
			l.cluster.t.Errorf("batchtest: the lease %s/%s was deleted: another cluster may act on the same objects",
				l.namespace, l.name)
			return
		default:
			l.cluster.log.add("", "the lease of the cluster is not renewed: "+err.Error())
		}
	}
}

// release deletes the lease. A lease that cannot be deleted expires.
func (l *lease) release() {
	l.cancel()
	l.renewed.Wait()

	ctx, cancel := context.WithTimeout(context.Background(), leaseDuration)
	defer cancel()
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &l.uid}}
	_ = l.cluster.client.CoordinationV1().Leases(l.namespace).Delete(ctx, l.name, options)
}
