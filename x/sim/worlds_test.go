package sim

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/job"
)

var (
	update = flag.Bool("update", false, "write the hashes of TestRun_DrawnWorlds again")
	dump   = flag.String("dump", "", "folder for the timelines of TestRun_DrawnWorlds: write it before and after a change, and compare")
)

// TestRun_DrawnWorlds: the same seed always gives the same run. It plays small random worlds, and
// compares hashes of their timelines.
func TestRun_DrawnWorlds(t *testing.T) {
	const file, worlds = "testdata/worlds.txt", 300
	stored := strings.Split(testfile.Read(t, file), "\n")
	var got strings.Builder
	for seed := range uint64(worlds) {
		w, watch := drawWorld(seed), &rounds{}
		if seed%4 == 0 {
			w.Watch = watch
		}
		r, err := Run(t.Context(), w)
		must.OK(t, err)

		text := []byte(timeline(r) + fmt.Sprintf("\n%+v\n%+v\n", r.Outages, r.Disruptions) + watch.String())
		line := fmt.Sprintf("%d %.6x", seed, sha256.Sum256(text))
		got.WriteString(line + "\n")
		if *dump != "" {
			must.OK(t, os.WriteFile(fmt.Sprintf("%s/%d", *dump, seed), text, 0o644))
		}
		if !*update && !slices.Contains(stored, line) {
			t.Fatalf("world %d goes another way. If that is intended, look at some with -dump, and write %s again with -update", seed, file)
		}
	}
	if *update {
		must.OK(t, os.WriteFile(file, []byte(got.String()), 0o644))
	}
}

// A run without records has the same sums as a run with records.
func TestRun_Summary(t *testing.T) {
	for seed := range uint64(60) {
		full, err := Run(t.Context(), drawWorld(seed))
		must.OK(t, err)
		w := drawWorld(seed)
		w.Summary = true
		sums, err := Run(t.Context(), w)
		must.OK(t, err)
		full.Jobs, full.Pods, full.Runs, full.Missed = nil, nil, nil, nil
		if d := gocmp.Diff(full, sums, gocmp.AllowUnexported(Sketch{})); d != "" {
			t.Fatalf("world %d (-with records +without):\n%s", seed, d)
		}
	}
}

// A Watcher receives all rounds. Without one, rounds of CronJobs that do nothing are not planned, and
// everything goes the same way.
func TestRun_QuietRounds(t *testing.T) {
	for seed := range uint64(200) {
		var results []*Result
		for _, watch := range []Watcher{&rounds{}, nil} {
			d, w := drawing{rand.New(rand.NewPCG(seed, 8))}, World{Seed: seed, Until: time.Hour, Watch: watch}
			if d.one(2) {
				w.ControlPlane = ControlPlane{Fail: float64(d.IntN(3)) / 8, Restarts: []time.Duration{d.span(3000)}, Skew: d.span(3)}
			}
			for i := range 1 + d.IntN(2) {
				c := d.cronJob(fmt.Sprint("cron-", i))
				c.Spec.Schedule = "*/5 * * * *"
				d.options(&c.Options)
				w.CronJobs = append(w.CronJobs, c)
			}
			r, err := Run(t.Context(), w)
			must.OK(t, err)
			results = append(results, r)
		}
		if d := gocmp.Diff(results[0], results[1], gocmp.AllowUnexported(Sketch{})); d != "" {
			t.Fatalf("world %d (-all rounds +without quiet ones):\n%s", seed, d)
		}
	}
}

// drawing draws parts of a world.
type drawing struct{ *rand.Rand }

// one reports true once in n times.
func (d drawing) one(n int) bool { return d.IntN(n) == 0 }

// span draws a time of up to so many seconds, mostly a whole number of them.
func (d drawing) span(most int) time.Duration {
	at := time.Duration(d.IntN(most+1)) * time.Second
	if d.one(3) {
		at += time.Duration(d.IntN(8)) * 125 * time.Millisecond
	}
	return at
}

// options draws options of a CronJob, also such as act at times of their own.
func (d drawing) options(o *cronjob.Options) {
	if d.one(3) {
		o.CatchUp, o.CatchUpLimit, o.CatchUpWindow = cronjob.CatchUpAll, int32(d.IntN(4)), d.span(600)
	}
	for _, is := range []*bool{&o.SkipOnResume, &o.SkipOnEdit, &o.SkipHeld, &o.ReplaceWhenGone, &o.Punctual,
		&o.ActiveFromChildren, &o.SuccessFromChildren} {
		*is = d.one(4)
	}
	for _, after := range []*time.Duration{&o.TerminatingTimeout, &o.Jitter, &o.KeepSuccessful, &o.KeepFailed} {
		if d.one(3) {
			*after = d.span(300)
		}
	}
	o.MaxActive, o.PauseAfterFailures = int32(max(d.IntN(6)-3, 0)), int32(max(d.IntN(6)-3, 0))
}

// dist draws a distribution of times of up to so many seconds, or none.
func (d drawing) dist(most int) Dist {
	switch d.IntN(4) {
	case 0:
		return Dist{}
	case 1:
		low := d.span(most / 2)
		return Uniform(low, low+d.span(most/2))
	}
	return Constant(d.span(most))
}

func (d drawing) number(most int) *int32 {
	n := int32(d.IntN(most + 1))
	return &n
}

func (d drawing) window(most int) Window { return Window{d.span(most), time.Second + d.span(most/4)} }

func (d drawing) resources() (r Resources) {
	if d.one(2) {
		r = Resources{CPU: int64(d.IntN(4)), Memory: int64(d.IntN(4))}
	}
	return r
}

func (d drawing) pod() Pod {
	p := Pod{
		Resources: d.resources(), Schedule: d.dist(3), Pull: d.dist(8), Init: d.dist(4), Ready: d.dist(9), Duration: d.dist(60),
		FailAfter: d.dist(5), ExitCode: int32(d.IntN(3)), Stop: d.dist(40),
	}
	if d.one(2) {
		p.Failure = float64(d.IntN(4)) / 4
	}
	if d.one(4) {
		p.Disruption = float64(d.IntN(3)) / 4
	}
	if d.one(6) {
		p.DisruptionRate = 30
	}
	if d.one(4) {
		p.FailIn = []Window{d.window(100), d.window(200)}
	}
	if d.one(3) {
		p.Grace = time.Duration(d.IntN(20)-1) * time.Second
	}
	return p
}

func (d drawing) spec() job.Spec {
	s := Spec(int32(d.IntN(6)), int32(d.IntN(4)))
	s.BackoffLimit = d.number(6)
	if d.one(2) {
		s.Template.RestartPolicy = job.RestartOnFailure
	}
	if d.one(3) {
		s.CompletionMode, s.Template.RestartPolicy = job.Indexed, job.RestartNever
		if d.one(2) {
			s.BackoffLimitPerIndex = d.number(2)
		}
	}
	if d.one(4) {
		s.TTLSecondsAfterFinished = d.number(60)
	}
	if d.one(6) {
		n := int64(1 + d.IntN(100))
		s.ActiveDeadlineSeconds = &n
	}
	if d.one(6) {
		s.Suspend = &yes
	}
	return s
}

func (d drawing) job(name string) Job {
	j := Job{Name: name, Submit: d.span(60), Spec: d.spec(), Pod: d.pod()}
	for range d.IntN(3) {
		if parallelism := d.number(4); d.one(2) {
			j.Edits = append(j.Edits, Edit{d.span(90), func(s *job.Spec) { s.Parallelism = parallelism }})
			continue
		}
		for i, after := 0, d.span(90); i < 2; i, after = i+1, after+d.span(60) {
			j.Edits = append(j.Edits, Edit{after, func(s *job.Spec) { s.Suspend = []*bool{&yes, &no}[i] }})
		}
	}
	return j
}

func (d drawing) controlPlane() (p ControlPlane) {
	if d.one(2) {
		return p
	}
	p = ControlPlane{Latency: d.dist(2), WatchLag: d.dist(4), Workers: d.IntN(3), Skew: d.span(3), PodGC: d.IntN(6), KeepMemory: d.one(2)}
	if d.one(4) {
		p.QPS, p.Burst = float64(1+d.IntN(4))/2, d.IntN(4)
	}
	if d.one(2) {
		p.Fail, p.LoseReply = float64(d.IntN(3))/8, float64(d.IntN(3))/8
	}
	for range d.IntN(3) {
		p.Restarts = append(p.Restarts, d.span(200))
	}
	for range d.IntN(3) {
		p.Outages = append(p.Outages, Outage{d.window(200), []Component{Controllers, APIServer}[d.IntN(2)]})
	}
	return p
}

func (d drawing) disruption(nodes int) Disruption {
	out := Disruption{Kind: []DisruptionKind{NodeLost, NodeDrained}[d.IntN(2)], At: d.span(200), Node: d.IntN(nodes)}
	if !d.one(4) {
		out.Back = out.At + time.Second + d.span(500)
	}
	if out.Kind == NodeLost && d.one(2) {
		out.Removed = out.At + time.Second + d.span(400)
	}
	return out
}

// drawWorld draws a world of a few minutes.
func drawWorld(seed uint64) World {
	d := drawing{rand.New(rand.NewPCG(seed, 7))}
	w := World{Seed: seed, Until: 20 * time.Minute, ControlPlane: d.controlPlane()}

	for i := range d.IntN(4) {
		n := Node{Name: fmt.Sprint("node-", i), Pods: int32(d.IntN(4)), Skew: d.span(2), Price: float64(d.IntN(3))}
		if d.one(2) {
			n.Resources = Resources{CPU: int64(1 + d.IntN(6)), Memory: int64(1 + d.IntN(6))}
		}
		if d.one(4) {
			n.Losses, n.Preemptions, n.Away = float64(d.IntN(20)), float64(d.IntN(20)), d.dist(100)
		}
		w.Nodes = append(w.Nodes, n)
	}
	if len(w.Nodes) > 0 {
		for range d.IntN(4) {
			w.Disruptions = append(w.Disruptions, d.disruption(len(w.Nodes)))
		}
		if d.one(4) {
			w.Scheduler = last{}
		}
	}
	if d.one(3) {
		w.Admission = &Quota{Pods: int32(1 + d.IntN(5)), Backfill: d.one(2)}
	}

	var jobs []Job
	for i := range d.IntN(5) {
		jobs = append(jobs, d.job(fmt.Sprint("job-", i)))
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return int(a.Submit - b.Submit) })
	w.Jobs = Of(jobs...)
	for i := range d.IntN(3) {
		w.CronJobs = append(w.CronJobs, d.cronJob(fmt.Sprint("cron-", i)))
	}
	return w
}

func (d drawing) cronJob(name string) CronJob {
	c := CronJob{
		Name: name, Create: d.span(100), Job: d.job(""),
		Spec: cronjob.Spec{
			Schedule:                   []string{"* * * * *", "*/3 * * * *", "1,2,7 * * * *"}[d.IntN(3)],
			ConcurrencyPolicy:          []cronjob.ConcurrencyPolicy{cronjob.Allow, cronjob.Forbid, cronjob.Replace}[d.IntN(3)],
			SuccessfulJobsHistoryLimit: d.number(3), FailedJobsHistoryLimit: d.number(3),
		},
	}
	c.Job.Submit, c.Job.Edits = 0, nil
	if d.one(3) {
		n := int64(d.IntN(100))
		c.Spec.StartingDeadlineSeconds = &n
	}
	for from := time.Duration(0); d.one(2); {
		next := d.window(300)
		next.From += from
		from = next.From + next.For
		c.Suspend = append(c.Suspend, next)
	}
	return c
}
