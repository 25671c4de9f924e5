package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/report"
	"github.com/batchplan/batchplan/x/cmd/internal/terminal"
)

// tableWidth is the maximum number of columns of a table, except with -o wide.
const tableWidth = 100

// maxName is the maximum number of columns of a name, except with -o wide.
const maxName = 34

// table has rows of cells below a line of titles. The first column is a name. If a line would be
// too long, the last column is cut.
type table struct {
	wide bool
	rows [][]string
}

func newTable(wide bool, titles ...string) *table { return &table{wide, [][]string{titles}} }

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = terminal.Text(cells[i])
	}
	if !t.wide {
		cells[0] = report.Shorten(cells[0], maxName)
	}
	t.rows = append(t.rows, cells)
}

func (t *table) write(out io.Writer) error {
	widths := make([]int, len(t.rows[0]))

	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], runewidth.StringWidth(cell))
		}
	}
	for _, row := range t.rows {
		var b strings.Builder
		for i, cell := range row {
			if i < len(row)-1 {
				cell = runewidth.FillRight(cell, widths[i]) + "  "
			}
			b.WriteString(cell)
		}

		line := strings.TrimRight(b.String(), " ")
		if !t.wide {
			line = runewidth.Truncate(line, tableWidth, "…")
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

// facts prints lines above a table.
func (p *program) facts(wide bool, lines ...string) {
	for _, text := range lines {
		if text = terminal.Text(text); !wide {
			text = wrap(text, tableWidth)
		}
		fmt.Fprintln(p.out, text)
	}
}

// wrap breaks a text between words where a line would be too long. A word is never broken.
func wrap(text string, width int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		w := runewidth.StringWidth(word)
		switch {
		case i == 0:
		case at+1+w > width:
			b.WriteString("\n  ")
			at = 2
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += w
	}
	return b.String()
}

// age returns how long ago a time was. For the zero time it returns "-".
func age(at, now time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return report.Elapsed(now.Sub(at))
}
