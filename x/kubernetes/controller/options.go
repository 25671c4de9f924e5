package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/batchplan/batchplan/job"
)

// The delays of J43.
const (
	batchDelay = time.Second
	retryBase  = time.Second
	retryMax   = time.Minute
)

// JobRateLimiter returns the delays after failed rounds of jobs (J43).
func JobRateLimiter[K comparable]() workqueue.TypedRateLimiter[K] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[K](retryBase, retryMax)
}

// Common are the options that all controllers have.
type Common struct {
	// Workers is the number of concurrent rounds; 0 is the default of the controller.
	Workers int
	// Namespace reports whether this replica serves the objects of a namespace; nil means that it
	// serves all. When its answer changes, call Controller.Enqueue for the namespace: a replica
	// forgets what it remembers of a lost namespace. If an object has no namespace, Namespace gets
	// that of its pods or children, which may be empty too.
	Namespace func(string) bool
	// Events records events about the objects; nil means that there are none.
	Events Recorder
	// CrashOnPanic lets a panic of a round end the process. By default, the panic is logged, and
	// the round is repeated after a growing delay.
	CrashOnPanic bool
	// QueueMetrics measure the work queue; nil means the provider of the process, if it has one.
	QueueMetrics workqueue.MetricsProvider
	// Clock is the clock of the rounds and of the work queue; nil means the real one. It may run
	// faster in tests. Creation and deletion times are always those of the server.
	Clock clock.WithTicker
}

// clock returns the Clock, or the real one.
func (o *Common) clock() clock.WithTicker {
	if o.Clock == nil {
		return clock.RealClock{}
	}
	return o.Clock
}

// Recorder reports an event. A record.EventRecorder of client-go is one.
type Recorder interface {
	Event(object runtime.Object, eventtype, reason, message string)
}

// NewRecorder returns a recorder that writes events to the server until the context ends. The
// scheme must know the kinds of objects whose TypeMeta is empty, such as objects from typed
// clients; nil means the scheme of client-go. The component is the source in the events.
func NewRecorder(ctx context.Context, client kubernetes.Interface, s *runtime.Scheme, component string) Recorder {
	if s == nil {
		s = scheme.Scheme
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return broadcaster.NewRecorder(s, corev1.EventSource{Component: component}).WithLogger(klog.FromContext(ctx))
}

func (o *Common) serves(namespace string) bool { return o.Namespace == nil || o.Namespace(namespace) }

// closing returns the event of a round that could create nothing in a namespace that is being
// deleted. The built-in controllers report no event then; with asKubernetes there is only a line in
// the log. If the object itself is in that namespace, the server refuses the event, so the caller
// should log it as well.
func closing(ctx context.Context, about Object, what, namespace string, asKubernetes bool) []job.Event {
	message := fmt.Sprintf("no %s is created: the namespace %q is being terminated", what, namespace)
	if asKubernetes {
		klog.FromContext(ctx).Info("warning", "object", klog.KObj(about),
			"reason", "NamespaceTerminating", "message", message)
		return nil
	}
	return []job.Event{{Type: job.EventWarning, Reason: "NamespaceTerminating", Message: message}}
}

// report records events and logs warnings. It does not log the warnings of a round that is
// repeated, because the error of that round is logged.
func (o *Common) report(ctx context.Context, about Object, repeated bool, events ...job.Event) {
	for _, e := range events {
		if e.Type == job.EventWarning && !repeated {
			klog.FromContext(ctx).Info("warning", "object", klog.KObj(about), "reason", e.Reason, "message", e.Message)
		}
		if o.Events != nil {
			o.Events.Event(about, string(e.Type), e.Reason, e.Message)
		}
	}
}
