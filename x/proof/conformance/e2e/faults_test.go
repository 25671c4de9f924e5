package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

var errCut = errors.New("the connection is cut")

// transport is a function as a RoundTripper.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func isWrite(r *http.Request) bool { return r.Method != http.MethodGet }

// isEvent reports whether a request reports an event. Events are sent outside of the rounds.
func isEvent(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/events") }

func isWatch(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Query().Get("watch") != ""
}

// answer returns a server's answer that refuses a request.
func answer(r *http.Request, code int, reason string) *http.Response {
	text := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"injected","reason":%q,"code":%d}`, reason, code)
	h := http.Header{"Content-Type": {"application/json"}}
	if code == http.StatusTooManyRequests {
		h.Set("Retry-After", "1")
	}
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/2.0", ProtoMajor: 2, Header: h, Request: r,
		Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
	}
}

// faulty is a server that fails requests at random, up to a number of faults. After several failed
// rounds in a row, a job waits a minute before each further round, so a test with endless faults
// could take minutes.
type faulty struct {
	mu     sync.Mutex
	random *rand.Rand
	left   int
	counts map[string]int // faults by kind
}

func newFaulty(seed uint64, faults int) *faulty {
	return &faulty{random: rand.New(rand.NewPCG(seed, 0)), left: faults, counts: map[string]int{}}
}

// draw returns the fault of a request. One request in three has a fault.
func (f *faulty) draw() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	kinds := []string{"conflict", "too many", "internal", "cut before", "cut after"}
	n := f.random.IntN(3 * len(kinds))
	if n >= len(kinds) || f.left == 0 {
		return ""
	}
	f.left--
	f.counts[kinds[n]]++
	return kinds[n]
}

func (f *faulty) between(r *http.Request, server http.RoundTripper) (*http.Response, error) {
	if isWatch(r) || isEvent(r) {
		return server.RoundTrip(r)
	}
	fault := f.draw()
	switch fault {
	case "":
		return server.RoundTrip(r)
	case "cut after":
		if response, err := server.RoundTrip(r); err == nil {
			response.Body.Close()
		}
		return nil, errCut
	}
	if r.Body != nil {
		r.Body.Close()
	}
	switch {
	case fault == "conflict" && isWrite(r):
		return answer(r, http.StatusConflict, "Conflict"), nil
	case fault == "conflict", fault == "internal":
		return answer(r, http.StatusInternalServerError, "InternalError"), nil
	case fault == "too many":
		return answer(r, http.StatusTooManyRequests, "TooManyRequests"), nil
	}
	return nil, errCut
}

// lag delays all watch events.
func lag(by time.Duration) middleware {
	return func(r *http.Request, server http.RoundTripper) (*http.Response, error) {
		response, err := server.RoundTrip(r)
		if err == nil && isWatch(r) {
			response.Body = newLate(response.Body, by)
		}
		return response, err
	}
}

// late is a body whose chunks are all delayed by the same duration.
type late struct {
	body   io.ReadCloser
	chunks chan chunk
	rest   bytes.Reader
	err    error
	closed chan struct{}
	once   sync.Once
}

type chunk struct {
	data []byte
	err  error
	due  time.Time
}

func newLate(body io.ReadCloser, by time.Duration) *late {
	l := &late{body: body, chunks: make(chan chunk, 10_000), closed: make(chan struct{})}
	go func() {
		for {
			buffer := make([]byte, 64<<10)
			n, err := body.Read(buffer)
			select {
			case l.chunks <- chunk{buffer[:n], err, time.Now().Add(by)}:
			case <-l.closed:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return l
}

func (l *late) Read(p []byte) (int, error) {
	for l.rest.Len() == 0 {
		if l.err != nil {
			return 0, l.err
		}
		select {
		case c := <-l.chunks:
			timer := time.NewTimer(time.Until(c.due))
			select {
			case <-timer.C:
			case <-l.closed:
				timer.Stop()
				return 0, io.ErrClosedPipe
			}
			l.rest.Reset(c.data)
			l.err = c.err
		case <-l.closed:
			return 0, io.ErrClosedPipe
		}
	}
	return l.rest.Read(p)
}

func (l *late) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.body.Close()
}
