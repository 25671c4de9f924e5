package replica

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// runElected waits for the lease, and runs the controllers as long as it has the lease. If it loses
// the lease, it returns an error: the process ends, and a new process waits for the lease.
func (c *Config) runElected(ctx context.Context, client clients) error {
	c.Status.set(phaseStandby)

	// The lease is released only when the controllers have stopped.
	election, stopElection := context.WithCancel(context.WithoutCancel(ctx))
	defer stopElection()

	ended := make(chan error, 1)
	lead := func(leading context.Context) {
		klog.FromContext(ctx).Info("this replica leads", "identity", c.Identity)
		err := c.runControllers(until(ctx, leading), client)
		if ctx.Err() == nil && leading.Err() != nil {
			lost := fmt.Errorf("lease %s/%s: lost: another replica may lead", c.Lease.Namespace, c.Lease.Name)
			err = errors.Join(err, lost)
		}
		ended <- err
		stopElection()
	}
	follow := func(leader string) {
		if leader != c.Identity {
			klog.FromContext(ctx).Info("another replica leads", "leader", leader, "identity", c.Identity)
		}
	}

	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: c.Lease.Namespace, Name: c.Lease.Name},
			Client:     client.all.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: c.Identity},
		},
		LeaseDuration:   c.Lease.Duration,
		RenewDeadline:   c.Lease.Duration * 2 / 3,
		RetryPeriod:     c.Lease.Duration * 2 / 15,
		ReleaseOnCancel: true,
		Name:            c.Lease.Name,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: lead,
			OnStoppedLeading: func() {},
			OnNewLeader:      follow,
		},
	})
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}

	// If the context ends while the replica waits, the wait ends.
	defer context.AfterFunc(ctx, func() {
		if !elector.IsLeader() {
			stopElection()
		}
	})()

	elector.Run(election)
	if election.Err() == nil {
		return <-ended // the lease is lost, and the controllers are about to stop
	}

	select {
	case err := <-ended:
		return err
	default:
		return nil // the replica has never led
	}
}

// until returns a context that ends when either of the two ends.
func until(ctx, other context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(other, cancel)
	return ctx
}
