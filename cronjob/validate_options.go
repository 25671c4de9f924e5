package cronjob

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/batchplan/batchplan/schedule"
)

// Validate checks the options. All problems are reported together: the error joins a
// [*job.InputError] for each. Call it before the first round: a round checks less, and returns an
// error only if it cannot plan at all. [Options.ValidateFor] also checks what depends on a CronJob.
func (o Options) Validate() error {
	var catchUp error
	if o.CatchUp > CatchUpAll {
		catchUp = invalid("options.catchUp", int(o.CatchUp), "is not a way to catch up")
	}
	return errors.Join(
		o.check(), o.ChildKind.check(), o.Marks.check(), o.Marks.checkKeys(), catchUp, o.Naming.checkForm())
}

// ValidateFor checks a CronJob after [Default] together with the options for planning it, and the
// options for compiling its schedule. In addition to the problems of [CronJob.Validate] and
// [Options.Validate], it reports names that a server would refuse, names that do not distinguish
// runs or parents, and a [Namer] that is not a pure function. All problems are reported together.
func (o Options) ValidateFor(c *CronJob, opts ...schedule.Option) error {
	problems := []error{c.checkName(), c.Spec.validate(opts...), o.Validate()}
	if o.Naming.checkForm() != nil {
		return errors.Join(problems...)
	}
	if err := o.Naming.checkNamer(c.Name, aRun); err != nil {
		return errors.Join(append(problems, err)...)
	}

	compiled := Compile(c, opts...)
	if compiled.Problem == 0 {
		problems = append(problems, o.Naming.checkMinutes(&compiled))
	}
	return errors.Join(append(problems, o.Naming.checkNames(c.Name, compiled.Schedule))...)
}

// aRun is an arbitrary run, to try names with.
var aRun = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// checkNames checks names of a parent's runs.
func (n *Naming) checkNames(parent string, s schedule.Schedule) error {
	if n.Form != NameCustom {
		name := n.Prefix + parent
		problem := nameProblem(name)
		if problem == "" || nameProblem(parent) != "" { // that is reported already
			return nil
		}
		return invalid("options.naming.prefix", n.Prefix, fmt.Sprintf("makes the name %q: %s", name, problem))
	}

	run := s.Next(aRun)
	if run.IsZero() {
		run = aRun
	}

	name := n.Namer.Name(parent, run)
	var problem string
	switch {
	case n.Namer.Name(parent, run.In(time.FixedZone("", 3600))) != name:
		problem = "is not always the name of the same run"
	case n.Namer.Name(parent+"-a", run) == name:
		problem = fmt.Sprintf("is also the name of a run of %q", parent+"-a")
	case len(name) > maxLabel:
		problem = fmt.Sprintf("is longer than %d bytes", maxLabel)
	case !isSubdomain(name):
		problem = "each part between dots " + notLabel
	case !s.Next(run).IsZero() && n.number(parent, s.Next(run)) < n.number(parent, run):
		problem = fmt.Sprintf("tells a later time than the name of a later run, %q", n.Namer.Name(parent, s.Next(run)))
	default:
		return nil
	}
	return invalid("options.naming.namer", name, problem)
}

// number returns the number in the name of a run.
func (n *Naming) number(parent string, run time.Time) int64 {
	own := n.of(parent)
	return own.number(run)
}

// checkKeys checks the keys of labels and annotations.
func (m *Marks) checkKeys() error {
	problems := []error{
		checkKey("options.marks.timeKey", m.TimeKey),
		checkKey("options.marks.requestKey", m.RequestKey),
	}
	if m.TimeIn == InLabel && m.timeKey() == m.requestKey() {
		problems = append(problems, invalid("options.marks.requestKey", m.requestKey(), "is also the key of the time"))
	}
	return errors.Join(problems...)
}

// checkKey checks the key of a label or an annotation, unless it is empty: a name after an optional
// domain and a slash.
func checkKey(field, key string) error {
	domain, name, found := strings.Cut(key, "/")
	if !found {
		name = key
	}

	switch {
	case key == "":
		return nil
	case found && (len(domain) > 253 || !isSubdomain(domain)):
		return invalid(field, key, "must have a domain before the slash, such as example.com")
	case len(name) > maxLabel, !isWord(name, letters, "-_."):
		return invalid(field, key, "must have a name of at most 63 letters, digits, '-', '_' and '.' "+
			"that begins and ends with a letter or digit")
	}
	return nil
}
