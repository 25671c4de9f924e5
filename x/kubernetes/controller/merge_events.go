package controller

import (
	"fmt"
	"strings"

	"github.com/batchplan/batchplan/job"
)

// maxNames is the number of pods that a merged event names. The text of an event has a limit.
const maxNames = 20

// mergeEvents merges the events about created pods into one, and those about deleted pods into
// another. Events of failures are not merged: each may have its own cause.
func mergeEvents(events []job.Event) (out []job.Event) {
	places := map[string]int{} // indexes of out, by reason
	names := map[string][]string{}
	for _, e := range events {
		text, name, found := strings.Cut(e.Message, " pod: ")
		if !e.PodWrite || e.Type != job.EventNormal || !found {
			out = append(out, e)
			continue
		}
		if len(names[e.Reason]) == 0 {
			places[e.Reason] = len(out)
			out = append(out, e)
		} else {
			out[places[e.Reason]].Message = text // finished below
		}
		names[e.Reason] = append(names[e.Reason], name)
	}

	for reason, list := range names {
		if len(list) > 1 {
			out[places[reason]].Message += fmt.Sprintf(" %d pods: %s", len(list), listed(list))
		}
	}
	return out
}

func listed(names []string) string {
	if left := len(names) - maxNames; left > 0 {
		names = append(names[:maxNames], fmt.Sprintf("and %d more", left))
	}
	return strings.Join(names, ", ")
}
