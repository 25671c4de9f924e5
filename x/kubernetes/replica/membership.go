package replica

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// renew shows that this replica lives. One whose renewal comes too late counts as a new
// replica: it holds nothing.
func (s *shares) renew(ctx context.Context) error {
	began := time.Now()
	written, err := s.writeMembership(ctx)
	s.mu.Lock()
	lapsed := !time.Now().Before(s.validUntil)
	if err == nil {
		s.mine = written
		if !lapsed || len(s.held) == 0 {
			s.validUntil = began.Add(s.served())
		}
	}
	lost := slices.Collect(maps.Keys(s.held))
	s.mu.Unlock()
	if lapsed && len(lost) > 0 {
		s.drop(lost...)
		return errors.Join(err, errors.New("the membership was not renewed in time: all shards are claimed anew"))
	}
	if err != nil {
		return fmt.Errorf("membership: %w", errors.Join(err, s.recover(ctx)))
	}
	return nil
}

func (s *shares) writeMembership(ctx context.Context) (*coordinationv1.Lease, error) {
	lease := s.newLease(s.membershipName(), roleMember)
	if s.mine != nil {
		lease = s.mine.DeepCopy()
	}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = &s.identity, &metav1.MicroTime{Time: time.Now()}
	if s.mine == nil {
		return s.leases.Create(ctx, lease, metav1.CreateOptions{})
	}
	return s.leases.Update(ctx, lease, metav1.UpdateOptions{})
}

// recover reads the membership after a failed write: the answer of an earlier one may have
// been lost, or another client has deleted the lease. No other replica writes it.
func (s *shares) recover(ctx context.Context) error {
	fresh, err := s.leases.Get(ctx, s.membershipName(), metav1.GetOptions{})
	switch {
	case err == nil:
		s.mine = fresh
	case apierrors.IsNotFound(err):
		s.mine = nil
	default:
		return err
	}
	return nil
}

func (s *shares) membershipName() string { return s.lease.Name + "-member-" + s.identity }

func (s *shares) newLease(name, role string) *coordinationv1.Lease {
	seconds := int32(max(s.lease.Duration/time.Second, 1))
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Labels:      map[string]string{leaseLabel: s.lease.Name, roleLabel: role},
			Annotations: map[string]string{shardsAnnotation: strconv.Itoa(s.n)},
		},
		Spec: coordinationv1.LeaseSpec{LeaseDurationSeconds: &seconds},
	}
}

// members fills in who lives, and deletes the leases of those that are long dead.
func (s *shares) members(ctx context.Context, v *view, leases []coordinationv1.Lease) (living map[string]bool) {
	living = map[string]bool{}
	now := time.Now()
	for i := range leases {
		lease := &leases[i]
		if lease.Labels[roleLabel] != roleMember {
			continue
		}
		m := memberOf(lease)
		silent := now.Sub(s.census.see(lease, now))
		switch {
		case m.identity != s.identity && silent > 10*s.lease.Duration:
			s.bury(ctx, lease)
		case m.identity != s.identity && silent > s.alive():
		case m.shards != s.n:
			living[m.identity] = true
			v.foreign = append(v.foreign, m)
		default:
			living[m.identity] = true
			v.alive = append(v.alive, m)
		}
	}
	if !living[s.identity] { // deleted since it was renewed
		v.alive, living[s.identity] = append(v.alive, v.me), true
	}
	slices.SortFunc(v.alive, func(a, b member) int { return strings.Compare(a.identity, b.identity) })
	return living
}

func memberOf(lease *coordinationv1.Lease) member {
	return member{identity: holderOf(lease), shards: numberOf(lease, shardsAnnotation), created: lease.CreationTimestamp.Time}
}

// numberOf reads a number of an annotation; -1 if there is none.
func numberOf(lease *coordinationv1.Lease, annotation string) int {
	n, err := strconv.Atoi(lease.Annotations[annotation])
	if err != nil {
		return -1
	}
	return n
}

func (s *shares) bury(ctx context.Context, lease *coordinationv1.Lease) {
	err := s.leases.Delete(ctx, lease.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &lease.ResourceVersion}})
	if err == nil {
		delete(s.census.renewals, holderOf(lease))
	}
}
