package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/batchplan/batchplan/internal/must"
)

// built builds the page once for all tests.
var built = sync.OnceValues(func() (Files, error) { return Build(context.Background()) })

func files(t *testing.T) Files {
	t.Helper()
	f, err := built()
	must.OK(t, err)
	return f
}

// browser is one Chromium for all tests of this package, or the reason why it could not be started.
type browser struct {
	ctx    context.Context
	cancel func()
}

var started *browser

func TestMain(m *testing.M) {
	status := m.Run()
	if started != nil {
		started.cancel()
	}
	os.Exit(status)
}

// start starts Chromium. If there is no Chromium, the test is skipped, except in CI.
func start(t *testing.T) *browser {
	t.Helper()
	if started != nil {
		return started
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	switch {
	case path == "" && os.Getenv("CI") == "true":
		t.Fatal("no Chromium: install the package chromium")
	case path == "":
		t.Skip("no Chromium on this machine: the page is not tested")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.WSURLReadTimeout(patience))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	if err := chromedp.Run(ctx); err != nil {
		cancel()
		stop()
		t.Fatalf("start Chromium: %v", err)
	}
	started = &browser{ctx, func() { cancel(); stop() }}
	return started
}

// patience is how long a busy machine may take to start the browser, or to show something.
const patience = 2 * time.Minute

// tab is a tab of the browser with the page in it.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string
}

// open opens the page. An error on its console fails the test.
func open(t *testing.T, fragment string, before ...chromedp.Action) *tab {
	t.Helper()
	b := start(t)
	handler, err := files(t).Handler()
	must.OK(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return openURL(t, b, server.URL+"/"+fragment, before...)
}

func openURL(t *testing.T, b *browser, url string, before ...chromedp.Action) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	ctx, stop := context.WithTimeout(ctx, 2*patience)
	t.Cleanup(func() { stop(); cancel() })
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *cdpruntime.EventExceptionThrown:
			t.Errorf("exception on the page: %s", e.ExceptionDetails.Error())
		case *cdpruntime.EventConsoleAPICalled:
			if e.Type == cdpruntime.APITypeError {
				t.Errorf("error on the console: %s", e.Args[0].Value)
			}
		}
	})
	p := &tab{t, ctx, url}
	p.run(append(before, chromedp.Navigate(url))...)
	p.wait("document.documentElement.dataset.ready === 'true'")
	return p
}

func (p *tab) run(actions ...chromedp.Action) {
	p.t.Helper()
	must.OK(p.t, chromedp.Run(p.ctx, actions...))
}

func (p *tab) wait(expression string) {
	p.t.Helper()
	var ok bool
	if err := chromedp.Run(p.ctx, chromedp.Poll(expression, &ok, chromedp.WithPollingTimeout(patience))); err != nil {
		p.t.Fatalf("%s: %v\nstatus: %s", expression, err, p.text("#status"))
	}
}

func eval[T any](p *tab, expression string) (value T) {
	p.t.Helper()
	p.run(chromedp.Evaluate(expression, &value))
	return value
}

func (p *tab) text(selector string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf("document.querySelector(%q).textContent", selector))
}

// evalAsync evaluates an expression whose value is a promise.
func evalAsync[T any](p *tab, expression string) (value T) {
	p.t.Helper()
	p.run(chromedp.Evaluate(expression, &value, func(e *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams { return e.WithAwaitPromise(true) }))
	return value
}

func (p *tab) click(selector string) {
	p.t.Helper()
	p.run(chromedp.Click(selector, chromedp.ByQuery))
}

func (p *tab) set(id, value string) {
	p.t.Helper()
	data, err := json.Marshal(value)
	must.OK(p.t, err)
	p.run(chromedp.Evaluate(fmt.Sprintf("document.getElementById(%q).value = %s; 0", id, data), new(int)))
}

// openSituation follows the link of a ready-made input.
func (p *tab) openSituation(name string) {
	p.t.Helper()
	p.run(chromedp.Evaluate(fmt.Sprintf("location.hash = %q; 0", "#why/"+name), new(int)))
}

func (p *tab) choose(id, value string) {
	p.t.Helper()
	p.set(id, value)
	p.run(chromedp.Evaluate(fmt.Sprintf("document.getElementById(%q).dispatchEvent(new Event('change')); 0", id), new(int)))
}

func size(width, height int64, dark bool) []chromedp.Action {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	return []chromedp.Action{
		chromedp.EmulateViewport(width, height),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
	}
}

// layout returns faults of the layout. A page must not be wider than the window. Text must not be
// cut, lie outside, or need sideways scrolling. The controls of a row must not overlap. The text of
// a drawing must not be too small or cut.
const layout = `(() => {
  const bad = [], wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) bad.push("the page is " + document.documentElement.scrollWidth + " wide");
  const name = (n) => n.tagName + (n.id ? "#" + n.id : "") + " " + n.textContent.trim().slice(0, 40);
  for (const n of document.querySelectorAll("main *")) {
    if (n.scrollWidth > n.clientWidth + 1 && n.clientWidth && /auto|scroll/.test(getComputedStyle(n).overflowX) && !/TEXTAREA|INPUT/.test(n.tagName)) bad.push("scrolls sideways: " + name(n));
  }
  for (const n of document.querySelectorAll("h1,h2,h3,p,li,button,label,td,th,summary,output,span,strong")) {
    const r = n.getBoundingClientRect();
    if (!r.width || n.closest("[hidden]") || n.classList.contains("skip") || n.closest(".skip")) continue;
    if (n.closest("thead") && getComputedStyle(n.closest("thead")).position === "absolute") continue; // cards repeat it
    if (r.right > wide + 1 || r.left < -1) bad.push("outside: " + name(n));
    const s = getComputedStyle(n);
    if (s.overflowX === "hidden" && n.scrollWidth > n.clientWidth + 1) bad.push("cut: " + name(n));
    if (n.tagName === "BUTTON" && n.scrollWidth > n.clientWidth + 1) bad.push("cut: " + name(n));
  }
  const pen = document.createElement("canvas").getContext("2d");
  for (const n of document.querySelectorAll("input")) {
    if (!n.clientWidth || n.closest("[hidden]") || n.type === "file" || n.value) continue; // what is typed scrolls
    const s = getComputedStyle(n);
    pen.font = s.font;
    const room = n.clientWidth - parseFloat(s.paddingLeft) - parseFloat(s.paddingRight);
    if (pen.measureText(n.placeholder).width > room + 1) bad.push("cut in a field: " + n.placeholder);
  }
  for (const row of document.querySelectorAll(".row, header, .tools, .tabs")) {
    const all = [...row.children].filter((n) => n.getBoundingClientRect().width > 1);
    for (let i = 0; i < all.length; i++) for (let j = i + 1; j < all.length; j++) {
      const a = all[i].getBoundingClientRect(), b = all[j].getBoundingClientRect();
      if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1) bad.push("overlap: " + name(all[i]) + " and " + name(all[j]));
    }
  }
  for (const svg of document.querySelectorAll("main svg")) {
    const whole = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {
      const r = text.getBoundingClientRect();
      if (!r.width) continue;
      if (r.left < whole.left - 1 || r.right > whole.right + 1) bad.push("cut in a drawing: " + text.textContent);
      if (r.height < 10) bad.push("small in a drawing: " + text.textContent);
    }
    const all = [...svg.querySelectorAll(".tick text")];
    for (let i = 1; i < all.length; i++) {
      const a = all[i - 1].getBoundingClientRect(), b = all[i].getBoundingClientRect();
      if (b.width && a.right > b.left) bad.push("overlap of ticks: " + all[i - 1].textContent + " " + all[i].textContent);
    }
  }
  return bad;
})()`

// unnamed returns the controls without a name for screen readers.
const unnamed = `[...document.querySelectorAll("button,input,select,textarea,[role=img],[role=tab]")].filter((n) =>
  !n.getAttribute("aria-label") && !n.textContent.trim() && !(n.labels && n.labels.length)).map((n) => n.outerHTML.slice(0, 80))`

func (p *tab) checkLayout(what string) {
	p.t.Helper()
	for _, problem := range eval[[]string](p, layout) {
		p.t.Errorf("%s: %s", what, problem)
	}
	for _, node := range eval[[]string](p, unnamed) {
		p.t.Errorf("%s: no name: %s", what, node)
	}
}

// screenshot writes a picture of the whole page to the folder that SCREENSHOTS names.
func (p *tab) screenshot(name string) {
	p.t.Helper()
	folder := os.Getenv("SCREENSHOTS")
	if folder == "" {
		return
	}
	var picture []byte
	p.run(chromedp.FullScreenshot(&picture, 100))
	must.OK(p.t, os.WriteFile(filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+".png"), picture, 0o644))
}
