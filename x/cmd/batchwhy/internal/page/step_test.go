package page

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/batchplan/batchplan/internal/must"
)

// stepTimes takes steps. It returns how many milliseconds each step took, including the layout, and
// how many of them the module took.
const stepTimes = `(() => {
	const module = globalThis.batchplan, inner = {}, whole = [], inside = [];
	let sum = 0;
	for (const name of Object.keys(module)) {
		inner[name] = module[name];
		module[name] = (...args) => { const before = performance.now(); const out = inner[name](...args); sum += performance.now() - before; return out; };
	}
	for (const step of %s) {
		sum = 0;
		const before = performance.now();
		take(step);
		document.body.getBoundingClientRect();
		whole.push(performance.now() - before);
		inside.push(sum);
	}
	Object.assign(module, inner);
	return { whole, inside };
})()`

// TestThousandPods plays a Job of a thousand pods. It logs how long a step takes: in the module,
// and for style and layout. The times depend on the machine, so they do not fail the test. Of these
// times, the processor time depends least on other load.
func TestThousandPods(t *testing.T) {
	for _, pods := range []int{10, 1000} {
		p := open(t, "#play")
		p.run(chromedp.EmulateViewport(1280, 900),
			performance.Enable().WithTimeDomain(performance.EnableTimeDomainThreadTicks))
		p.startJob(fmt.Sprintf(`{"completions": 2000, "parallelism": %d, "template": {"spec": {"restartPolicy": "Never"}}}`, pods))
		p.click(`[data-step="run all"]`)
		var steps []string
		for i := range 10 {
			steps = append(steps, fmt.Sprintf("succeed j-%d", i+1), "run all")
		}
		list, err := json.Marshal(steps)
		must.OK(t, err)
		before := p.metrics()
		took := eval[struct{ Whole, Inside []float64 }](p, fmt.Sprintf(stepTimes, list))
		if got, want := p.text("#play-summary"), fmt.Sprintf("10 of 2000 completions done, %d active pods", pods); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		slices.Sort(took.Whole)
		slices.Sort(took.Inside)
		n := len(took.Whole)
		after := p.metrics()
		t.Logf("%d pods: a step takes %.1f ms on the clock (median of %d; fastest %.1f, slowest %.1f), of which the module %.1f (fastest %.1f)",
			pods, took.Whole[n/2], n, took.Whole[0], took.Whole[n-1], took.Inside[n/2], took.Inside[0])
		cost := (after["TaskDuration"] - before["TaskDuration"]) * 1000 / float64(n)
		t.Logf("%d pods: %.1f ms of processor time a step, of which style and layout %.1f", pods, cost,
			(after["RecalcStyleDuration"]+after["LayoutDuration"]-before["RecalcStyleDuration"]-before["LayoutDuration"])*1000/float64(n))
	}
}

// metrics returns the times that the page has taken so far, in seconds of processor time.
func (p *tab) metrics() map[string]float64 {
	p.t.Helper()
	sums := make(map[string]float64)
	p.run(chromedp.ActionFunc(func(ctx context.Context) error {
		metrics, err := performance.GetMetrics().Do(ctx)
		for _, m := range metrics {
			sums[m.Name] = m.Value
		}
		return err
	}))
	return sums
}

func (p *tab) startJob(spec string) {
	p.t.Helper()
	p.run(chromedp.Evaluate("document.getElementById('spec').open = true; 0", new(int)))
	p.set("manifest", `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": `+spec+`}`)
	p.click("#start")
}
