package explain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// This file looks for what speaks against "nothing wrong was found", although no finding is about it.

// unexplained quotes the latest warning about the Job, its owner or its autoscaler, or says that the
// controller has deleted pods. It returns "" if there is no such event.
func (l *look) unexplained() string {
	if text := l.e.warned(l.words, l.events, &l.job.Meta); text != "" {
		return text
	}
	deleted := lastEvent(l.events, "SuccessfulDelete")
	if deleted == nil || l.isFinished() || lastEvent(l.events, "Suspended") != nil {
		return ""
	}
	if text := l.lowered(); text != "" {
		return text
	}
	return fmt.Sprintf(" Not explained: the Job controller has deleted %s of it, the last %s (%s).",
		count(int64(deleted.Count), "pod"), l.at(deleted.Last), told(deleted.Message))
}

// lowered explains deletions of pods by lowered completions, if all these pods had indexes that the Job has no more.
func (l *look) lowered() string {
	if !l.isIndexed() || l.spec.Completions == nil {
		return ""
	}

	var set job.Indexes
	last := int32(0)
	for _, e := range l.events {
		if e.Reason != "SuccessfulDelete" {
			continue
		}
		_, name, _ := strings.Cut(e.Message, "Deleted pod: "+l.job.Name+"-")
		index, _, _ := strings.Cut(name, "-")
		i, err := strconv.ParseInt(index, 10, 32)
		if err != nil || int32(i) < *l.spec.Completions {
			return ""
		}
		set, last = set.With(int32(i), int32(i)), max(last, int32(i))
	}
	return fmt.Sprintf(" Completions was lowered and is %d now: the controller has deleted the pods of the "+
		"indexes %s, the last %s, and counts them neither as succeeded nor as failed. They begin anew if completions "+
		"and parallelism are both set to %d.", *l.spec.Completions, set,
		l.at(lastEvent(l.events, "SuccessfulDelete").Last), last+1)
}

// unexplained quotes the latest warning about the CronJob, or says that the last runs have left nothing. It
// returns "" if there is neither.
func (l *cronLook) unexplained() string {
	last, good := l.status.LastScheduleTime, l.status.LastSuccessfulTime
	isGone := l.childOf(last) == nil && l.seenEnd(last) == "" && len(l.active()) == 0
	if isGone && !good.IsZero() && last.After(good) {
		n := l.snapshot.Schedule.Schedule.Count(good, last)
		return fmt.Sprintf(" Not explained: no success is recorded since %s, and %s due since then, whose "+
			"Jobs are gone: look whether they failed.", l.moment(good),
			count(int64(n), "run has come", "runs have come"))
	}
	return l.e.warned(l.words, l.events, &l.cron.Meta)
}

// warned quotes the latest warning about an object, its owner, or the autoscaler of its name.
func (e *Explainer) warned(w words, events []read.Event, m *read.Meta) string {
	who, last := "", read.Event{}
	see := func(from string, events []read.Event) {
		for _, event := range events {
			// Findings and the Job itself say more about these than the event does.
			isKnown := strings.Contains(" FailedCreate UnexpectedJob TooManyMissedTimes ", " "+event.Reason+" ")
			if event.Type == "Warning" && !isKnown && event.Last.After(last.Last) {
				who, last = from, event
			}
		}
	}
	see("", events)

	near := []read.Owner{{Kind: "HorizontalPodAutoscaler", Name: m.Name}}
	if owner := m.Controller(); owner.Kind != "CronJob" { // which quotes its own
		near = append(near, owner)
	}
	for _, x := range near {
		see(x.Kind+" "+x.Name+" reported ",
			e.objects.EventsOf(x.Kind, &read.Meta{Namespace: m.Namespace, Name: x.Name}))
	}
	if last.Reason == "" {
		return ""
	}
	scaler := e.other(near[0].Kind, m.Namespace, m.Name)
	if strings.HasPrefix(who, near[0].Kind) && scaler != nil && scaler.At("spec.scaleTargetRef.kind") == "Job" {
		return fmt.Sprintf(" HorizontalPodAutoscaler %s has no effect (%s %s): a Job has no scale; parallelism "+
			"says how many of its pods run together.", m.Name, last.Reason, w.at(last.Last))
	}
	return fmt.Sprintf(" Not explained: %s%s %s: %s.", who, last.Reason, w.at(last.Last), told(last.Message))
}
