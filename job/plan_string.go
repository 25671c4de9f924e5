package job

import (
	"fmt"
	"strings"

	"github.com/batchplan/batchplan/internal/value"
)

// String prints the plan: its notes, then one line for each action with its reason, in the order in
// which they are carried out, and then the waits. A plan that does nothing and waits for nothing
// prints as "nothing to do".
func (p Plan) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }

	for _, n := range p.Notes {
		line("note %s: %s: %s", n.Field, n.Value, n.Message)
	}

	for _, r := range p.Adopt {
		line("adopt %s: no controller, and it matches the selector (J6)", r.Name)
	}
	for _, r := range p.Release {
		line("release %s: it no longer matches the selector (J6)", r.Name)
	}

	for _, g := range p.Groups {
		line("%s %s %s%s: %s", phrase(g.UID == "", "create")+phrase(g.UID != "", "resize"), g.Kind, g.Name,
			phrase(g.MinCount > 0, fmt.Sprintf(", minCount %d", g.MinCount)), g.Reason)
	}
	for _, d := range p.Delete {
		line("delete %s%s: %s", d.Name, phrase(d.UntrackFirst, ", finalizer first"), d.Reason)
	}
	printCreations(p.Create, line)

	if v := p.Verdict; v.decided() {
		line("end %s, %s: %s", v.Type, v.Reason, v.Message)
	}

	for _, u := range p.Untrack {
		line("untrack %s%s%s: %s", u.Name, phrase(u.OnEnd, ", if the end is declared"),
			phrase(u.UnlessEnd, ", unless the end is declared"), u.As)
	}

	for _, e := range p.Events {
		line("event %s %s: %s", e.Type, e.Reason, e.Message)
	}
	for _, w := range p.Waits {
		line("wait: %s", w)
	}

	if !p.Requeue.At.IsZero() {
		line("again at %s", p.Requeue.At.UTC().Format("15:04:05.999"))
	}

	if b.Len() == 0 {
		line("nothing to do")
	}
	return b.String()
}

// printCreations prints one line for all pods without an index, since they are alike, or one line
// for each index.
func printCreations(all []Creation, line func(string, ...any)) {
	if len(all) > 0 && all[0].Index.Int32() < 0 {
		line("create %s%s: %s", value.Count(int64(len(all)), "pod"), inGroup(all[0]), all[0].Reason)
		return
	}

	for _, c := range all {
		counts := ""
		if c.PerIndex {
			counts = fmt.Sprintf(", failures %d", c.FailureCount)
		}
		if c.IgnoredFailureCount > 0 {
			counts += fmt.Sprintf(", ignored %d", c.IgnoredFailureCount)
		}
		line("create index %s%s%s: %s", c.Index, inGroup(c), counts, c.Reason)
	}
}

func inGroup(c Creation) string { return phrase(c.Group.Name != "", " in group "+c.Group.Name) }

func phrase(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// String prints the counters, the lists and the conditions in one line.
func (s Status) String() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }

	add("active=%d ready=%d terminating=%d succeeded=%d failed=%d",
		s.Active, value.Of(s.Ready), value.Of(s.Terminating), s.Succeeded, s.Failed)

	if s.CompletedIndexes != "" {
		add("completedIndexes=%s", s.CompletedIndexes)
	}
	if s.FailedIndexes != nil {
		add("failedIndexes=%q", *s.FailedIndexes)
	}
	if u := s.uncounted(); len(u.Succeeded)+len(u.Failed) > 0 {
		add("uncounted=%v/%v", u.Succeeded, u.Failed)
	}

	for _, c := range s.Conditions {
		add("%s=%s(%s)", c.Type, c.Status, c.Reason)
	}
	return strings.Join(parts, " ")
}
