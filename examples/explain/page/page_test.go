package page

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/batchplan/batchplan/examples/explain/explain"
	"github.com/batchplan/batchplan/examples/explain/read"
)

// TestSize: what a browser loads is less than two megabytes.
func TestSize(t *testing.T) {
	size, err := files(t).Size()
	if err != nil || size > 2_000_000 {
		t.Errorf("%d bytes, %v", size, err)
	}
	t.Logf("%d bytes, compressed", size)
	for name, data := range files(t) {
		packed, err := pack(data)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%8d %s", len(packed), name)
	}
}

// TestNothingFromElsewhere: no file names another host, and none makes HTML from text.
func TestNothingFromElsewhere(t *testing.T) {
	host := regexp.MustCompile(`https?://[a-z]+`)
	html := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(`)
	for name, data := range files(t) {
		if name == "module.js" || name == "zones.js" || name == "situations.js" || name == "wasm_exec.js" {
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
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	for path, want := range map[string]string{"/": "text/html; charset=utf-8", "/app.js": "text/javascript; charset=utf-8", "/../secret": ""} {
		response, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		switch {
		case want == "" && response.StatusCode != http.StatusNotFound:
			t.Errorf("%s: %s", path, response.Status)
		case want != "" && (response.Header.Get("Content-Type") != want || response.Header.Get("Content-Security-Policy") != policy):
			t.Errorf("%s: %v", path, response.Header)
		}
	}
	if _, err := Listen("0.0.0.0:0"); err == nil || !strings.Contains(err.Error(), "is not an address of this machine alone") {
		t.Errorf("got %v", err)
	}
}

// TestPastedList pastes each situation, and compares each sentence with what the package
// says.
func TestPastedList(t *testing.T) {
	p := open(t, "")
	for _, folder := range []string{"forbid", "per_index", "fail_job", "lost_run", "schedule_trouble"} {
		inputs, err := filepath.Glob("../explain/testdata/situations/" + folder + "/input/*")
		if err != nil || len(inputs) != 1 {
			t.Fatal(inputs, err)
		}
		data, err := os.ReadFile(inputs[0])
		if err != nil {
			t.Fatal(err)
		}
		args, err := os.ReadFile("../explain/testdata/situations/" + folder + "/args")
		if err != nil {
			t.Fatal(err)
		}
		at := strings.Fields(string(args))[1]
		p.set("input", string(data))
		p.set("at", at)
		p.click("#explain")
		p.wait(fmt.Sprintf("document.getElementById('status').textContent.includes('as of %s')", strings.NewReplacer("T", " ", "Z", "").Replace(at)))
		compareWithPackage(t, p, folder, data, at)
		p.checkLayout(folder)
	}
}

// compareWithPackage compares the sentences on the page with the package's.
func compareWithPackage(t *testing.T, p *tab, folder string, data []byte, at string) {
	t.Helper()
	objects := &read.Objects{}
	stream := objects.Stream("input")
	_, _ = stream.Write(data)
	_ = stream.Close()
	when, err := time.Parse(time.RFC3339, at)
	if err != nil {
		t.Fatal(err)
	}
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

// TestReadyMade chooses each ready-made input.
func TestReadyMade(t *testing.T) {
	p := open(t, "")
	for i, s := range situations {
		p.choose("situation", fmt.Sprint(i))
		p.wait(fmt.Sprintf("document.querySelector('#results .note')?.textContent === %q", s.Note))
		if n := eval[int](p, "document.querySelectorAll('#results article svg rect, #results article svg circle').length"); n == 0 {
			t.Errorf("%s: nothing is drawn", s.Title)
		}
		p.checkLayout(s.Title)
	}
}

// TestBadFile drops files that cannot be read as a whole: the problem has a place, and what
// could be read is explained.
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
		if err := os.WriteFile(file, []byte(test.text), 0o644); err != nil {
			t.Fatal(err)
		}
		p.run(chromedp.SetUploadFiles("#file", []string{file}, chromedp.ByQuery))
		p.wait(fmt.Sprintf("document.getElementById('problems').textContent.includes(%q) && document.getElementById('results').textContent.includes(%q)", test.problem, test.result))
	}
	if n := eval[int](p, "document.querySelectorAll('#results img').length"); n != 0 {
		t.Error("text became HTML")
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
		"Runs at 02:30 every day (Europe/Berlin)", "Thu 2026-10-01 02:30:00 CEST", "Thu 2026-10-01 00:30:00 UTC",
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
	if got := p.text("#status"); !strings.Contains(got, "The next run is in 30m0s, Thu 2026-10-01 02:30:00 CEST. 2 findings, 6 changes of the clock") {
		t.Errorf("status line: %q", got)
	}
	p.click("#tab-play")
	if got := p.text("#status"); got != "Ready." {
		t.Errorf("status line of another part: %q", got)
	}
	p.click("#tab-schedules")
	for zone, want := range map[string]string{
		"US/Eastern": "EDT", "constructor": "constructor", "Mars/Base": "Mars/Base", "../../etc/passwd": "passwd", // an alias, and zones that are not there
	} {
		p.set("zone", zone)
		p.click("#look")
		if page, problem := p.text("#calendar"), p.text("#schedule-problem"); !strings.Contains(page+problem, want) || (problem == "") != (zone == "US/Eastern") {
			t.Errorf("zone %s: %q, %q", zone, problem, page)
		}
	}
	p.set("cron", "61 * * * *")
	p.click("#look")
	if got := p.text("#schedule-problem"); !strings.Contains(got, "minute") {
		t.Errorf("a bad schedule: %q", got)
	}
}

// TestLongList pastes a list of thousands of objects: the page draws in between, and shows
// the first ones.
func TestLongList(t *testing.T) {
	p := open(t, "")
	p.run(chromedp.Evaluate(`{
		const items = [];
		for (let i = 0; i < 3000; i++) items.push({apiVersion: "batch/v1", kind: "Job", metadata: {name: "job-" + i, uid: "u" + i, namespace: "n", creationTimestamp: "2026-10-14T08:00:00Z"},
			spec: {backoffLimit: 6, template: {spec: {restartPolicy: "Never"}}}, status: {startTime: "2026-10-14T08:00:00Z"}});
		document.getElementById("input").value = JSON.stringify({apiVersion: "v1", kind: "List", items});
		globalThis.longest = 0;
		globalThis.progress = new Set();
		let last = performance.now();
		const tick = () => { if (!document.getElementById("progress").hidden) globalThis.progress.add(document.getElementById("progress").value); const now = performance.now(); globalThis.longest = Math.max(globalThis.longest, now - last); last = now; requestAnimationFrame(tick); };
		requestAnimationFrame(tick);
		0 }`, new(int)))
	p.set("at", "2026-10-14T09:00:00Z")
	p.click("#explain")
	p.wait("document.getElementById('status').textContent.startsWith('3000 explained')")
	if n := eval[int](p, "document.querySelectorAll('#results article').length"); n != pageSize {
		t.Errorf("%d articles", n)
	}
	p.click("#more")
	if n := eval[int](p, "document.querySelectorAll('#results article').length"); n != 2*pageSize {
		t.Errorf("%d articles after more", n)
	}
	if n := eval[int](p, "globalThis.progress.size"); n < 5 {
		t.Errorf("the progress bar was drawn in %d states", n)
	}
	t.Logf("3000 jobs in %s ms, the longest pause of the page %.0f ms", eval[string](p, "document.documentElement.dataset.explained"), eval[float64](p, "globalThis.longest"))
}

// pageSize is the page size of explain.js.
const pageSize = 50

// TestFirstExplanation measures how long a small input takes.
func TestFirstExplanation(t *testing.T) {
	p := open(t, "", performance.Enable().WithTimeDomain(performance.EnableTimeDomainThreadTicks))
	p.choose("situation", "0")
	p.wait("document.documentElement.dataset.explained !== undefined")
	t.Logf("module loaded in %s ms, first explanation in %s ms on the clock; %.0f ms of processor time of the page until then",
		eval[string](p, "document.documentElement.dataset.loaded"), eval[string](p, "document.documentElement.dataset.explained"), p.metrics()["TaskDuration"]*1000)
}
