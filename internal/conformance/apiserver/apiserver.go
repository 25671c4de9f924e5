// Package apiserver runs a real kube-apiserver, with an etcd of its own, inside a test process.
//
// It is there to be asked: what the fake API server of this module answers, the real one must have
// answered too. Nothing runs beside it: no garbage collector, no namespace controller, no scheduler,
// no kubelet. So objects change by the requests of the test alone, and each answer is the API server's
// own.
package apiserver

import (
	"testing"

	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	apitesting "k8s.io/kubernetes/cmd/kube-apiserver/app/testing"
)

// flags is where this server departs from one with default flags.
var flags = []string{
	// ServiceAccount refuses every pod of a namespace that has no service account named default, and
	// the controller that would make one does not run here.
	"--disable-admission-plugins=ServiceAccount",
}

// Start runs etcd and kube-apiserver on free ports of the loopback device until the end of the test
// and returns a client with all rights and no rate limit worth mentioning. What both log is shown
// only if the test fails. One server for all tests of a package is best: it takes seconds to start.
func Start(t testing.TB) kubernetes.Interface {
	t.Helper()
	logs := capture(t)
	endpoint := startEtcd(t, logs)
	storage := storagebackend.NewDefaultConfig("registry", nil)
	storage.Transport.ServerList = []string{endpoint}
	server, err := apitesting.StartTestServer(t, apitesting.NewDefaultTestServerOptions(), flags, storage)
	if err != nil {
		t.Fatalf("kube-apiserver: %v", err)
	}
	// Registered after etcd's, so it runs before: the API server stops first.
	t.Cleanup(server.TearDownFn)
	return client(t, server.ClientConfig)
}

func client(t testing.TB, config *rest.Config) kubernetes.Interface {
	t.Helper()
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 10_000, 10_000
	// As the controllers speak to it.
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatalf("client: %v", err)
	}
	return c
}
