package explain

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/batchplan/batchplan/x/cmd/internal/terminal"
)

// The measures of a plot, in pixels.
const (
	plotWidth  = 1000
	laneHeight = 22
	labelWidth = 110
	titleSpace = 30
	axisSpace  = 28
)

// Plot draws the timelines of a report, one below the other. Each timeline has its own scale.
func Plot(out io.Writer, objects []Explanation) error {
	height := 0
	for i := range objects {
		height += plotHeight(objects[i].Timeline)
	}

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" `+
		`font-family="sans-serif" font-size="12">`+"\n", plotWidth, height, plotWidth, height)
	fmt.Fprintf(&b, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", plotWidth, height)

	top := 0
	for i := range objects {
		if t := objects[i].Timeline; t != nil {
			plotOne(&b, &objects[i], top)
			top += plotHeight(t)
		}
	}

	b.WriteString("</svg>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

func plotHeight(t *Timeline) int {
	if t == nil {
		return 0
	}
	return titleSpace + laneHeight*len(t.Lanes) + axisSpace
}

// scale converts times to x coordinates.
type scale struct{ from, to time.Time }

func (s scale) x(t time.Time) float64 {
	return labelWidth + float64(plotWidth-labelWidth-20)*float64(t.Sub(s.from))/float64(max(s.to.Sub(s.from), 1))
}

func escaped(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(terminal.Text(text))
}

func plotOne(b *strings.Builder, x *Explanation, top int) {
	t := x.Timeline
	s := scale{t.From, t.To}
	fmt.Fprintf(b, "<text x=\"10\" y=\"%d\" font-weight=\"bold\">%s</text>\n", top+20,
		escaped(x.Kind+" "+x.Name+": "+string(x.State)))

	bottom := top + titleSpace + laneHeight*len(t.Lanes)
	for _, at := range ticks(t.From, t.To) {
		fmt.Fprintf(b, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#ddd\"/>", s.x(at), s.x(at),
			top+titleSpace, bottom)
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#555\" font-size=\"10\">%s</text>\n",
			s.x(at), bottom+14, tickText(at, t))
	}

	for i, lane := range t.Lanes {
		plotLane(b, s, &lane, top+titleSpace+i*laneHeight)
	}

	fmt.Fprintf(b, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#c00\" stroke-dasharray=\"3 "+
		"2\"><title>now</title></line>\n",
		s.x(t.Now), s.x(t.Now), top+titleSpace, bottom)
}

func plotLane(b *strings.Builder, s scale, lane *Lane, y int) {
	fmt.Fprintf(b, "<text x=\"10\" y=\"%d\" fill=\"#333\">%s</text>\n", y+15, escaped(cut(lane.Label, 15)))
	for _, bar := range lane.Bars {
		x := s.x(bar.From)
		fmt.Fprintf(b,
			"<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\" fill=\"%s\"><title>%s</title></rect>\n",
			x, y+3, max(s.x(bar.To)-x, 2), laneHeight-7, fill(bar.Kind), escaped(bar.Text))
	}
	for _, m := range lane.Marks {
		fmt.Fprintf(b,
			"<circle cx=\"%.1f\" cy=\"%d\" r=\"5\" fill=\"%s\" stroke=\"white\"><title>%s</title></circle>\n",
			s.x(m.At), y+laneHeight/2, fill(m.Kind), escaped(m.Text))
	}
}

func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

func fill(kind string) string {
	switch kind {
	case "succeeded", "complete", "started":
		return "#2e8540"
	case "failed", "missed", "deadline":
		return "#c0392b"
	case "running":
		return "#2f6fab"
	case "pending", "ignored":
		return "#b0a060"
	case "terminating":
		return "#8e5ea2"
	case "backoff", "retry":
		return "#e08a1e"
	case "suspended", "expiry":
		return "#777777"
	}
	return "#9db7d1"
}

// ticks returns round times in a span, at most nine.
func ticks(from, to time.Time) (at []time.Time) {
	steps := []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
		2 * time.Minute, 5 * time.Minute,
		10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
	}

	span := to.Sub(from)
	step := 24 * time.Hour
	for _, s := range steps {
		if step = s; span/s <= 8 {
			break
		}
	}
	for span/step > 8 {
		step *= 2
	}

	for t := from.Truncate(step).Add(step); t.Before(to); t = t.Add(step) {
		at = append(at, t)
	}
	return at
}

func tickText(at time.Time, t *Timeline) string {
	switch span := t.To.Sub(t.From); {
	case span > 5*24*time.Hour:
		return at.UTC().Format("Jan 2")
	case span > 24*time.Hour:
		return at.UTC().Format("Jan 2 15:04")
	case span > 20*time.Minute:
		return at.UTC().Format("15:04")
	}
	return at.UTC().Format("15:04:05")
}
