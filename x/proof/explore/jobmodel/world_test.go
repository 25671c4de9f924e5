package jobmodel

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/line"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/proof/explore"
)

// TestModelIsTheWorld takes random steps through the model, writes them as a story, and plays the
// commands of the story in a world.Job. Whenever no round is under way, both must have the same
// pods, status, expectations and time of the next round.
func TestModelIsTheWorld(t *testing.T) {
	const ways, length = 40, 60
	rounds := 0
	for _, scope := range Small {
		if scope.Controllers > 1 || scope.Versions {
			continue
		}
		t.Run(scope.Name, func(t *testing.T) {
			m := New(scope, NoSymmetry|named)
			for seed := range uint64(ways) {
				steps := walk(m, rand.New(rand.NewPCG(seed, 1)), length)
				rounds += compare(t, m, steps)
			}
		})
	}
	if rounds < 1000 {
		t.Errorf("only %d rounds", rounds)
	}
}

// walk takes random steps. It returns them up to the last state without a round under way.
func walk(m *Model, random *rand.Rand, length int) (steps []told) {
	w := m.Worker().(*worker)
	at, idle := m.start, 0
	for range length {
		var next []explore.Step[state]
		w.Expand(&at, &explore.Tally{Taken: make([]int, kindCount), Rules: make([]int, len(rules))}, func(step explore.Step[state]) {
			if k := kind(step.Kind); k != kindStrip && k != kindRestart && k != kindOldList && k != kindDelay {
				next = append(next, step)
			}
		})
		if len(next) == 0 {
			break
		}
		step := next[random.IntN(len(next))]
		steps = append(steps, told{at, step})
		if at = step.To; at.control[0].round == 0 {
			idle = len(steps)
		}
	}
	return steps[:idle]
}

// compare plays the steps in a world, and compares the world with the model. It returns the number
// of rounds.
func compare(t *testing.T, m *Model, steps []told) (rounds int) {
	w := world.NewJob(m.rounds.scope.Spec)
	w.Stale, w.Consistent, w.Options = m.rounds.scope.Late, !m.rounds.scope.Late, m.rounds.scope.Options

	done := 0
	for n := range steps {
		if steps[n].step.To.control[0].round != 0 {
			continue
		}

		commands, err := m.tell(steps[:n+1])
		must.OK(t, err)
		for _, c := range commands[done:] {
			play(t, w, c)
			if c.name == "round" || strings.HasPrefix(c.name, "round ") {
				rounds++
			}
		}

		done = len(commands)
		if is, want := describe(w), m.describe(&steps[n].step.To); is != want {
			t.Fatalf("after\n%v\nthe world is\n%s\nand the model\n%s", commands, is, want)
		}
	}

	must.OK(t, w.Err())
	return rounds
}

// play carries out a command of a story in the world.
func play(t *testing.T, w *world.Job, c command) {
	words := strings.Fields(c.name)
	pod := func() *job.Pod { return w.Pod(words[1]) }
	argument := func(key string) int {
		for _, word := range words {
			if text, ok := strings.CutPrefix(word, key+"="); ok {
				n, err := strconv.Atoi(text)
				must.OK(t, err)
				return n
			}
		}
		return 0
	}
	switch words[0] {
	case "round":
		playRound(t, w, c, argument)
	case "deliver":
		switch words[1] {
		case "job":
			w.DeliverJob()
			return
		case "groups":
			w.DeliverGroups()
			return
		}
		w.Deliver(job.UID("uid-" + words[1][strings.LastIndexAny(words[1], "-p")+1:]))
	case "run":
		w.Run(pod())
	case "succeed":
		w.Finish(pod(), 0)
	case "fail":
		w.Finish(pod(), int32(argument("code")))
	case "delete":
		w.Delete(pod())
	case "evict":
		w.Evict(pod())
	case "pod":
		index := job.NoIndex()
		if len(words) > 2 {
			index = job.IndexAt(0)
		}
		w.AddPod(job.Pod{Owner: jobpod.Orphan, Untracked: true, Index: index})
	case "edit":
		w.Edit(func(s *job.Spec) {
			var changed job.Spec
			text, _ := json.Marshal(*s)
			if json.Unmarshal(text, &changed) != nil || line.Decode(c.input, &changed) != nil {
				t.Fatal(c.input)
			}
			*s = changed
		})
	case "delete-job":
		w.DeleteJob()
	case "tick":
		d, err := time.ParseDuration(words[1])
		must.OK(t, err)
		w.Now = w.Now.Add(d)
	default:
		t.Fatalf("unknown command %q", c.name)
	}
}

func playRound(t *testing.T, w *world.Job, c command, argument func(string) int) {
	writes := 0
	w.Fault = func(world.Write) world.Fault {
		writes++
		for line := range strings.Lines(c.input) {
			if text, ok := strings.CutPrefix(line, strconv.Itoa(writes)+": "); ok {
				inner := command{name: strings.TrimSpace(text)}
				if name, input, ok := strings.Cut(inner.name, " {"); ok {
					inner = command{name, "{" + input}
				}
				play(t, w, inner)
			}
		}
		switch writes {
		case argument("fail"):
			return world.Fail
		case argument("lose"):
			return world.LoseReply
		case argument("crash"):
			return world.Crash
		}
		return world.None
	}
	if _, err := w.Round(); err != nil {
		t.Fatal(err)
	}
	w.Fault = nil
}

// describe returns the state of a world as text. Pods have the number of their UID.
func describe(w *world.Job) string {
	var lines []string
	var values podValues
	for _, p := range w.Pods {
		lines = append(lines, fmt.Sprintf("%s %s", p.UID[4:], podText(&values, *p)))
	}
	status := w.Job.Status
	if u := status.UncountedTerminatedPods; u != nil {
		sorted := job.UncountedTerminatedPods{Succeeded: slices.Sorted(slices.Values(u.Succeeded)), Failed: slices.Sorted(slices.Values(u.Failed))}
		status.UncountedTerminatedPods = &sorted
	}
	text := statusText(status)
	again := uint32(0)
	if !w.Requeue.At.IsZero() {
		again = seconds(w.Requeue.At) + 1
	}
	e := w.Memory.Expectations
	if !w.Stale {
		e.Creations, e.Deletions = 0, 0
	}
	return fmt.Sprintf("%s\n%s\nagain %d, retry %t, to be seen %d %d\n%v", strings.Join(lines, "\n"), text, again, w.Retry, e.Creations, e.Deletions, groupsOf(w))
}

// statusText returns a status without the messages, which can name pods.
func statusText(s job.Status) string {
	s.Conditions = slices.Clone(s.Conditions)
	for i := range s.Conditions {
		s.Conditions[i].Message = ""
	}
	text, _ := json.Marshal(s)
	return string(text)
}

func podText(values *podValues, p job.Pod) string {
	id := values.number(p)
	text, _ := json.Marshal(values.info(id).Pod)
	return string(text)
}

// describe returns a state of the model as text. A world in the same state has the same text.
func (m *Model) describe(s *state) string {
	var lines []string
	var lists job.UncountedTerminatedPods
	for i := range s.pods[:s.known()] {
		p := &s.pods[i]
		addListed(&lists, p.listed, job.UID(fmt.Sprintf("uid-%d", p.id)))
		if p.live != 0 {
			text, _ := json.Marshal(m.rounds.pods.info(p.live).Pod)
			lines = append(lines, fmt.Sprintf("%d %s", p.id, text))
		}
	}
	text := statusText(m.rounds.statuses.with(s.status, lists))
	c := &s.control[0]
	return fmt.Sprintf("%s\n%s\nagain %d, retry %t, to be seen %d %d\n%v", strings.Join(lines, "\n"), text, c.again, c.retry, c.creations, c.deletions, s.groups)
}

// groupsOf returns the groups of a world, in the model's form.
func groupsOf(w *world.Job) (g groups) {
	for _, workload := range w.Groups.Workloads {
		g.workload = uint8(workload.Templates[0].MinCount) + 1
	}
	for _, group := range w.Groups.PodGroups {
		g.group = uint8(group.MinCount) + 1
	}
	return g
}
