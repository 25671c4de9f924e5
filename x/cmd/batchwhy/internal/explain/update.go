package explain

import (
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// Update writes an explanation after changes to its objects: the new state, the pods that have
// changed, the new findings, the codes of findings that are gone, and what comes next. If before is
// nil, it writes all findings.
func (p *Printer) Update(at time.Time, x, before *Explanation, changes []read.Change) error {
	p.line("\n%s %s  %s  %s", at.UTC().Format("15:04:05"), p.paint(bold, nameOf(x)),
		p.paint(stateColour(x.State), string(x.State)), p.paint(dim, causes(changes)))
	p.item("  ", "", x.Summary)

	if before == nil {
		before = &Explanation{}
	}
	for _, pod := range x.Pods {
		if slices.ContainsFunc(changes,
			func(c read.Change) bool { return c.Kind == "Pod" && c.Key == keyOf(x.Namespace, pod.Name) }) {
			p.item("    ", "", "pod "+pod.Name+": "+pod.Text)
		}
	}

	for _, f := range x.Findings {
		if !hasFinding(before, f.Code) {
			p.finding(&f)
		}
	}
	for _, f := range before.Findings {
		if !hasFinding(x, f.Code) {
			p.item("  ", p.paint(green, "no longer "+f.Code), "")
		}
	}

	p.steps("next", x.Next)
	return p.err
}

// Gone writes that an object does not exist any more.
func (p *Printer) Gone(at time.Time, x *Explanation) error {
	p.line("\n%s %s  is gone", at.UTC().Format("15:04:05"), p.paint(bold, nameOf(x)))
	return p.err
}

func hasFinding(x *Explanation, code string) bool {
	return slices.ContainsFunc(x.Findings, func(f Finding) bool { return f.Code == code })
}

func nameOf(x *Explanation) string { return x.Kind + " " + keyOf(x.Namespace, x.Name) }

func keyOf(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// causes lists the objects that have changed.
func causes(changes []read.Change) string {
	var parts []string
	for _, c := range changes {
		text := c.Kind + " " + c.Key
		if c.Gone {
			text += " is gone"
		}
		if !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return fmt.Sprintf("(%s)", list(parts))
}
