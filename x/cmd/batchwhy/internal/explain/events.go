package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// lastEvent returns the latest event with a reason, or nil. Its Count is the sum over all such
// events.
func lastEvent(events []read.Event, reason string) (last *read.Event) {
	n := 0
	for i := range events {
		if e := &events[i]; e.Reason == reason {
			n += e.Count
			if last == nil || e.Last.After(last.Last) {
				last = e
			}
		}
	}
	if last != nil && n != last.Count {
		all := *last
		all.Count = n
		last = &all
	}
	return last
}

// latestWarning returns the latest warning whose trouble is not over, or nil.
func latestWarning(events []read.Event) (last *read.Event) {
	for i := range events {
		e := &events[i]
		isLatest := last == nil || e.Last.After(last.Last)
		if e.Type == "Warning" && isLatest && !isSettled(e, events) {
			last = e
		}
	}
	return last
}

// isSettled reports whether later events show that what kept a pod from a node, or from its start there, is
// over.
func isSettled(e *read.Event, events []read.Event) bool {
	after := ""
	switch {
	case e.Reason == "FailedScheduling":
		after = " Scheduled Pulling Pulled Created Started "
	case contains(e.Reason, "mount", "attach", "mapvolume", "sandbox", "networknotready"):
		after = " Pulling Pulled Created Started "
	}
	return slices.ContainsFunc(events, func(later read.Event) bool {
		return later.Last.After(e.Last) && strings.Contains(after, " "+later.Reason+" ")
	})
}

// lastWarnings returns the latest warning of each reason.
func lastWarnings(events []read.Event) (last []read.Event) {
	seen := make(map[string]bool)
	for _, e := range events {
		if e.Type == "Warning" && !seen[e.Reason] {
			seen[e.Reason] = true
			last = append(last, *lastEvent(events, e.Reason))
		}
	}
	return last
}

// refusal returns the latest event about a refused creation. It returns nil if that event is old,
// or if a later creation succeeded.
func refusal(events []read.Event, now time.Time) *read.Event {
	e := lastEvent(events, "FailedCreate")
	if e == nil || now.Sub(e.Last) > recently {
		return nil
	}
	if made := lastEvent(events, "SuccessfulCreate"); made != nil && made.Last.After(e.Last) {
		return nil
	}
	return e
}

// contains reports whether a message contains any of the words. Upper and lower case do not matter.
func contains(message string, words ...string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc(words, func(w string) bool {
		rest, is := message, true
		for is && w != "" {
			var part string
			part, w, _ = strings.Cut(w, "*")
			_, rest, is = strings.Cut(rest, part)
		}
		return is
	})
}

// quoted returns the quoted name after a word in a message, as in: configmap "settings" not found.
func quoted(message, word string) string {
	begin := word + ` "`
	at := 0 // not an index in strings.ToLower(message): some letters are longer in lower case
	for at+len(begin) <= len(message) && !strings.EqualFold(message[at:at+len(begin)], begin) {
		at++
	}
	if at+len(begin) > len(message) {
		return ""
	}

	name, _, ok := strings.Cut(message[at+len(begin):], `"`)
	if !ok {
		return ""
	}
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[i+1:]
	}
	return name
}

// said returns the message with which a container ended for a reason, as a part of a sentence. If the
// program never ran, the message is that of the container runtime.
func said(reason, message string) string {
	if message = brief(worstLines(message)); message == "" {
		return ""
	}
	who := "it"
	if neverRan(reason) {
		who = "the container runtime"
	}
	return fmt.Sprintf(`, and %s said "%s"`, who, strings.ReplaceAll(message, `"`, "'"))
}

// worstLines returns the lines of a long message that look like errors, and its last line.
func worstLines(message string) string {
	const most = 240
	lines := strings.Split(message, "\n")
	if len(message) <= most {
		return message
	}
	_, sure := symptomOf(message)
	var worst []string
	for i, line := range lines {
		if i == len(lines)-1 || line == sure || read.LooksBad(line) {
			worst = append(worst, line)
		}
	}
	return strings.Join(worst, "\n")
}

// neverRan reports whether a container that ended for a reason was never started, so that it printed nothing.
func neverRan(reason string) bool { return reason == "StartError" || reason == "ContainerCannotRun" }

// told returns a message as a part of a sentence.
func told(message string) string { return strings.TrimRight(brief(message), ".") }
