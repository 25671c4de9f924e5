// Command batchplan-controller runs the controllers of batchplan on a Kubernetes API server.
//
//	batchplan-controller -managed-by example.com/jobs
//
// It manages the jobs whose spec.managedBy is that name, and does not touch others.
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
	_ "time/tzdata" // an image from scratch has no zones

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"k8s.io/client-go/features"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/cmd/internal/command"
	"github.com/batchplan/batchplan/x/kubernetes/replica"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process immediately.
	context.AfterFunc(ctx, stop)
	err := run(ctx, os.Args[1:], os.Stdout)
	klog.Flush()
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	command.Report(os.Stderr, "batchplan-controller", err)
	if errors.As(err, &usageError{}) {
		os.Exit(command.Usage)
	}
	os.Exit(1)
}

// usageError is an error of the command line, or of a file that it names.
type usageError struct{ error }

// options is the command line.
type options struct {
	replica.Config
	kubeconfig, context string
	qps                 float64
	burst               int
	listen, metrics     string
	planners            string
	preset              string
}

// help is the text of -h, besides the flags.
var help = command.Help{
	Short:  "Run the controllers of batchplan on a Kubernetes API server.",
	Use:    "batchplan-controller -managed-by NAME [FLAGS]",
	Status: "0 ended by a signal; 1 failed; 2 wrong usage, or a file that the command line names.",
	Examples: []string{
		"batchplan-controller -managed-by example.com/jobs                  # the jobs of this manager, and no others",
		"batchplan-controller -managed-by example.com/jobs -leader-elect    # one of several replicas runs",
		"batchplan-controller -managed-by example.com/jobs -namespaces a,b",
	},
}

func parse(args []string, out io.Writer) (*options, error) {
	c := &options{}
	flags := flag.NewFlagSet("batchplan-controller", flag.ContinueOnError)
	flags.StringVar(&c.ManagedBy, "managed-by", "", "take the jobs whose spec.managedBy is this `name` (required); "+
		"kubernetes.io/job-controller takes those without one, and the built-in controller must then be off")

	list(flags, &c.Controllers, "controllers", "comma-separated `names` of the controllers to run, of "+
		strings.Join(replica.Controllers, ",")+" (default "+strings.Join(replica.DefaultControllers, ",")+"); "+
		"cronjobs takes every CronJob, and the built-in controller must then be off")
	list(flags, &c.Namespaces, "namespaces", "comma-separated `names` of the namespaces to serve (default all)")

	flags.IntVar(&c.Workers, "workers", 0, "concurrent rounds of each controller (default 5)")

	flags.StringVar(&c.planners, "planners", "", "`file` with the options of the planners, in YAML")
	flags.StringVar(&c.preset, "preset", "",
		"options of the planners to begin with: "+replica.PresetKubernetes+release.Newest().String()+
			", or another release, decides as its controllers do, quirks included")
	flags.StringVar(&c.MemoryAnnotation, "memory-annotation", "", "annotation `name` of a job that keeps its "+
		"backoff over a restart and a change of leader; needs the right to patch jobs (default none: the backoff "+
		"starts again)")
	flags.BoolVar(&c.MergeEvents, "merge-events", false,
		"report the pods that a round has created, or deleted, in one event")

	flags.StringVar(&c.kubeconfig, "kubeconfig", "",
		"kubeconfig `file` (default $KUBECONFIG, then the service account of the pod, then ~/.kube/config)")
	flags.StringVar(&c.context, "context", "", "`context` of the kubeconfig")
	flags.Float64Var(&c.qps, "qps", 50, "requests to the server per second")
	flags.IntVar(&c.burst, "burst", 100, "requests to the server in a burst, beyond -qps")

	flags.StringVar(&c.listen, "listen", ":8080", "`address` of /healthz and /readyz; empty for none")
	flags.StringVar(&c.metrics, "metrics-listen", "127.0.0.1:8081",
		"`address` of /metrics, which has no authentication; empty for none")

	flags.BoolVar(&c.Election, "leader-elect", false, "let one replica run and the others wait")
	flags.StringVar(&c.Lease.Namespace, "lease-namespace", os.Getenv("POD_NAMESPACE"),
		"namespace of the lease (default $POD_NAMESPACE, then the namespace of the context)")
	flags.StringVar(&c.Lease.Name, "lease-name", replica.DefaultLeaseName, "name of the lease")
	flags.DurationVar(&c.Lease.Duration, "lease-duration", replica.DefaultLeaseDuration,
		"how long a lease lasts after the last sign of life")
	flags.StringVar(&c.Identity, "identity", "", "name of this replica (default the name of the host)")

	klog.InitFlags(flags)
	if done, err := command.Parse(flags, help, args, out); err != nil {
		return nil, err
	} else if done {
		return nil, flag.ErrHelp
	}

	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: everything is a flag", flags.Arg(0))
	}
	return c, c.readPlanners()
}

// list adds a flag whose value is a list.
func list(flags *flag.FlagSet, to *[]string, name, usage string) {
	flags.Func(name, usage, func(text string) error {
		*to = strings.Split(text, ",")
		return nil
	})
}

func (c *options) readPlanners() (err error) {
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

// server returns the configuration for the API server, and fills in the namespace of the lease.
func (c *options) server() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: c.context})
	config, err := loader.ClientConfig()
	if err == nil && c.Lease.Namespace == "" {
		c.Lease.Namespace, _, err = loader.Namespace()
	}
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
	// client-go logs its feature gates when a program first asks for one. Here -v has not been read
	// yet, so these lines are not written.
	features.FeatureGates().Enabled(features.WatchListClient)

	c, err := parse(args, out)
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	if err != nil {
		return usageError{err}
	}

	server, err := c.server()
	if err = errors.Join(err, c.Validate()); err != nil {
		return usageError{err}
	}

	c.Registry, c.Status = prometheus.NewRegistry(), &replica.Status{}
	c.Registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	for _, e := range []struct {
		flag, address string
		handler       http.Handler
	}{{"-listen", c.listen, replica.Health(c.Status)}, {"-metrics-listen", c.metrics, replica.Metrics(c.Registry)}} {
		stop, err := serve(ctx, e.address, e.handler)
		if err != nil {
			return fmt.Errorf("%s: %w", e.flag, err)
		}
		defer stop()
	}
	return replica.Run(ctx, server, c.Config)
}

// serve serves the endpoints until stop is called.
func serve(ctx context.Context, address string, handler http.Handler) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	klog.FromContext(ctx).Info("endpoints", "address", listener.Addr().String())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener)
	return func() { server.Close() }, nil
}
