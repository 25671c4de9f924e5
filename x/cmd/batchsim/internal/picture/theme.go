package picture

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/batchplan/batchplan/x/cmd/internal/terminal"
)

// ink is a colour with a meaning. It has one value for light and one for dark backgrounds. People
// who cannot see red or green can tell the inks apart.
type ink struct {
	name        string
	light, dark color.NRGBA
}

var (
	inkText    = newInk("text", 0x24292f, 0xd7dde4)
	inkGrid    = newInk("grid", 0xd9dee3, 0x3a424b)
	inkSuccess = newInk("success", 0x2b7bba, 0x5aa9e6)
	inkFailure = newInk("failure", 0xd1495b, 0xff7a8a)
	inkPending = newInk("pending", 0x9aa5b1, 0x7d8894)
	inkBackoff = newInk("backoff", 0xe0a030, 0xf2bf5a)
	inkOpen    = newInk("open", 0x5f9e6e, 0x8fcf9e)
	inkFourth  = newInk("fourth", 0x7b5ea7, 0xb59ae0)
	inkShade   = newInk("shade", 0xf3e3d3, 0x3b2f26)
	inkFifth   = newInk("fifth", 0x8a6d3b, 0xc9a871)

	inks = []ink{
		inkText,
		inkGrid,
		inkSuccess,
		inkFailure,
		inkPending,
		inkBackoff,
		inkOpen,
		inkFourth,
		inkFifth,
		inkShade,
	}
	series = []ink{inkSuccess, inkBackoff, inkOpen, inkFailure, inkFourth, inkFifth, inkPending}
)

func newInk(name string, light, dark uint32) ink { return ink{name, rgb(light), rgb(dark)} }

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 255}
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

const fontSize = 11

func init() {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
}

// Picture is one drawing.
type Picture struct {
	// Name is the name of its file without an ending. Title and Note are printed with the drawing.
	Name, Title, Note string
	plot              *plot.Plot
	width, height     vg.Length
	entries           []entry
}

// entry is a line of the legend.
type entry struct {
	name string
	mark plot.Thumbnailer
}

// newPicture returns an empty drawing with labelled axes.
func newPicture(name, title, x, y string) *Picture {
	p := plot.New()
	p.BackgroundColor = color.Transparent
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color, axis.Tick.Color = inkText.light, inkText.light
		axis.Label.TextStyle.Color, axis.Tick.Label.Color = inkText.light, inkText.light
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size = vg.Points(fontSize), vg.Points(fontSize-1)
		axis.Label.Padding = vg.Points(4)
	}
	p.X.Label.Text, p.Y.Label.Text = x, y
	return &Picture{Name: name, Title: title, plot: p, width: vg.Points(760), height: vg.Points(340)}
}

// headroom leaves space above the data.
func (p *Picture) headroom(share float64) {
	p.plot.Y.Max += (p.plot.Y.Max - p.plot.Y.Min) * share
}

const (
	lineHeight = vg.Length(fontSize * 1.6)
	markWidth  = vg.Length(18)
	markGap    = vg.Length(5)
	entryGap   = vg.Length(16)
)

// drawHead writes the title and the legend above the data and returns the height of both.
func (p *Picture) drawHead(c draw.Canvas) vg.Length {
	style := p.plot.X.Label.TextStyle
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	style.Font.Size = vg.Points(fontSize + 2)
	top := c.Max.Y - lineHeight/2
	c.FillText(style, vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: top}, p.Title)
	style.Font.Size = vg.Points(fontSize - 1)
	style.XAlign = draw.XLeft
	for _, line := range p.legendLines(style, c.Max.X-c.Min.X) {
		top -= lineHeight
		x := (c.Min.X + c.Max.X - line.width) / 2
		for _, e := range line.entries {
			mark := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
				Min: vg.Point{X: x, Y: top - lineHeight/2}, Max: vg.Point{X: x + markWidth, Y: top + lineHeight/2}}}
			e.mark.Thumbnail(&mark)
			c.FillText(style, vg.Point{X: x + markWidth + markGap, Y: top}, e.name)
			x += entryWidth(style, e)
		}
	}
	return c.Max.Y - top + lineHeight
}

func entryWidth(style draw.TextStyle, e entry) vg.Length {
	return markWidth + markGap + style.Width(e.name) + entryGap
}

// legendLine has the entries on one line of a legend.
type legendLine struct {
	entries []entry
	width   vg.Length
}

func (p *Picture) legendLines(style draw.TextStyle, room vg.Length) (out []legendLine) {
	for _, e := range p.entries {
		width := entryWidth(style, e)
		if n := len(out); n == 0 || out[n-1].width+width > room {
			out = append(out, legendLine{})
		}
		last := &out[len(out)-1]
		last.entries, last.width = append(last.entries, e), last.width+width
	}
	return out
}

// SVG returns the drawing. In a browser, its colours follow the reader's settings.
func (p *Picture) SVG() []byte { return recolour(p.drawn(), p.Title) }

// drawn returns the drawing with the colours for a light background.
func (p *Picture) drawn() []byte {
	canvas := vgsvg.New(p.width, p.height)
	inner := draw.Crop(draw.New(canvas), vg.Points(6), -vg.Points(16), vg.Points(4), -vg.Points(6))
	p.plot.Draw(draw.Crop(inner, 0, 0, 0, -p.drawHead(inner)))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		panic(err) // a buffer accepts everything
	}
	return fit(plain(b.Bytes()), p.plot.X.Label.TextStyle)
}

// PNG returns the drawing on a white background, for programs that cannot show SVG.
func (p *Picture) PNG() ([]byte, error) {
	canvas := vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(144), vgimg.UseBackgroundColor(color.White))
	inner := draw.Crop(draw.New(canvas), vg.Points(6), -vg.Points(16), vg.Points(4), -vg.Points(6))
	p.plot.Draw(draw.Crop(inner, 0, 0, 0, -p.drawHead(inner)))
	var b bytes.Buffer
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(&b)
	return b.Bytes(), err
}

// plain neutralises control characters. They can only come from the names of objects. XML does not
// allow them, and programs that show a picture must not act on them.
func plain(svg []byte) []byte {
	var b bytes.Buffer
	_, _ = terminal.NewWriter(&b).Write(svg) // a buffer accepts everything
	return b.Bytes()
}

var textTag = regexp.MustCompile(`(<text [^>]*font-size:([0-9.]+)px[^>]*)>([^<]+)</text>`)

// fit gives each text the width for which it was drawn. So texts do not overlap on a machine that
// does not have the font.
func fit(svg []byte, style draw.TextStyle) []byte {
	return textTag.ReplaceAllFunc(svg, func(tag []byte) []byte {
		parts := textTag.FindSubmatch(tag)
		size, err := strconv.ParseFloat(string(parts[2]), 64)
		if err != nil {
			return tag
		}
		style.Font.Size = vg.Points(size)
		width := style.Width(html.UnescapeString(string(parts[3]))).Points()
		return fmt.Appendf(nil, `%s textLength="%.1f" lengthAdjust="spacingAndGlyphs">%s</text>`, parts[1], width,
			parts[3])
	})
}

var svgTag = regexp.MustCompile(`(?s)<svg [^>]*>`)

// recolour replaces the colours of a drawing by variables. It adds the values of the variables for
// light and for dark backgrounds.
func recolour(svg []byte, title string) []byte {
	// The canvas declares PNG pictures as JPEG, and does not let them fill their area.
	text := strings.ReplaceAll(string(svg), `xlink:href="data:image/jpg;`,
		`preserveAspectRatio="none" style="image-rendering:pixelated" xlink:href="data:image/png;`)
	text = strings.ReplaceAll(text, "font-family:Liberation Sans;",
		"font-family:Liberation Sans,Arial,Helvetica,sans-serif;")
	var light, dark strings.Builder
	for _, k := range inks {
		from := hex(k.light)
		// The plain colour comes first, since some viewers do not support variables.
		for _, property := range []string{"fill", "stroke"} {
			text = strings.ReplaceAll(text, property+":"+from,
				property+":"+strings.ToLower(from)+";"+property+":var(--"+k.name+")")
		}
		fmt.Fprintf(&light, "--%s:%s;", k.name, from)
		fmt.Fprintf(&dark, "--%s:%s;", k.name, hex(k.dark))
	}
	head := fmt.Sprintf("<style>svg{%s}@media(prefers-color-scheme:dark){svg{%s}}</style>", light.String(),
		dark.String())
	tag := svgTag.FindString(text)
	return []byte(strings.Replace(text, tag, tag+"<title>"+escape(terminal.Text(title))+"</title>"+head, 1))
}

func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}
