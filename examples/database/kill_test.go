package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

var (
	killSeed  = flag.Uint64("seed", 0, "seed of TestManyKills; 0 takes another one each time")
	killCount = flag.Int("kills", 12, "how many workers TestManyKills kills on each database")
)

const (
	workers = 3
	indexes = 20
	lease   = 2 * time.Second
)

// pauses notices that a process did not run for a while, because the machine is busy. Such a
// process may go on after its lease has ended. Then its work overlaps with that of the process that
// took over.
type pauses struct{ last, paused atomic.Int64 } // nanoseconds since 1970

func (p *pauses) watch() {
	for {
		p.word()
		p.last.Store(time.Now().UnixNano())
		time.Sleep(lease / 40)
	}
}

// word returns the last word of a line of the trace. It is "late" if the process pauses for more
// than a quarter of the lease, or has done so within the last quarter of a lease. Otherwise it is
// "on-time".
func (p *pauses) word() string {
	now, longest := time.Now().UnixNano(), int64(lease/4)
	if now-p.last.Load() > longest {
		p.paused.Store(now)
	}
	if now-p.paused.Load() < longest {
		return "late"
	}
	return "on-time"
}

// workAndTrace is the program of a worker process. Each of its pods writes a line when it starts
// and when it ends. The pods of each fifth index fail twice: they know the number of failures.
func workAndTrace(address, trace string) {
	file, err := os.OpenFile(trace, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	s, err := Open(context.Background(), address)
	if err != nil {
		panic(err)
	}

	p := &pauses{}
	p.last.Store(time.Now().UnixNano())
	go p.watch()

	w := &Worker{
		Store: s, ID: rand.Text(), Slots: 3, Lease: lease, Poll: 20 * time.Millisecond,
		Options: job.Options{Backoff: backoff.Policy{Base: 10 * time.Millisecond, Factor: 1}},
		Do: func(ctx context.Context, payload string, pod job.Pod) (string, int32) {
			fmt.Fprintln(file, "start", payload, pod.Index, pod.UID, p.word())
			select {
			case <-ctx.Done():
				return "", 143
			case <-time.After(duration(payload)):
			}
			fmt.Fprintln(file, "end", payload, pod.Index, pod.UID, p.word())
			if !strings.Contains(payload, "/") && pod.Index.Int32()%5 == 0 && pod.Detail.FailureCount < 2 {
				return "", 1
			}
			return payload, 0
		},
	}

	fmt.Fprintln(os.Stderr, w.Run(context.Background()))
	os.Exit(1)
}

// ticking holds the schedules of TestManyKills: the crontab, the policy, and how long a run lasts.
var ticking = map[string]struct {
	crontab string
	policy  cronjob.ConcurrencyPolicy
	lasts   time.Duration
}{
	"allow":   {"* * * * * *", cronjob.Allow, 60 * time.Millisecond},
	"forbid":  {"* * * * * *", cronjob.Forbid, 2500 * time.Millisecond},
	"replace": {"*/3 * * * * *", cronjob.Replace, 6 * time.Second},
}

// duration returns how long a pod works. A payload is the name of a job, or the schedule and the
// time of a run.
func duration(payload string) time.Duration {
	name, _, _ := strings.Cut(payload, "/")
	most := max(ticking[name].lasts, 60*time.Millisecond)
	return time.Duration(mathrand.Int64N(int64(most)))
}

// process is a worker of the test.
type process struct {
	*os.Process
	over chan struct{}
}

// killed is a test of one database.
type killed struct {
	*world
	address, trace string
	rng            *mathrand.Rand
	processes      [workers]process
	kills, slow    int
}

// TestManyKills kills workers with SIGKILL, each at a random moment, and starts others in their
// place. All jobs end as if nothing had happened: each index has succeeded once, none runs again
// after its success, and none runs twice at the same time. Meanwhile each second of a schedule runs
// once or is reported as missed.
func TestManyKills(t *testing.T) {
	seed := *killSeed
	if seed == 0 {
		seed = mathrand.Uint64()
	}

	onBoth(t, func(t *testing.T, address string) {
		t.Logf("-seed %d -kills %d", seed, *killCount)
		k := &killed{world: newWorld(t, address), address: address, trace: filepath.Join(t.TempDir(), "trace"), rng: mathrand.New(mathrand.NewPCG(seed, 0))}
		k.clock = sqlite.clock
		if k.driver == postgres.driver {
			k.clock = postgres.clock
		}
		k.must(os.WriteFile(k.trace, nil, 0o600))
		defer k.stop()

		for name, s := range ticking {
			k.must303("PUT", "/schedules/"+name, fmt.Sprintf(`{"schedule": %q, "concurrencyPolicy": %q, "payload": "%s/{run}",
				"successfulJobsHistoryLimit": 1000000, "failedJobsHistoryLimit": 1000000}`, s.crontab, s.policy, name))
		}

		var jobs []job.UID
		for k.kills < *killCount {
			jobs = append(jobs, k.addJob(fmt.Sprint("job-", len(jobs))))
			k.killUntilEnd(jobs[len(jobs)-1])
		}
		for _, uid := range jobs {
			k.wait(func() bool { j, _ := k.job(uid); return j.Status.Finished() != "" })
		}

		for name := range ticking {
			k.must(k.Pause(t.Context(), name, true))
		}
		k.wait(func() bool {
			return k.count(`jobs WHERE schedule <> '' AND job NOT LIKE '%"type":"Complete"%' AND job NOT LIKE '%"type":"Failed"%'`) == 0
		})

		k.check(jobs)
		k.checkSchedules()
		t.Logf("%d kills; %d jobs with %d pods, %d of them disrupted; %d workers were too slow for their lease",
			k.kills, len(jobs), k.count("pods"), k.count("pods WHERE pod LIKE '%DisruptionTarget%'"), k.slow)

		for _, uid := range jobs {
			k.must(k.Delete(t.Context(), uid))
		}
		for name := range ticking {
			k.must(k.Remove(t.Context(), name))
		}
		k.wait(func() bool { return k.count("jobs")+k.count("pods") == 0 })
	})
}

func (k *killed) addJob(name string) job.UID {
	spec, parallelism, limit := indexed(indexes), int32(6), int32(2)
	spec.Parallelism, spec.BackoffLimitPerIndex = &parallelism, &limit
	spec.PodFailurePolicy = &job.PodFailurePolicy{Rules: []job.PodFailurePolicyRule{
		{Action: job.IgnoreFailure, OnPodConditions: []job.PodCondition{{Type: "DisruptionTarget"}}},
	}}
	uid, err := k.Add(k.Context(), name, name, spec)
	k.must(err)
	return uid
}

// killUntilEnd kills workers until the job has ended or enough workers were killed.
func (k *killed) killUntilEnd(uid job.UID) {
	for k.kills < *killCount {
		k.start()
		if j, _ := k.job(uid); j.Status.Finished() != "" {
			return
		}
		time.Sleep(time.Duration(k.rng.Int64N(int64(400 * time.Millisecond))))
		p := &k.processes[k.rng.IntN(workers)]
		_ = p.Kill()
		<-p.over
		p.Process = nil
		k.kills++
	}
}

// start starts the workers that are missing.
func (k *killed) start() {
	for i := range k.processes {
		p := &k.processes[i]
		if p.Process != nil {
			select {
			case <-p.over:
				k.slow++
			default:
				continue
			}
		}
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "DATABASE_ADDRESS="+k.address, "DATABASE_TRACE="+k.trace)
		c.Stderr = os.Stderr
		k.must(c.Start())
		over := make(chan struct{})
		*p = process{c.Process, over}
		go func() { _ = c.Wait(); close(over) }()
	}
}

func (k *killed) stop() {
	for _, p := range k.processes {
		if p.Process != nil {
			_ = p.Kill()
			<-p.over
		}
	}
}

// wait lets the workers work until the condition is true.
func (k *killed) wait(until func() bool) {
	k.Helper()
	for range 3000 {
		if k.start(); until() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	k.Fatal("the jobs do not get on")
}

// check compares what is stored with the trace.
func (k *killed) check(jobs []job.UID) {
	starts, ends, late := k.readTrace()
	for n, uid := range jobs {
		j, pods := k.job(uid)
		if s := j.Status; s.Finished() != job.ConditionComplete || s.CompletedIndexes != fmt.Sprintf("0-%d", indexes-1) || s.Failed != 2*indexes/5 {
			k.Errorf("job %d is %v", n, s)
		}
		succeeded := map[int32]int{}
		for _, p := range pods {
			work := fmt.Sprintf("job-%d %v", n, p.Index)
			if p.Phase == job.PodSucceeded {
				succeeded[p.Index.Int32()]++
				if last := starts[work][len(starts[work])-1]; last.pod != string(p.UID) {
					k.Errorf("%s succeeded in pod %s, and then started in %s", work, p.UID, last.pod)
				}
				if ends[string(p.UID)] == 0 {
					k.Errorf("%s succeeded in pod %s, which has not ended", work, p.UID)
				}
			}
			if p.Phase < job.PodSucceeded || !p.Untracked {
				k.Errorf("pod %s is %v after the end of the job", p.UID, p.Phase)
			}
		}
		for i := range int32(indexes) {
			if succeeded[i] != 1 {
				k.Errorf("index %d of job %d has succeeded %d times", i, n, succeeded[i])
			}
		}
	}

	for work, list := range starts {
		for i, s := range list[1:] {
			if end := ends[list[i].pod]; end > s.line && !late[list[i].pod] && !late[s.pod] {
				k.Errorf("%s starts in pod %s and has not ended in pod %s", work, s.pod, list[i].pod)
			}
		}
	}

	if n := k.count("jobs WHERE claim <> ''"); n > workers {
		k.Errorf("%d jobs are claimed", n)
	}
}

// checkSchedules compares what is stored for each schedule with its times and with the trace: each
// time has one job, which has started at most once, or counts as missed.
func (k *killed) checkSchedules() {
	starts, _, _ := k.readTrace()
	k.must(k.within(k.Context(), func(t *tx) {
		for _, c := range list(t, cron, "SELECT cron FROM schedules") {
			lost := 0
			for _, run := range t.children(&c, "") {
				if run.Finished == "" {
					k.Errorf("%s has not ended", run.Name)
				}
				if run.Finished == cronjob.Failed {
					lost++
				}
				n := len(starts[fmt.Sprintf("%s/%s %v", c.Name, run.ScheduledTime.UTC().Format(time.RFC3339), job.NoIndex())])
				if n > 1 || n == 0 && run.Finished == cronjob.Complete {
					k.Errorf("%s has started %d times, and is %s", run.Name, n, run.Finished)
				}
			}
			if c.Spec.ConcurrencyPolicy == cronjob.Replace {
				continue // the jobs of runs that were replaced are gone
			}

			// The last time is that of the last run that has started, or of a later run that was
			// missed because Forbid held it back during the pause.
			missed, until := 0, c.Status.LastScheduleTime
			for _, m := range list(t, func(m *Missed) []any { return []any{&m.Runs, asTime{&m.Latest}} },
				"SELECT runs, latest FROM missed WHERE schedule = $1 ORDER BY latest", c.UID) {
				missed += m.Runs
				if m.Latest.After(until) {
					until = m.Latest
				}
			}
			compiled := compile(&c)
			times := compiled.Schedule.Count(c.CreationTimestamp, until)
			if runs := len(t.children(&c, "")); runs+missed != times {
				k.Errorf("schedule %s: %d times, %d jobs, %d missed", c.Name, times, runs, missed)
			} else {
				k.Logf("schedule %s: %d times, %d jobs, %d of which were lost with their process, %d missed", c.Name, times, runs, lost, missed)
			}
		}
	}))
	for work, list := range starts {
		if strings.Contains(work, "/") && len(list) > 1 {
			k.Errorf("%s has started %d times", work, len(list))
		}
	}
}

type started struct {
	pod  string
	line int
}

// readTrace returns the starts of each index, the line of the end of each pod that has ended, and
// the pods of workers that were paused for long.
func (k *killed) readTrace() (starts map[string][]started, ends map[string]int, late map[string]bool) {
	text, err := os.ReadFile(k.trace)
	k.must(err)
	starts, ends, late = map[string][]started{}, map[string]int{}, map[string]bool{}
	pods := map[string]bool{}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		f := strings.Fields(line) // start or end, name, index, pod, on-time or late
		late[f[3]] = late[f[3]] || f[4] == "late"
		switch {
		case f[0] == "end":
			ends[f[3]] = i + 1
		case pods[f[3]]:
			k.Errorf("pod %s has started twice", f[3])
		default:
			pods[f[3]] = true
			starts[f[1]+" "+f[2]] = append(starts[f[1]+" "+f[2]], started{f[3], i + 1})
		}
	}
	return starts, ends, late
}
