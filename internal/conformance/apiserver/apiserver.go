// Package apiserver runs a real kube-apiserver, with an etcd of its own, inside a test process.
//
// The fake API server of this module must give the same answers as the real one. Nothing runs beside
// it: no garbage collector, no namespace controller, no scheduler, no kubelet. So objects change only
// by requests of the test, and each answer comes from the API server alone.
package apiserver

import (
	"testing"

	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	apitesting "k8s.io/kubernetes/cmd/kube-apiserver/app/testing"
)

// flags lists the flags that differ from the defaults.
var flags = []string{
	// ServiceAccount refuses every pod of a namespace without a service account named default, and
	// the controller that would create one does not run here.
	"--disable-admission-plugins=ServiceAccount",
}

// Start runs etcd and kube-apiserver on free ports of the loopback device until the end of the test
// and returns a client with all rights and a very high rate limit. The logs are shown only if the
// test fails. Use one server for all tests of a package: it takes seconds to start.
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
	// This cleanup is registered after etcd's and so runs before it: the API server
	// stops first.
	t.Cleanup(server.TearDownFn)
	return client(t, server.ClientConfig)
}

func client(t testing.TB, config *rest.Config) kubernetes.Interface {
	t.Helper()
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 10_000, 10_000
	// The encoding that the controllers use.
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatalf("client: %v", err)
	}
	return c
}
