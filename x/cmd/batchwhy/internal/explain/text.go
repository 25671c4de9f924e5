package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/x/cmd/internal/terminal"
)

// Printer writes explanations for people.
type Printer struct {
	Out io.Writer
	// Colour turns colours on.
	Colour bool
	// Width is the number of columns of a line. 0 means 100. Height is the number of lines on a screen
	// for a summary. 0 means 40.
	Width, Height int
	err           error
	// said has the findings so far, and the object of each. A finding that is a part of one of them is not
	// printed again, and neither are its remedies.
	said map[string][]saying // by namespace
}

// maxSaid is the number of findings of a namespace that are compared with those to come.
const maxSaid = 100

type saying struct {
	Finding
	object string
}

// saidOf returns the finding that says the same, or nil.
func saidOf(f *Finding, all []saying) *saying {
	const short = 60 // such a text may be a part of another by chance
	text := strings.TrimSuffix(f.Text, ".")
	for i := range all {
		is := all[i].Text
		isPart := len(text) > short && (strings.Contains(is, text) || strings.Contains(is, lowerFirst(text)))
		if isPart && (f.Severity != Note || f.Code == doubtCode) {
			return &all[i]
		}
	}
	return nil
}

// unsaid returns the remedies of a finding that another one does not have. Commands may name another Job.
func (s *saying) unsaid(f *Finding) (all []*Remedy) {
	for _, r := range f.Remedies {
		isSaid := slices.ContainsFunc(s.Remedies, func(other *Remedy) bool {
			isSameText := other.Do == r.Do && other.If == r.If && other.Risk == r.Risk
			return isSameText && other.Command == r.Command
		})
		if !isSaid {
			all = append(all, r)
		}
	}
	return all
}

// The colours of a terminal.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// paint colours a text if colours are on. It removes characters that a terminal would act on.
func (p *Printer) paint(colour, text string) string {
	if !p.Colour {
		return terminal.Text(text)
	}
	return "\x1b[" + colour + "m" + terminal.Text(text) + "\x1b[0m"
}

func (p *Printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.Out, format+"\n", args...)
	}
}

// Head writes the line before all explanations. from describes where the time comes from.
func (p *Printer) Head(at time.Time, from string) error {
	p.line("%s", p.paint(dim,
		fmt.Sprintf("As of %s%s. All times are UTC.", at.UTC().Format("2006-01-02 15:04:05"), from)))
	return p.err
}

// Explanation writes one explanation.
func (p *Printer) Explanation(x *Explanation) error {
	p.line("\n%s  %s", p.paint(bold, nameOf(x)), p.paint(stateColour(x.State), string(x.State)))
	p.item("  ", "", x.Summary)
	if p.said == nil {
		p.said = make(map[string][]saying)
	}
	before := p.said[x.Namespace]
	for _, f := range x.Findings {
		if len(before) < maxSaid {
			p.said[x.Namespace] = append(p.said[x.Namespace], saying{f, nameOf(x)})
		}
		if s := saidOf(&f, before); s != nil {
			f.Remedies, f.Text = s.unsaid(&f), fmt.Sprintf("as of %s, above.", s.object)
		}
		p.finding(&f)
	}

	p.steps("next", x.Next)
	p.schedule(x.Schedule)

	if len(x.Facts) > 0 {
		p.line("  %s", p.paint(cyan, "facts"))
		for _, f := range x.Facts {
			p.item("    ", "", mark(f.Text, f.Inferred))
		}
	}

	p.pods(x)
	p.forecast(x.Forecast)

	if x.Plan != "" {
		p.line("  %s", p.paint(cyan, "plan"))
		for line := range strings.Lines(x.Plan) {
			p.line("    %s", terminal.Text(strings.TrimRight(line, "\n")))
		}
	}
	return p.err
}

// mark marks a sentence that depends on facts that no object shows.
func mark(text string, inferred bool) string {
	if inferred {
		return text + " [inferred]"
	}
	return text
}

func stateColour(s State) string {
	switch s {
	case Complete, Running, Scheduled:
		return green
	case Failed, Broken, Stuck, Failing:
		return red
	}
	return yellow
}

func (p *Printer) finding(f *Finding) {
	colour := yellow
	switch f.Severity {
	case Error:
		colour = red
	case Note:
		colour = cyan
	}
	p.item("  ", p.paint(colour, string(f.Severity)+" "+f.Code)+":", mark(f.Text, f.Inferred))
	for i := range f.Remedies {
		p.remedy(i, f.Remedies[i])
	}
}

// remedy writes what to do and what it costs. The command has a line of its own, so that a user can
// copy it.
func (p *Printer) remedy(n int, r *Remedy) {
	head := "do:"
	if n > 0 {
		head = "or:"
	}
	text := r.Do
	if r.If != "" {
		text = capital("if "+r.If+": ") + lowerWord(r.Do)
	}
	p.item("    ", p.paint(green, head), text+" "+r.Risk)
	if r.Command != "" {
		p.line("        %s", p.paint(bold, r.Command))
	}
}

// lowerWord makes the first letter of a sentence small, so that the sentence can follow another
// part.
func lowerWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	if len(word) > 1 && strings.ToLower(word[1:]) != word[1:] {
		return text // a name
	}
	return lower(text)
}

func (p *Printer) steps(title string, steps []Step) {
	if len(steps) == 0 {
		return
	}
	p.line("  %s", p.paint(cyan, title))
	for _, s := range steps {
		p.item("    ", "", mark(s.Text, s.Inferred))
	}
}

func (p *Printer) schedule(s *Schedule) {
	if s == nil || len(s.Last)+len(s.Next) == 0 {
		return
	}
	p.line("  %s", p.paint(cyan, fmt.Sprintf("runs of %q", s.Spec)))

	past := slices.Clone(s.Last)
	slices.Reverse(past)
	for len(past) > 0 { // consecutive runs with the same text share one line
		n := 1
		for n < len(past) && past[n].Text == past[0].Text {
			n++
		}

		at := past[0].At.Format("2006-01-02 15:04")
		if n > 1 {
			at += fmt.Sprintf(" to %s (%d runs)", past[n-1].At.Format("15:04"), n)
			if past[0].At.Format(time.DateOnly) != past[n-1].At.Format(time.DateOnly) {
				at = fmt.Sprintf("%s to %s (%d runs)", past[0].At.Format("2006-01-02 15:04"),
					past[n-1].At.Format("2006-01-02 15:04"), n)
			}
		}
		p.item("    ", "", at+"  "+past[0].Text)
		past = past[n:]
	}

	for _, r := range s.Next {
		p.item("    ", "", r.At.Format("2006-01-02 15:04")+"  "+r.Text)
	}
}

// pods writes at most ten pods of a Job, unless the Job is complete.
func (p *Printer) pods(x *Explanation) {
	if len(x.Pods) == 0 || x.State == Complete {
		return
	}
	const most = 10
	p.line("  %s", p.paint(cyan, "pods"))
	for i, pod := range x.Pods {
		if i == most {
			p.line("    and %d more", len(x.Pods)-most+x.MorePods)
			return
		}
		name := pod.Name
		if pod.Index != nil {
			name = fmt.Sprintf("%s (index %d)", name, *pod.Index)
		}
		p.item("    ", "", name+": "+pod.Text)
	}
}

func (p *Printer) forecast(f *Forecast) {
	if f == nil {
		return
	}
	p.line("  %s", p.paint(cyan, "forecast until "+f.Until.Format("2006-01-02 15:04:05")))
	p.item("    ", "", sentence("assumed: "+f.Assumption))
	for _, e := range f.Events {
		p.item("    ", "", e.At.Format("2006-01-02 15:04:05")+"  "+e.Text)
	}

	switch {
	case f.Cut:
		p.line("    and more: ask for a shorter time")
	case len(f.Events) == 0:
		p.line("    nothing happens")
	}
}

// item writes a text after a head, which may have a colour. It breaks the text into lines, and indents
// further lines by two more columns.
func (p *Printer) item(indent, head, text string) {
	width := p.Width
	if width == 0 {
		width = 100
	}

	line, rest := head, indent
	for _, word := range strings.Fields(text) {
		word = terminal.Text(word)
		if line != "" && visible(rest+line)+1+visible(word) > width {
			p.line("%s%s", rest, line)
			line, rest = "", indent+"  "
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	p.line("%s%s", rest, line)
}

// visible returns the number of characters of a text that a terminal shows.
func visible(text string) (n int) {
	inside := false
	for _, r := range text {
		switch {
		case r == '\x1b':
			inside = true
		case inside && r == 'm':
			inside = false
		case !inside:
			n++
		}
	}
	return n
}

// Report writes the findings about the input as a whole.
func (p *Printer) Report(r *Report) error {
	if len(r.Findings) > 0 {
		p.line("\n%s", p.paint(bold, "Input"))
	}
	for _, f := range r.Findings {
		p.finding(&f)
	}
	return p.err
}
