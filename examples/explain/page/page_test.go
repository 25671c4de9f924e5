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

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/batchplan/batchplan/examples/explain/explain"
	"github.com/batchplan/batchplan/examples/explain/play"
	"github.com/batchplan/batchplan/examples/explain/read"
)

// TestSize: what a browser loads is less than two megabytes.
func TestSize(t *testing.T) {
	size, err := files(t).Size()
	if err != nil || size > 2_000_000 {
		t.Errorf("%d bytes, %v", size, err)
	}
	t.Logf("%d bytes, compressed", size)
}

// TestNothingFromElsewhere: no file names another host, and none makes HTML from text.
func TestNothingFromElsewhere(t *testing.T) {
	host := regexp.MustCompile(`https?://[a-z]+`)
	html := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(`)
	for name, data := range files(t) {
		if name == "module.js" || name == "situations.js" || name == "wasm_exec.js" {
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

// TestGuidedExamples steps through each example with the button, and compares each sentence
// with what the package says.
func TestGuidedExamples(t *testing.T) {
	p := open(t, "#play")
	for i, s := range play.Examples {
		p.choose("example", fmt.Sprint(i))
		var theatre play.Theatre
		for n := range len(s.Steps) + 1 {
			if n > 0 {
				p.click("#forward")
			}
			life, err := theatre.Play(&s, n)
			if err != nil {
				t.Fatal(err)
			}
			v := life.View(0)
			if got, want := p.text("#play-summary"), v.Clock+"  "+v.Summary; got != want {
				t.Errorf("%s, step %d: %q, want %q", s.Title, n, got, want)
			}
			if got := p.text("#note"); got != s.Notes[n] {
				t.Errorf("%s, step %d: note %q", s.Title, n, got)
			}
		}
		p.checkLayout(s.Title)
	}
}

// TestPlayButtons presses each button of a life.
func TestPlayButtons(t *testing.T) {
	p := open(t, "#play")
	p.choose("example", "0")
	press := func(selector, want string) {
		t.Helper()
		p.click(selector)
		if got := p.text("#panel-play"); !strings.Contains(got, want) {
			t.Errorf("after %s: no %q, problem %q, summary %q", selector, want, p.text("#play-problem"), p.text("#play-summary"))
		}
	}
	podButton := func(verb, pod string) string { return fmt.Sprintf(`#pods [aria-label="%s: %s"]`, verb, pod) }
	p.set("edit", `{"backoffLimit": 9}`)
	press("#apply", "backoffLimit 9")
	press(`[data-step="run all"]`, "2 active pods.")
	press(`[data-step="tick 10s"]`, "T+10s")
	press(podButton("Restart", "j-1"), "restarted 1 time")
	p.set("code", "7")
	press(podButton("Fail", "j-1"), "exit code 7")
	press(`[data-step="next"]`, "j-3")
	press(podButton("Start", "j-3"), "2 active pods")
	press(podButton("Lose the node", "j-3"), "Terminating")
	press(podButton("Evict", "j-2"), "2 terminating")
	press(`[data-step="suspend"]`, "Suspended")
	press(`[data-step="suspend"]`, "JobResumed")
	press(`[data-step="tick 1m"]`, "T+1m")
	press(`[data-step="wider"]`, `edit {"parallelism": 3}`)
	press(`[data-step="fewer"]`, `edit {"parallelism": 2}`)
	p.set("edit", `{"backoffLimit": -9}`)
	press("#apply", "spec.backoffLimit")
	press("#undo", `edit {"parallelism": 3}`)
	press(`[data-step="tick 1h"]`, "T+1h1m")
	press(`[data-step="delete"]`, "being deleted")
	press("#back", "T+1h1m")
	press("#forward", "being deleted")
	p.click("#story")
	if got := eval[string](p, "document.getElementById('export').value"); !strings.HasPrefix(got, "job\n{") || !strings.Contains(got, "\nround\n") {
		t.Errorf("story: %.200s", got)
	}
	p.click("#gotest")
	if got := eval[string](p, "document.getElementById('export').value"); !strings.Contains(got, "func TestSituation(") {
		t.Errorf("test: %.200s", got)
	}
	p.checkLayout("buttons")
}

// TestFragment: the address holds the whole life, and opens it anywhere.
func TestFragment(t *testing.T) {
	p := open(t, "#play")
	p.choose("example", "2")
	p.click(`[data-step="run all"]`)
	p.click(`[data-step="tick 10s"]`)
	summary, address := p.text("#play-summary"), eval[string](p, "location.href")
	if !strings.Contains(address, "#play=") {
		t.Fatalf("address %s", address)
	}
	q := openURL(t, start(t), address)
	if got := q.text("#play-summary"); got != summary {
		t.Errorf("%q, want %q", got, summary)
	}
	q.click("#back")
	if got := q.text("#step"); got != "1 of 2: run all" {
		t.Errorf("one step back: %q", got)
	}
	s, err := play.Decode(regexp.MustCompile(`#play=([^&]*)`).FindStringSubmatch(address)[1])
	if err != nil || len(s.Steps) != 2 {
		t.Errorf("%v, %v", s.Steps, err)
	}
	broken := openURL(t, start(t), p.url+"=broken")
	if got := broken.text("#play-problem"); !strings.Contains(got, "damaged") {
		t.Errorf("a broken link: %q", got)
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

// compareWithPackage compares the sentences on the page with those of the package.
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
	p.set("cron", "61 * * * *")
	p.click("#look")
	if got := p.text("#schedule-problem"); !strings.Contains(got, "minute") {
		t.Errorf("a bad schedule: %q", got)
	}
}

// TestKeyboard moves through the parts of the page and a timeline without a mouse.
func TestKeyboard(t *testing.T) {
	p := open(t, "")
	p.run(chromedp.Focus("#tab-explain", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight)) // arrow right
	p.wait("document.activeElement.id === 'tab-play' && !document.getElementById('panel-play').hidden")
	p.run(chromedp.Focus("#play-timeline svg [tabindex]", chromedp.ByQuery))
	p.wait("document.querySelector('#play-timeline .says').textContent === document.activeElement.getAttribute('aria-label')")
	p.click("#play-timeline [aria-label='Zoom in']")
	if got := eval[bool](p, "document.querySelector('#play-timeline .scroll').scrollWidth > document.querySelector('#play-timeline .scroll').clientWidth"); !got {
		t.Error("zoom changes nothing")
	}
}

// TestLooks looks at each part in both colour schemes and on a phone.
func TestLooks(t *testing.T) {
	for _, look := range []struct {
		name          string
		width, height int64
		dark          bool
	}{{"wide light", 1280, 900, false}, {"wide dark", 1280, 900, true}, {"phone light", 360, 740, false}, {"phone dark", 360, 740, true}} {
		t.Run(look.name, func(t *testing.T) {
			p := open(t, "", size(look.width, look.height, look.dark)...)
			want := map[bool]string{false: "rgb(255, 255, 255)", true: "rgb(15, 20, 25)"}[look.dark]
			if got := eval[string](p, "getComputedStyle(document.body).backgroundColor"); got != want {
				t.Errorf("background %s", got)
			}
			p.checkLayout("empty")
			p.choose("situation", "0")
			p.wait("document.querySelector('#results .note') !== null")
			p.checkLayout("explain")
			p.screenshot("explain " + look.name)
			p.choose("situation", "5")
			p.wait("document.querySelector('#results').textContent.includes('per-index')")
			p.checkLayout("explain indexes")
			p.screenshot("indexes " + look.name)
			p.click("#tab-play")
			p.choose("example", "3")
			for range 4 {
				p.click("#forward")
			}
			p.checkLayout("play")
			p.screenshot("play " + look.name)
			p.click("#tab-schedules")
			p.checkLayout("schedules")
			p.screenshot("schedules " + look.name)
			p.click("#scheme")
			if got := eval[string](p, "getComputedStyle(document.body).backgroundColor"); got == want {
				t.Error("the button does not change the colours")
			}
		})
	}
}

// TestFromDisk opens the page as a file.
func TestFromDisk(t *testing.T) {
	b := start(t)
	dir := t.TempDir()
	if err := files(t).Write(dir); err != nil {
		t.Fatal(err)
	}
	p := openURL(t, b, "file://"+dir+"/index.html#play")
	p.click(`[data-step="run all"]`)
	if got := p.text("#step"); !strings.HasPrefix(got, "1 of ") {
		t.Errorf("got %q", got)
	}
	if got := eval[string](p, "location.href"); !strings.Contains(got, "#play=") {
		t.Errorf("address %s", got)
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
		let last = performance.now();
		const tick = () => { const now = performance.now(); globalThis.longest = Math.max(globalThis.longest, now - last); last = now; requestAnimationFrame(tick); };
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
	t.Logf("3000 jobs in %s ms, the longest pause of the page %.0f ms", eval[string](p, "document.documentElement.dataset.explained"), eval[float64](p, "globalThis.longest"))
}

// pageSize is that of explain.js.
const pageSize = 50

// TestFirstExplanation measures how long a small input takes.
func TestFirstExplanation(t *testing.T) {
	p := open(t, "")
	p.choose("situation", "0")
	p.wait("document.documentElement.dataset.explained !== undefined")
	t.Logf("module loaded in %s ms, first explanation in %s ms",
		eval[string](p, "document.documentElement.dataset.loaded"), eval[string](p, "document.documentElement.dataset.explained"))
}
