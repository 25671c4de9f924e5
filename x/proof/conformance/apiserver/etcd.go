package apiserver

import (
	"io"
	"net/url"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// startEtcd runs a single etcd until the end of the test and returns its address.
func startEtcd(t testing.TB, logs io.Writer) string {
	t.Helper()
	etcd, err := embed.StartEtcd(etcdConfig(t, logs))
	if err != nil {
		t.Fatalf("etcd: %v", err)
	}
	t.Cleanup(etcd.Close)
	select {
	case <-etcd.Server.ReadyNotify():
	case err := <-etcd.Err():
		t.Fatalf("etcd: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("etcd: not ready after a minute")
	}
	return "http://" + etcd.Clients[0].Addr().String()
}

func etcdConfig(t testing.TB, logs io.Writer) *embed.Config {
	// Port 0: the system picks a free one, and no other process can take it in between.
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config := embed.NewConfig()
	config.Dir = t.TempDir()
	config.ListenClientUrls, config.AdvertiseClientUrls = anyPort, anyPort
	config.ListenPeerUrls, config.AdvertisePeerUrls = anyPort, anyPort
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	// The data is not needed after a crash.
	config.UnsafeNoFsync = true
	// With the zero value, each request would count as slow and be logged.
	config.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration
	core := zapcore.NewCore(zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig()), zapcore.AddSync(logs),
		zap.WarnLevel)
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.New(core))
	return config
}
