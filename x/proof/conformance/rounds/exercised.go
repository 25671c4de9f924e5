package rounds

import (
	"strings"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
)

// seenIn returns the decisions of a round of a job, some with the numbers of their rules. It reads
// them from the reasons in the plan. Where nothing is decided, no difference can be found.
func seenIn(p *job.Plan, end *job.Conclusion) []string {
	seen := names{}
	for _, d := range p.Delete {
		seen.add("deletes: ", d.Reason.String())
	}
	for _, c := range p.Create {
		seen.add("creates: ", c.Reason.String())
	}
	for _, u := range p.Untrack {
		seen.add("removes the finalizer: ", u.As.String())
	}
	for _, w := range p.Waits {
		seen.add("waits: ", waits[w.Reason])
	}

	if len(p.Adopt) > 0 {
		seen.add("adopts (J6)", "")
	}
	if len(p.Release) > 0 {
		seen.add("releases (J6)", "")
	}

	if p.Verdict.Type != "" {
		seen.add("ends (J19 to J25): ", string(p.Verdict.Type)+" "+p.Verdict.Reason)
	}
	if end.Metrics.Finished != "" {
		seen.add("finished (J38): ", string(end.Metrics.Finished)+" "+end.Metrics.FinishedReason)
	}

	for _, e := range end.Events {
		seen.add("event (J41): ", e.Reason)
	}
	if end.Metrics.Action != "" {
		seen.add("action (J42): ", string(end.Metrics.Action))
	}
	if end.Retry {
		seen.add("retries (J43)", "")
	}
	return seen.list
}

// waits describes what a job waits for, with the numbers of the rules.
var waits = map[jobreason.Wait]string{
	jobreason.WaitBackoff:      "backoff (J31)",
	jobreason.WaitIndexBackoff: "backoff by index (J31)",
	jobreason.WaitDeadline:     "deadline (J23)",
	jobreason.WaitExpectations: "own writes (E1)",
	jobreason.WaitReplacement:  "terminating pods are replaced when they have failed (J30)",
	jobreason.WaitPods:         "active pods",
	jobreason.WaitSuspended:    "suspended (J28)",
	jobreason.WaitTerminating:  "the end waits for terminating pods (J38)",
	jobreason.WaitUncounted:    "more pods than a round records (J35)",
	jobreason.WaitObserved:     "the final status is not seen yet (E5)",
	jobreason.WaitManagedBy:    "managed by another (J3)",
	jobreason.WaitDeleted:      "being deleted",
	jobreason.WaitFinished:     "finished (J4)",
	jobreason.WaitNext:         "the next round (L9)",
}

// seenInCron returns the decisions of a round of a CronJob.
func seenInCron(p *cronjob.Plan, end *cronjob.Conclusion) []string {
	seen := names{prefix: "CronJob "}
	for _, d := range p.Delete {
		seen.add("deletes: ", d.Reason.String())
	}
	for _, c := range p.Create {
		seen.add("creates: ", c.Reason.String())
	}
	if len(p.Verify) > 0 {
		seen.add("looks up active jobs (C5)", "")
	}
	if p.Missed.Count > 0 {
		seen.add("misses runs (C8, C9)", "")
	}
	for _, e := range end.Events {
		seen.add("event: ", e.Reason)
	}
	if end.Retry {
		seen.add("retries", "")
	}
	return seen.list
}

// names is a set of names.
type names struct {
	prefix string
	list   []string
}

func (n *names) add(kind, what string) {
	name := strings.TrimSpace(n.prefix + kind + what)
	for _, have := range n.list {
		if have == name {
			return
		}
	}
	n.list = append(n.list, name)
}
