// Package plain makes a controller of OpenKruise, as its own Add function does, on a fake client.
package plain

import (
	"net/http"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// keeper is a manager that keeps what is added to it.
type keeper struct {
	manager.Manager
	added manager.Runnable
}

func (k *keeper) Add(r manager.Runnable) error {
	k.added = r
	return nil
}

func (k *keeper) GetEventRecorderFor(string) record.EventRecorder { return &record.FakeRecorder{} }

// Controller calls add, and returns the controller that add gives to a manager. The controller
// watches events, and the client of its reconciler is c.
func Controller(
	add func(manager.Manager) error, c client.Client, events *informertest.FakeInformers,
) (controller.Controller, error) {
	mgr, err := ctrl.NewManager(&rest.Config{}, ctrl.Options{
		Scheme: scheme.Scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		NewCache:  func(*rest.Config, cache.Options) (cache.Cache, error) { return events, nil },
		NewClient: func(*rest.Config, client.Options) (client.Client, error) { return c, nil },
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return testrestmapper.TestOnlyStaticRESTMapper(scheme.Scheme), nil
		},
	})
	if err != nil {
		return nil, err
	}
	kept := &keeper{Manager: mgr}
	if err := add(kept); err != nil {
		return nil, err
	}
	// Add has given the reconciler a client for a real server. The fake client replaces it.
	reconciler := reflect.ValueOf(kept.added).Elem().FieldByName("Do").Elem().Elem()
	reconciler.FieldByName("Client").Set(reflect.ValueOf(c))
	return kept.added.(controller.Controller), nil
}
