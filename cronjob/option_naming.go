package cronjob

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/enum"
)

// Naming defines the names of a CronJob's jobs. The zero value names them as Kubernetes does. A
// name is the lock of its run (C13), so it must depend only on the CronJob and the run. Do not
// change the naming while jobs with old names exist: their runs would be unknown.
type Naming struct {
	// Form determines how the name of a job identifies its run.
	Form NameForm `json:"form,omitempty"`
	// Prefix begins the names of all jobs, including jobs of triggers. It must be empty with
	// NameCustom.
	Prefix string `json:"prefix,omitempty"`
	// Namer makes the names of runs. It is required with NameCustom, and an error otherwise. It is
	// not stored with a snapshot: set it again.
	Namer Namer `json:"-"`
}

// NameForm determines how the name of a job identifies its run.
type NameForm uint8

// The forms of names.
const (
	// NameMinutes: the name ends in the minutes from 1970 to the run. Runs in the same minute, as
	// "@every 30s" has them, share a name, so only one of them starts.
	NameMinutes NameForm = iota
	// NameSeconds: the name ends in the scheduled time of the run, as Unix seconds.
	NameSeconds
	// NameCustom: Naming.Namer makes the name.
	NameCustom
)

const nameForms = "Minutes|Seconds|Custom"

// String returns the name of the constant without Name.
func (f NameForm) String() string { return enum.String(nameForms, int(f), "NameForm") }

// MarshalText is [NameForm.String].
func (f NameForm) MarshalText() ([]byte, error) { return enum.Text(nameForms, int(f), "NameForm") }

// UnmarshalText reads what MarshalText writes; the empty text is NameMinutes. Any other text is an
// error and changes nothing.
func (f *NameForm) UnmarshalText(text []byte) error { return enum.Read(f, nameForms, text, "form") }

// Namer names the jobs of runs. Both methods must be pure functions and safe for concurrent use.
// Runs that share a name count as one run: the first of them that is due starts.
type Namer interface {
	// Name returns the name of the job of a run. Different parents must get different names.
	Name(parent string, run time.Time) string
	// Run returns the time, to the second, of the run whose job has this name. It returns false if
	// the name is not that of one of parent's runs. If several runs share the name, it returns the
	// start of the span of time that contains them. The planner calls Run to identify the run of a
	// job that is missing from the snapshot.
	Run(parent, name string) (run time.Time, ok bool)
}

// JobName returns the name of the job of a run. With the zero Naming, it is the name that
// Kubernetes gives: the name of the CronJob, a dash, and the minutes from 1970 to the run. The name
// is the lock of the run: runs that share it, such as two in one minute, count as one (C13).
func (n Naming) JobName(cronJob string, run time.Time) string {
	own := n.of(cronJob)
	return own.of(run).String()
}

// TriggerName returns the name of the job of a trigger.
func (n Naming) TriggerName(cronJob string, t Trigger) string {
	return n.Prefix + cronJob + manualInfix + t.ID
}

// RunNamed returns the time of the run to which the name of a job belongs (see [Namer]), and false
// if it is not the name of one of the CronJob's runs.
func (n Naming) RunNamed(cronJob, name string) (run time.Time, ok bool) {
	own := n.of(cronJob)
	run = own.runNamed(name)
	return run, !run.IsZero() && own.of(run).is(name)
}

// checkForm returns an error if the fields contradict each other.
func (n *Naming) checkForm() error {
	switch {
	case n.Form > NameCustom:
		return invalid("options.naming.form", int(n.Form), "is not a form of names")
	case n.Form != NameCustom && n.Namer != nil:
		return invalid("options.naming.form", n.Form.String(), "must be Custom with a namer")
	case n.Form != NameCustom:
		return nil
	case n.Namer == nil:
		return invalid("options.naming.namer", "", "is required with form Custom; a stored snapshot leaves it out")
	case n.Prefix != "":
		return invalid("options.naming.prefix", n.Prefix,
			"must be empty with form Custom: the namer makes the whole name")
	}
	return nil
}

// checkNamer returns an error if there is a Namer that cannot read its own names. Argument now is
// the time of the round.
func (n *Naming) checkNamer(cronJob string, now time.Time) error {
	if n.Form != NameCustom {
		return nil
	}
	name := n.Namer.Name(cronJob, now)
	run, ok := n.Namer.Run(cronJob, name)
	if !ok || run.After(now) || n.Namer.Name(cronJob, run) != name {
		return invalid("options.naming.namer", name,
			fmt.Sprintf("is its name of %s, and its Run does not read that back", now.UTC().Format(time.RFC3339)))
	}
	return nil
}

// checkMinutes returns an error if names are in minutes, and the schedule can have several runs in
// a minute. The runs of one minute would count as one run. It accepts "@every 30s", as Kubernetes
// does.
func (n *Naming) checkMinutes(c *Compiled) error {
	switch {
	case n.Form != NameMinutes, c.Schedule.DistinctMinutes(), strings.HasPrefix(c.Schedule.String(), "@"):
		return nil
	}
	return invalid("options.naming.form", n.Form.String(), fmt.Sprintf(
		"gives the runs of one minute one name, and schedule %q can have several: use Seconds or Custom", c.Schedule))
}

// of returns the names of one CronJob's jobs.
func (n *Naming) of(cronJob string) names {
	return names{cronJob: n.Prefix + cronJob, form: n.Form, namer: n.Namer}
}
