package probe_test

import (
	"context"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/proof/conformance/probe"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

// beyond holds the probes that the fake need not pass, and why. Neither the controllers nor the
// worlds of the tests send such requests.
var beyond = map[string]string{
	"pod update: bind":              "the client of the fake loses the namespace, which the binding does not name",
	"pod list: broken selector":     "the client of the fake panics before the fake is asked",
	"the usual event, in full":      "events are kept as a record, without versions",
	"event: recorded and repeated":  "events are kept as a record, without versions",
	"event: name taken, deleted":    "events are kept as a record, not as objects",
	"event: invalid":                "events are kept as a record, not as objects",
	"namespace terminating: events": "events are kept as a record, not as objects",
}

// TestFake sends the probes to the fake API server, which must give the answers of the real one.
func TestFake(t *testing.T) {
	fake := server.New()
	got, err := probe.Run(t.Context(), probe.Target{
		Client: fake.Client(),
		Open:   func(context.Context, string) error { return nil },
		Close: func(_ context.Context, namespace string) error {
			fake.CloseNamespace(namespace)
			return nil
		},
	})
	must.OK(t, err)
	compare(t, got, beyond)
}
