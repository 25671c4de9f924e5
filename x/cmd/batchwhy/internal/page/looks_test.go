package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/batchplan/batchplan/internal/must"
)

// TestKeyboard moves through the parts of the page and a timeline without a mouse.
func TestKeyboard(t *testing.T) {
	p := open(t, "")
	p.run(chromedp.Focus("#tab-explain", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight)) // arrow right
	p.wait("document.activeElement.id === 'tab-play' && !document.getElementById('panel-play').hidden")
	p.run(chromedp.Focus("#play-timeline svg [tabindex]", chromedp.ByQuery))
	p.wait("document.querySelector('#play-timeline .says').textContent === document.activeElement.getAttribute('aria-label')")
	isZoomed := "document.querySelector('#play-timeline .scroll').scrollWidth > document.querySelector('#play-timeline .scroll').clientWidth"
	zoomed := func(after string, want bool) {
		t.Helper()
		if eval[bool](p, isZoomed) != want {
			t.Errorf("after %s: zoomed is not %v", after, want)
		}
	}
	bar := p.text("#play-timeline .says")
	p.run(chromedp.KeyEvent("+"))
	zoomed("the key +", true)
	if got := eval[string](p, "document.activeElement.getAttribute('aria-label')"); got != bar {
		t.Errorf("the focus moved to %q", got)
	}
	p.run(chromedp.KeyEvent("0"))
	zoomed("the key 0", false)
	p.click("#play-timeline [aria-label='Zoom in']")
	zoomed("the button", true)
	p.click("#play-timeline [aria-label='Show the whole time']")
	zoomed("the button for the whole time", false)
	wheel := func(ctrl bool, delta int) bool {
		return eval[bool](p, fmt.Sprintf(`(() => {
			const scroll = document.querySelector("#play-timeline .scroll");
			return scroll.dispatchEvent(new WheelEvent("wheel", { deltaY: %d, ctrlKey: %v, clientX: 300, bubbles: true, cancelable: true }));
		})()`, delta, ctrl))
	}
	if !wheel(false, -100) {
		t.Error("the wheel alone does not scroll the page")
	}
	zoomed("the wheel alone", false)
	if wheel(true, -100) {
		t.Error("Ctrl and the wheel zooms the page")
	}
	zoomed("Ctrl and the wheel", true)
	wheel(true, 100)
	zoomed("Ctrl and the wheel back", false)
}

// TestLooks looks at each part in both colour schemes and on a phone.
func TestLooks(t *testing.T) {
	for _, look := range []struct {
		name          string
		width, height int64
		dark          bool
	}{{"wide light", 1440, 900, false}, {"wide dark", 1440, 900, true}, {"phone light", 390, 844, false}, {"phone dark", 390, 844, true}} {
		t.Run(look.name, func(t *testing.T) {
			p := open(t, "", size(look.width, look.height, look.dark)...)
			want := map[bool]string{false: "rgb(255, 255, 255)", true: "rgb(15, 20, 25)"}[look.dark]
			if got := eval[string](p, "getComputedStyle(document.body).backgroundColor"); got != want {
				t.Errorf("background %s", got)
			}
			p.wait("document.querySelector('#results article') !== null")
			p.checkLayout("front")
			p.screenshot("front " + look.name)
			p.openSituation("forbid")
			p.wait("document.querySelector('#results .note') !== null")
			p.checkLayout("explain")
			p.screenshot("explain " + look.name)
			p.openSituation("per-index")
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
			p.choose("example", fmt.Sprint(exampleOf(t, "CronJob: catch-up after an outage")))
			for range 5 {
				p.click("#forward")
			}
			p.checkLayout("play CronJob")
			p.screenshot("cronjob " + look.name)
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

func TestFromDisk(t *testing.T) {
	b := start(t)
	dir := t.TempDir()
	must.OK(t, files(t).Write(dir))
	p := openURL(t, b, "file://"+dir+"/index.html#play")
	p.click(`[data-step="run all"]`)
	if got := p.text("#step"); !strings.HasPrefix(got, "1 of ") {
		t.Errorf("got %q", got)
	}
	p.wait("location.hash.endsWith('&step=' + stage.at)")
	if got := eval[string](p, "location.href"); !strings.Contains(got, "#play=") {
		t.Errorf("address %s", got)
	}
}
