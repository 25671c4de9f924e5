package cronworlds

import (
	"flag"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
)

var (
	seed   = flag.Uint64("seed", 1, "the seed of the worlds")
	worlds = flag.Int("worlds", 300, "the number of worlds")
	first  = flag.Int("first", 0, "the first world")
	only   = flag.String("only", "", "a part of the names of the laws to check")
	tries  = flag.Int("tries", 400, "how many worlds to try to make one that fails smaller")
)

// TestWorlds plays random worlds. For each law that does not hold it shows the history of
// a small world.
func TestWorlds(t *testing.T) {
	broken := map[string]int{}
	for i := *first; i < *first+*worlds; i++ {
		s := newSource(*seed, uint64(i))
		v := play(s, tamper{}, *only, nil)
		if v == nil {
			continue
		}
		if broken[v.law]++; broken[v.law] == 1 {
			t.Logf("-seed %d -first %d -worlds 1: %s", *seed, i, v)
			show(t, s.made, v.law, tamper{})
		}
	}
	for _, law := range slices.Sorted(maps.Keys(broken)) {
		t.Errorf("%s does not hold in %d of %d worlds", law, broken[law], *worlds)
	}
}

// show plays a small world that breaks the law, and logs its history.
func show(t *testing.T, decisions []int, law string, with tamper) {
	if *tries == 0 {
		return
	}
	small := shrink(decisions, law, with, *tries)
	v := play(replay(small), with, law, func(line string) { t.Log(line) })
	t.Logf("%s\ndecisions %v", v, small)
}

// TestWorlds_FindPlantedBugs changes what the planner answers. Each change breaks a law within
// a few worlds.
func TestWorlds_FindPlantedBugs(t *testing.T) {
	for _, bug := range []struct {
		name, law string
		tamper
	}{
		{"no wake-up", "C9", tamper{end: func(e *cronjob.Conclusion) { e.Requeue = cronjob.Requeue{} }}},
		{"no retry", "", tamper{end: func(e *cronjob.Conclusion) { e.Retry = false }}},
		{"again and again", "CL5", tamper{end: func(e *cronjob.Conclusion) { e.Requeue.At = birthday }}},
		{"no memory", "", tamper{end: func(e *cronjob.Conclusion) { e.Memory = cronjob.Memory{} }}},
		{"missed runs count twice", "C9 accounts", tamper{end: func(e *cronjob.Conclusion) { e.Metrics.Unstarted *= 2 }}},
		{"no history", "C2", tamper{plan: func(p *cronjob.Plan) { p.Delete = nil }}},
		{"triggers forgotten", "CL4 triggers", tamper{end: func(e *cronjob.Conclusion) { e.Triggered = nil }}},
		{"a run too many", "CI", tamper{plan: func(p *cronjob.Plan) {
			for i := range p.Create {
				p.Create[i].ScheduledTime = p.Create[i].ScheduledTime.Add(time.Hour)
			}
		}}},
	} {
		t.Run(bug.name, func(t *testing.T) {
			for i := range 100 {
				if v := play(newSource(*seed, uint64(i)), bug.tamper, bug.law, nil); v != nil {
					t.Logf("world %d: %s", i, v)
					return
				}
			}
			t.Error("no world shows it")
		})
	}
}

var birthday = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
