package replica

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// clients are the clients of one server.
type clients struct {
	all    kubernetes.Interface
	groups dynamic.Interface // for the workloads and pod groups of gangs
}

// leanClient is a client whose pods have only the fields that the controllers read.
type leanClient struct {
	kubernetes.Interface
	core typedcore.CoreV1Interface
}

// CoreV1 implements [kubernetes.Interface].
func (c leanClient) CoreV1() typedcore.CoreV1Interface { return c.core }

// newClients returns the clients of the server, which share connections and a rate limit.
func newClients(server *rest.Config) (clients, error) {
	config := rest.CopyConfig(server)
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	if config.RateLimiter == nil && config.QPS > 0 {
		config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(config.QPS, max(config.Burst, 1))
	}

	http, err := rest.HTTPClientFor(config)
	if err != nil {
		return clients{}, err
	}
	all, err := kubernetes.NewForConfigAndClient(config, http)
	if err != nil {
		return clients{}, err
	}
	groups, err := dynamic.NewForConfigAndClient(config, http)
	if err != nil {
		return clients{}, err
	}

	core := rest.CopyConfig(config)
	core.GroupVersion, core.APIPath = &corev1.SchemeGroupVersion, "/api"
	codecs := rest.CodecFactoryForGeneratedClient(scheme.Scheme, scheme.Codecs)
	core.NegotiatedSerializer = convert.Lean(codecs.WithoutConversion())
	pods, err := rest.RESTClientForConfigAndClient(core, http)
	if err != nil {
		return clients{}, err
	}
	return clients{leanClient{all, typedcore.New(pods)}, groups}, nil
}
