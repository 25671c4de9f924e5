// Package play plays histories of the cron controllers on an API server in memory, with their
// manager and watches.
package play

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/batchplan/batchplan/examples/kubernetes/crons/internal/kinds"
	"github.com/batchplan/batchplan/x/blackbox"
)

// Kind returns a kind of the examples.
func Kind(kind string) schema.GroupVersionKind {
	return kinds.Group.WithKind(kind)
}

// Resource returns the resource of a kind of the examples.
func Resource(kind, plural string) blackbox.Resource {
	return blackbox.Resource{GroupVersionKind: Kind(kind), Plural: plural, Status: true}
}

// Cluster returns a resource whose objects have no namespace.
func Cluster(r blackbox.Resource) blackbox.Resource {
	r.ClusterScoped = true
	return r
}

// Manager returns a function that runs controllers on a manager.
func Manager(scheme *runtime.Scheme, setup func(ctrl.Manager) error) func(context.Context, *rest.Config) error {
	log.SetLogger(logr.Discard())
	return func(ctx context.Context, c *rest.Config) error {
		yes := true

		mgr, err := ctrl.NewManager(c, ctrl.Options{
			Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
			Controller: config.Controller{SkipNameValidation: &yes},
		})
		if err != nil {
			return err
		}
		if err := setup(mgr); err != nil {
			return err
		}
		return mgr.Start(ctx)
	}
}

// Off holds the checks of the kit that are off here, with the reasons.
var Off = map[blackbox.Check]string{
	blackbox.NotInRetrospect: "as in Kubernetes, one run starts when a schedule is resumed",
	blackbox.ReportsPassed:   "as in Kubernetes, there is no event for a run whose place a later one takes",
	blackbox.ReportsLate:     "the recorder of the manager merges the events of some minutes into one, which names the first run",
}

// EndsAs returns a copy of a subject whose failed children end in another phase.
func EndsAs(c blackbox.Cron, phase string) *blackbox.Cron {
	end := c.End
	c.End = func(o blackbox.Object, succeeded bool) {
		if end(o, succeeded); !succeeded {
			o.Set(phase, "status", "phase")
		}
	}
	return &c
}

// Begin is when each history begins: a second before a full minute, so that "* * * * *" soon runs.
const Begin = 10*time.Hour + 59*time.Minute + 59*time.Second

// Started plays a history and checks it. It returns the creations and deletions of children before
// the end of the history, such as "create 1 11:00".
func Started(t *testing.T, c *blackbox.Cron, settings blackbox.CronSettings, steps ...blackbox.Step) (started []string) {
	t.Helper()
	var length time.Duration
	for _, s := range steps {
		length += s.For
	}

	result := c.Play(t, blackbox.CronLife{Settings: settings, Begin: Begin, Steps: steps})
	for _, v := range result.Violations {
		t.Errorf("%s: %s\n%s", v.Check, v.Problem, strings.Join(result.Story, "\n"))
	}

	end := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(Begin + length)
	for _, line := range result.Story {
		at, what, _ := strings.Cut(line, "  ")
		when, err := time.Parse("2 Jan 15:04:05", at)
		if err != nil {
			t.Fatalf("story: %q: %v", line, err)
		}
		verb, rest, _ := strings.Cut(what, " ")
		ofChild := strings.HasPrefix(rest, strings.ToLower(c.Child.Kind)+" ")
		isCounted := ofChild && (verb == "create" || verb == "delete")
		if isCounted && when.AddDate(2000, 0, 0).Before(end) {
			started = append(started, verb+" "+when.Format("2 15:04"))
		}
	}
	return started
}

// Want compares a result of [Started].
func Want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Wait lets time pass.
func Wait(d time.Duration) blackbox.Step { return blackbox.Step{Do: blackbox.Wait, For: d} }

// Down ends the controller and starts it again after a time.
func Down(d time.Duration) blackbox.Step { return blackbox.Step{Do: blackbox.Restart, For: d} }

// Do returns a step with an action.
func Do(a blackbox.Action) blackbox.Step { return blackbox.Step{Do: a} }

// Break makes the nth write from now go wrong.
func Break(f blackbox.Fault, nth int) blackbox.Step {
	return blackbox.Step{Do: blackbox.Break, Fault: f, Nth: nth}
}
