// Package apiserver runs a real kube-apiserver, with an etcd of its own, inside a test process.
//
// The fake API server of this module must give the same answers as the real one. Nothing runs
// beside the real server: no garbage collector, no namespace controller, no scheduler, no kubelet.
// So objects change only by requests of the test, and each answer comes from the API server alone.
package apiserver

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	apitesting "k8s.io/kubernetes/cmd/kube-apiserver/app/testing"
)

// flags lists the flags that differ from the defaults.
var flags = []string{
	// The admission plugin ServiceAccount refuses every pod of a namespace without a service
	// account named default, and the controller that would create that account does not run here.
	"--disable-admission-plugins=ServiceAccount",
}

// token is the clients' bearer token. Server.Config still sends it after a restart.
const token = "administrator"

// Server is an API server that can be stopped and started again. It keeps its objects.
type Server struct {
	// Config is for a client with all rights and a very high rate limit. It stays valid
	// when the server starts again.
	Config *rest.Config
	// Etcd is the address of the storage.
	Etcd string

	flags   []string
	tokens  string
	running apitesting.TestServer

	mu          sync.Mutex
	address     string // where the server listens now; empty while it is stopped
	connections []net.Conn
}

// dial connects to the server, wherever it listens now.
func (s *Server) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.address == "" {
		return nil, errors.New("the server is stopped")
	}
	c, err := new(net.Dialer).DialContext(ctx, network, s.address)
	if err == nil {
		s.connections = append(s.connections, c)
	}
	return c, err
}

// Address returns the address at which the server listens now, for clients in other processes. It
// changes with each start.
func (s *Server) Address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.address
}

// listens notes the server's address, and closes all connections.
func (s *Server) listens(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.connections {
		c.Close()
	}
	s.address, s.connections = address, nil
}

// Start runs etcd and kube-apiserver on free ports of the loopback device until the end of the test
// and returns a client with all rights and a very high rate limit. The logs are shown only if the
// test fails. Use one server for all tests of a package: it takes seconds to start.
func Start(t testing.TB) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(StartServer(t).Config)
	if err != nil {
		t.Fatalf("client: %v", err)
	}
	return c
}

// StartServer is like Start, for tests that need more than a client, and takes more flags.
func StartServer(t testing.TB, more ...string) *Server {
	t.Helper()
	logs := capture(t)
	s := &Server{
		Etcd:   startEtcd(t, logs),
		tokens: filepath.Join(t.TempDir(), "tokens"),
		flags:  slices.Concat(flags, more),
	}
	if err := os.WriteFile(s.tokens, []byte(token+`,administrator,administrator,"system:masters"`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Start(t)
	// This cleanup is registered after etcd's and so runs before it: the API server
	// stops first.
	t.Cleanup(func() { s.Stop() })
	s.Config = ConfigOf("kube-apiserver", token)
	s.Config.Dial = s.dial
	return s
}

// ConfigOf returns the configuration of a client of the server at an address, with a very high rate
// limit.
func ConfigOf(address, token string) *rest.Config {
	return &rest.Config{
		Host:            "https://" + address,
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true}, // each start makes a new certificate
		QPS:             10_000, Burst: 10_000,
		// The encoding that the controllers use.
		ContentConfig: rest.ContentConfig{
			ContentType:        "application/vnd.kubernetes.protobuf",
			AcceptContentTypes: "application/vnd.kubernetes.protobuf,application/json",
		},
	}
}

// Start starts the server again after Stop.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	storage := storagebackend.NewDefaultConfig("registry", nil)
	storage.Transport.ServerList = []string{s.Etcd}
	var err error
	s.running, err = apitesting.StartTestServer(t, apitesting.NewDefaultTestServerOptions(),
		append(s.flags, "--token-auth-file="+s.tokens), storage)
	if err != nil {
		t.Fatalf("kube-apiserver: %v", err)
	}
	host, err := url.Parse(s.running.ClientConfig.Host)
	if err != nil {
		t.Fatalf("kube-apiserver: %v", err)
	}
	s.listens(host.Host)
}

// Stop stops the server. It also closes the clients' connections, since the server would otherwise
// wait for their watches.
func (s *Server) Stop() {
	s.listens("")
	if s.running.TearDownFn != nil {
		s.running.TearDownFn()
	}
	s.running.TearDownFn = nil
}
