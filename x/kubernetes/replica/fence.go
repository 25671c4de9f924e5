package replica

import (
	"fmt"
	"net/http"
)

// fence refuses writes to namespaces that another replica serves by now: a round that began
// in time may last longer than its shard.
type fence struct {
	*shares
	next http.RoundTripper
}

func (f fence) RoundTrip(r *http.Request) (*http.Response, error) {
	namespace := namespaceOf(r.URL.Path)
	if r.Method == http.MethodGet || namespace == "" || f.serves(namespace) {
		return f.next.RoundTrip(r)
	}
	if r.Body != nil {
		r.Body.Close()
	}
	return nil, fmt.Errorf("namespace %s belongs to another replica", namespace)
}
