package page

import (
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/play"
)

// TestGuidedExamples steps through each example with the button, and compares each sentence with
// those of the package play.
func TestGuidedExamples(t *testing.T) {
	p := open(t, "#play")
	if problem := p.text("#play-problem"); problem != "" {
		t.Errorf("the link of the part: %s", problem)
	}
	for i, s := range play.Examples {
		p.choose("example", fmt.Sprint(i))
		var theatre play.Theatre
		for n := range len(s.Steps) + 1 {
			if n > 0 {
				p.click("#forward")
			}
			life, err := theatre.Play(&s, n)
			must.OK(t, err)
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

func TestPlayButtons(t *testing.T) {
	p := open(t, "#play")
	p.choose("example", "0")
	press := func(selector, want string) {
		t.Helper()
		p.click(selector)
		if got := p.text("#panel-play"); !strings.Contains(got, want) {
			t.Errorf("after %s: no %q, problem %q, summary %q", selector, want, p.text("#play-problem"),
				p.text("#play-summary"))
		}
	}
	podButton := func(verb, pod string) string { return fmt.Sprintf(`#pods [aria-label="%s: %s"]`, verb, pod) }
	p.set("edit", `{"backoffLimit": 9}`)
	press("#apply", "backoffLimit 9")
	press(`[data-step="run all"]`, "2 active pods.")
	press(`[data-step="tick 10s"]`, "after 10s")
	press(podButton("Restart", "j-1"), "restarted 1 time")
	p.set("code", "7")
	press(podButton("Fail", "j-1"), "exit code 7")
	press(`[data-step="next"]`, "j-3")
	press(podButton("Start", "j-3"), "2 active pods")
	press(podButton("Lose the node", "j-3"), "Terminating")
	press(podButton("Evict", "j-2"), "2 terminating")
	press(`[data-step="suspend"]`, "Suspended")
	press(`[data-step="suspend"]`, "JobResumed")
	press(`[data-step="tick 1m"]`, "after 1m")
	press(`[data-step="wider"]`, `edit {"parallelism": 3}`)
	press(`[data-step="fewer"]`, `edit {"parallelism": 2}`)
	p.set("edit", `{"backoffLimit": -9}`)
	press("#apply", "spec.backoffLimit")
	press("#undo", `edit {"parallelism": 3}`)
	press(`[data-step="tick 1h"]`, "after 1h1m")
	press(`[data-step="delete-job"]`, "being deleted")
	press("#back", "after 1h1m")
	press("#forward", "being deleted")
	p.click("#story")
	if got := eval[string](p, "document.getElementById('export').value"); !strings.HasPrefix(got, "job\n{") ||
		!strings.Contains(got, "\nround\n") {
		t.Errorf("story: %.200s", got)
	}
	p.click("#gotest")
	if got := eval[string](p, "document.getElementById('export').value"); !strings.Contains(got, "func TestSituation(") {
		t.Errorf("test: %.200s", got)
	}
	p.checkLayout("buttons")
}

func TestCronJobButtons(t *testing.T) {
	p := open(t, "#play")
	p.choose("example", fmt.Sprint(exampleOf(t, "CronJob: Forbid")))
	if eval[bool](p, `[...document.querySelectorAll('#acts [data-kind="Job"]')].some((n) => n.getBoundingClientRect().width > 0)`) {
		t.Error("buttons of Jobs are shown")
	}
	press := func(selector, want string) {
		t.Helper()
		p.click(selector)
		if got := p.text("#panel-play"); !strings.Contains(got, want) {
			t.Errorf("after %s: no %q, problem %q, summary %q", selector, want, p.text("#play-problem"),
				p.text("#play-summary"))
		}
	}
	button := func(verb, name string) string { return fmt.Sprintf(`#pods [aria-label="%s: %s"]`, verb, name) }
	press(`[data-step="next"]`, "create report-29453820")
	press(`[data-step="tick 1h"]`, "RunHeld")
	press(button("Fail", "report-29453820"), "create report-29453880")
	press(`[data-step="tick 1m"]`, "02:01:00 UTC")
	press(button("Complete", "report-29453880"), "lastSuccessfulTime")
	press(`[data-step="trigger"]`, "create report-manual-1")
	press(`[data-step="complete all"]`, "condition: Complete")
	press(button("Delete", "report-manual-1"), "report-manual-1 is deleted")
	press(`[data-step="suspend"]`, "Suspended: no run starts")
	press(`[data-step="tick 24h"]`, "24 runs have come due")
	press(`[data-step="suspend"]`, "missed")
	press(`[data-step="down 1h"]`, "the controller is down for 1h")
	press(`[data-step="fail all"]`, "all fail")
	p.set("cron-edit", "30 12 * * *")
	press("#reschedule", "Runs at 12:30 every day")
	p.set("clock", "2026-01-05T12:30:00Z")
	press("#set-clock", "2026-01-05 12:30:00 UTC")
	p.set("edit", `{"concurrencyPolicy": "Never"}`)
	press("#apply", "spec.concurrencyPolicy")
	press("#undo", "03:01:00 UTC")
	summary := p.text("#play-summary")
	p.wait("location.hash.endsWith('&step=' + stage.at)")
	q := openURL(t, start(t), eval[string](p, "location.href"))
	if got := q.text("#play-summary"); got != summary {
		t.Errorf("from the address: %q, want %q", got, summary)
	}
	p.click("#story")
	if got := eval[string](p, "document.getElementById('export').value"); !strings.HasPrefix(got, "cronjob\n{") ||
		!strings.Contains(got, "\nround\n") {
		t.Errorf("story: %.200s", got)
	}
	p.click("#gotest")
	if got := eval[string](p, "document.getElementById('export').value"); !strings.Contains(got, "cronjob.Compile(&s.CronJob)") {
		t.Errorf("test: %.200s", got)
	}
	p.checkLayout("CronJob buttons")
}

func exampleOf(t *testing.T, title string) int {
	t.Helper()
	for i := range play.Examples {
		if play.Examples[i].Title == title {
			return i
		}
	}
	t.Fatalf("no example %q", title)
	return -1
}

// TestPager shows the pods page by page. After a step on a later page, that page stays.
func TestPager(t *testing.T) {
	p := open(t, "#play")
	p.startJob(`{"completions": 120, "parallelism": 120, "template": {"spec": {"restartPolicy": "Never"}}}`)
	shows := func(want string) {
		t.Helper()
		if got := p.text("#items-range"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	shows("1 to 50 of 120")
	p.click("#items-next")
	shows("51 to 100 of 120")
	p.click(`#pods [aria-label="Start: j-51"]`)
	shows("51 to 100 of 120") // the pod of the step stays in sight
	p.click("#items-next")
	shows("101 to 120 of 120")
	p.click("#items-prev")
	shows("51 to 100 of 120")
}

// TestFragment: the address contains the whole life, so that it opens in any browser.
func TestFragment(t *testing.T) {
	p := open(t, "#play")
	p.choose("example", "2")
	p.click(`[data-step="run all"]`)
	p.click(`[data-step="tick 10s"]`)
	p.wait("location.hash.startsWith('#play=') && location.hash.endsWith('&step=2')")
	q := openURL(t, start(t), eval[string](p, "location.href"))
	q.wait("document.getElementById('step').textContent.startsWith('2 of 2')")
	if got, want := q.text("#play-summary"), p.text("#play-summary"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	q.click("#back")
	if got := q.text("#step"); got != "1 of 2: all start" {
		t.Errorf("one step back: %q", got)
	}
}

// TestFragment_Damaged: the page reports a link that contains no script or a decompression bomb.
func TestFragment_Damaged(t *testing.T) {
	link := func(text string) string {
		var b strings.Builder
		encoder := base64.NewEncoder(base64.RawURLEncoding, &b)
		w, err := flate.NewWriter(encoder, flate.BestCompression)
		must.OK(t, err)
		_, err = io.WriteString(w, text)
		must.OK(t, errors.Join(err, w.Close(), encoder.Close()))
		return b.String()
	}
	script := play.Examples[0]
	script.Steps = []string{"dance"}
	wrong, err := json.Marshal(script)
	must.OK(t, err)
	p := open(t, "#play")
	for text, want := range map[string]string{
		"broken":                           "The link is damaged",
		"AAAA":                             "The link is damaged",
		link(`null`):                       "The link is damaged",
		link(`{"steps": 5}`):               "The link is damaged",
		link(`{"manifest": 5}`):            "manifest",
		link(strings.Repeat("x", 2000000)): "it is too long",
		link(string(wrong)):                "dance",
	} {
		p.run(chromedp.Evaluate(`document.getElementById("play-problem").textContent = ""; location.hash = "#play=`+text+`"`, nil))
		p.wait("document.getElementById('play-problem').textContent.includes('" + want + "')")
	}
}
