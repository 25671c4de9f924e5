package costs

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
	"github.com/batchplan/batchplan/x/proof/conformance/theirs"
)

// shape is a kind of job, and what happens to it. Each step waits until the controllers are done,
// so that both sides see the same.
type shape struct{ name, script string }

var shapes = []shape{
	{"plain", `job {"parallelism":3,"completions":6,TEMPLATE}; tick 3s; run all; tick 3s; succeed all; tick 3s; run all; tick 3s; succeed all; tick 5s`},
	{"indexed", `job {"parallelism":4,"completions":4,"completionMode":"Indexed",TEMPLATE}; tick 3s; run all; tick 3s; succeed 0-1; tick 3s; succeed all; tick 5s`},
	{"retries", `job {"parallelism":2,"completions":2,"backoffLimit":6,TEMPLATE}; tick 3s; run all; tick 3s; fail all code=1; tick 24s; run all; tick 3s; succeed all; tick 5s`},
	{"limit per index", `job {"parallelism":3,"completions":3,"completionMode":"Indexed","backoffLimitPerIndex":1,TEMPLATE}
tick 3s; run all; tick 3s; fail 1 code=1; tick 14s; run all; tick 3s; fail 1-2 code=1; tick 3s; succeed all; tick 5s`},
	{"suspended", `job {"parallelism":3,"completions":3,TEMPLATE}; tick 3s; run all; tick 3s; suspend on; tick 3s; gone all; tick 3s; suspend off; tick 3s; run all; tick 3s; succeed all; tick 5s`},
	{"expired", `job {"parallelism":2,"completions":2,"ttlSecondsAfterFinished":4,TEMPLATE}; tick 3s; run all; tick 3s; succeed all; tick 12s`},
	{"cron", `cronjob {"schedule":"* * * * *","successfulJobsHistoryLimit":1,JOB}; tick 62s; run all; tick 3s; succeed all; tick 57s; run all; tick 3s; succeed all; tick 10s`},
}

func (s shape) parse(t testing.TB) *script.Script {
	t.Helper()
	parsed, err := script.ParseLine(s.script)
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	return parsed
}

// TestRequests: in virtual time, our controllers need no more requests of any kind than the
// controllers of Kubernetes, and fewer if the events about the pods of a round are merged.
func TestRequests(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			parsed := s.parse(t)
			reference := requestsOf(t, parsed, func(s *server.Server) ([]func(), func()) {
				return theirs.New(s.Client(), theirs.Which{Jobs: true, CronJobs: true, TTL: true})
			})
			if reference.total() < 10 {
				t.Fatalf("the reference has made hardly any requests: %v", reference)
			}

			for name, options := range map[string]ours.Options{"preset": ours.Kubernetes(release.Newest()), "recommended": {}, "merged events": {MergeEvents: true}} {
				options.Jobs, options.CronJobs, options.TTL = true, true, true
				got := requestsOf(t, parsed, func(s *server.Server) ([]func(), func()) { return ours.New(s.Client(), options) })
				for _, kind := range reference.more(got) {
					t.Errorf("with the options %s: %s", name, kind)
				}

				if options.MergeEvents && got.total() >= reference.total() {
					t.Errorf("with merged events: %d requests, with the controllers of Kubernetes %d", got.total(), reference.total())
				}
				t.Logf("%s: %d requests: %v", name, got.total(), got)
			}
			t.Logf("theirs: %d requests: %v", reference.total(), reference)
		})
	}
}

// requestsOf plays a script in virtual time and counts the requests of the controllers.
func requestsOf(t *testing.T, s *script.Script, controllers script.Controllers) counts {
	t.Helper()
	out := counts{}

	synctest.Test(t, func(t *testing.T) {
		w, err := script.NewWorld(s, controllers)
		must.OK(t, err)

		for _, step := range s.Steps {
			if d, ticks := step.Tick(); ticks {
				time.Sleep(d)
			} else if err := w.Do(s, step); err != nil {
				t.Errorf("%v: %v", step, err)
			}
			synctest.Wait()
		}

		for _, a := range w.Client().(*fake.Clientset).Actions() {
			out[kindOf(a.GetVerb(), a.GetResource().Resource, a.GetSubresource())]++
		}
		w.Stop()
	})

	return out
}
