package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/internal/terminal"
)

// Summary gathers many explanations for one screen. It shows what is wrong, worst first, and how
// many objects are well.
type Summary struct {
	// Command is the command that explains one object.
	Command func(kind, namespace, name string) string

	count  map[string]int // by kind and state
	order  []string
	bad    []summaryGroup
	places map[string]int
	notes  int
	well   int
	// piled are the CronJobs whose Jobs pile up: the finding about them counts the Jobs.
	piled map[job.UID]bool
}

// summaryGroup is one trouble of one or more objects.
type summaryGroup struct {
	finding Finding
	// first is the object that the finding is about, and names are the names of all objects of the
	// group.
	first   string
	command string
	names   []string
	state   State
}

// causeOf returns the first words of the first remedy. They contain no names, and they differ if
// the same finding has different causes.
func causeOf(f *Finding) string {
	if len(f.Remedies) == 0 {
		return ""
	}
	r := f.Remedies[0]
	words := strings.Fields(r.If + ": " + r.Do)
	return strings.Join(words[:min(len(words), 6)], " ")
}

// Add adds an explanation. Objects with the same kind of trouble and the same remedy are one group.
func (s *Summary) Add(x *Explanation) {
	if s.count == nil {
		s.count, s.places, s.piled = make(map[string]int), make(map[string]int), make(map[job.UID]bool)
	}
	isPile := func(f Finding) bool { return f.Code == "PileUp" }
	s.piled[x.Of] = s.piled[x.Of] || slices.ContainsFunc(x.Findings, isPile)

	key := x.Kind + " " + string(x.State)
	if s.count[key] == 0 {
		s.order = append(s.order, key)
	}
	s.count[key]++

	f := worst(x.Findings)
	if f == nil || f.Severity == Note {
		s.well++
		s.notes += boolToInt(f != nil)
		return
	}
	if isActive := x.State != Failed && x.State != Complete; s.piled[x.owner] && isActive {
		return
	}

	group := string(f.Severity) + " " + f.Code + " " + x.Kind + " " + causeOf(f)
	place, ok := s.places[group]
	if !ok {
		place = len(s.bad)
		s.places[group] = place
		s.bad = append(s.bad, summaryGroup{
			finding: *f,
			first:   nameOf(x),
			state:   x.State,
			command: s.Command(strings.ToLower(x.Kind), x.Namespace, x.Name),
		})
	}

	s.bad[place].names = append(s.bad[place].names, keyOf(x.Namespace, x.Name))
}

// Summary writes a summary, with the findings about the input as a whole.
func (p *Printer) Summary(s *Summary, r *Report) error {
	height := cmp.Or(p.Height, 40)

	var parts []string
	total := 0
	for _, key := range sortedStably(s.order, func(a, b *string) int { return s.count[*b] - s.count[*a] }) {
		total += s.count[key]
		kind, state, _ := strings.Cut(key, " ")
		parts = append(parts, fmt.Sprintf("%s %s", count(int64(s.count[key]), kind), state))
	}

	all := strings.Join(parts, ", ")
	p.item("", p.paint(bold, count(int64(total), "object")+":"), all+".")

	left := height - 6 - len(all)/max(p.width(), 1)
	bad := sortedStably(s.bad, func(a, b *summaryGroup) int {
		return cmp.Or(a.finding.Severity.rank()-b.finding.Severity.rank(), len(b.names)-len(a.names))
	})
	for _, f := range r.Findings {
		bad = append([]summaryGroup{{finding: f, first: "the input", command: ""}}, bad...)
	}

	for i := range bad {
		lines := p.group(&bad[i])
		if left -= len(lines); left < 0 && i > 0 {
			p.line("%s", p.paint(dim, fmt.Sprintf("and %s more: --details has all",
				count(int64(len(bad)-i), "kind of trouble", "kinds of trouble"))))
			break
		}
		for _, line := range lines {
			p.line("%s", line)
		}
	}

	note := ""
	if s.notes > 0 {
		note = fmt.Sprintf(" (%s notes)", verb(int64(s.notes), "1 with", fmt.Sprintf("%d with", s.notes)))
	}
	p.line("\n%s", p.paint(green, fmt.Sprintf("%s well%s.", count(int64(s.well), "object is", "objects are"), note)))
	return p.err
}

func (p *Printer) width() int { return cmp.Or(p.Width, 100) }

// group returns the lines for a group: which objects have the trouble, what it is, and what to do.
func (p *Printer) group(g *summaryGroup) (lines []string) {
	colour := yellow
	if g.finding.Severity == Error {
		colour = red
	}

	who := g.first
	if n := len(g.names) - 1; n > 0 {
		who += fmt.Sprintf(" and %d more", n)
	}

	lines = append(lines, "", p.cut(fmt.Sprintf("%s  %s  %s",
		p.paint(colour, string(g.finding.Severity)+" "+g.finding.Code), p.paint(bold, who), g.state), p.width()))
	lines = append(lines, p.fold("  ", g.finding.Text, 2)...)

	if len(g.finding.Remedies) > 0 {
		r := g.finding.Remedies[0]
		text := r.Do
		if r.If != "" {
			text = capital("if "+r.If+": ") + lowerWord(r.Do)
		}
		lines = append(lines, p.fold("  "+p.paint(green, "do:")+" ", text, 1)...)
	}

	if g.command != "" {
		lines = append(lines, "  "+p.paint(dim, p.cut(g.command, p.width()-2)))
	}
	if len(g.names) > 1 {
		lines = append(lines, p.fold("  also: ", list(g.names[1:]), 2)...)
	}
	return lines
}

// fold breaks a text into lines. It cuts off the text that does not fit into the maximum number of
// lines.
func (p *Printer) fold(indent, text string, most int) (lines []string) {
	line := indent
	words := strings.Fields(terminal.Text(text))

	for i, word := range words {
		if visible(line)+visible(word) > p.width()-2 && visible(line) > visible(indent) {
			if len(lines) == most-1 {
				return append(lines, strings.TrimRight(line, " ")+"…")
			}
			lines = append(lines, strings.TrimRight(line, " "))
			line = strings.Repeat(" ", visible(indent))
		}
		line += word
		if i < len(words)-1 {
			line += " "
		}
	}
	return append(lines, p.cut(line, p.width()))
}

// cut cuts a line that is too long, unless it has colours.
func (p *Printer) cut(line string, most int) string {
	if visible(line) <= most || p.Colour {
		return line
	}
	return string([]rune(line)[:most-1]) + "…"
}
