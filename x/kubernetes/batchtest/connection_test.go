package batchtest

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/batchplan/batchplan/internal/must"
)

// TestTransport_Close: no connection is left, not even one with an open stream, and no new one can
// begin.
func TestTransport_Close(t *testing.T) {
	closed := make(chan net.Conn, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		must.OK(t, http.NewResponseController(w).Flush())
		<-r.Context().Done() // the stream stays open, as that of a watch
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // drops the errors about closed connections
	server.Config.ConnState = func(c net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			closed <- c
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)

	config := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	transport, closeAll, err := transportFor(config)
	must.OK(t, err)
	client := &http.Client{Transport: transport}
	reply, err := client.Get(server.URL)
	must.OK(t, err)
	if reply.ProtoMajor != 2 {
		t.Fatalf("the connection is of %s", reply.Proto)
	}

	closeAll()
	if _, err := io.ReadAll(reply.Body); err == nil {
		t.Error("the stream has ended without an error")
	}
	must.OK(t, reply.Body.Close())
	select {
	case <-closed:
	case <-time.After(30 * time.Second):
		t.Fatal("the connection is still open")
	}
	if _, err := client.Get(server.URL); err == nil {
		t.Error("there is a new connection")
	}
}
