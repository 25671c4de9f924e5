//go:build linux

package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
)

var (
	killSeed    = flag.Uint64("seed", 0, "seed of TestManyKills; 0 takes another one each time")
	killCount   = flag.Int("kills", 25, "how often TestManyKills kills a runner or a supervisor")
	killContain = flag.String("contain", "auto", "the --contain of TestManyKills")
)

// manyIndexes is the number of indexes of each job in TestManyKills.
const manyIndexes = 40

// manyJob is a job. Each of its pods writes a line "start UID INDEX PID TIME", a line "end UID
// INDEX PID TIME CODE", and lines "beat UID INDEX" in between. A grandchild does the work, and so
// does a daemon, which has another session and no living parent. Every fifth index fails at first.
const manyJob = `
apiVersion: batch/v1
kind: Job
metadata: {name: many}
spec:
  completions: 40
  parallelism: 6
  completionMode: Indexed
  backoffLimit: 1000000
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: none
        env:
        - {name: U, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}
        - {name: T, value: TRACES/many}
        command: [sh, -c, 'i=$JOB_COMPLETION_INDEX; export i;
          echo start $U $i $$ $(date +%s%N) >> $T;
          (setsid sh -c "while sleep 0.03; do echo beat $U $i >> \$T; done" &);
          sh -c "for n in 1 2 3 4; do sleep 0.0$((i % 3 + 3)); echo beat $U $i >> \$T; done";
          code=0; if [ $((i % 5)) = 0 ] && mkdir TRACES/failed-$i 2>/dev/null; then code=7; fi;
          echo end $U $i $$ $(date +%s%N) $code >> $T; exit $code']
`

// TestManyKills kills runners and supervisors at random moments. The traces of the containers show
// that no exit code is lost, that no pod and no finished index runs twice, that no two pods work on
// one index at the same time, and that no process is left.
//
// The seed decides which process is killed, and when. What happens at that moment depends on the
// machine.
func TestManyKills(t *testing.T) {
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed %d -kills %d -contain %s", seed, *killCount, *killContain)
	k := killer{T: t, rng: rand.New(rand.NewPCG(seed, 0))}
	begin := time.Now()
	for k.runners+k.supervisors < *killCount && !t.Failed() {
		k.world = newWorld(t)
		k.life()
		k.check()
	}
	t.Logf("%d runners and %d supervisors killed in %v; %d pods of %d jobs, %d ended by themselves; lost %d, doubled %d, overlapping %d, processes left %d",
		k.runners, k.supervisors, time.Since(begin).Round(time.Millisecond), k.pods, k.jobs, k.ended, k.lost, k.doubled, k.overlapping, k.left)
}

// killer is one run of the test: what it has done, and what it has found.
type killer struct {
	*testing.T
	*world
	rng                              *rand.Rand
	runners, supervisors             int
	jobs, pods, ended                int
	lost, doubled, overlapping, left int
}

// life runs one job. It starts runners, and kills them or their supervisors, until the job is
// complete or there were enough kills.
func (k *killer) life() {
	file := k.manifest(manyJob)
	for {
		cmd := k.command("run", "-o", "json", "--contain", *killContain, "--backoff", "10ms", "--backoff-max", "50ms",
			file)
		var errOut bytes.Buffer
		cmd.Stderr = &errOut
		if err := cmd.Start(); err != nil {
			k.Fatal(err)
		}
		over := make(chan struct{})
		go func() { _ = cmd.Wait(); close(over) }()
		for k.runners+k.supervisors < *killCount {
			delay, runner, choice := time.Duration(k.rng.Int64N(int64(300*time.Millisecond))), k.rng.IntN(2) == 0, k.rng.Uint64()
			select {
			case <-over:
			case <-time.After(delay):
				if runner {
					_ = cmd.Process.Kill()
					<-over
				} else if k.killSupervisor(choice) {
					k.supervisors++
				}
				continue
			}
			break
		}
		<-over
		if !cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
			if code := cmd.ProcessState.ExitCode(); code != 0 {
				k.Fatalf("the last run ended with exit status %d\n%s%v", code, &errOut, k.call("status", "many"))
			}
			return
		}
		k.runners++
	}
}

// killSupervisor kills one of the living supervisors.
func (k *killer) killSupervisor(choice uint64) bool {
	var alive []int
	for _, folder := range k.folders() {
		if pid, err := folder.Supervisor(); err == nil && pid != 0 {
			alive = append(alive, pid)
		}
	}
	if len(alive) == 0 {
		return false
	}
	return syscall.Kill(alive[choice%uint64(len(alive))], syscall.SIGKILL) == nil
}

// check compares the trace with the state folder.
func (k *killer) check() {
	j, pods := k.job("many")
	k.jobs++
	k.pods += len(pods)
	starts, ends := k.readTrace()
	succeeded, failed := map[int32]int{}, int32(0)
	for i := range pods {
		p := &pods[i]
		end, ended := ends[p.UID]
		known := p.State.Reason != pod.ReasonSupervisorLost && p.State.Reason != pod.ReasonWatcherLost
		switch {
		case len(p.State.Containers) == 1 && ended && known && p.State.Containers[0].ExitCode != end.code,
			known && !ended && p.State.Reason != pod.ReasonNeverStarted,
			p.Tracked:
			k.lost++
			k.Errorf("pod %s: ended %v with code %d, stored as %+v, tracked %v", p.Name, ended, end.code, p.State,
				p.Tracked)
		case p.State.Phase == job.PodFailed:
			failed++
		case p.State.Phase == job.PodSucceeded:
			succeeded[p.Index]++
			if last := starts[p.Index]; last != p.UID {
				k.doubled++
				k.Errorf("index %d succeeded as %s and began again as %s", p.Index, p.UID, last)
			}
		}
		if ended {
			k.ended++
		}
	}
	if s := j.Status; s.Finished() != job.ConditionComplete || s.Succeeded != manyIndexes || s.Failed != failed ||
		len(succeeded) != manyIndexes {
		k.lost++
		k.Errorf("%d indexes succeeded, %d pods failed; stored as %v", len(succeeded), failed, s)
	}
	k.checkProcesses()
}

type lineOfEnd struct{ code int32 }

// readTrace returns, for each index, the last pod that has begun it, and the pods that have ended.
func (k *killer) readTrace() (starts map[int32]job.UID, ends map[job.UID]lineOfEnd) {
	starts, ends = map[int32]job.UID{}, map[job.UID]lineOfEnd{}
	begun := map[job.UID]bool{}
	for n, words := range k.trace("many") {
		uid := job.UID(words[1])
		index, err := strconv.ParseInt(words[2], 10, 32)
		if err != nil {
			k.Fatalf("line %d: %q: %v", n, words, err)
		}
		switch words[0] {
		case "start":
			if begun[uid] {
				k.doubled++
				k.Errorf("line %d: pod %s ran twice", n, uid)
			}
			begun[uid], starts[int32(index)] = true, uid
			continue
		case "end":
			code, err := strconv.ParseInt(words[5], 10, 32)
			if err != nil {
				k.Fatalf("line %d: %q: %v", n, words, err)
			}
			ends[uid] = lineOfEnd{int32(code)}
		}
		if starts[int32(index)] != uid {
			k.overlapping++
			k.Errorf("line %d: pod %s works on index %d beside %s", n, uid, index, starts[int32(index)])
		}
	}
	return starts, ends
}

// checkProcesses checks that no process runs any more, neither of a container nor a supervisor. A
// supervisor may take a moment to end after its last record.
func (k *killer) checkProcesses() {
	var left []int
	for range 100 {
		if left = processesWith("T="+filepath.Join(k.traces, "many"), k.state); len(left) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	k.left += len(left)
	for _, pid := range left {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		k.Errorf("process %d is left: %q", pid, cmdline)
	}
}

// processesWith returns the processes that have a variable, or a word in their command line that
// begins with a path.
func processesWith(variable, path string) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		cmdline, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		has := func(words []byte, match func(string) bool) bool {
			return slices.ContainsFunc(strings.Split(string(words), "\x00"), match)
		}
		if has(environ, func(w string) bool { return w == variable }) || has(cmdline, func(w string) bool { return strings.HasPrefix(w, path) }) {
			pids = append(pids, pid)
		}
	}
	return pids
}
