package script

import (
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/schedule"
)

// The limits of a generated script about a CronJob. The real controllers wake up
// every ten seconds and look at every job in every round, so longer scripts are
// expensive and show nothing more.
const (
	mostRuns  = 120
	mostTime  = 12 * time.Hour
	longTime  = 150 * time.Hour // instead of mostTime, in about one of longAmong scripts
	longAmong = 20
)

// budget is what is left of the limits.
type budget struct {
	runs int
	time time.Duration
}

// bounded shortens the waits of a script. Waits cost nothing while the controllers
// are stopped.
func bounded(t *rapid.T, spec string, steps []Step) []Step {
	steps = withOutage(t, steps)
	left, stopped := budget{mostRuns, mostTime}, false
	if rapid.IntRange(0, longAmong).Draw(t, "long") == longAmong {
		left.time = longTime
	}
	for i, step := range steps {
		switch step.Op {
		case "stop-controllers", "restart-controllers":
			stopped = step.Op == "stop-controllers"
		case "schedule":
			spec = step.Arg(0)
		case "old":
			if step.Arg(0) == "schedule" {
				spec = step.Arg(1)
			}
		case "tick":
			if !stopped {
				steps[i].Args = []string{left.spend(step.Arg(0), spec)}
			}
		}
	}
	return steps
}

// spend returns the wait or, if the budget does not allow it, a shorter one that uses at most half
// of the budget.
func (b *budget) spend(wait, spec string) string {
	d := duration(wait)
	if d > b.time || runs(spec, d) > b.runs {
		wait = "20s"
		for _, shorter := range [...]string{"24h", "7h", "1h", "10m", "2m"} {
			if d = duration(shorter); d <= b.time/2 && runs(spec, d) <= b.runs/2 {
				wait = shorter
				break
			}
		}
	}
	d = duration(wait)
	b.time -= d
	b.runs -= runs(spec, d)
	return wait
}

// runs estimates how often a schedule is due in some time.
func runs(spec string, in time.Duration) int {
	if zone, rest, ok := strings.Cut(spec, " "); ok && strings.Contains(zone, "TZ=") {
		spec = rest
	}
	s, err := schedule.Parse(spec)
	if err != nil {
		return 0 // nothing runs
	}
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	return s.Count(begin, begin.Add(in))
}
