package metrics

import (
	"net/http"
	"strconv"
)

// Requests counts the requests of a client by method and code; conflicts have code 409. Pass it to
// the Wrap method of a rest.Config.
func (m *Metrics) Requests(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		code := "<error>"
		if err == nil {
			code = strconv.Itoa(response.StatusCode)
		}
		m.requests.WithLabelValues(code, r.Method, r.URL.Host).Inc()
		return response, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
