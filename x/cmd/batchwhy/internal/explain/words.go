package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// words writes times relative to one moment.
type words struct{ now time.Time }

// at returns a time with its distance from now, as in "at 10:00:40 (in 40s)". A time on
// another day has its date.
func (w words) at(t time.Time) string {
	layout := "at 15:04:05"
	if t.UTC().Format(time.DateOnly) != w.now.UTC().Format(time.DateOnly) {
		layout = "on 2006-01-02 at 15:04:05"
	}
	return t.UTC().Format(layout) + " (" + w.distance(t) + ")"
}

func (w words) distance(t time.Time) string {
	switch d := t.Sub(w.now); {
	case d > 0:
		return "in " + span(d)
	case d > -time.Second:
		return "now"
	default:
		return span(-d) + " ago"
	}
}

// clock returns a past time, with its date unless it is today.
func (w words) clock(t time.Time) string {
	if t.UTC().Format(time.DateOnly) == w.now.UTC().Format(time.DateOnly) {
		return t.UTC().Format("15:04:05")
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// since returns how long ago a time was, without the word "ago".
func (w words) since(t time.Time) string { return span(w.now.Sub(t)) }

// span returns a duration in its two largest units, rounded up to whole seconds.
func span(d time.Duration) string {
	s := int64((max(d, 0) + time.Second - 1) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return join(s/60, "m", s%60, "s")
	case s < 86400:
		return join(s/3600, "h", s%3600/60, "m")
	}
	return join(s/86400, "d", s%86400/3600, "h")
}

func join(a int64, unit string, b int64, small string) string {
	if b == 0 {
		return fmt.Sprintf("%d%s", a, unit)
	}
	return fmt.Sprintf("%d%s%d%s", a, unit, b, small)
}

// count returns a number with its noun. The plural of the noun ends in "s" unless it is given.
func count(n int64, noun string, plural ...string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case len(plural) > 0:
		return fmt.Sprintf("%d %s", n, plural[0])
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// verb returns the form of a verb for a number of things.
func verb(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// list returns items as in "a, b and c". If there are more than six, it returns five of them and
// the number of the others.
func list(items []string) string {
	const most = 5
	if n := len(items); n > most+1 {
		return strings.Join(items[:most], ", ") + fmt.Sprintf(" and %d more", n-most)
	}
	switch n := len(items); n {
	case 0:
		return "none"
	case 1:
		return items[0]
	default:
		return strings.Join(items[:n-1], ", ") + " and " + items[n-1]
	}
}

// sentence ends a text with a full stop, and begins it with a capital letter.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	if !strings.ContainsAny(text[len(text)-1:], ".?!") {
		text += "."
	}
	return capital(text)
}

// capital begins a text with a capital letter, unless its first word is a name such as
// backoffLimit.
func capital(text string) string {
	word, _, _ := strings.Cut(text, " ")
	if strings.ToLower(word) != word || strings.ContainsAny(word, ".=/0123456789") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// brief turns a message of an object into one short line. It cuts out the middle, since messages of
// runtimes and registries have the cause at the end.
func brief(text string) string {
	most, ending := 240, 130
	if contains(text, "violates podsecurity", "invalid dns label") {
		most = 2000 // each of its parts matters
	}
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		const part = 20 // of a longer word, the part is kept
		begin, end := r[:most-ending], r[len(r)-ending:]
		if i := slices.Index(end, ' '); i >= 0 && i < part && r[len(r)-ending-1] != ' ' {
			end = end[i:]
		}
		if i := strings.LastIndexByte(string(begin), ' '); len(string(begin))-i < part && r[len(begin)] != ' ' {
			begin = []rune(string(begin)[:i])
		}
		text = strings.TrimSpace(string(begin)) + " … " + strings.TrimSpace(string(end))
	}
	return text
}

// tally counts equal texts, and lists them with their numbers, the most frequent first.
type tally struct {
	counts map[string]int64
	order  []string
}

func (t *tally) add(text string) {
	if t.counts == nil {
		t.counts = make(map[string]int64)
	}
	if t.counts[text] == 0 {
		t.order = append(t.order, text)
	}
	t.counts[text]++
}

func (t *tally) list() string {
	order := sortedStably(t.order, func(a, b *string) int { return int(t.counts[*b] - t.counts[*a]) })
	var parts []string
	for _, text := range order {
		if n := t.counts[text]; n > 1 {
			text = fmt.Sprintf("%s (%d times)", text, n)
		}
		parts = append(parts, text)
	}
	return list(parts)
}

// each is like list, but it leaves out the number if all texts are equal.
func (t *tally) each() string {
	if len(t.order) == 1 {
		return t.order[0]
	}
	return t.list()
}

// runs puts the verb before a schedule, as in "runs every hour" or "never runs (no such date)".
func runs(schedule string) string {
	if why, never := strings.CutPrefix(schedule, "never"); never {
		return "never runs" + why
	}
	return "runs " + schedule
}

// withoutRule returns a reason of the planner without the number of its rule.
func withoutRule(text string) string {
	for _, letter := range []string{" (J", " (C", " (T"} {
		text, _, _ = strings.Cut(text, letter)
	}
	return text
}

func lower(text string) string { return strings.ToLower(text[:1]) + text[1:] }

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func after(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// plainly makes the first letter of a controller's message small.
func plainly(message string) string {
	message = strings.TrimRight(brief(message), ".")
	if len(message) > 1 && message[1] >= 'a' && message[1] <= 'z' {
		return strings.ToLower(message[:1]) + message[1:]
	}
	return message
}

// exit returns an exit code with its usual meaning.
func exit(code int32, reason string) string {
	s := fmt.Sprintf("exit code %d", code)
	switch {
	case reason != "" && reason != "Error" && reason != "Completed":
		return s + ", " + reason
	case code == 137:
		return s + ", killed with SIGKILL"
	case code == 139:
		return s + ", a segmentation fault"
	case code == 134:
		return s + ", aborted"
	case code == 143:
		return s + ", ended by SIGTERM"
	case code == 126:
		return s + ", the command is not executable"
	case code == 127:
		return s + ", the command was not found"
	}
	return s
}

func disruptionText(reason string) string {
	switch reason {
	case "PreemptionByScheduler":
		return "preempted for a pod of higher priority"
	case "EvictionByEvictionAPI":
		return "evicted, as when a node is drained"
	case "DeletionByTaintManager":
		return "deleted from a node with a taint, as when it is not ready"
	case "DeletionByPodGC":
		return "deleted since its node was gone"
	case "TerminationByKubelet":
		return "ended by the kubelet, as when a node is short of something or shut down"
	}
	return "disrupted"
}
