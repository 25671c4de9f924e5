package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// TestPrefixLaw: a crash after any prefix of a plan's writes, and a restart, lead
// to the same jobs and the same status as no crash (JI26 for CronJobs).
func TestPrefixLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		spec.StartingDeadlineSeconds = nil
		ends := drawEnds(t)
		want := afterCrash(t, spec, ends, -1)
		for prefix := range 6 {
			if got := afterCrash(t, spec, ends, prefix); got != want {
				t.Fatalf("crash after %d writes:\n%s\nwithout:\n%s", prefix, got, want)
			}
		}
	})
}

func drawEnds(t *rapid.T) []job.ConditionType {
	return rapid.SliceOfN(rapid.SampledFrom([]job.ConditionType{"", job.Complete, job.Failed}), 2, 4).Draw(t, "ends")
}

// afterCrash starts one job a day, which ends as drawn, crashes in the last round
// after so many writes, and lets the controller come to rest.
func afterCrash(t *rapid.T, spec cronjob.Spec, ends []job.ConditionType, writes int) string {
	w := newWorld(newCronJob(spec), cronjob.Options{})
	works := func() fault { return works }
	for _, how := range ends {
		w.now = w.now.Add(24*time.Hour + 7*time.Minute)
		round(t, w, works)
		for _, name := range w.running() {
			if how != "" {
				w.finish(name, how)
			}
		}
	}
	w.now = w.now.Add(24 * time.Hour)
	round(t, w, func() fault {
		if writes == 0 {
			return crashes
		}
		writes--
		return 0
	})
	for range 5 {
		round(t, w, works)
	}
	for i := range w.cj.Status.Active {
		w.cj.Status.Active[i].UID = "" // which the server makes up
	}
	var names []string
	w.deliver()
	for _, c := range w.seen {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return encode(t, []any{w.cj.Status, names})
}
