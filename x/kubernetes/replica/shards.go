package replica

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// shardOf returns the shard of a namespace.
func shardOf(namespace string, shards int) int {
	h := fnv.New32a()
	h.Write([]byte(namespace))
	return int(h.Sum32() % uint32(shards))
}

// member is a replica, as its lease shows it.
type member struct {
	identity string
	shards   int // into how many shards it divides the namespaces
	created  time.Time
}

// isOlder orders members by their lives.
func (m member) isOlder(other member) bool {
	if !m.created.Equal(other.created) {
		return m.created.Before(other.created)
	}
	return m.identity < other.identity
}

// view is what the leases said at some time: who lives, and who holds which shard.
type view struct {
	me      member
	alive   []member // all that divide as I do, I among them, by identity
	foreign []member // those alive that divide in another way
	// holders are by shard; free means that nobody who lives holds it.
	holders []string
	// foreignHolds is true while one that divides in another way holds a shard.
	foreignHolds bool
}

// share returns how many shards a replica should hold.
func (v *view) share() int {
	rank := slices.IndexFunc(v.alive, func(m member) bool { return m.identity == v.me.identity })
	share := len(v.holders) / len(v.alive)
	if rank < len(v.holders)%len(v.alive) {
		share++
	}
	return share
}

// mustWait reports whether nothing may be claimed, since replicas that divide the namespaces
// in another way are at work, or were here first.
func (v *view) mustWait() bool {
	return v.foreignHolds || slices.ContainsFunc(v.foreign, func(m member) bool { return m.isOlder(v.me) })
}

// surplus returns the shards to give back: the last ones of those held.
func (v *view) surplus(held []int) []int {
	if extra := len(held) - v.share(); extra > 0 {
		return held[len(held)-extra:]
	}
	return nil
}

// wanted returns the free shards to claim. Each replica begins at another one.
func (v *view) wanted(held []int) (claim []int) {
	if v.mustWait() {
		return nil
	}
	n := len(v.holders)
	room, first := v.share()-len(held), shardOf(v.me.identity, n)
	for i := range n {
		shard := (first + i) % n
		if room > 0 && v.holders[shard] == "" && !slices.Contains(held, shard) {
			claim = append(claim, shard)
			room--
		}
	}
	return claim
}

// census remembers when each member was last seen to live. Clocks of replicas need not agree:
// it measures from the moment when this replica saw a renewal.
type census struct {
	renewals map[string]renewal // by identity
}

type renewal struct {
	version string
	seen    time.Time
}

// see takes the lease of a member and returns when it was last seen to live.
func (c *census) see(lease *coordinationv1.Lease, now time.Time) time.Time {
	identity := holderOf(lease)
	known, found := c.renewals[identity]
	if !found || known.version != lease.ResourceVersion {
		known = renewal{lease.ResourceVersion, now}
		if c.renewals == nil {
			c.renewals = map[string]renewal{}
		}
		c.renewals[identity] = known
	}
	return known.seen
}

func holderOf(lease *coordinationv1.Lease) string {
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// namespaceOf returns the namespace that a request writes to, and "" for events and for
// objects that have none.
func namespaceOf(path string) string {
	_, rest, found := strings.Cut(path, "/namespaces/")
	if !found {
		return ""
	}
	namespace, rest, _ := strings.Cut(rest, "/")
	if resource, _, _ := strings.Cut(rest, "/"); resource == "events" {
		return ""
	}
	return namespace
}
