//go:build go1.25

package controller

import (
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/expectations"
)

// seen is a store that has seen this version.
type seen string

func (s seen) LastStoreSyncResourceVersion() string { return string(s) }

var key = types.NamespacedName{Namespace: "ns", Name: "j"}

// TestE6_Versions: a round waits without limit for caches to show the job's own writes.
func TestE6_Versions(t *testing.T) {
	tests := []struct {
		name       string
		jobs, pods seen
		want       bool
	}{
		{"both are seen", "20", "31", true},
		{"more is seen", "100", "100", true},
		{"the status is not", "19", "31", false},
		{"a pod is not", "20", "30", false},
		{"versions are numbers", "20", "9", false},
		{"it is not a version", "20", "x", true},
	}

	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v := versions{stores: [2]store{ofOwners: test.jobs, ofPods: test.pods}}
			v.wrote(key, "u", ofPods, "31")
			v.wrote(key, "u", ofPods, "30") // writes of one round end in any order
			v.wrote(key, "u", ofOwners, "20")

			err := v.check(key)
			if (err == nil) != test.want {
				t.Errorf("got %v", err)
			}
			if got := len(v.writes) == 0; got != test.want {
				t.Errorf("forgotten %v: what is seen takes no memory", got)
			}
		})
	}
}

// versioned is a cache that knows its version, as those of client-go since v0.36.
type versioned struct{ cache.Store }

func (versioned) LastStoreSyncResourceVersion() string { return "7" }

// TestStoreOf: the version of a cache counts if the cache knows it.
func TestStoreOf(t *testing.T) {
	if got := storeOf(versioned{}).LastStoreSyncResourceVersion(); got != "7" {
		t.Errorf("got %q", got)
	}
}

// TestE6_NotificationsInstead: if a feature gate is off, a cache does not know its version. Then
// the versions of its notifications are used, and a lost notification delays the job only for a
// limited time.
func TestE6_NotificationsInstead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := versions{stores: [2]store{ofOwners: seen(""), ofPods: seen("")}}
		v.wrote(key, "u", ofPods, "31")
		for _, told := range []struct {
			version string
			want    bool
		}{{"", false}, {"30", false}, {"29", false}, {"31", true}} {
			if told.version != "" {
				v.observe(ofPods, told.version)
			}
			if err := v.check(key); (err == nil) != told.want {
				t.Errorf("after %q: %v", told.version, err)
			}
		}

		v.wrote(key, "u", ofPods, "40") // the watch breaks, and no notification of this write comes
		time.Sleep(expectations.Timeout - time.Nanosecond)
		if v.check(key) == nil {
			t.Error("the write is not waited for")
		}
		time.Sleep(time.Nanosecond)
		if err := v.check(key); err != nil {
			t.Errorf("a lost notification holds the job back without end: %v", err)
		}
	})
}

// TestE6_NotAVersion: a string that is not a version number holds no job back.
func TestE6_NotAVersion(t *testing.T) {
	for _, written := range []string{"", "0", "099", "x", "x99", "99x", "9.9"} {
		v := versions{stores: [2]store{ofOwners: seen("1"), ofPods: seen("7")}}
		v.wrote(key, "u", ofPods, written)
		if err := v.check(key); err != nil {
			t.Errorf("%q: %v", written, err)
		}
	}
}

// TestVersions_Forget: the writes of a job do not hold back a later job of the same name.
func TestVersions_Forget(t *testing.T) {
	v := versions{stores: [2]store{ofOwners: seen("1"), ofPods: seen("7")}}
	v.wrote(key, "old", ofOwners, "5")
	v.forget(key, "another")
	if v.check(key) == nil {
		t.Error("the writes of another job were forgotten")
	}
	v.wrote(key, "new", ofPods, "6")
	if err := v.check(key); err != nil {
		t.Errorf("a later job waits for the writes of an earlier one: %v", err)
	}
	v.wrote(key, "new", ofOwners, "5")
	v.forget(key, "")
	if err := v.check(key); err != nil {
		t.Error(err)
	}

	c := &Jobs{written: versions{stores: v.stores}}
	c.written.wrote(key, "u", ofOwners, "5")
	q := &prompt{v: &c.written}
	c.OwnerEvents(q).OnDelete(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j", UID: "u"}})
	if q.rounds != 1 || q.stale != nil {
		t.Errorf("%d rounds after a deletion, stale: %v", q.rounds, q.stale)
	}
}

// prompt is a queue whose rounds start in the call of Add.
type prompt struct {
	v      *versions
	rounds int
	stale  *staleError
}

func (q *prompt) Add(key types.NamespacedName)                 { q.rounds++; q.stale = q.v.check(key) }
func (q *prompt) AddAfter(types.NamespacedName, time.Duration) {}
