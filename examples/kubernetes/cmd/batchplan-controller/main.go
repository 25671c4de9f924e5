// Command batchplan-controller runs the controllers of batchplan on a Kubernetes API server.
//
//	batchplan-controller -managed-by example.com/jobs
//
// It takes the jobs whose spec.managedBy is that name and touches no others.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/examples/kubernetes/replica"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	err := run(ctx, os.Args[1:], os.Stderr)
	klog.Flush()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "batchplan-controller:", err)
		os.Exit(1)
	}
}

// command is the command line.
type command struct {
	replica.Config
	kubeconfig, context string
	qps                 float64
	burst               int
	listen              string
	planners            string
	preset              string
}

func parse(args []string, out io.Writer) (*command, error) {
	c := &command{}
	flags := flag.NewFlagSet("batchplan-controller", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&c.ManagedBy, "managed-by", "", "take the jobs whose spec.managedBy is this `name` (required); kubernetes.io/job-controller takes those without one, and the built-in controller must then be off")
	list(flags, &c.Controllers, "controllers", "comma-separated `names` of the controllers to run, of "+strings.Join(replica.Controllers, ",")+" (default "+strings.Join(replica.DefaultControllers, ",")+"); cronjobs takes every CronJob, and the built-in controller must then be off")
	list(flags, &c.Namespaces, "namespaces", "comma-separated `names` of the namespaces to serve (default all)")
	flags.IntVar(&c.Workers, "workers", 0, "rounds at once of each controller (default 5)")
	flags.StringVar(&c.planners, "planners", "", "`file` with the options of the planners, in YAML")
	flags.StringVar(&c.preset, "preset", "", "options of the planners to begin with: "+replica.PresetKubernetes+" decides as Kubernetes does, quirks included")
	flags.StringVar(&c.MemoryAnnotation, "memory-annotation", "", "annotation `name` of a job that keeps its backoff over a restart and a change of leader; needs the right to patch jobs (default none: the backoff starts again)")
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig `file` (default $KUBECONFIG, then the service account of the pod, then ~/.kube/config)")
	flags.StringVar(&c.context, "context", "", "`context` of the kubeconfig")
	flags.Float64Var(&c.qps, "qps", 50, "requests to the server per second")
	flags.IntVar(&c.burst, "burst", 100, "requests to the server at once, beyond -qps")
	flags.StringVar(&c.listen, "listen", ":8080", "`address` of /healthz, /readyz and /metrics; empty for none")
	flags.BoolVar(&c.Election, "leader-elect", false, "let one replica run and the others wait")
	flags.IntVar(&c.Shards, "shards", 0, "share the namespaces among all replicas in this many shards; every replica needs the same number")
	flags.StringVar(&c.Lease.Namespace, "lease-namespace", os.Getenv("POD_NAMESPACE"), "namespace of the leases (default $POD_NAMESPACE)")
	flags.StringVar(&c.Lease.Name, "lease-name", replica.DefaultLeaseName, "name of the lease, with -shards a prefix")
	flags.DurationVar(&c.Lease.Duration, "lease-duration", replica.DefaultLeaseDuration, "how long a lease lasts after the last sign of life")
	flags.StringVar(&c.Identity, "identity", "", "name of this replica (default the name of the host)")
	klog.InitFlags(flags)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: everything is a flag", flags.Arg(0))
	}
	return c, c.readPlanners()
}

// list adds a flag that is a list.
func list(flags *flag.FlagSet, to *[]string, name, usage string) {
	flags.Func(name, usage, func(text string) error {
		*to = strings.Split(text, ",")
		return nil
	})
}

func (c *command) readPlanners() (err error) {
	if c.planners == "" {
		c.Planners, err = replica.ParsePlanners(nil, c.preset)
		return err
	}
	data, err := os.ReadFile(c.planners)
	if err != nil {
		return fmt.Errorf("planners: %w", err)
	}
	if c.Planners, err = replica.ParsePlanners(data, c.preset); err != nil {
		return fmt.Errorf("planners: %s: %w", c.planners, err)
	}
	return nil
}

// server returns how to reach the API server.
func (c *command) server() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: c.context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	config.QPS, config.Burst = float32(c.qps), c.burst
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return config, nil
}

// run runs the command until the context ends.
func run(ctx context.Context, args []string, out io.Writer) error {
	c, err := parse(args, out)
	if err != nil {
		return err
	}
	server, err := c.server()
	if err != nil {
		return err
	}
	c.Registry, c.Status = prometheus.NewRegistry(), &replica.Status{}
	c.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	stop, err := serve(ctx, c.listen, replica.Handler(c.Status, c.Registry))
	if err != nil {
		return err
	}
	defer stop()
	return replica.Run(ctx, server, c.Config)
}

// serve serves the endpoints until stop is called.
func serve(ctx context.Context, address string, handler http.Handler) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	klog.FromContext(ctx).Info("endpoints", "address", listener.Addr().String())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener)
	return func() { server.Close() }, nil
}
