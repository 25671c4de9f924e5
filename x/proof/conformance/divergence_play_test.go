package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
	"github.com/batchplan/batchplan/x/proof/conformance/theirs"
)

// life is the history of one world.
type life struct {
	*script.World
	start time.Time
	// ours holds the options; nil in the world of the real controllers.
	ours *ours.Options
	// writes holds the controllers' writes. statuses holds the first job's counters after each
	// step, without repetitions.
	writes   []server.Write
	statuses []string
}

// live plays the script with the controllers of one side and returns what look sees in the end.
func (d *divergence) live(t *testing.T, side side) (seen string) {
	s := d.parse(t)
	synctest.Test(t, func(t *testing.T) {
		d.sleep()
		l := &life{start: time.Now(), ours: side.ours}
		var err error
		if l.World, err = script.NewWorld(s, side.of(s)); err != nil {
			t.Fatal(err)
		}
		defer l.Stop()
		l.settle()
		for _, step := range s.Steps {
			d.step(l, s, step)
			l.settle()
		}
		seen = d.look(l)
	})
	return seen
}

func (d *divergence) step(l *life, s *script.Script, step script.Step) {
	if do := d.do[step.Op]; do != nil {
		if len(step.Args) > 0 {
			panic(fmt.Sprintf("step %q: unknown argument", step))
		}
		do(l)
		return
	}
	wait, ticks := step.Tick()
	if !ticks {
		_ = l.Do(s, step) // a refused step has no effect
		return
	}
	end := time.Now().Add(wait)
	for wait <= time.Minute && time.Until(end) > time.Second { // so that each status that lasts is seen
		time.Sleep(time.Second / 2)
		l.settle()
	}
	time.Sleep(time.Until(end))
}

// sleep waits for the time at which the worlds begin.
func (d *divergence) sleep() {
	if d.at == "" {
		return
	}
	at, err := time.Parse(time.RFC3339, d.at)
	if err != nil {
		panic(err)
	}
	time.Sleep(time.Until(at))
}

func (d *divergence) parse(t *testing.T) *script.Script {
	s, err := script.ParseLine(d.script, slices.Sorted(maps.Keys(d.do))...)
	must.OK(t, err)
	return s
}

// side returns the controllers of one side for a script.
type side struct {
	ours *ours.Options
	of   func(*script.Script) script.Controllers
}

var theirSide = side{nil, func(s *script.Script) script.Controllers {
	which := theirs.Which{Jobs: !s.Manual, CronJobs: s.CronJob != nil, TTL: true}
	return func(s *server.Server) ([]func(), func()) { return theirs.New(s.Client(), which) }
}}

func ourSide(o ours.Options) side {
	return side{&o, func(s *script.Script) script.Controllers {
		o.Jobs, o.CronJobs, o.TTL = !s.Manual, s.CronJob != nil, true
		return func(s *server.Server) ([]func(), func()) { return ours.New(s.Client(), o) }
	}}
}

// storedSide is ourSide with memories that survive a restart.
func storedSide(o ours.Options) side {
	return side{&o, func(*script.Script) script.Controllers {
		o.Jobs, o.Memories = true, map[string]job.Memory{}
		return func(s *server.Server) ([]func(), func()) { return ours.New(s.Client(), o) }
	}}
}

// settle waits until nothing changes any more, and notes writes and status.
func (l *life) settle() {
	for settle(); l.Collect() > 0; {
		settle()
	}
	l.writes = append(l.writes, l.Journal()...)
	if jobs := server.List[*batchv1.Job](l.Server); len(jobs) > 0 {
		now := counters(jobs[0])
		if len(l.statuses) == 0 || l.statuses[len(l.statuses)-1] != now {
			l.statuses = append(l.statuses, now)
		}
	}
}

func counters(j *batchv1.Job) string {
	s := &j.Status
	return fmt.Sprintf("%d active, %d ready, %d terminating", s.Active, orNone(s.Ready), orNone(s.Terminating))
}

func orNone(p *int32) int32 {
	if p == nil {
		return 0
	}
	return *p
}

// Ways to look at a life.

// statuses returns the counters of the first job, over time.
func statuses(l *life) string { return strings.Join(l.statuses, "; ") }

// wrote lists the writes whose text begins with prefix, including failed ones, with their times.
func wrote(prefix string) func(*life) string {
	return func(l *life) string {
		var out []string
		for _, w := range l.ordered() {
			if rest, ok := strings.CutPrefix(w.String(), prefix+" "); ok {
				out = append(out, fmt.Sprintf("%v %s", l.since(w), rest))
			}
		}
		return strings.Join(out, "; ")
	}
}

// ordered returns the writes by time, then by text: the order within an instant depends on
// goroutines.
func (l *life) ordered() []server.Write {
	slices.SortStableFunc(l.writes, func(a, b server.Write) int {
		return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.String(), b.String()))
	})
	return l.writes
}

// since returns the time of a write, without the short delays of notifications.
func (l *life) since(w server.Write) time.Duration {
	return w.Time.Sub(l.start).Truncate(100 * time.Millisecond)
}

// timesOf lists the times of the successful writes that begin with prefix.
func timesOf(prefix string) func(*life) string {
	return func(l *life) string {
		var out []string
		for _, w := range l.writes {
			if strings.HasPrefix(w.String(), prefix+" ") && w.Answer == "" {
				out = append(out, l.since(w).String())
			}
		}
		return strings.Join(out, " ")
	}
}

// inARow lists how many writes that begin with prefix follow each other at one instant: a number
// for each such series of writes.
func inARow(prefix string) func(*life) string {
	return func(l *life) string {
		var counts []string
		n := 0
		for i, w := range l.writes {
			if !strings.HasPrefix(w.String(), prefix+" ") {
				continue
			}
			if n++; i+1 == len(l.writes) || l.since(l.writes[i+1]) != l.since(w) || !strings.HasPrefix(l.writes[i+1].String(), prefix+" ") {
				counts, n = append(counts, strconv.Itoa(n)), 0
			}
		}
		return strings.Join(counts, " ")
	}
}

// reported counts the events with these reasons.
func reported(reasons ...string) func(*life) string {
	return func(l *life) string {
		var out []string
		for _, reason := range reasons {
			n := int32(0)
			for _, e := range l.Reported() {
				if e.Reason == reason {
					n += e.Count
				}
			}
			out = append(out, fmt.Sprintf("%d %s", n, reason))
		}
		return strings.Join(out, ", ")
	}
}

// hasReported returns the reason if there are events with it.
func hasReported(reason string) func(*life) string {
	return func(l *life) string {
		for _, e := range l.Reported() {
			if e.Reason == reason {
				return reason
			}
		}
		return "no " + reason
	}
}

// attempts counts the writes that begin with prefix, including failed ones.
func attempts(prefix string) func(*life) string {
	return func(l *life) string {
		n := 0
		for _, w := range l.writes {
			if strings.HasPrefix(w.String(), prefix+" ") {
				n++
			}
		}
		if n > 1 {
			return "many attempts"
		}
		return fmt.Sprintf("%d attempts", n)
	}
}

// answers lists the different failures of the writes that begin with prefix.
func answers(prefix string) func(*life) string {
	return func(l *life) string {
		var out []string
		for _, w := range l.writes {
			if strings.HasPrefix(w.String(), prefix+" ") && w.Answer != "" {
				out = append(out, w.Answer)
			}
		}
		slices.Sort(out)
		return strings.Join(slices.Compact(out), ", ")
	}
}

// runs lists the runs whose jobs were created, with the times of the creations.
func runs(l *life) string {
	var out []string
	for _, w := range l.writes {
		minutes, ok := strings.CutPrefix(w.Name, "c-")
		if n, err := strconv.ParseInt(minutes, 10, 64); ok && err == nil && w.Verb == "create" && w.Answer == "" {
			out = append(out, fmt.Sprintf("%s at %s", clock(time.Unix(n*60, 0)), clock(w.Time)))
		}
	}
	return strings.Join(out, ", ")
}

// lateness lists how late each run has started.
func lateness(l *life) string {
	var out []string
	for _, w := range l.writes {
		minutes, ok := strings.CutPrefix(w.Name, "c-")
		if n, err := strconv.ParseInt(minutes, 10, 64); ok && err == nil && w.Verb == "create" && w.Answer == "" {
			out = append(out, w.Time.Sub(time.Unix(n*60, 0)).Round(10*time.Millisecond).String())
		}
	}
	return strings.Join(out, ", ")
}

// clock returns a day and a time of day, with seconds unless they are 0.
func clock(t time.Time) string {
	t = t.UTC().Truncate(time.Second)
	if t.Second() == 0 {
		return t.Format("2 15:04")
	}
	return t.Format("2 15:04:05")
}

// jobs lists the names of the jobs and how they have ended.
func jobs(l *life) string {
	var out []string
	for _, j := range server.List[*batchv1.Job](l.Server) {
		out = append(out, j.Name+" "+ended(j))
	}
	return strings.Join(out, ", ")
}

func ended(j *batchv1.Job) string {
	for _, c := range j.Status.Conditions {
		if c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed {
			return string(c.Type) + " " + c.Reason
		}
	}
	return "goes on"
}

// verdict returns how the job "j" has ended, and its counts.
func verdict(l *life) string {
	j := server.Get[*batchv1.Job](l.Server, script.Namespace, "j")
	if j == nil {
		return "gone"
	}
	return fmt.Sprintf("%s, %d succeeded, %d failed", ended(j), j.Status.Succeeded, j.Status.Failed)
}

// conditionTypes lists the conditions of the job "j", in their order.
func conditionTypes(l *life) string {
	var out []string
	for _, c := range server.Get[*batchv1.Job](l.Server, script.Namespace, "j").Status.Conditions {
		out = append(out, fmt.Sprintf("%s=%s", c.Type, c.Status))
	}
	return strings.Join(out, " ")
}

// pods lists the names of the pods.
func pods(l *life) string {
	var out []string
	for _, p := range server.List[*corev1.Pod](l.Server) {
		out = append(out, p.Name)
	}
	return strings.Join(out, " ")
}

// cronStatus returns the status of the CronJob.
func cronStatus(l *life) string {
	c := server.Get[*batchv1.CronJob](l.Server, script.Namespace, "c")
	var active []string
	for _, r := range c.Status.Active {
		n, _ := strconv.ParseInt(strings.TrimPrefix(r.Name, "c-"), 10, 64)
		active = append(active, clock(time.Unix(n*60, 0)))
	}
	out := "active: " + strings.Join(active, ", ")
	if t := c.Status.LastScheduleTime; t != nil {
		out += "; last: " + clock(t.Time)
	}
	if t := c.Status.LastSuccessfulTime; t != nil {
		out += "; succeeded: " + clock(t.Time)
	}
	return out
}

// all combines several looks.
func all(looks ...func(*life) string) func(*life) string {
	return func(l *life) string {
		var out []string
		for _, look := range looks {
			out = append(out, look(l))
		}
		return strings.Join(out, " | ")
	}
}
