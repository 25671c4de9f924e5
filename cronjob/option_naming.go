package cronjob

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/enum"
)

// Naming is how the jobs of a CronJob are named. The zero value names them as Kubernetes does.
// A name is the lock of its run (C13), so it must follow from the CronJob and the run alone. Do
// not change it while jobs of other names are kept: their runs would be unknown.
type Naming struct {
	// Form says how the name of a job identifies its run.
	Form NameForm `json:"form,omitempty"`
	// Prefix begins the names of all jobs, including jobs of triggers. NameCustom has its own.
	Prefix string `json:"prefix,omitempty"`
	// Namer makes the names of runs. It is required with NameCustom, and refused otherwise. A
	// stored snapshot leaves it out: set it again.
	Namer Namer `json:"-"`
}

// NameForm says how the name of a job identifies its run.
type NameForm uint8

// The forms of names.
const (
	// NameMinutes: the name ends in the minutes from 1970 to the run. Runs of one minute, as
	// "@every 30s" has them, share a name, and one of them starts.
	NameMinutes NameForm = iota
	// NameSeconds: it ends in the seconds.
	NameSeconds
	// NameCustom: Naming.Namer makes it.
	NameCustom
)

const nameForms = "minutes|seconds|custom"

// String returns the form in a word.
func (f NameForm) String() string { return enum.String(nameForms, int(f), "NameForm") }

// MarshalText is [NameForm.String].
func (f NameForm) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads what MarshalText writes; the empty text is NameMinutes.
func (f *NameForm) UnmarshalText(text []byte) error {
	i, err := enum.Parse(nameForms, string(text), "form")
	*f = NameForm(i)
	return err
}

// Namer names the jobs of runs. Both methods are pure functions, which any number of goroutines call.
// Runs that share a name are one run: the first of them to be due starts.
type Namer interface {
	// Name returns the name of the job of a run. Different parents have different names.
	Name(parent string, run time.Time) string
	// Run returns the time that a name tells, and false for a name that is not one of this parent's
	// runs. Of the name of a run, it is the time of the run, or the start of the span whose
	// runs share the name, to the second. Without it, nothing would tell which run a
	// job belongs to that the snapshot does not show.
	Run(parent, name string) (run time.Time, ok bool)
}

// JobName returns the name of the job of a run.
func (n Naming) JobName(cronJob string, run time.Time) string {
	own := n.of(cronJob)
	return own.of(run).String()
}

// TriggerName returns the name of the job of a trigger.
func (n Naming) TriggerName(cronJob string, t Trigger) string { return t.JobName(n.Prefix + cronJob) }

// RunNamed returns the time that the name of a job tells (see [Namer]), and false for a name that is not
// one of this CronJob's runs.
func (n Naming) RunNamed(cronJob, name string) (run time.Time, ok bool) {
	own := n.of(cronJob)
	run = own.runNamed(name)
	return run, !run.IsZero() && own.of(run).is(name)
}

// check refuses a form that does not fit, and a Namer that cannot read its own names. Now is the time of
// the round.
func (n *Naming) check(cronJob string, now time.Time) error {
	switch {
	case n.Form > NameCustom:
		return invalid("options.naming.form", int(n.Form), "is not a form of names")
	case n.Form != NameCustom && n.Namer != nil:
		return invalid("options.naming.form", n.Form.String(), "must be custom with a namer")
	case n.Form != NameCustom:
		return nil
	case n.Namer == nil:
		return invalid("options.naming.namer", "", "is required with form custom; a stored snapshot leaves it out")
	case n.Prefix != "":
		return invalid("options.naming.prefix", n.Prefix,
			"must be empty with form custom: the namer makes the whole name")
	}

	name := n.Namer.Name(cronJob, now)
	run, ok := n.Namer.Run(cronJob, name)
	switch {
	case !ok, run.After(now), n.Namer.Name(cronJob, run) != name:
		return invalid("options.naming.namer", name,
			fmt.Sprintf("is its name of %s, and its Run does not read that back", now.UTC().Format(time.RFC3339)))
	}
	return nil
}

// checkMinutes refuses names in minutes for a schedule in seconds, whose runs of one minute would
// be one run. Kubernetes has them so for "@every 30s", which is not refused.
func (n *Naming) checkMinutes(c *Compiled) error {
	switch {
	case n.Form != NameMinutes, c.Schedule.DistinctMinutes(), strings.HasPrefix(c.Schedule.String(), "@"):
		return nil
	}
	return invalid("options.naming.form", n.Form.String(), fmt.Sprintf(
		"gives the runs of one minute one name, and schedule %q can have several: use seconds or custom", c.Schedule))
}

// of returns the names of one CronJob's jobs.
func (n *Naming) of(cronJob string) names {
	return names{cronJob: n.Prefix + cronJob, form: n.Form, namer: n.Namer}
}
