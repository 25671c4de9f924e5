package cronjob

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// names converts between runs and names of one CronJob's jobs.
type names struct {
	cronJob string // with the prefix
	form    NameForm
	namer   Namer
}

// runName is the name of a run's job in two parts, so that it can be compared without allocating.
// If a Namer made it, cronJob holds the whole name.
type runName struct {
	cronJob string
	number  [20]byte
	digits  int
}

func (n *names) of(run time.Time) runName {
	if n.form == NameCustom {
		return runName{cronJob: n.namer.Name(n.cronJob, run)}
	}
	name := runName{cronJob: n.cronJob}
	name.digits = len(strconv.AppendInt(name.number[:0], n.number(run), 10))
	return name
}

// is reports whether n equals name.
func (n runName) is(name string) bool {
	if n.digits == 0 {
		return name == n.cronJob
	}
	rest, ok := strings.CutPrefix(name, n.cronJob)
	number, hasDash := strings.CutPrefix(rest, "-")
	return ok && hasDash && number == string(n.number[:n.digits])
}

func (n runName) String() string {
	if n.digits == 0 {
		return n.cronJob
	}
	return n.cronJob + "-" + string(n.number[:n.digits])
}

// number returns the number in the name of a run. The number identifies the run, and later runs
// have greater numbers.
func (n *names) number(run time.Time) int64 {
	switch n.form {
	case NameMinutes:
		return run.Unix() / 60
	case NameCustom:
		if start, ok := n.namer.Run(n.cronJob, n.namer.Name(n.cronJob, run)); ok {
			return start.Unix()
		}
	}
	return run.Unix()
}

// startOf returns the earliest time of a run whose job would have the same name as the job of the
// given run.
func (n *names) startOf(run time.Time) time.Time { return n.timeOf(n.number(run)) }

func (n *names) timeOf(number int64) time.Time {
	if n.form == NameMinutes {
		number *= 60
	}
	return time.Unix(number, 0).UTC()
}

// runNamed returns the run to which a name belongs, or zero.
func (n *names) runNamed(name string) time.Time {
	if n.form == NameCustom {
		if run, ok := n.namer.Run(n.cronJob, name); ok {
			return run.UTC()
		}
		return time.Time{}
	}
	text, _ := strings.CutPrefix(name, n.cronJob+"-")
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return n.timeOf(number)
}

func (n *names) isSameRun(a, b time.Time) bool { return n.number(a) == n.number(b) }

// sorted returns the runs sorted and without duplicates.
func (n *names) sorted(runs []time.Time) []time.Time {
	return slices.CompactFunc(slices.SortedFunc(slices.Values(runs), time.Time.Compare), n.isSameRun)
}

// has reports whether a sorted list contains a run.
func (n *names) has(runs []time.Time, run time.Time) bool {
	number := n.number(run)
	_, found := slices.BinarySearchFunc(runs, number, func(r time.Time, number int64) int {
		return cmp.Compare(n.number(r), number)
	})
	return found
}
