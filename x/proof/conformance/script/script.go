// Package script holds scripts: a few objects and what happens to them, step by
// step. A script is text, so that it can be kept, read and shortened by hand:
//
//	# a comment
//	job {"parallelism":2,"template":...}
//	bind 0
//	run 0
//	fail 0 code=1
//	tick 10s
//
// A step names an operation and its arguments. Pods and jobs are numbered in the order of their
// names. Numbers beyond the last start again at the first, so that every step has a meaning
// whatever happened before. In a story that a test kit has printed, "#2" names the second pod that
// was created, or no pod once that pod is gone. The time of a run names the job of that run. The
// story begins in 2026.
package script

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/internal/line"
)

// Script is a sequence of steps in one world, with its objects.
type Script struct {
	// Comment describes the script.
	Comment string
	// Job is the spec of the job "j", and CronJob is the spec of the CronJob "c".
	Job     *batchv1.JobSpec
	CronJob *batchv1.CronJobSpec
	// Manual leaves out the job controller: steps write the statuses of jobs.
	Manual bool
	// Stale lets controllers act on caches that do not show their own writes yet, as before
	// Kubernetes 1.36 (without the feature gate StaleControllerConsistencyJob): then only
	// expectations prevent mistakes.
	Stale bool
	// Begin is the time at which the world begins; zero means the first second of 2000.
	Begin time.Time
	Steps []Step
}

// Step is one thing that happens.
type Step struct {
	Op   string
	Args []string
}

// String returns the step as a line.
func (s Step) String() string {
	words := []string{s.Op}
	for _, arg := range s.Args {
		if !strings.HasPrefix(arg, "{") && strings.ContainsAny(arg, " ,()") {
			arg = strconv.Quote(arg)
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// Arg returns the argument at a place, or "".
func (s Step) Arg(i int) string {
	if i < len(s.Args) {
		return s.Args[i]
	}
	return ""
}

// Value returns the value of an argument such as "code=1", or missing.
func (s Step) Value(key, missing string) string {
	for _, arg := range s.Args {
		if value, ok := strings.CutPrefix(arg, key+"="); ok {
			return value
		}
	}
	return missing
}

// Tick returns how long time passes, if that is the step.
func (s Step) Tick() (d time.Duration, ok bool) {
	if s.Op != "tick" {
		return 0, false
	}
	return duration(s.Arg(0)), true
}

// String returns the script as text.
func (s *Script) String() string {
	var b strings.Builder
	for _, line := range strings.Split(s.Comment, "\n") {
		if line != "" {
			fmt.Fprintf(&b, "# %s\n", line)
		}
	}

	if s.Job != nil {
		fmt.Fprintf(&b, "job %s\n", marshal(s.Job))
	}
	if s.CronJob != nil {
		fmt.Fprintf(&b, "cronjob %s\n", marshal(s.CronJob))
	}
	if s.Stale {
		b.WriteString("stale\n")
	}
	if s.Manual {
		b.WriteString("manual\n")
	}
	if !s.Begin.IsZero() {
		fmt.Fprintf(&b, "begin %s\n", s.Begin.Format(time.RFC3339))
	}

	for _, step := range s.Steps {
		fmt.Fprintln(&b, step)
	}
	return b.String()
}

func marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// Parse reads a script. An unknown step and an unknown argument are errors. The caller may carry out
// other steps, and reads their arguments.
func Parse(text string, others ...string) (*Script, error) {
	s := &Script{}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if err := s.parseLine(strings.TrimSpace(lines.Text()), others); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if s.Job == nil && s.CronJob == nil {
		return nil, fmt.Errorf("neither a job nor a CronJob")
	}
	ofRuns := slices.ContainsFunc(s.Steps, isOfRun)
	if ofRuns || slices.ContainsFunc(s.Steps, isNumbered) {
		s.Steps = paced(s.Steps)
	}
	if ofRuns {
		s.Manual, s.Begin = true, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return s, lines.Err()
}

// paced lets time pass before and after each step of a story: controllers act immediately in a
// story, but within two seconds on a server.
func paced(steps []Step) []Step {
	act := Step{Op: "tick", Args: []string{"2s"}}
	out := []Step{act}
	for _, step := range steps {
		out = append(out, step, act)
	}
	return out
}

// Template is the JSON field of the simplest pod template.
const Template = `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i"}]}}`

var shortened = strings.NewReplacer("; ", "\n", "TEMPLATE", Template, "JOB", `"jobTemplate":{"spec":{`+Template+`}}`)

// ParseLine is like Parse for lines with several steps, separated by "; ". TEMPLATE in the text
// means [Template]. JOB means a field jobTemplate that contains [Template].
func ParseLine(text string, others ...string) (*Script, error) {
	return Parse(shortened.Replace(text), others...)
}

// MadeStale returns the script for controllers of a release that never wait until they see their
// own writes. A script that holds back the cache of pods loses its orphans: the real controller
// would adopt them again, see generate.go.
func (s *Script) MadeStale() *Script {
	out := *s
	out.Stale = true
	if slices.ContainsFunc(s.Steps, func(s Step) bool { return s.Op == "hold" && s.Arg(0) == "pods" }) {
		out.Steps = slices.Clone(s.Steps)
		for i := range out.Steps {
			if op := out.Steps[i].Op; op == "disown" || op == "stray" {
				out.Steps[i] = Step{Op: "touch"}
			}
		}
	}
	return &out
}

func (s *Script) parseLine(text string, others []string) error {
	op, rest, _ := strings.Cut(text, " ")
	switch {
	case text == "":
	case strings.HasPrefix(text, "#"):
		s.Comment += strings.TrimSpace(strings.TrimPrefix(text, "#")) + "\n"
	case op == "job":
		s.Job = &batchv1.JobSpec{}
		err := decodeInput(op, rest, s.Job)
		complete(&s.Job.Template.Spec)
		return err
	case op == "cronjob":
		s.CronJob = &batchv1.CronJobSpec{}
		err := decodeInput(op, rest, s.CronJob)
		complete(&s.CronJob.JobTemplate.Spec.Template.Spec)
		return err
	case text == "manual":
		s.Manual = true
	case text == "stale":
		s.Stale = true
	case op == "begin":
		var err error
		s.Begin, err = time.Parse(time.RFC3339, rest)
		return err
	default:
		return s.parseStep(text, others)
	}
	return nil
}

// complete fills in the fields of a template that a server requires and a story may leave out.
func complete(s *corev1.PodSpec) {
	s.RestartPolicy = cmp.Or(s.RestartPolicy, corev1.RestartPolicyNever)
	if s.Containers == nil {
		s.Containers = []corev1.Container{{Name: "main"}}
	}
	for i := range s.Containers {
		s.Containers[i].Image = cmp.Or(s.Containers[i].Image, "i")
	}
}

func (s *Script) parseStep(text string, others []string) error {
	l, err := line.Parse(text)
	if err != nil {
		return err
	}
	if l.Input != "" && !json.Valid([]byte(l.Input)) {
		return fmt.Errorf("%s: not JSON: %s", l.Name, l.Input)
	}

	step := Step{Op: l.Name}
	for _, a := range l.Args {
		arg := a.Key
		if a.Values != nil {
			arg += "=" + strings.Join(a.Values, ",")
		}
		step.Args = append(step.Args, arg)
	}
	if l.Input != "" {
		step.Args = append(step.Args, l.Input)
	}
	s.Steps = append(s.Steps, step)

	if slices.Contains(others, l.Name) {
		return nil
	}
	form, ok := forms[l.Name]
	if !ok {
		return fmt.Errorf("%s: no such step", l.Name)
	}
	if err := l.Check(form); err != nil || l.Name != "edit" {
		return err
	}
	if s.Job == nil {
		return decodeInput(l.Name, l.Input, &batchv1.CronJobSpec{})
	}
	return decodeInput(l.Name, l.Input, &batchv1.JobSpec{})
}

// decodeInput reads the JSON of a line. Errors name the line.
func decodeInput(name, text string, into any) error {
	if err := line.Decode(text, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// forms holds the arguments of the steps.
var forms = map[string]string{
	"tick": "DURATION",

	// The pods, by a number, a range, or "all".
	"bind": "POD", "run": "POD", "unready": "POD", "ready": "POD", "lost": "POD", "unknown": "POD",
	"strip": "POD", "relabel": "POD", "disown": "POD", "claim": "POD",
	"evict":    "POD",
	"delete":   "POD [N]",
	"gone":     "POD [N]",
	"succeed":  "POD",
	"fail":     "POD [code=N] [container=NAME]",
	"restart":  "POD [times=N] [container=NAME]",
	"mark":     "POD TYPE [failed]",
	"annotate": "POD index|failures|ignored VALUE",
	"part":     "POD PHASE STATE STATE",
	"merge":    "POD JSON",

	// The job.
	"edit": "JSON", "mergejob": "JSON", "suspend": "on|off", "parallelism": "N|none", "completions": "N|none",
	"resize": "N", "minCount": "N", "limit": "N|none", "ttl": "N|none", "deadline": "N|none",
	"ungroup":    "RESOURCE",
	"delete-job": "[Background|Foreground|Orphan]",
	"recreate":   "",
	"complete":   "JOB",
	"touch":      "",
	"stray":      strayForm + " " + strayForm + " " + strayForm,
	"condition":  "TYPE [True|False] [REASON] [MESSAGE]",
	"counter":    "active|ready|terminating|failed|succeeded|failedIndexes VALUE",
	"old":        "mode|schedule|zone|managedBy VALUE",

	// The CronJob.
	"cronsuspend": "on|off", "schedule": "TEXT", "zone": "ZONE", "concurrency": "POLICY", "starting": "N|none",
	"successful": "N|none", "failed": "N|none",
	"deletecron": "Background|Foreground|Orphan",
	"squat":      "N [owned|restored|report|elsewhere]",
	"cronmanual": "",

	// The controllers and the server.
	"closing": "", "restart-controllers": "", "stop-controllers": "",
	"hold": "RESOURCE", "release": "RESOURCE",
	"skew":  "DURATION",
	"fault": "VERB RESOURCE conflict|error|quota|gone|lost all|even|odd DURATION",
}

const strayForm = "[tracked|owned|foreign|unlabeled|elsewhere|N]"
