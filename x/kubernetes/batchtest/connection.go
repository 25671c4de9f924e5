package batchtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// connection holds the clients of one cluster. client-go shares a transport among all clients of a
// configuration; a cluster has its own, so that no connection is left when it has stopped.
type connection struct {
	client   kubernetes.Interface
	metadata metadata.Interface
	close    func()
}

func connect(given *rest.Config) (*connection, error) {
	if given == nil {
		return nil, errors.New("config: nil: a rest.Config of the test's API server is required")
	}
	config := rest.CopyConfig(given)
	config.UserAgent = "batchtest"
	// So high that a test never waits for the rate limit.
	config.QPS, config.Burst, config.RateLimiter = 10_000, 10_000, nil

	transport, closeAll, err := transportFor(config)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	wrapped, err := rest.HTTPWrappersForConfig(config, transport)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	httpClient := &http.Client{Transport: wrapped, Timeout: config.Timeout}

	typed := rest.CopyConfig(config)
	typed.ContentType = "application/vnd.kubernetes.protobuf"
	typed.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client, err1 := kubernetes.NewForConfigAndClient(typed, httpClient)
	objects, err2 := metadata.NewForConfigAndClient(metadata.ConfigFor(config), httpClient)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return &connection{client, objects, closeAll}, nil
}

// transportFor returns a transport, and a function that closes its connections.
func transportFor(config *rest.Config) (http.RoundTripper, func(), error) {
	if config.Transport != nil {
		return config.Transport, func() {}, nil // the caller closes it
	}
	secrets, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, nil, err
	}

	var open connections
	t := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		TLSClientConfig:     secrets,
		DialContext:         open.dialer(config.Dial),
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 25,
		DisableCompression:  true,
	}
	if config.Proxy != nil {
		t.Proxy = config.Proxy
	}
	return t, open.close, nil
}

// connections are the open connections of a transport. Transport.CloseIdleConnections would leave a
// connection open while the stream of a watch is still ending.
type connections struct {
	mu     sync.Mutex
	open   map[*connected]bool
	closed bool
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// dialer returns a function that dials and records each connection. It dials with the given
// function, or with the default if that is nil.
func (c *connections) dialer(dial dialFunc) dialFunc {
	if dial == nil {
		dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	c.open = map[*connected]bool{}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		made, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}

		c.mu.Lock()
		defer c.mu.Unlock()
		if c.closed {
			return nil, errors.Join(net.ErrClosed, made.Close())
		}
		one := &connected{made, c}
		c.open[one] = true
		return one, nil
	}
}

// close closes all connections. A connection that is dialled later is closed immediately.
func (c *connections) close() {
	c.mu.Lock()
	open := slices.Collect(maps.Keys(c.open))
	c.closed = true
	c.mu.Unlock()

	for _, one := range open {
		_ = one.Close() // nobody reads or writes any more
	}
}

// connected is one open connection.
type connected struct {
	net.Conn
	of *connections
}

// Close implements [net.Conn].
func (c *connected) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
