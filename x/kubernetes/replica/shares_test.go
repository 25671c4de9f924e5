package replica

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	typedcoordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/klog/v2"
)

// leaseStore is a server of leases. It refuses an update of another version than the one that
// it has.
type leaseStore struct {
	mu      sync.Mutex
	version int
	leases  map[string]coordinationv1.Lease
}

var leaseResource = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

func (s *leaseStore) put(lease *coordinationv1.Lease) *coordinationv1.Lease {
	s.version++
	lease = lease.DeepCopy()
	lease.ResourceVersion = strconv.Itoa(s.version)
	s.leases[lease.Name] = *lease
	return lease.DeepCopy()
}

// connection is one replica's way to the server.
type connection struct {
	typedcoordination.LeaseInterface // for the methods that are not used
	*leaseStore
	cut       atomic.Bool  // no request arrives
	loseReply atomic.Bool  // requests arrive, and their answers are lost
	delay     atomic.Int64 // of each direction, a time.Duration
}

var errCut = errors.New("the connection is cut")

// do makes a request, which takes its time in both directions.
func do[T any](ctx context.Context, c *connection, request func() (T, error)) (out T, err error) {
	if err := c.travel(ctx); err != nil || c.cut.Load() {
		return out, errors.Join(err, errCut)
	}
	c.mu.Lock()
	out, err = request()
	c.mu.Unlock()
	if sleepErr := c.travel(ctx); sleepErr != nil || c.loseReply.Load() {
		return out, errCut
	}
	return out, err
}

// travel waits as long as a request or an answer is on its way.
func (c *connection) travel(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(c.delay.Load())):
		return nil
	}
}

func (c *connection) Create(ctx context.Context, lease *coordinationv1.Lease, _ metav1.CreateOptions) (*coordinationv1.Lease, error) {
	return do(ctx, c, func() (*coordinationv1.Lease, error) {
		if _, found := c.leases[lease.Name]; found {
			return nil, apierrors.NewAlreadyExists(leaseResource, lease.Name)
		}
		lease = lease.DeepCopy()
		lease.CreationTimestamp = metav1.Now().Rfc3339Copy()
		return c.put(lease), nil
	})
}

func (c *connection) Update(ctx context.Context, lease *coordinationv1.Lease, _ metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	return do(ctx, c, func() (*coordinationv1.Lease, error) {
		is, found := c.leases[lease.Name]
		switch {
		case !found:
			return nil, apierrors.NewNotFound(leaseResource, lease.Name)
		case is.ResourceVersion != lease.ResourceVersion:
			return nil, apierrors.NewConflict(leaseResource, lease.Name, errors.New("it has changed"))
		}
		return c.put(lease), nil
	})
}

func (c *connection) Get(ctx context.Context, name string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	return do(ctx, c, func() (*coordinationv1.Lease, error) {
		is, found := c.leases[name]
		if !found {
			return nil, apierrors.NewNotFound(leaseResource, name)
		}
		return is.DeepCopy(), nil
	})
}

func (c *connection) List(ctx context.Context, _ metav1.ListOptions) (*coordinationv1.LeaseList, error) {
	return do(ctx, c, func() (*coordinationv1.LeaseList, error) {
		list := &coordinationv1.LeaseList{}
		for _, name := range slices.Sorted(maps.Keys(c.leases)) {
			lease := c.leases[name]
			list.Items = append(list.Items, *lease.DeepCopy())
		}
		return list, nil
	})
}

func (c *connection) Delete(ctx context.Context, name string, o metav1.DeleteOptions) error {
	_, err := do(ctx, c, func() (any, error) {
		is, found := c.leases[name]
		switch {
		case !found:
			return nil, apierrors.NewNotFound(leaseResource, name)
		case o.Preconditions != nil && *o.Preconditions.ResourceVersion != is.ResourceVersion:
			return nil, apierrors.NewConflict(leaseResource, name, errors.New("it has changed"))
		}
		delete(c.leases, name)
		return nil, nil
	})
	return err
}

// group is replicas that share namespaces.
type group struct {
	*testing.T
	*leaseStore
	replicas map[string]*replicaUnderTest
	seed     uint64
	made     int
	unserved map[string]time.Time // by namespace: since when nobody serves it
	calm     time.Time            // since when no replica has lost its connection, joined or left
}

type replicaUnderTest struct {
	*shares
	connection *connection
	end        chan error
	done       chan struct{}
	crashed    bool
}

const leaseDuration = 15 * time.Second

func newGroup(t *testing.T, seed uint64) *group {
	return &group{
		T: t, leaseStore: &leaseStore{leases: map[string]coordinationv1.Lease{}},
		replicas: map[string]*replicaUnderTest{}, seed: seed, unserved: map[string]time.Time{}, calm: time.Now(),
	}
}

// join starts a replica.
func (g *group) join(shards int) string {
	g.made++
	name := fmt.Sprintf("replica-%d", g.made)
	c := &connection{leaseStore: g.leaseStore}
	c.delay.Store(int64(20 * time.Millisecond))
	r := &replicaUnderTest{connection: c, end: make(chan error, 1), done: make(chan struct{})}
	r.shares = &shares{
		leases: c, lease: Lease{Name: "l", Duration: leaseDuration}, identity: name, status: &Status{},
		n: shards, held: map[int]bool{}, returning: map[int]time.Time{},
	}
	g.replicas[name] = r
	g.calm = time.Now()
	go func() {
		defer close(r.done)
		if r.run(klog.NewContext(g.Context(), klog.Logger{}), r.end) == nil && !r.crashed {
			r.leave(context.Background())
		}
	}()
	return name
}

// leave ends a replica in good order, kill without a word.
func (g *group) leave(name string) {
	g.replicas[name].end <- nil
	<-g.replicas[name].done
	delete(g.replicas, name)
}

func (g *group) kill(name string) {
	g.replicas[name].crashed = true
	g.leave(name)
	g.calm = time.Now()
}

var namespaces = func() (names []string) {
	for i := range 16 {
		names = append(names, fmt.Sprint("namespace-", i))
	}
	return names
}()

// watch lets time pass, and looks who serves what: nobody serves what another one does, and
// every namespace is served unless less than a lease has passed since a replica failed.
func (g *group) watch(d time.Duration) {
	g.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		for _, namespace := range namespaces {
			g.look(namespace)
		}
	}
}

func (g *group) look(namespace string) {
	g.Helper()
	var by []string
	reachable := false
	for name, r := range g.replicas {
		reachable = reachable || !r.connection.cut.Load() && !r.connection.loseReply.Load()
		if r.serves(namespace) {
			by = append(by, name)
		}
	}
	if len(by) > 1 {
		g.Fatalf("seed %d: %s is served by %v", g.seed, namespace, by)
	}
	if len(by) == 1 || !reachable {
		delete(g.unserved, namespace)
		return
	}
	since, found := g.unserved[namespace]
	if !found {
		g.unserved[namespace] = time.Now()
		return
	}
	since = later(since, g.calm)
	if gap := time.Since(since); gap > leaseDuration {
		g.Fatalf("seed %d: %s was served by nobody for %v", g.seed, namespace, gap)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// stop ends all replicas.
func (g *group) stop() {
	for _, name := range slices.Sorted(maps.Keys(g.replicas)) {
		g.leave(name)
	}
}

// counts returns how many shards each replica holds, in ascending order.
func (g *group) counts() (counts []int) {
	for _, r := range g.replicas {
		counts = append(counts, len(r.all()))
	}
	slices.Sort(counts)
	return counts
}

func (g *group) wantCounts(want ...int) {
	g.Helper()
	if got := g.counts(); !slices.Equal(got, want) {
		g.Errorf("the replicas hold %v shards, want %v", got, want)
	}
}

// TestShares_ThreeReplicas: they share evenly, and take over from one that is killed, leaves,
// or is cut off.
func TestShares_ThreeReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, 0)
		first := g.join(8)
		g.watch(2 * time.Second)
		g.wantCounts(8)
		second, third := g.join(8), g.join(8)
		g.watch(2 * leaseDuration)
		g.wantCounts(2, 3, 3)
		g.kill(second)
		g.watch(2 * leaseDuration)
		g.wantCounts(4, 4)
		g.replicas[third].connection.cut.Store(true)
		g.calm = time.Now()
		g.watch(2 * leaseDuration)
		g.wantCounts(0, 8)
		g.replicas[third].connection.cut.Store(false)
		g.calm = time.Now()
		g.watch(2 * leaseDuration)
		g.wantCounts(4, 4)
		g.leave(first)
		g.watch(leaseDuration)
		g.wantCounts(8)
		g.watch(11 * leaseDuration)
		for name, lease := range g.leases {
			if lease.Labels[roleLabel] == roleMember && *lease.Spec.HolderIdentity != third {
				t.Errorf("%s of a dead replica is left", name)
			}
		}
		g.stop()
	})
}

// enqueued is a controller that notes which namespaces it is to look at.
type enqueued struct{ asked [][]string }

func (*enqueued) Start(context.Context) error { return nil }

func (e *enqueued) Enqueue(concerns func(namespace string) bool) {
	e.asked = append(e.asked, slices.DeleteFunc(slices.Clone(namespaces), func(n string) bool { return !concerns(n) }))
}

// TestShares_Change: what changes hands is looked at, and nothing else.
func TestShares_Change(t *testing.T) {
	const n = 3
	var mine []string
	for _, name := range namespaces {
		if shardOf(name, n) == 1 {
			mine = append(mine, name)
		}
	}
	c := &enqueued{}
	s := &shares{n: n, held: map[int]bool{}, validUntil: time.Now().Add(time.Hour), status: &Status{}, controllers: []starter{c}}
	s.take([]int{1})
	served := slices.DeleteFunc(slices.Clone(namespaces), func(name string) bool { return !s.serves(name) })
	s.drop(1)
	if len(mine) == 0 || !slices.Equal(served, mine) || len(c.asked) != 2 || !slices.Equal(c.asked[0], mine) || !slices.Equal(c.asked[1], mine) {
		t.Errorf("the shard has %v; %v are served, and %v are looked at", mine, served, c.asked)
	}
}

// TestShares_GiveBack: a shard is free for others once the last writes to its namespaces have arrived, and a shard that another
// replica takes in the same instant is not an error.
func TestShares_GiveBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, 0)
		s := &shares{leases: &connection{leaseStore: g.leaseStore}, lease: Lease{Name: "l", Duration: leaseDuration}, identity: "me", status: &Status{},
			n: 1, held: map[int]bool{}, returning: map[int]time.Time{}}
		if err := s.renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		old, err := s.hold(t.Context(), 0, nil, "me")
		if err != nil {
			t.Fatal(err)
		}
		s.returning[0] = time.Now()
		for _, holder := range []string{"me", ""} {
			if err := s.giveBack(t.Context(), []*coordinationv1.Lease{old}); err != nil {
				t.Error(err)
			}
			if got := g.leases[old.Name]; *got.Spec.HolderIdentity != holder {
				t.Errorf("the holder is %q, want %q", *got.Spec.HolderIdentity, holder)
			}
			time.Sleep(s.drain())
		}
		claimed, err := s.claim(t.Context(), &view{me: member{identity: "me"}, alive: []member{{identity: "me"}}, holders: []string{""}}, []*coordinationv1.Lease{old})
		if len(claimed) > 0 || err != nil {
			t.Errorf("claimed %v with an old version: %v", claimed, err)
		}
		// A shard that was held before the membership lapsed is taken again, one that is served is not.
		mine, err := s.hold(t.Context(), 0, pointTo(g.leases[old.Name]), "me")
		if err != nil {
			t.Fatal(err)
		}
		claim := func() ([]int, error) {
			return s.claim(t.Context(), &view{me: member{identity: "me"}, alive: []member{{identity: "me"}}, holders: []string{"me"}}, []*coordinationv1.Lease{mine})
		}
		version := g.version
		if claimed, err := claim(); !slices.Equal(claimed, []int{0}) || err != nil || g.version == version {
			t.Errorf("claimed %v of an earlier life: %v", claimed, err)
		}
		s.take([]int{0})
		version = g.version
		if claimed, err := claim(); len(claimed) > 0 || err != nil || g.version != version {
			t.Errorf("claimed %v, which is served: %v", claimed, err)
		}
		if ready, text := s.status.Ready(); ready || text != "starting, shards 0" {
			t.Errorf("%v, %q", ready, text)
		}
		// A failed request is an error, and a shard of another replica stays with it.
		s.drop(0)
		s.leases.(*connection).cut.Store(true)
		if _, err := claim(); !errors.Is(err, errCut) {
			t.Errorf("a claim that did not arrive: %v", err)
		}
		s.leases.(*connection).cut.Store(false)
		if _, err := s.hold(t.Context(), 0, pointTo(g.leases[old.Name]), "other"); err != nil {
			t.Fatal(err)
		}
		if err := s.release(t.Context(), []int{0}); err != nil || *g.leases[old.Name].Spec.HolderIdentity != "other" {
			t.Errorf("the shard of another is released: %v", err)
		}
	})
}

// TestShares_AnotherNumber: replicas that divide the namespaces in another way wait until the
// older ones are gone.
func TestShares_AnotherNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, 0)
		old := g.join(4)
		g.watch(leaseDuration)
		g.join(6)
		g.join(6)
		g.watch(2 * leaseDuration)
		g.wantCounts(0, 0, 4)
		g.kill(old)
		g.watch(2 * leaseDuration)
		g.wantCounts(3, 3)
		g.stop()
	})
}

// TestShares_AtOnce: replicas that do not agree and start in the same instant, with requests
// that take different times.
func TestShares_AtOnce(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			g := newGroup(t, seed)
			random := rand.New(rand.NewPCG(seed, 0))
			for _, name := range []string{g.join(4), g.join(6)} {
				g.replicas[name].connection.delay.Store(int64(random.IntN(100)) * int64(time.Millisecond))
			}
			g.watch(2 * leaseDuration)
			if counts := g.counts(); counts[0] != 0 || counts[1] == 0 {
				t.Errorf("seed %d: the replicas hold %v shards; one must wait for the other", seed, counts)
			}
			g.stop()
		})
	}
}

// TestShares_Random: replicas join, leave, are killed, lose their connection or their answers,
// and become slow, in any order.
func TestShares_Random(t *testing.T) {
	for seed := range uint64(12) {
		synctest.Test(t, func(t *testing.T) {
			g := newGroup(t, seed)
			random := rand.New(rand.NewPCG(seed, 0))
			for range 40 {
				g.step(random)
				g.watch(time.Duration(random.IntN(int(leaseDuration))))
			}
			g.stop()
		})
	}
}

func (g *group) step(random *rand.Rand) {
	names := slices.Sorted(maps.Keys(g.replicas))
	if len(names) < 2 || len(names) < 5 && random.IntN(3) == 0 {
		shards := 7
		if g.seed%3 == 0 {
			shards += random.IntN(2) // replicas that do not agree
		}
		g.join(shards)
		return
	}
	name := names[random.IntN(len(names))]
	c := g.replicas[name].connection
	switch random.IntN(6) {
	case 0:
		g.kill(name)
	case 1:
		g.leave(name)
		g.calm = time.Now()
	case 2:
		c.cut.Store(!c.cut.Load())
		g.calm = time.Now()
	case 3:
		c.loseReply.Store(!c.loseReply.Load())
		g.calm = time.Now()
	case 4:
		c.delay.Store(int64(random.IntN(int(leaseDuration / 40))))
		g.calm = time.Now()
	case 5:
		g.unplug()
	}
}

// unplug mends every connection.
func (g *group) unplug() {
	for _, r := range g.replicas {
		r.connection.cut.Store(false)
		r.connection.loseReply.Store(false)
	}
	g.calm = time.Now()
}
