package cronjob

import (
	"slices"
	"time"
)

// appendLost appends jobs that may have been created without a reply, so that they are looked up:
// before others are created that must not run beside them, and before their runs are
// reported, which are those up to accounted. It returns the number of the latter, which come
// last. A creation that is tried again needs no look: its name is its lock.
func appendLost(verify []Reference, starts []startedJob, limited []string, accounted time.Time) ([]Reference, count) {
	if !slices.ContainsFunc(starts, isLost) {
		return verify, 0
	}

	var reviewed []Reference
	for _, start := range starts {
		isOther := func(name string) bool { return name != start.Name }
		switch {
		case isLost(start) && slices.ContainsFunc(limited, isOther):
			verify = append(verify, start.Reference)
		case start.isAccountedLost(accounted):
			reviewed = append(reviewed, start.Reference)
		}
	}
	return append(verify, reviewed...), count(len(reviewed))
}

// limited returns the names of the creations that the active jobs have decided about.
func limited(m *moves, s *Snapshot, c *census) (names []string) {
	for i := range m.create {
		if creation := &m.create[i]; isLimited(creation, m.backfills, s, c) {
			names = append(names, creation.Name)
		}
	}
	return names
}

// isLimited reports whether the active jobs decided about a creation.
func isLimited(creation *Creation, steps []backfillStep, s *Snapshot, c *census) bool {
	switch {
	case creation.Trigger != "":
		i, _ := findTrigger(c.triggers, creation.Trigger)
		return limitOf(c.triggers[i].Overlap, s.Options.MaxActive) > 0
	case creation.Backfill != "":
		i := slices.IndexFunc(steps, func(b backfillStep) bool { return b.ID == creation.Backfill })
		return backfillLimit(&steps[i].Backfill, s.Options.MaxActive) > 0
	}
	return dependsOnActive(s)
}
