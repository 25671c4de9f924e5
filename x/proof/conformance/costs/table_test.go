package costs

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
)

// quiet is a time without requests after which a side counts as done. It is longer than the time
// that a side waits before a round.
const quiet = 1500 * time.Millisecond

// TestRequestsOnServer plays the shapes on a real API server, all sides at the same time, and
// prints a table. It proves nothing: here the number of rounds depends on chance, so a total may
// differ by a tenth. The exact numbers come from the same scripts in virtual time, in TestRequests.
func TestRequestsOnServer(t *testing.T) {
	if !*onServer {
		t.Skip("make costs")
	}

	l := newLab(t)
	table := map[string]map[side]counts{}
	var mu sync.Mutex

	t.Run("shapes", func(t *testing.T) {
		for _, s := range shapes {
			for _, of := range []side{reference, recommended, preset} {
				t.Run(s.name+"/"+string(of), func(t *testing.T) {
					t.Parallel()
					got := l.play(t, s, of)
					mu.Lock()
					defer mu.Unlock()
					if table[s.name] == nil {
						table[s.name] = map[side]counts{}
					}
					table[s.name][of] = got
				})
			}
		}
	})
	for _, s := range shapes {
		row := table[s.name]
		kinds := map[string]bool{}
		for _, c := range row {
			for kind := range c {
				kinds[kind] = true
			}
		}

		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			t.Logf("%-16s %-24s %4d %4d %4d", s.name, kind, row[reference][kind], row[recommended][kind], row[preset][kind])
		}
		t.Logf("%-16s %-24s %4d %4d %4d", s.name, "all", row[reference].total(), row[recommended].total(), row[preset].total())
		for _, of := range []side{recommended, preset} {
			if n, limit := row[of].total(), row[reference].total(); n > limit+limit/10 {
				t.Errorf("%s: %s needs %d requests instead of %d", s.name, of, n, limit)
			}
		}
	}
}

// play plays a shape for a side. It returns the numbers of the requests that the side made once its
// caches were filled.
func (l *lab) play(t *testing.T, s shape, of side) counts {
	world := "shape-" + strconv.Itoa(slices.IndexFunc(shapes, func(other shape) bool { return other.name == s.name }))
	namespace := of.namespaceOf(world)
	l.makeNamespace(t, namespace)

	var c counter
	config := rest.CopyConfig(l.Config)
	config.Wrap(c.wrap)

	ctx, cancel := context.WithCancel(context.Background())
	started, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- of.run(ctx, config, namespace, 1, func() { close(started) }) }()
	select {
	case err := <-ended:
		t.Fatal(err)
	case <-started:
	}
	time.Sleep(quiet)

	parsed := s.parse(t)
	if parsed.Job == nil {
		// A CronJob that is created just before the full minute would run once more than the script
		// expects.
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute + 5*time.Second)))
	}

	before, _ := c.sum()
	l.createOf(t, parsed, of, namespace)
	for _, step := range parsed.Steps {
		l.do(t, namespace, step)
		for step.Op == "tick" {
			if _, last := c.sum(); time.Since(last) > quiet {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	}

	after, _ := c.sum()
	if parsed.Job != nil && parsed.Job.TTLSecondsAfterFinished == nil {
		l.await(t, namespace, 1, func(j *batchv1.Job) bool { return len(j.Status.Conditions) > 0 })
	}

	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return after.since(before)
}

// createOf creates the job or the CronJob of a script for a side.
func (l *lab) createOf(t *testing.T, s *script.Script, of side, namespace string) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: "j", Namespace: namespace}
	var err error
	if s.Job != nil {
		j := &batchv1.Job{ObjectMeta: meta, Spec: *s.Job}
		j.Spec.ManagedBy = of.managedBy()
		_, err = l.BatchV1().Jobs(namespace).Create(t.Context(), j, metav1.CreateOptions{})
	} else {
		c := &batchv1.CronJob{ObjectMeta: meta, Spec: *s.CronJob}
		c.Spec.JobTemplate.Spec.ManagedBy = of.managedBy()
		_, err = l.BatchV1().CronJobs(namespace).Create(t.Context(), c, metav1.CreateOptions{})
	}
	must.OK(t, err)
}

// do carries out a step of a script in real time.
func (l *lab) do(t *testing.T, namespace string, s script.Step) {
	t.Helper()
	switch s.Op {
	case "tick":
		d, _ := s.Tick()
		time.Sleep(d)
	case "run":
		each(t, l.pick(namespace, s.Arg(0)), l.run)
	case "succeed", "fail":
		code := 0
		if s.Op == "fail" {
			var err error
			code, err = strconv.Atoi(s.Value("code", "1"))
			must.OK(t, err)
		}
		each(t, l.pick(namespace, s.Arg(0)), func(ctx context.Context, p *corev1.Pod) error { return l.exit(ctx, p, int32(code)) })
	case "gone":
		each(t, l.pick(namespace, s.Arg(0)), l.collect)
	case "suspend":
		patch := `{"spec":{"suspend":` + strconv.FormatBool(s.Arg(0) == "on") + `}}`
		_, err := l.BatchV1().Jobs(namespace).Patch(t.Context(), "j", "application/merge-patch+json", []byte(patch), metav1.PatchOptions{})
		must.OK(t, err)
	default:
		t.Fatalf("%v: no such step on a server", s)
	}
}
