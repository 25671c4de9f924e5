package picture

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/batchplan/batchplan/x/sim"
)

// bar is a span of time in a row.
type bar struct {
	from, to, row float64
	ink           ink
	thin          bool
}

// bars draws spans of time. Rows count from the top. Every bar is wide enough to be visible.
type bars struct {
	all  []bar
	rows float64
}

// Plot draws the bars.
func (b *bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	half := min(vg.Length(float64(c.Max.Y-c.Min.Y)/max(b.rows, 1)*0.38), vg.Points(9))
	for _, s := range b.all {
		from, to, at := x(s.from), max(x(s.to), x(s.from)+vg.Points(0.6)), y(s.row)
		h := half
		if s.thin {
			h = half * 0.35
		}
		c.SetColor(s.ink.light)
		c.Fill(rectangle(from, at-h, to, at+h))
	}
}

// DataRange returns the range that the bars cover.
func (b *bars) DataRange() (xmin, xmax, ymin, ymax float64) {
	for i, s := range b.all {
		if i == 0 || s.from < xmin {
			xmin = s.from
		}
		xmax = max(xmax, s.to)
	}
	return xmin, xmax, -0.6, max(b.rows-0.4, 0.6)
}

func rectangle(x0, y0, x1, y1 vg.Length) vg.Path {
	var p vg.Path
	p.Move(vg.Point{X: x0, Y: y0})
	p.Line(vg.Point{X: x1, Y: y0})
	p.Line(vg.Point{X: x1, Y: y1})
	p.Line(vg.Point{X: x0, Y: y1})
	p.Close()
	return p
}

// shades are the spans of time in which something was down. They are drawn behind everything else.
type shades []bar

// Plot shades the spans over the whole height.
func (all shades) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	c.SetColor(inkShade.light)
	for _, s := range all {
		from, to := max(x(s.from), c.Min.X), min(max(x(s.to), x(s.from)+vg.Points(0.6)), c.Max.X)
		if from < to {
			c.Fill(rectangle(from, c.Min.Y, to, c.Max.Y))
		}
	}
}

// outages shades the times in which the control plane was down. It must be called before the data are
// added.
func (p *Picture) outages(r *sim.Result, u unit) {
	var all shades
	for _, o := range r.Outages {
		all = append(all, bar{from: u.in(o.From), to: u.in(o.From + o.For)})
	}
	if len(all) > 0 {
		p.plot.Add(all)
		p.legend("control plane down", inkShade)
	}
}

// patch is the mark of a bar in a legend.
type patch struct{ ink ink }

// Thumbnail draws the mark.
func (t patch) Thumbnail(c *draw.Canvas) {
	middle := (c.Min.Y + c.Max.Y) / 2
	c.SetColor(t.ink.light)
	c.Fill(rectangle(c.Min.X, middle-vg.Points(3), c.Max.X, middle+vg.Points(3)))
}

// legend adds entries to the legend. The arguments are names, each followed by its ink.
func (p *Picture) legend(entries ...any) {
	for i := 0; i+1 < len(entries); i += 2 {
		p.entries = append(p.entries, entry{entries[i].(string), patch{entries[i+1].(ink)}})
	}
}

// line adds a line. If steps is true, the line keeps each value until the next point.
func (p *Picture) line(name string, points plotter.XYs, k ink, steps bool, dashes ...vg.Length) {
	if len(points) == 0 {
		return
	}
	l, err := plotter.NewLine(points)
	if err != nil {
		return // the points have no finite coordinates
	}
	l.Color, l.Width, l.Dashes = k.light, vg.Points(1.6), dashes
	if steps {
		l.StepStyle = plotter.PostStep
	}
	p.plot.Add(l)
	p.entries = append(p.entries, entry{name, l})
}

func (p *Picture) marks(name string, points plotter.XYs, k ink, shape draw.GlyphDrawer, size float64) {
	if len(points) == 0 {
		return
	}
	s, err := plotter.NewScatter(points)
	if err != nil {
		return
	}
	s.Color, s.Shape, s.Radius = k.light, shape, vg.Points(size)
	p.plot.Add(s)
	if name != "" {
		p.entries = append(p.entries, entry{name, s})
	}
}

// column is a count in an interval, stacked on other counts.
type column struct {
	from, to, bottom, top float64
	ink                   ink
}

// columns draws counts. Every column is wide enough to be visible.
type columns []column

// Plot draws the columns.
func (all columns) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, s := range all {
		c.SetColor(s.ink.light)
		c.Fill(rectangle(x(s.from), y(s.bottom), max(x(s.to), x(s.from)+vg.Points(0.6)), y(s.top)))
	}
}

// DataRange returns the range that the columns cover.
func (all columns) DataRange() (xmin, xmax, ymin, ymax float64) {
	for i, s := range all {
		if i == 0 || s.from < xmin {
			xmin = s.from
		}
		xmax, ymax = max(xmax, s.to), max(ymax, s.top)
	}
	return xmin, xmax, 0, ymax
}

// nameTicks are the names of rows. If there are too many names to fit, only every second, third or
// later row has one.
type nameTicks []string

// Ticks returns a mark for each name.
func (n nameTicks) Ticks(float64, float64) (out []plot.Tick) {
	const most = 40
	each := (len(n) + most - 1) / most
	for i, name := range n {
		if each <= 1 || i%each == 0 {
			out = append(out, plot.Tick{Value: float64(i), Label: name})
		}
	}
	return out
}

// rowsFromTop puts row 0 at the top, and labels the rows.
func (p *Picture) rowsFromTop(names []string) {
	p.plot.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	p.plot.Y.Tick.Marker = nameTicks(names)
	p.plot.Y.Tick.Length = 0
}
