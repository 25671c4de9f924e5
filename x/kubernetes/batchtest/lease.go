package batchtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// Two clusters that serve one namespace would both act on each of its objects. So a cluster holds a
// lease: in its namespace, or in the namespace default for the whole server. The lease is deleted
// when the cluster stops. That of a process that was killed ends after leaseDuration.
const (
	leaseName     = "batchtest"
	leaseOfServer = "batchtest-server"
	leaseDuration = 6 * time.Second
	leaseRenewal  = 2 * time.Second
)

// lease is the lease of a running cluster.
type lease struct {
	cluster   *Cluster
	namespace string
	name      string
	uid       types.UID
	holder    string
}

// takeLease takes the lease of the cluster. It returns an error if another cluster serves the
// namespace, or if the namespace does not exist; nil without the right to write leases.
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
	if err := unlessRefused(l.others(ctx)); err != nil {
		l.release(ctx)
		return nil, err
	}
	return l, nil
}

// unlessRefused returns nil if the server refuses leases, does not know them, or has none.
func unlessRefused(err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return nil
	}
	return err
}

// take creates the lease, or takes one that has ended.
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
			err = l.wait(ctx, held)
		}
		if err == nil {
			version := &metav1.Preconditions{UID: &held.UID, ResourceVersion: &held.ResourceVersion}
			err = leases.Delete(ctx, l.name, metav1.DeleteOptions{Preconditions: version})
		}
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
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
			HolderIdentity: &l.holder, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now,
		},
	}
}

// others returns an error if a cluster serves the whole server or, for a cluster of the whole
// server, any namespace.
func (l *lease) others(ctx context.Context) error {
	leases := l.cluster.client.CoordinationV1()
	if l.name == leaseName {
		held, err := leases.Leases(metav1.NamespaceDefault).Get(ctx, leaseOfServer, metav1.GetOptions{})
		if err != nil {
			return err // usually it is not found
		}
		return l.wait(ctx, held)
	}

	list, err := leases.Leases("").List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + leaseName})
	if err != nil {
		return err
	}
	for i := range list.Items {
		held := &list.Items[i]
		if held.Name != leaseName {
			continue // a fake client does not select
		}
		if err := l.wait(ctx, held); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// wait returns nil if a lease has ended, and an error if its holder renews it. The holder may have
// another clock, so only time that passes here shows that it does not.
func (l *lease) wait(ctx context.Context, held *coordinationv1.Lease) error {
	leases := l.cluster.client.CoordinationV1().Leases(held.Namespace)
	for rest := leaseDuration; rest > 0; rest -= leaseRenewal / 2 {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(leaseRenewal / 2):
		}

		now, err := leases.Get(ctx, held.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if now.UID != held.UID || !now.Spec.RenewTime.Equal(held.Spec.RenewTime) {
			return taken(now)
		}
	}
	return nil
}

// taken is the error of a namespace that another cluster serves.
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

// Start renews the lease until the context ends, and then deletes it.
func (l *lease) Start(ctx context.Context) error {
	tick := time.NewTicker(leaseRenewal)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := l.renew(ctx); err != nil && ctx.Err() == nil {
				l.cluster.log.add("", "the lease of the cluster is not renewed: "+err.Error())
			}
		case <-ctx.Done():
			l.release(context.WithoutCancel(ctx))
			return nil
		}
	}
}

func (l *lease) renew(ctx context.Context) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": l.uid},
		"spec":     map[string]any{"renewTime": metav1.NowMicro()},
	})
	if err == nil {
		leases := l.cluster.client.CoordinationV1().Leases(l.namespace)
		_, err = leases.Patch(ctx, l.name, types.MergePatchType, patch, metav1.PatchOptions{})
	}
	return err
}

// release deletes the lease. If that fails, it ends by itself.
func (l *lease) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaseDuration)
	defer cancel()
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &l.uid}}
	_ = l.cluster.client.CoordinationV1().Leases(l.namespace).Delete(ctx, l.name, options)
}
