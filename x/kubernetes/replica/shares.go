package replica

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedcoordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// Labels and annotations of the leases.
const (
	leaseLabel       = "batchplan.github.io/lease"  // the name that all leases of a group share
	roleLabel        = "batchplan.github.io/role"   // member or shard
	shardsAnnotation = "batchplan.github.io/shards" // of how many
	shardAnnotation  = "batchplan.github.io/shard"  // which one
	roleMember       = "member"
	roleShard        = "shard"
)

// shares are the shards of this replica. A replica shows that it lives by one lease, its
// membership, and holds each shard by another, which is written only when the shard changes
// hands.
//
// Of the duration D of a lease: a replica renews its membership every D/10. It stops serving
// D/2 after the last renewal that succeeded began, and must claim every shard anew. Others
// take it for dead when they have not seen a renewal for 2D/3; a write that it sent in time
// has D/6 to arrive. A shard that is given back is kept for D/6 without being served. So two
// replicas never serve a shard at the same time, and a shard whose replica was killed is
// served again within D.
type shares struct {
	leases   typedcoordination.LeaseInterface
	lease    Lease
	identity string
	status   *Status
	census   census
	mine     *coordinationv1.Lease // the membership as last written

	n           int
	mu          sync.Mutex
	held        map[int]bool
	validUntil  time.Time
	controllers []starter

	returning map[int]time.Time // shards that are given back, since when
}

func newShares(c *Config, client kubernetes.Interface) *shares {
	return &shares{
		leases: client.CoordinationV1().Leases(c.Lease.Namespace), lease: c.Lease, identity: c.Identity, status: c.Status,
		n: c.Shards, held: map[int]bool{}, returning: map[int]time.Time{},
	}
}

func (s *shares) interval() time.Duration { return s.lease.Duration / 10 }
func (s *shares) served() time.Duration   { return s.lease.Duration / 2 }
func (s *shares) alive() time.Duration    { return s.lease.Duration * 2 / 3 }
func (s *shares) drain() time.Duration    { return s.lease.Duration / 6 }

// serves reports whether this replica serves a namespace now.
func (s *shares) serves(namespace string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[shardOf(namespace, s.n)] && time.Now().Before(s.validUntil)
}

// follow names the controllers to tell of changes.
func (s *shares) follow(controllers []starter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.controllers = controllers
}

// runShards runs the controllers on the namespaces of this replica's shards.
func (c *Config) runShards(ctx context.Context, server *rest.Config, client kubernetes.Interface) error {
	s := newShares(c, client)
	fenced := rest.CopyConfig(server)
	fenced.Wrap(func(next http.RoundTripper) http.RoundTripper { return fence{s, next} })
	serving, err := newClient(fenced)
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	controllers := until(ctx, working)
	go func() { ended <- c.runControllers(controllers, serving, s) }()
	err = s.run(ctx, ended)
	stop()
	s.leave(context.WithoutCancel(ctx))
	return err
}

// run renews the membership and balances the shards until the controllers have ended.
func (s *shares) run(ctx context.Context, ended <-chan error) error {
	tick := time.NewTicker(s.interval())
	defer tick.Stop()
	background := context.WithoutCancel(ctx) // the controllers end first
	for {
		if err := s.round(background); err != nil {
			klog.FromContext(ctx).Info("shards are not balanced", "cause", err.Error())
		}
		select {
		case err := <-ended:
			return err
		case <-tick.C:
		}
	}
}

// round renews the membership and takes or gives back shards.
func (s *shares) round(ctx context.Context) error {
	// A request that takes longer is too late to be of use.
	ctx, cancel := context.WithTimeout(ctx, s.drain())
	defer cancel()
	if err := s.renew(ctx); err != nil {
		return err
	}
	v, shards, err := s.look(ctx)
	if err != nil {
		return err
	}
	s.dropTaken(v)
	for _, shard := range v.surplus(s.all()) {
		s.drop(shard)
		s.returning[shard] = time.Now()
	}
	err = s.giveBack(ctx, shards)
	claimed, claimErr := s.claim(ctx, v, shards)
	if len(claimed) > 0 {
		if v, _, err = s.look(ctx); err != nil || v.foreignHolds {
			return errors.Join(err, s.release(ctx, claimed))
		}
		s.take(claimed)
	}
	return errors.Join(err, claimErr)
}

// look lists the leases. Shards are those that divide as this replica does, by number; nil is
// one that was never held.
func (s *shares) look(ctx context.Context) (v *view, shards []*coordinationv1.Lease, err error) {
	list, err := s.leases.List(ctx, metav1.ListOptions{LabelSelector: leaseLabel + "=" + s.lease.Name})
	if err != nil {
		return nil, nil, fmt.Errorf("leases: %w", err)
	}
	v = &view{me: memberOf(s.mine), holders: make([]string, s.n)}
	shards = make([]*coordinationv1.Lease, s.n)
	living := s.members(ctx, v, list.Items)
	for i := range list.Items {
		lease := &list.Items[i]
		if lease.Labels[roleLabel] != roleShard {
			continue
		}
		holder, shard := holderOf(lease), numberOf(lease, shardAnnotation)
		if numberOf(lease, shardsAnnotation) != s.n {
			v.foreignHolds = v.foreignHolds || living[holder]
			continue
		}
		if shard < 0 || shard >= s.n {
			continue // not one of ours
		}
		shards[shard] = lease
		if living[holder] {
			v.holders[shard] = holder
		}
	}
	return v, shards, nil
}

// all returns the shards held, in order.
func (s *shares) all() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.held))
}

// dropTaken drops the shards that the leases give to another replica.
func (s *shares) dropTaken(v *view) {
	for _, shard := range s.all() {
		if v.holders[shard] != s.identity {
			s.drop(shard)
		}
	}
}

// drop stops serving shards; take begins.
func (s *shares) drop(shards ...int) { s.change(shards, false) }
func (s *shares) take(shards []int)  { s.change(shards, true) }

// change notes what is served, and has the controllers look at the jobs concerned: they
// forget those that they have lost, and plan those that they have won.
func (s *shares) change(shards []int, held bool) {
	s.mu.Lock()
	for _, shard := range shards {
		if held {
			s.held[shard] = true
		} else {
			delete(s.held, shard)
		}
	}
	controllers := s.controllers
	s.mu.Unlock()
	s.status.setShards(s.all())
	klog.Background().V(1).Info("shards", "changed", shards, "held", held, "identity", s.identity)
	for _, c := range controllers {
		c.Enqueue(func(namespace string) bool { return slices.Contains(shards, shardOf(namespace, s.n)) })
	}
}

// giveBack frees the shards whose last writes have arrived.
func (s *shares) giveBack(ctx context.Context, shards []*coordinationv1.Lease) (err error) {
	for shard, since := range s.returning {
		if time.Since(since) < s.drain() {
			continue
		}
		if lease := shards[shard]; lease != nil && holderOf(lease) == s.identity {
			_, e := s.hold(ctx, shard, lease, "")
			err = errors.Join(err, e)
		}
		delete(s.returning, shard)
	}
	return err
}

// claim takes the leases of free shards, and of those that were held before the membership
// lapsed.
func (s *shares) claim(ctx context.Context, v *view, shards []*coordinationv1.Lease) (claimed []int, err error) {
	held := s.all()
	for shard, holder := range v.holders {
		_, leaving := s.returning[shard]
		if holder == s.identity && !leaving && !slices.Contains(held, shard) {
			v.holders[shard] = "" // of an earlier life
		}
	}
	for _, shard := range v.wanted(held) {
		_, e := s.hold(ctx, shard, shards[shard], s.identity)
		switch {
		case e == nil:
			claimed = append(claimed, shard)
		case apierrors.IsConflict(e), apierrors.IsAlreadyExists(e): // another one was faster
		default:
			err = errors.Join(err, fmt.Errorf("shard %d: %w", shard, e))
		}
	}
	return claimed, err
}

// hold writes who holds a shard, on condition that its lease is as it was seen.
func (s *shares) hold(ctx context.Context, shard int, seen *coordinationv1.Lease, identity string) (*coordinationv1.Lease, error) {
	lease := s.newLease(fmt.Sprintf("%s-%d-%d", s.lease.Name, s.n, shard), roleShard)
	lease.Annotations[shardAnnotation] = strconv.Itoa(shard)
	if seen != nil {
		lease = seen.DeepCopy()
	}
	now := metav1.MicroTime{Time: time.Now()}
	lease.Spec.HolderIdentity, lease.Spec.AcquireTime, lease.Spec.RenewTime = &identity, &now, &now
	if seen == nil {
		return s.leases.Create(ctx, lease, metav1.CreateOptions{})
	}
	return s.leases.Update(ctx, lease, metav1.UpdateOptions{})
}

// release frees shards that are not served.
func (s *shares) release(ctx context.Context, shards []int) (err error) {
	_, leases, err := s.look(ctx)
	if err != nil {
		return err
	}
	for _, shard := range shards {
		if lease := leases[shard]; lease != nil && holderOf(lease) == s.identity {
			_, e := s.hold(ctx, shard, lease, "")
			err = errors.Join(err, e)
		}
	}
	return err
}

// leave gives everything back. The controllers have ended.
func (s *shares) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.drain())
	defer cancel()
	if s.mine == nil {
		return
	}
	shards := append(s.all(), slices.Collect(maps.Keys(s.returning))...)
	s.drop(shards...)
	err := s.release(ctx, shards)
	err = errors.Join(err, s.leases.Delete(ctx, s.mine.Name, metav1.DeleteOptions{}))
	if err != nil {
		klog.FromContext(ctx).Info("leases are not given back: others wait until they have expired", "cause", err.Error())
	}
}
