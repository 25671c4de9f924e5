package replica

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Status is the state of a replica, for people and probes. The zero value means that the replica is
// starting.
type Status struct {
	mu    sync.Mutex
	phase phase
}

// phase is the current work of a replica.
type phase string

const (
	phaseStarting phase = "starting"
	phaseStandby  phase = "standby"
	phaseFilling  phase = "filling its caches"
	phaseRunning  phase = "running"
	phaseStopping phase = "stopping"
)

func (s *Status) set(p phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = p
}

// Ready returns true if the replica runs the controllers, and also if it waits for the lease. text
// describes its state.
func (s *Status) Ready() (ready bool, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = string(s.phase)
	if text == "" {
		text = string(phaseStarting)
	}
	return s.phase == phaseRunning || s.phase == phaseStandby, text
}

// Health serves /healthz and /readyz. The kubelet has to reach it.
func Health(s *Status) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		ready, text := s.Ready()
		if !ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprintln(w, text)
	})
	return mux
}

// Metrics serves /metrics, without authentication.
func Metrics(g prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(g, promhttp.HandlerOpts{}))
	return mux
}
