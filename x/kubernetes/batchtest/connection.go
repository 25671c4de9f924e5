package batchtest

import (
	"errors"
	"fmt"
	"net/http"

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

	transport, closeIdle, err := transportFor(config)
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
	return &connection{client, objects, closeIdle}, nil
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
	t := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		TLSClientConfig:     secrets,
		DialContext:         config.Dial,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 25,
		DisableCompression:  true,
	}
	if config.Proxy != nil {
		t.Proxy = config.Proxy
	}
	return t, t.CloseIdleConnections, nil
}
