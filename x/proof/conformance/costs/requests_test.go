package costs

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
)

// counts holds the numbers of requests by kind: the verb and the resource.
type counts map[string]int

func kindOf(verb, resource, subresource string) string {
	if subresource != "" {
		resource += "/" + subresource
	}
	return verb + " " + resource
}

// more returns the kinds of requests that b has more of than a.
func (a counts) more(b counts) (kinds []string) {
	for _, kind := range slices.Sorted(maps.Keys(b)) {
		if b[kind] > a[kind] {
			kinds = append(kinds, fmt.Sprintf("%s: %d instead of %d", kind, b[kind], a[kind]))
		}
	}
	return kinds
}

func (a counts) total() (n int) {
	for _, m := range a {
		n += m
	}
	return n
}

func (a counts) String() string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(a)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, a[kind]))
	}
	return strings.Join(parts, ", ")
}

// counter counts the requests of a client, including the lists and watches of its caches.
type counter struct {
	mu   sync.Mutex
	seen counts
	last time.Time
}

// infos parses requests as the server does.
var infos = genericrequest.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// wrap counts the requests that pass. It is for the Wrap method of a rest.Config.
func (c *counter) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		info, err := infos.NewRequestInfo(r)
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		if c.seen == nil {
			c.seen = counts{}
		}
		c.seen[kindOf(info.Verb, info.Resource, info.Subresource)]++
		c.last = time.Now()
		c.mu.Unlock()
		return next.RoundTrip(r)
	})
}

// sum returns the requests so far, and the time of the last one.
func (c *counter) sum() (counts, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.seen), c.last
}

// since returns the requests since an earlier sum.
func (a counts) since(before counts) counts {
	out := counts{}
	for kind, n := range a {
		if n > before[kind] {
			out[kind] = n - before[kind]
		}
	}
	return out
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
