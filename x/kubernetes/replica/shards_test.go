package replica

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestView_Share: the shares of all replicas make up the whole, and differ by one at most.
func TestView_Share(t *testing.T) {
	for shards := 1; shards < 20; shards++ {
		for replicas := 1; replicas < 8; replicas++ {
			v := &view{holders: make([]string, shards)}
			for i := range replicas {
				v.alive = append(v.alive, member{identity: fmt.Sprint(i)})
			}
			var shares []int
			sum := 0
			for _, v.me = range v.alive {
				shares = append(shares, v.share())
				sum += v.share()
			}
			if sum != shards || slices.Max(shares)-slices.Min(shares) > 1 {
				t.Errorf("%d shards of %d replicas: %v", shards, replicas, shares)
			}
		}
	}
}

// TestView_MustWait: who waits for replicas that divide the namespaces in another way.
func TestView_MustWait(t *testing.T) {
	at := func(second int64, identity string) member {
		return member{identity: identity, created: time.Unix(second, 0)}
	}
	me := at(5, "m")
	tests := []struct {
		name string
		view view
		want bool
	}{
		{"nobody else", view{me: me}, false},
		{"an older one", view{me: me, foreign: []member{at(4, "z")}}, true},
		{"a younger one", view{me: me, foreign: []member{at(6, "a")}}, false},
		{"one of the same second", view{me: me, foreign: []member{at(5, "a")}}, true},
		{"another one of the same second", view{me: me, foreign: []member{at(5, "z")}}, false},
		{"a younger one that holds a shard", view{me: me, foreign: []member{at(6, "a")}, foreignHolds: true}, true},
	}
	for _, test := range tests {
		test.view.alive, test.view.holders = []member{me}, []string{""}
		if got := test.view.mustWait(); got != test.want {
			t.Errorf("%s: waits %v, want %v", test.name, got, test.want)
		}
		if claims := test.view.wanted(nil); (len(claims) == 0) != test.want {
			t.Errorf("%s: claims %v", test.name, claims)
		}
	}
}

// TestShardOf: each namespace has a shard, and none is left without namespaces.
func TestShardOf(t *testing.T) {
	used := map[int]int{}
	for i := range 1000 {
		used[shardOf(fmt.Sprint("namespace-", i), 8)]++
	}
	for shard := range 8 {
		if n := used[shard]; n < 60 || n > 200 {
			t.Errorf("shard %d has %d of 1000 namespaces", shard, n)
		}
	}
}

// TestFence: writes to the namespaces of other replicas do not leave the process.
func TestFence(t *testing.T) {
	const mine, other = "mine", "other"
	s := &shares{n: 1000, held: map[int]bool{shardOf(mine, 1000): true}, validUntil: time.Now().Add(time.Hour)}
	sent := false
	client := http.Client{Transport: fence{s, roundTripper(func(r *http.Request) (*http.Response, error) {
		sent = true
		return httptest.NewRecorder().Result(), nil
	})}}
	tests := []struct {
		method, path string
		want         bool
	}{
		{"POST", "/api/v1/namespaces/" + mine + "/pods", true},
		{"POST", "/api/v1/namespaces/" + other + "/pods", false},
		{"PATCH", "/api/v1/namespaces/" + other + "/pods/p", false},
		{"DELETE", "/apis/batch/v1/namespaces/" + other + "/jobs/j", false},
		{"PUT", "/apis/batch/v1/namespaces/" + other + "/jobs/j/status", false},
		{"GET", "/apis/batch/v1/namespaces/" + other + "/jobs/j", true},
		{"GET", "/api/v1/pods", true},
		{"POST", "/api/v1/namespaces/" + other + "/events", true},
	}
	for _, test := range tests {
		sent = false
		body := &closed{Reader: strings.NewReader("body")}
		r, err := http.NewRequest(test.method, "http://server"+test.path, body)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		if err == nil {
			response.Body.Close()
		}
		if sent != test.want || (err == nil) != test.want {
			t.Errorf("%s %s: sent %v, error %v", test.method, test.path, sent, err)
		}
		if !sent && !body.closed {
			t.Errorf("%s %s: the body is left open", test.method, test.path)
		}
	}
	s.validUntil = time.Now()
	if s.serves(mine) {
		t.Error("a membership that was not renewed in time still serves")
	}
}

// closed notes that it was closed.
type closed struct {
	*strings.Reader
	closed bool
}

func (c *closed) Close() error { c.closed = true; return nil }

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
