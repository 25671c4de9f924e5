package page

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// TestSize: a browser loads at most 2.25 megabytes, and 2.1 of them are the module. The sentences
// of remedies are a tenth of the module.
func TestSize(t *testing.T) {
	size, err := files(t).Size()
	if err != nil || size > 2_250_000 {
		t.Errorf("%d bytes, %v", size, err)
	}
	if module, err := pack(files(t)["module.js"]); err != nil || len(module) > 2_100_000 {
		t.Errorf("the module has %d bytes, %v", len(module), err)
	}
	t.Logf("%d bytes, compressed", size)
	for name, data := range files(t) {
		packed, err := pack(data)
		must.OK(t, err)
		t.Logf("%8d %s", len(packed), name)
	}
}

// TestNothingFromElsewhere: no file names another host or makes HTML from text.
func TestNothingFromElsewhere(t *testing.T) {
	host := regexp.MustCompile(`https?://[a-z]+`)
	html := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(`)
	for name, data := range files(t) {
		if name == "module.js" || name == "zones.js" || name == "situations.js" || name == "wasm_exec.js" ||
			name == "worker.js" {
			continue
		}
		for _, found := range host.FindAllString(string(data), -1) {
			if found != "http://www" { // the name space of SVG
				t.Errorf("%s: %s", name, found)
			}
		}
		if found := html.FindString(string(data)); found != "" {
			t.Errorf("%s: %s", name, found)
		}
	}
}

func TestHandler(t *testing.T) {
	handler, err := Files{"index.html": []byte("<p>"), "app.js": []byte("1")}.Handler()
	must.OK(t, err)
	server := httptest.NewServer(handler)
	defer server.Close()
	for path, want := range map[string]string{"/": "text/html; charset=utf-8", "/app.js": "text/javascript; charset=utf-8", "/../secret": ""} {
		response, err := http.Get(server.URL + path)
		must.OK(t, err)
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		switch {
		case want == "" && response.StatusCode != http.StatusNotFound:
			t.Errorf("%s: %s", path, response.Status)
		case want != "" && (response.Header.Get("Content-Type") != want || response.Header.Get("Content-Security-Policy") != policy):
			t.Errorf("%s: %v", path, response.Header)
		}
	}
	if _, err := Listen("0.0.0.0:0"); err == nil ||
		!strings.Contains(err.Error(), "is not an address of this machine alone") {
		t.Errorf("got %v", err)
	}
}

// TestPastedList pastes each situation, and compares the sentences on the page with those of the
// package explain.
func TestPastedList(t *testing.T) {
	p := open(t, "")
	for _, folder := range []string{"forbid", "per_index", "fail_job", "lost_run", "schedule_trouble"} {
		inputs, err := filepath.Glob("../explain/testdata/situations/" + folder + "/input/*")
		if err != nil || len(inputs) != 1 {
			t.Fatal(inputs, err)
		}
		data, err := os.ReadFile(inputs[0])
		must.OK(t, err)
		args, err := os.ReadFile("../explain/testdata/situations/" + folder + "/args")
		must.OK(t, err)
		at := strings.Fields(string(args))[1]
		p.set("input", string(data))
		p.set("at", at)
		p.click("#explain")
		p.wait(fmt.Sprintf("document.getElementById('status').textContent.includes('as of %s')", strings.NewReplacer("T", " ", "Z", "").Replace(at)))
		compareWithPackage(t, p, folder, data, at)
		p.checkLayout(folder)
	}
}

func compareWithPackage(t *testing.T, p *tab, folder string, data []byte, at string) {
	t.Helper()
	objects := &read.Objects{}
	stream := objects.Stream("input")
	_, _ = stream.Write(data)
	_ = stream.Close()
	when, err := time.Parse(time.RFC3339, at)
	must.OK(t, err)
	report := explain.All(objects, explain.Options{At: when})
	page := p.text("#results")
	for _, x := range report.Objects {
		sentences := []string{x.Summary}
		for _, s := range x.Next {
			sentences = append(sentences, s.Text)
		}
		for _, f := range x.Findings {
			sentences = append(sentences, f.Text)
		}
		for _, s := range sentences {
			if !strings.Contains(page, s) {
				t.Errorf("%s: the page does not say %q", folder, s)
			}
		}
	}
	if n := eval[int](p, "document.querySelectorAll('#results article').length"); n != len(report.Objects) {
		t.Errorf("%s: %d articles for %d objects", folder, n, len(report.Objects))
	}
}

// TestAsOf: an example has a time of its own. For the user's input, the page chooses the time as
// the command does: the present for a pasted text, and the newest time in the objects for a file.
func TestAsOf(t *testing.T) {
	p := open(t, "")
	begin := time.Now().UTC()
	data := testfile.Read(t, "../explain/testdata/situations/backoff/input/input.json")
	own := func(name, situation string) {
		t.Helper()
		p.openSituation(situation)
		p.wait("document.getElementById('status').textContent.includes('as of 2026-10-14')")
		if got := eval[string](p, "document.getElementById('at').value"); got == "" {
			t.Fatalf("%s: the example has no time", name)
		}
	}
	check := func(name, status, warning string) {
		t.Helper()
		p.wait(fmt.Sprintf("document.getElementById('status').textContent.includes(%q)", status))
		if got := eval[string](p, "document.getElementById('problems').textContent"); !strings.Contains(got, warning) {
			t.Errorf("%s: the page does not say %q: %q", name, warning, got)
		}
		if got := eval[string](p, "document.getElementById('at').value"); got != "" {
			t.Errorf("%s: the time of the example stays: %s", name, got)
		}
	}

	own("typed", "sidecar")
	eval[bool](p, fmt.Sprintf(`(() => { const f = document.getElementById("input"); f.value = %q; return f.dispatchEvent(new Event("input")); })()`, data))
	p.click("#explain")
	check("typed", "as of "+begin.Format("2006-01-02 "), "the newest time in the input is 2026-10-14 09:00:48")

	own("file", "forbid")
	file := filepath.Join(t.TempDir(), "input.json")
	testfile.Write(t, data, file)
	p.run(chromedp.SetUploadFiles("#file", []string{file}, chromedp.ByQuery))
	check("file", "as of 2026-10-14 09:00:48 UTC, the newest time in the objects.", "although the file was written")

	// If the user sets a time, the page keeps it.
	p.set("at", "2026-10-14T09:00:50Z")
	p.set("input", data)
	p.click("#explain")
	p.wait("document.getElementById('status').textContent.includes('as of 2026-10-14 09:00:50 UTC.')")
}

func TestReadyMade(t *testing.T) {
	p := open(t, "")
	for _, s := range situations {
		data, err := files(t).situation(s.Name)
		must.OK(t, err)
		s.Note = data.Note
		p.openSituation(s.Name)
		p.wait(fmt.Sprintf("document.querySelector('#results .note')?.textContent === %q", s.Note))
		if n := eval[int](p, "document.querySelectorAll('#results article svg rect, #results article svg circle').length"); n == 0 && !slices.Contains([]string{"finalizer", "time-zone", "last-day"}, s.Name) {
			t.Errorf("%s: nothing is drawn", s.Title)
		}
		if n := eval[int](p, "document.querySelectorAll('#results .remedies li').length"); n == 0 {
			t.Errorf("%s: no remedy", s.Title)
		}
		p.checkLayout(s.Title)
	}
}

// TestBadFile drops files that cannot be read completely. The page shows the position of the
// problem, and explains the rest.
func TestBadFile(t *testing.T) {
	p := open(t, "")
	fine := `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "fine"}, "spec": {"template": {"spec": {"restartPolicy": "Never"}}}}`
	dir := t.TempDir()
	for _, test := range []struct{ name, text, problem, result string }{
		{"cut.json", `{"items": [` + fine + ",\n{\"kind\": ", "cut.json:2: the input ends inside item 2", "Job fine"},
		{"tab.yaml", "kind: Job\n\tx: 1\n", "tab.yaml:2: indented with a tab", ""},
		{"old.yaml", "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: x}\n", "is not supported", ""},
		{"nothing.json", `{"apiVersion": "v1", "items": [], "kind": "List"}`, "contains no Job or CronJob", ""},
		{"evil.json", `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "<img src=x onerror=alert(1)>"}}`, "", "<img src=x onerror=alert(1)>"},
	} {
		file := filepath.Join(dir, test.name)
		must.OK(t, os.WriteFile(file, []byte(test.text), 0o644))
		p.run(chromedp.SetUploadFiles("#file", []string{file}, chromedp.ByQuery))
		p.wait(fmt.Sprintf("document.getElementById('problems').textContent.includes(%q) && document.getElementById('results').textContent.includes(%q)", test.problem, test.result))
	}
	if n := eval[int](p, "document.querySelectorAll('#results img').length"); n != 0 {
		t.Error("text became HTML")
	}
	if n := eval[int](p, "document.querySelectorAll('#famous [aria-current]').length"); n != 0 {
		t.Error("an example is marked as the current one beside a file")
	}
	p.set("input", "x: y")
	p.set("at", "noon")
	p.click("#explain")
	p.wait(`document.getElementById('problems').textContent.includes('"noon" is not a time')`)
}

// TestSchedules shows a schedule, and keeps it in the address.
func TestSchedules(t *testing.T) {
	p := open(t, "#schedules")
	p.set("cron", "30 2 * * *")
	p.set("zone", "Europe/Berlin")
	p.set("from", "2026-10-01T00:00:00Z")
	p.click("#look")
	page := p.text("#calendar")
	for _, want := range []string{
		"Thu 2026-10-01 02:30:00 CEST", "Thu 2026-10-01 00:30:00 UTC",
		"2026-10-25: clocks go back from 03:00 to 02:00; 2 runs", "2027-03-28: clocks go forward from 02:00 to 03:00; 0 runs", "SkippedTime", "RepeatedTime",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %q", want, page)
		}
	}
	q := openURL(t, start(t), eval[string](p, "location.href"))
	if got := q.text("#calendar"); got != page {
		t.Errorf("from the address: %q", got)
	}
	if got := p.text("#status"); !strings.Contains(got, "The next run is in 30m, Thu 2026-10-01 02:30:00 CEST. 2 findings, 6 changes of the clock") {
		t.Errorf("status line: %q", got)
	}
	p.click("#tab-play")
	if got := p.text("#status"); got != "Ready." {
		t.Errorf("status line of another part: %q", got)
	}
	p.click("#tab-schedules")
	for zone, want := range map[string]string{
		// an alias, and zones that do not exist
		"US/Eastern": "EDT", "constructor": "constructor", "Mars/Base": "Mars/Base", "../../etc/passwd": "passwd",
	} {
		p.set("zone", zone)
		p.click("#look")
		if page, problem := p.text("#calendar"), p.text("#field-problem"); !strings.Contains(page+problem, want) ||
			(problem == "") != (zone == "US/Eastern") {
			t.Errorf("zone %s: %q, %q", zone, problem, page)
		}
	}
	p.set("cron", "61 * * * *")
	p.click("#look")
	if got := p.text("#schedule-problem"); !strings.Contains(got, "minute") {
		t.Errorf("a bad schedule: %q", got)
	}
	if got := p.text("#fields .wrong"); !strings.Contains(got, "minute") || !strings.Contains(got, "61") {
		t.Errorf("the wrong field: %q", got)
	}
}

// TestShare shares a pasted text. The link contains the text, and shows the same answer.
func TestShare(t *testing.T) {
	p := open(t, "")
	p.set("input", `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "shared-ü"}, "spec": {"parallelism": 0, "template": {"spec": {"restartPolicy": "Never"}}}}`)
	p.set("at", "2026-10-14T09:00:00Z")
	p.click("#share")
	p.wait("location.hash.startsWith('#why=')")
	q := openURL(t, start(t), eval[string](p, "location.href"))
	q.wait("document.getElementById('results').textContent.includes('Job shared-ü')")
	q.wait("document.getElementById('status').textContent.includes('as of 2026-10-14 09:00:00')")
	r := open(t, "#why=damaged!")
	r.wait("document.getElementById('problems').textContent.includes('The link is damaged')")
}

// TestFrontPage: the page opens with an answer, and its link has a title, a sentence and a picture.
func TestFrontPage(t *testing.T) {
	p := open(t, "")
	p.wait("document.getElementById('results').textContent.includes('SidecarRuns')")
	f := Files{"index.html": files(t)["index.html"]}
	f.At("https://jobs.example.com/why/")
	for _, want := range []string{`property="og:title"`, `name="description"`, `content="https://jobs.example.com/why/preview.png"`} {
		if !strings.Contains(string(f["index.html"]), want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestAnswerPages: each situation has a page that shows the answer without scripts, and the front
// page links to these pages.
func TestAnswerPages(t *testing.T) {
	if len(situations) < 40 {
		t.Errorf("%d situations", len(situations))
	}
	f := maps.Clone(files(t))
	f.At("https://jobs.example.com/why/")
	for _, s := range situations {
		page, name := string(f[s.Name+".html"]), s.Name+".html"
		for _, want := range []string{"<title>" + s.Title, `<meta name="description" content="`, "As of 2026-", `href="index.html#why/` + s.Name + `"`, "    do: "} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %q", name, want)
			}
		}
		if strings.Contains(page, "<script") {
			t.Errorf("%s has a script", name)
		}
		if link := `<a href="` + name + `">`; !strings.Contains(string(f["index.html"]), link) {
			t.Errorf("no %s", link)
		}
		if address := "https://jobs.example.com/why/" + name + "\n"; !strings.Contains(string(f["sitemap.txt"]), address) {
			t.Errorf("the sitemap has no %s", address)
		}
	}
	if page := string(f["oom.html"]); !strings.Contains(page, "OutOfMemory") {
		t.Errorf("the answer is not there:\n%s", page)
	}
}

// TestTyping: a schedule is described while the user types.
func TestTyping(t *testing.T) {
	p := open(t, "#schedules")
	p.set("cron", "")
	p.run(chromedp.SendKeys("#cron", "0 9 * * MON", chromedp.ByQuery))
	p.wait("document.getElementById('sentence').textContent.startsWith('Runs at 09:00 on Mondays')")
	if got := p.text("#fields .lit strong"); got != "day of week" {
		t.Errorf("lit: %q", got)
	}
	if n := eval[int](p, "document.querySelectorAll('.year rect').length"); n != 365 {
		t.Errorf("%d days", n)
	}
}

// TestMeanings: each field of a schedule is described in words.
func TestMeanings(t *testing.T) {
	p := open(t, "#schedules")
	for spec, want := range map[string]string{
		"*/15 9-17 1,15 * 1-5":   "every 15 minutes|9 to 17|on day 1 and on day 15|every month|Monday to Friday",
		"0 1/2 * jan-MAR SUN,6":  "at 0|every 2 hours from 1|every day|January to March|on Sunday and on Saturday",
		"61 constructor 1-7/2 0": "at 61|at constructor|every 2 days from 1 to 7|in 0|missing",
	} {
		p.set("cron", spec)
		p.click("#look")
		if got := eval[string](p, "[...document.querySelectorAll('#fields li span:first-of-type')].map((n) => n.textContent).join('|')"); got != want {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
	}
}

// TestNarrowed: when the window becomes narrow, as on a phone that is turned, the drawings of a
// schedule still fit.
func TestNarrowed(t *testing.T) {
	p := open(t, "#schedules", size(1440, 900, false)...)
	p.run(size(390, 844, false)...)
	p.wait("document.querySelector('.year').getBoundingClientRect().right <= 390")
	p.checkLayout("narrowed")
	p.run(size(1440, 900, false)...)
	p.wait("document.querySelector('.year').getBoundingClientRect().right > 700")
}

// TestTimelineFits: if a forecast of an hour ends after five minutes, the five minutes fill the
// drawing.
func TestTimelineFits(t *testing.T) {
	p := open(t, "#why/per-index")
	p.wait("document.querySelector('#results .k-future') !== null")
	if got := eval[float64](p, `(() => {
		const svg = document.querySelector("#results .scroll svg");
		return Math.max(...[...svg.querySelectorAll("circle")].map((n) => Number(n.getAttribute("cx")))) / Number(svg.getAttribute("width"));
	})()`); got < 0.85 || got > 1 {
		t.Errorf("the last mark is at %.2f of the width", got)
	}
}

// manyObjects copies a list of Jobs, as kubectl prints it, to the clipboard. One Job in twenty has
// a pod that cannot be scheduled, and one in fifty wants no pods. The script measures the longest
// time for which the page does not react, and the time until the first finding appears.
const manyObjects = `{
	const items = [], at = "2026-10-14T08:00:00Z";
	for (let i = 0; i < %d; i++) {
		const stuck = i %% 20 === 19, idle = i %% 50 === 0;
		const job = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "job-" + i, uid: "u" + i, namespace: "n", creationTimestamp: at },
			spec: { backoffLimit: 6, parallelism: idle ? 0 : 1, template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "x" }] } } }, status: { startTime: at, active: idle ? 0 : 1 } };
		items.push(job);
		if (idle) continue;
		const status = stuck ? { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", message: "0/3 nodes are available: 3 Insufficient cpu." }] }
			: { phase: "Running", startTime: at, containerStatuses: [{ name: "main", state: { running: { startedAt: at } } }] };
		items.push({ apiVersion: "v1", kind: "Pod", metadata: { name: "job-" + i + "-abcde", uid: "p" + i, namespace: "n", creationTimestamp: at, finalizers: ["batch.kubernetes.io/job-tracking"],
			ownerReferences: [{ kind: "Job", name: "job-" + i, uid: "u" + i, controller: true }] }, spec: { containers: [{ name: "main", image: "x" }] }, status });
	}
	const text = JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, %d);
	globalThis.blocks = [];
	globalThis.states = new Set();
	new PerformanceObserver((list) => { for (const entry of list.getEntries()) globalThis.blocks.push(entry.duration); }).observe({ type: "longtask" });
	new MutationObserver(() => {
		globalThis.states.add(document.getElementById("progress").value);
		if (!globalThis.firstFinding && document.querySelector("#results .finding")) globalThis.firstFinding = performance.now() - globalThis.asked;
	}).observe(document.getElementById("panel-explain"), { subtree: true, childList: true, attributes: true });
	addEventListener("paste", () => { globalThis.asked = performance.now(); globalThis.firstFinding = 0; globalThis.blocks = []; }, { capture: true });
	navigator.clipboard.writeText(text).then(() => text.length) }`

// many opens the page with a list of Jobs in the clipboard, and the cursor in the field.
func many(t *testing.T, jobs, indent int, before ...chromedp.Action) *tab {
	t.Helper()
	p := open(t, "", append(before, cdpbrowser.GrantPermissions([]cdpbrowser.PermissionType{cdpbrowser.PermissionTypeClipboardReadWrite, cdpbrowser.PermissionTypeClipboardSanitizedWrite}))...)
	p.wait("document.querySelector('#results article') !== null")
	size := evalAsync[int](p, fmt.Sprintf(manyObjects, jobs, indent))
	t.Logf("%d Jobs, %d KB", jobs, size/1024)
	p.set("at", "2026-10-14T09:00:00Z")
	p.run(chromedp.Focus("#input", chromedp.ByQuery),
		chromedp.Evaluate("document.getElementById('input').select(); 0", new(int)))
	return p
}

// paste pastes the clipboard with the keyboard.
func (p *tab) paste() {
	p.t.Helper()
	p.run(input.DispatchKeyEvent(input.KeyDown).WithKey("v").WithCode("KeyV").WithModifiers(input.ModifierCtrl).WithCommands([]string{"Paste"}))
}

// traceEvent is an event of a trace: a task, or the name of a thread.
type traceEvent struct {
	Name     string
	PID, TID int
	Time     float64 `json:"tdur"` // processor time in microseconds
	Args     struct{ Name string }
}

// trace starts to record the tasks of the pages' main threads. The function that it returns ends the
// recording, and returns the processor time of the longest task in milliseconds.
func (p *tab) trace() (longest func() float64) {
	p.t.Helper()
	var tasks []traceEvent
	complete := make(chan struct{})
	chromedp.ListenTarget(p.ctx, func(event any) {
		switch e := event.(type) {
		case *tracing.EventDataCollected:
			for _, value := range e.Value {
				var one traceEvent
				if err := json.Unmarshal(value, &one); err == nil {
					tasks = append(tasks, one)
				}
			}
		case *tracing.EventTracingComplete:
			close(complete)
		}
	})
	p.run(tracing.Start().WithTraceConfig(&tracing.TraceConfig{IncludedCategories: []string{"toplevel", "__metadata"}, ExcludedCategories: []string{"*"}}))
	return func() (longest float64) {
		p.run(tracing.End())
		select {
		case <-complete:
		case <-p.ctx.Done():
			p.t.Fatal("the trace does not end")
		}
		main := make(map[[2]int]bool)
		for _, task := range tasks {
			if task.Name == "thread_name" && task.Args.Name == "CrRendererMain" {
				main[[2]int{task.PID, task.TID}] = true
			}
		}
		for _, task := range tasks {
			if main[[2]int{task.PID, task.TID}] {
				longest = max(longest, task.Time/1000)
			}
		}
		return longest
	}
}

// TestManyObjects pastes lists of hundreds and thousands of objects. A worker explains them, and
// the page reacts meanwhile. Findings come first, and healthy objects share one line. The times
// depend on the machine: on an idle one, no task takes more than 100 ms, and the first findings
// appear within two seconds.
func TestManyObjects(t *testing.T) {
	for _, test := range []struct{ jobs, indent int }{{600, 0}, {600, 4}, {3000, 4}} {
		n := test.jobs
		p := many(t, n, test.indent)
		trace := p.trace()
		p.paste()
		p.wait(fmt.Sprintf("document.getElementById('status').textContent.startsWith('%d explained')", n))
		pasted := trace()
		stuck, idle := n/20, n/50
		first := eval[string](p, "[...document.querySelectorAll('#results article')].map((n) => n.querySelector('.severity').textContent).join(' ')")
		severities := slices.Concat(slices.Repeat([]string{"error"}, stuck), slices.Repeat([]string{"warning"}, idle))
		if want := strings.Join(severities[:min(len(severities), pageSize)], " "); first != want {
			t.Errorf("the first page has %s, want %s", first, want)
		}
		if got := eval[int](p, "globalThis.states.size"); got < 5 {
			t.Errorf("the progress bar was drawn in %d states", got)
		}
		blocks := "Math.max(0, ...globalThis.blocks)"
		longest, soonest := eval[float64](p, blocks), eval[float64](p, "globalThis.firstFinding")
		t.Logf("%d Jobs in %s ms; the longest block of the page %.0f ms on the clock (0 is less than 50) and %.0f ms of processor time, the first finding after %.0f ms",
			n, eval[string](p, "document.documentElement.dataset.explained"), longest, pasted, soonest)
		if soonest == 0 {
			t.Errorf("%d Jobs: no finding was seen", n)
		}
		if pasted == 0 {
			t.Errorf("%d Jobs: the trace has no task of the page", n)
		}
		if stuck+idle > pageSize {
			p.click("#more")
			p.wait(fmt.Sprintf("document.querySelectorAll('#results article').length === %d", 2*pageSize))
		}
		well := n - stuck - idle
		if got, want := p.text("#well summary"), fmt.Sprintf("%d objects are well: %d Jobs running.", well, well); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		p.run(chromedp.Evaluate("globalThis.blocks = []; 0", new(int)))
		p.click("#well summary")
		lines := "document.querySelectorAll('#well details details').length"
		p.wait(fmt.Sprintf("%s === %d", lines, 4*pageSize))
		p.click("#well details button")
		p.wait(fmt.Sprintf("%s === %d", lines, min(well, 8*pageSize)))
		p.run(chromedp.Evaluate("document.querySelector('#well details details summary').click(); 0", new(int)))
		p.wait("document.querySelector('#well article')?.textContent.includes('job-1')")
		t.Logf("%d Jobs: what is well is opened with a longest block of %.0f ms on the clock", n,
			eval[float64](p, blocks))
	}
}

// TestLongPaste: the field shows the beginning of a long text. Share and Explain use the whole
// text, and the user can remove it.
func TestLongPaste(t *testing.T) {
	p := many(t, 100, 0, size(1440, 900, false)...)
	p.paste()
	p.wait("document.getElementById('status').textContent.startsWith('100 explained')")
	if got := p.text("#held-size"); !strings.HasSuffix(got, "KB are pasted. The field shows the beginning.") {
		t.Errorf("got %q", got)
	}
	if got := eval[int](p, "document.getElementById('input').value.length"); got > 5000 {
		t.Errorf("the field has %d characters", got)
	}
	p.click("#explain")
	p.wait("document.querySelector('#well summary')?.textContent.startsWith('93 objects are well')")
	p.checkLayout("long")
	p.screenshot("many wide light")
	p.click("#share")
	p.wait("location.hash.startsWith('#why=')")
	q := openURL(t, start(t), eval[string](p, "location.href"), size(390, 844, true)...)
	q.wait("document.getElementById('status').textContent.startsWith('100 explained')")
	q.click("#well summary")
	q.wait("document.querySelectorAll('#well details details').length === 93")
	q.checkLayout("long, on a phone")
	q.screenshot("many phone dark")
	p.click("#drop")
	if got := eval[string](p, "document.getElementById('input').value + document.getElementById('input').readOnly + document.getElementById('held').hidden"); got != "falsetrue" {
		t.Errorf("after Remove: %q", got)
	}
}

// TestAxe runs axe-core, which checks accessibility. The variable AXE is the path of its script; see
// "make axe".
func TestAxe(t *testing.T) {
	file := os.Getenv("AXE")
	if file == "" {
		t.Skip("AXE does not name the script of axe-core: make axe")
	}
	script := testfile.Read(t, file)
	check := func(p *tab, what string, dark bool) {
		p.run(chromedp.Evaluate(script+"; 0", new(int)))
		found := evalAsync[[]string](p, "axe.run().then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')))")
		for _, v := range found {
			t.Errorf("%s, dark %v: %s", what, dark, v)
		}
		t.Logf("%s, dark %v: %d findings, %d rules passed", what, dark, len(found),
			evalAsync[int](p, "axe.run().then((r) => r.passes.length)"))
	}
	for _, dark := range []bool{false, true} {
		look := size(1440, 900, dark)
		for _, part := range []string{"#why/sidecar", "#why/forbid", "#play", "#schedules", "#schedule=61+1+*+*+*&zone=UTC", "#schedule=0+1+*+*+*&zone=Mars"} {
			p := open(t, part, look...)
			p.wait("!document.getElementById('panel-explain').hidden ? document.getElementById('status').textContent.includes('explained') : true")
			check(p, part, dark)
		}
		p := many(t, 600, 4, look...)
		p.paste()
		p.wait("document.getElementById('status').textContent.startsWith('600 explained')")
		check(p, "600 Jobs", dark)
		p.click("#well summary")
		p.wait(fmt.Sprintf("document.querySelectorAll('#well details details').length === %d", 4*pageSize))
		p.run(chromedp.Evaluate("document.querySelector('#well details details summary').click(); 0", new(int)))
		p.wait("document.querySelector('#well article') !== null")
		check(p, "600 Jobs, what is well opened", dark)

		p = open(t, "#play", look...)
		for range 20 {
			if !eval[bool](p, "document.getElementById('play-wait').hidden") {
				break
			}
			p.click("#forward")
		}
		check(p, "play, a wait", dark)
		p.click("#autoplay")
		p.wait("document.getElementById('play-bar').getAnimations().length > 0")
		check(p, "play, between two steps", dark)
	}
}

// pageSize is the number of objects on a page, as in explain.js.
const pageSize = 50

// TestFirstExplanation measures how long the page takes to explain a small input.
func TestFirstExplanation(t *testing.T) {
	p := open(t, "", performance.Enable().WithTimeDomain(performance.EnableTimeDomainThreadTicks))
	p.openSituation("sidecar")
	p.wait("document.documentElement.dataset.explained !== undefined")
	t.Logf("module loaded in %s ms, first explanation in %s ms on the clock; %.0f ms of processor time of the page until then",
		eval[string](p, "document.documentElement.dataset.loaded"), eval[string](p,
			"document.documentElement.dataset.explained"), p.metrics()["TaskDuration"]*1000)
}

// situation finds a ready-made input in situations.js.
func (f Files) situation(name string) (s situation, err error) {
	var all []situation
	text := strings.TrimSuffix(strings.TrimPrefix(string(f["situations.js"]), "const situations = "), ";\n")
	if err = json.Unmarshal([]byte(text), &all); err != nil {
		return s, err
	}
	for _, s = range all {
		if s.Name == name {
			return s, nil
		}
	}
	return s, fmt.Errorf("no situation %q", name)
}
