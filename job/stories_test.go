package job_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/golden"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// TestStories plays the stories of testdata, each in a world of its own. Each folder has the
// stories of the rules that one Go file implements. The folder has the name of that file. Rewrite
// the outputs with -update, and commit a rewritten story only if you can explain every line.
//
// The command "job" creates the job, with a batch/v1 spec as input. A missing template is filled
// in. The commands are the fields of the table stage.commands, each with a comment.
func TestStories(t *testing.T) {
	golden.Run(t, "testdata", func() golden.Story {
		s := &stage{}
		return s.play
	})
}

// World is the embedded world. Its own name keeps it apart from the field Job.
type World = world.Job

// stage is the world of a story, with the commands that change it.
type stage struct {
	*World
	c *golden.Command
}

func (s *stage) play(t *testing.T, c *golden.Command) string {
	t.Helper()
	s.c = c
	do, ok := s.commands()[c.Name]
	switch {
	case !ok:
		c.Fatalf("no such command")
	case s.World == nil && c.Name != "job" && c.Name != "steps":
		c.Fatalf("the story does not begin with a job")
	}
	out := do()
	if err := s.Err(); err != nil {
		c.Fatalf("%v", err)
	}
	return brief(out)
}

func (s *stage) commands() map[string]func() string {
	silently := func(act func()) func() string {
		return func() string { act(); return "" }
	}
	pods := func(allows func(*job.Pod) bool, act func(*job.Pod)) func() string {
		return silently(func() { s.each(allows, act) })
	}
	pending := func(p *job.Pod) bool { return p.Phase == job.PodPending }
	running := func(p *job.Pod) bool { return p.Phase == job.PodRunning }
	return map[string]func() string{
		// The job and its users.
		"job":          silently(s.newJob),      // [stale] [gangs]; spec as input
		"edit":         silently(s.edit),        // changes of the spec as input
		"delete-job":   silently(s.DeleteJob),   // the job is being deleted
		"steps":        s.steps,                 // lines as input, as a kit prints them; the controller acts after each
		"recreate-job": silently(s.recreateJob), // a new job of the same name, the old one is gone
		"write-status": silently(s.writeStatus), // changes of the status as input
		// The controller. fail=N makes the N-th write of the round fail, lose=N loses only its
		// reply, and crash=N crashes before it. refuse=NAME makes each write fail whose text begins
		// with NAME. With any of these, or with the flag writes, a round prints its writes. A line
		// of input such as "2: succeed j-1" happens before the 2nd write.
		"round":               s.round,
		"plan":                s.planOnly,                            // prints what a round would do
		"deliver":             silently(s.deliver),                   // all, job, groups, or pods: updates a stale view
		"orphans":             s.orphans,                             // removes the finalizers of a job that no longer exists
		"expire":              s.expire,                              // ttlSecondsAfterFinished
		"restart-controllers": silently(func() { s.Restart(false) }), // it forgets everything
		// The pods. "all" stands for all pods to which the command can apply.
		"run":     pods(pending, s.Run),
		"succeed": pods(unfinished, func(p *job.Pod) { s.Finish(p, 0) }),
		"fail":    pods(unfinished, s.fail),                                               // [code=N] [condition=TYPE] [init]
		"delete":  pods(unfinished, s.Delete),                                             // it ends within its grace period
		"evict":   pods(unfinished, s.Evict),                                              // it gets the condition DisruptionTarget, and is deleted
		"kubelet": silently(func() { kubelet(s.World) }),                                  // ends the pods that are being deleted
		"restart": pods(running, s.restart),                                               // [times=N] the container restarts
		"pod":     silently(s.addPod),                                                     // another client makes a pod
		"unlabel": pods(unfinished, func(p *job.Pod) { p.Owner = jobpod.OwnedUnmatched }), // pods stop matching the selector
		// Time, and the state to print.
		"tick":   s.tick,
		"state":  s.State,
		"status": s.status,
		"events": s.events, // the events since the last command events
		"memory": s.memory,
	}
}

func (s *stage) newJob() {
	spec := job.Spec{Template: job.Template{RestartPolicy: job.RestartNever, Containers: []string{"main"}}}
	s.c.Decode(&spec)
	job.Default(&spec)
	if err := job.Validate(spec); err != nil && !s.c.Bool("invalid", false) {
		s.c.Fatalf("%v", err)
	}
	s.World = world.NewJob(spec)
	s.Stale, s.Options.Gangs = s.c.Bool("stale", false), s.c.Bool("gangs", false)
}

func (s *stage) edit() {
	s.Edit(func(spec *job.Spec) {
		*spec = restored(*spec)
		s.c.Decode(spec)
	})
}

func (s *stage) recreateJob() {
	s.Job.UID = "job-2"
	s.Job.CreationTimestamp, s.Job.DeletionTimestamp, s.Job.Status = s.Now, time.Time{}, job.Status{}
	for _, p := range s.Pods {
		if p.Owner <= jobpod.OwnedUnmatched {
			p.Owner = jobpod.Foreign
		}
	}
}

func (s *stage) writeStatus() {
	status := restored(s.Job.Status)
	s.c.Decode(&status)
	s.Job.Status = status
}

func (s *stage) round() string {
	var out strings.Builder
	asked := s.faults(&out)
	if _, err := s.Round(); err != nil {
		return "refused: " + err.Error()
	}
	s.Fault = nil
	if !asked {
		out.Reset()
	}
	return s.LastPlan() + out.String() + s.State()
}

// steps carries out the lines of its input. The controller has its rounds after each line and while
// time passes. Then steps prints the status.
func (s *stage) steps() string {
	for text := range strings.Lines(s.c.Input) {
		c := s.c.Within(text)
		var err error
		if c.Name == "tick" {
			err = s.Pass(duration(c))
		} else {
			s.during(c)
			err = s.Settle()
		}
		if err != nil {
			c.Fatalf("%v", err)
		}
	}
	return s.Job.Status.String()
}

// faults sets the faults of the round, and logs its writes if the command asks for that.
func (s *stage) faults(log *strings.Builder) (asked bool) {
	faults := make(map[int]world.Fault)
	for key, fault := range map[string]world.Fault{"fail": world.Fail, "lose": world.LoseReply, "crash": world.Crash} {
		if n := s.c.Int(key, 0); n > 0 {
			faults[n] = fault
		}
	}

	refuse := s.c.String("refuse", "none")
	meanwhile := s.meanwhile()
	count := 0

	s.Fault = func(write world.Write) world.Fault {
		count++
		for _, line := range meanwhile[count] {
			s.during(line)
		}
		fault := faults[count]
		if strings.HasPrefix(write.String(), refuse) {
			fault = world.Fail
		}
		words := [...]string{"done", "refused", "done, reply lost", "crash before it"}
		fmt.Fprintf(log, "write %d, %s: %s\n", count, write, words[fault])
		return fault
	}
	return s.c.Bool("writes", false) || refuse != "none" || len(faults) > 0
}

// meanwhile returns the commands in the input of a round, such as "2: succeed j-1", by the
// number of the write before which they happen.
func (s *stage) meanwhile() map[int][]*golden.Command {
	commands := make(map[int][]*golden.Command)
	for line := range strings.Lines(s.c.Input) {
		number, text, _ := strings.Cut(line, ":")
		n, err := strconv.Atoi(number)
		if err != nil {
			s.c.Fatalf("%q does not begin with the number of a write", line)
		}
		commands[n] = append(commands[n], s.c.Within(text))
	}
	return commands
}

// during lets a command happen during another one.
func (s *stage) during(c *golden.Command) {
	do, ok := s.commands()[c.Name]
	if !ok {
		c.Fatalf("no such command")
	}
	outer := s.c
	s.c = c
	do()
	s.c = outer
}

func (s *stage) planOnly() string {
	plan, err := job.Reconcile(s.Snapshot())
	if err != nil {
		return "refused: " + err.Error()
	}
	return plan.String()
}

func (s *stage) deliver() {
	for i, a := range s.c.Args {
		switch name := s.c.Word(i); a.Key {
		case "all":
			s.DeliverAll()
		case "job":
			s.DeliverJob()
		case "groups":
			s.DeliverGroups()
		default:
			s.Deliver(s.uidOf(name))
		}
	}
}

func (s *stage) orphans() string {
	var out strings.Builder
	for _, p := range slices.Clone(s.Pods) {
		if p.Owner > jobpod.OwnedUnmatched || !job.MayUntrack(nil, p, s.Options) {
			continue
		}
		p.Untracked = true
		if p.Deletion != nil {
			s.Delete(p) // nothing holds it any more
		}
		fmt.Fprintf(&out, "untrack %s\n", p.Name)
	}
	return out.String()
}

func (s *stage) expire() string {
	expired, at, err := job.Expire(&s.Job, s.Options, s.Now)
	switch {
	case err != nil:
		return err.Error()
	case expired:
		return "expired"
	case at.IsZero():
		return "never"
	}
	return "not before " + clock(at)
}

// uidOf returns the UID of a pod that exists, or that the view still shows.
func (s *stage) uidOf(name string) job.UID {
	for i := range s.View.Pods {
		if s.View.Pods[i].Name == name {
			return s.View.Pods[i].UID
		}
	}
	return s.pod(name).UID
}

// pod returns the pod of that name.
func (s *stage) pod(name string) *job.Pod {
	p := s.Pod(name)
	if p == nil {
		s.c.Fatalf("there is no pod %q:\n%s", name, s.State())
	}
	return p
}

// each acts on the pods that the command names.
func (s *stage) each(allows func(*job.Pod) bool, act func(*job.Pod)) {
	var pods []*job.Pod
	words := 0
	for _, a := range s.c.Args {
		if a.Values != nil {
			continue
		}
		switch name := s.c.Word(words); name {
		case "init": // a flag of fail
		case "all":
			for _, p := range s.Pods {
				if allows(p) {
					pods = append(pods, p)
				}
			}
		default:
			pods = append(pods, s.pod(name))
		}
		words++
	}

	for _, p := range pods {
		act(p)
	}
}

func (s *stage) fail(p *job.Pod) {
	s.condition(p)
	s.Finish(p, int32(s.c.Int("code", 1)))
	if s.c.Bool("init", false) {
		c := &detailOf(p).Containers[0]
		c.Name, c.Kind = "setup", jobpod.Init
	}
}

func (s *stage) restart(p *job.Pod) {
	for range s.c.Int("times", 1) {
		s.RestartContainer(p)
	}
}

func (s *stage) condition(p *job.Pod) {
	if name := s.c.String("condition", ""); name != "" {
		d := detailOf(p)
		d.Conditions = append(d.Conditions, job.PodCondition{Type: name, Status: job.ConditionTrue})
	}
}

// detailOf gives the pod a detail of its own, because views share its old one.
func detailOf(p *job.Pod) *job.PodDetail {
	var d job.PodDetail
	if p.Detail != nil {
		d = restored(*p.Detail)
	}
	p.Detail = &d
	return p.Detail
}

// addPod adds a pod: name=, index=, owner=, tracked, failures=, phase=. A pod of phase Running,
// Succeeded or Failed gets the times and containers of a pod that has reached this phase.
func (s *stage) addPod() {
	p := job.Pod{
		Name:      s.c.String("name", ""),
		Index:     job.IndexAt(int32(s.c.Int("index", -1))),
		Untracked: !s.c.Bool("tracked", false),
		Detail:    &job.PodDetail{FailureCount: int32(s.c.Int("failures", 0))},
	}
	var phase job.PodPhase
	if err := phase.UnmarshalText([]byte(s.c.String("phase", ""))); err != nil {
		s.c.Fatalf("%v", err)
	}
	if err := p.Owner.UnmarshalText([]byte(s.c.String("owner", ""))); err != nil {
		s.c.Fatalf("%v", err)
	}
	added := s.AddPod(p)
	switch phase {
	case job.PodRunning:
		s.Run(added)
	case job.PodSucceeded, job.PodFailed:
		s.Finish(added, int32(phase-job.PodSucceeded))
	}
}

func (s *stage) tick() string {
	s.Now = s.Now.Add(duration(s.c))
	return clock(s.Now)
}

func duration(c *golden.Command) time.Duration {
	d, err := time.ParseDuration(c.Word(0))
	if err != nil {
		c.Fatalf("%v", err)
	}
	return d
}

// status prints the times and the conditions.
func (s *stage) status() string {
	var out strings.Builder
	status := &s.Job.Status
	fmt.Fprintf(&out, "started %s, completed %s\n", clock(status.StartTime), clock(status.CompletionTime))
	for _, c := range status.Conditions {
		fmt.Fprintf(&out, "%s %s %s since %s: %s\n", c.Type, c.Status, c.Reason, clock(c.LastTransitionTime), c.Message)
	}
	return out.String()
}

func (s *stage) events() string {
	var out strings.Builder
	for _, e := range s.Events {
		fmt.Fprintf(&out, "%s %s: %s\n", e.Type, e.Reason, e.Message)
	}
	s.Events = nil
	return out.String()
}

func (s *stage) memory() string {
	var parts []string
	m := s.Memory
	if m.Backoff.Failures > 0 {
		parts = append(parts,
			fmt.Sprintf("%d failures, the last at %s", m.Backoff.Failures, clock(m.Backoff.LastFailure)))
	}
	if e := m.Expectations; e.Creations != 0 || e.Deletions != 0 {
		parts = append(parts, fmt.Sprintf("to be seen: %d creations, %d deletions", e.Creations, e.Deletions))
	}
	if m.Untracking.Len() > 0 {
		parts = append(parts, fmt.Sprintf("finalizers removed: %v", slices.Collect(m.Untracking.All())))
	}
	if m.Finished {
		parts = append(parts, "finished")
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, "\n")
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format("15:04:05")
}

var (
	podName  = regexp.MustCompile(`\bj(-\d+)+\b|\bindex[ =]\d+|^write \d+`)
	manyUIDs = regexp.MustCompile(`\[(uid-\d+ ){7,}uid-\d+\]`)
)

// brief shortens a text. More than five alike lines in a row become one line. In a long text, alike
// lines are first moved together. A long list of UIDs becomes their number.
func brief(text string) string {
	text = manyUIDs.ReplaceAllStringFunc(text, func(list string) string {
		return fmt.Sprintf("[%d UIDs]", strings.Count(list, " ")+1)
	})

	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > 60 {
		lines = grouped(lines)
	}

	var out []string
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && alike(lines[i+n]) == alike(lines[i]) {
			n++
		}
		if n > 5 {
			out = append(out, fmt.Sprintf("%s (%d times)", alike(lines[i]), n))
		} else {
			out = append(out, lines[i:i+n]...)
		}
		i += n
	}
	return strings.Join(out, "\n")
}

// alike returns a line without its numbers. Alike lines differ only in their numbers.
func alike(line string) string {
	return podName.ReplaceAllStringFunc(line, func(name string) string {
		return strings.TrimRight(name, "-0123456789") + "*"
	})
}

// grouped moves each line behind the earlier lines that are alike.
func grouped(lines []string) []string {
	var order []string
	groups := make(map[string][]string)
	for _, line := range lines {
		key := alike(line)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], line)
	}
	var out []string
	for _, key := range order {
		out = append(out, groups[key]...)
	}
	return out
}

// TestSteps_Pasted: the steps that a kit has printed can be pasted into a story. Scripts and the
// page have the same test.
func TestSteps_Pasted(t *testing.T) {
	const of = "../internal/line/testdata"
	dir := t.TempDir()
	testfile.Write(t, "steps\n"+testfile.Read(t, of, "steps.txt")+"----\n"+testfile.Read(t, of, "end.txt"), dir, "pasted.txt")
	golden.Run(t, dir, func() golden.Story {
		s := &stage{}
		return s.play
	})
}
