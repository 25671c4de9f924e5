// Package specgen draws the specs of jobs and CronJobs, as objects in the JSON of batch/v1. Its
// tables have one entry for each field. The test kits draw from these tables, and so do the tests
// that compare the planners and the validation with Kubernetes.
package specgen

import (
	"encoding/json"
	"math/bits"
	"slices"

	"pgregory.net/rapid"
)

// Source is the source of choices, such as a *rand.Rand.
type Source interface{ IntN(n int) int }

// Rapid returns a source whose choices rapid shrinks to 0. Unlike rapid's own numbers, all choices
// except 0 are about equally likely.
func Rapid(t *rapid.T) Source { return rapidSource{t} }

type rapidSource struct{ *rapid.T }

func (r rapidSource) IntN(n int) int {
	if n == 1 {
		return 0
	}
	const spread = 0x9E3779B97F4A7C15 // an odd factor spreads small draws
	of, _ := bits.Mul64(rapid.Uint64().Draw(r.T, "choice")*spread, uint64(n))
	return int(of)
}

// Range is a set of values. Each range includes the one before.
type Range int

const (
	// Small values are for worlds with few pods, and for programs that report only exit code 42 and
	// disruptions.
	Small Range = iota
	// Wild values are all values that can occur in Kubernetes, except those that its controllers
	// are known to handle wrongly.
	Wild
	// Limits are extreme values that a server still accepts, and that no controller should run.
	Limits
)

// Generator draws specs. With only a source, it draws valid specs with small values.
type Generator struct {
	Source
	Range Range
	// Wrong is how many of a hundred values are wrong.
	Wrong int
	// Indexed makes each job Indexed.
	Indexed bool
	// Statuses gives each condition in a pod failure policy a status, which is required if no
	// server fills it in.
	Statuses bool
	// Gangs draws how the pods of jobs are scheduled together.
	Gangs bool
	// Schedules are the schedules of valid CronJobs; nil means all schedules of the Range.
	Schedules []string
}

// Object is an object in JSON.
type Object map[string]any

// Job draws the spec of a job.
func (g Generator) Job() Object {
	fields := jobFields
	if g.Gangs {
		fields = append(slices.Clip(fields), scheduling)
	}
	return g.draw(fields)
}

// CronJob draws the spec of a CronJob. Its template has one container and nothing else.
func (g Generator) CronJob() Object { return g.draw(cronJobFields) }

func (g Generator) draw(fields []field) Object {
	d := draw{g, Object{}}
	d.fill(d.spec, fields)
	return d.spec
}

// JobFields returns the names of the fields of a job's spec.
func JobFields() []string { return names(jobFields) }

// CronJobFields returns the names of the fields of a CronJob's spec.
func CronJobFields() []string { return names(cronJobFields) }

func names(fields []field) (all []string) {
	for _, f := range fields {
		all = append(all, f.name)
	}
	return all
}

// Decode converts a value into a type with the same JSON: an object into a spec, or a spec into an
// object.
func Decode[T any](from any) (out T) {
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(err) // unreachable: even wrong values have the type of their field
	}
	return out
}

// JSON returns the object as text.
func (o Object) JSON() []byte {
	out, err := json.Marshal(o)
	if err != nil {
		panic(err) // unreachable: there are only plain values
	}
	return out
}

// field is a field of an object. A nil value leaves the field out; a [maker] makes the value.
type field struct {
	name string
	// percent is how many of a hundred objects have the field. With [Limits], it is at least the
	// constant usual.
	percent                    int
	small, wild, limits, wrong list
	// when reports whether the field may be set; nil means that it always may. must reports whether
	// the field has to be set; nil means that it never has to.
	when, must condition
}

type (
	list = []any
	// maker makes the value of a field. Argument o is the object with the fields that were drawn
	// before.
	maker = func(d *draw, o Object) any
	// condition depends on the earlier fields of an object.
	condition = func(d *draw, o Object) bool
)

const usual = 50

// draw draws one spec.
type draw struct {
	Generator
	// spec has the fields that were drawn so far.
	spec Object
}

func (d *draw) object(fields []field) Object {
	o := Object{}
	d.fill(o, fields)
	return o
}

func (d *draw) fill(o Object, fields []field) {
	for _, f := range fields {
		if v := d.value(&f, o); v != nil {
			o[f.name] = v
		}
	}
}

func (d *draw) value(f *field, o Object) any {
	percent, values := f.percent, slices.Concat(f.small, f.wild, f.limits)[:f.reach(d.Range)]
	if d.Range == Limits {
		percent = max(percent, usual)
	}

	switch {
	case f.when != nil && !f.when(d, o):
		percent = d.Wrong / 2
	case len(f.wrong) > 0 && d.in100(d.Wrong):
		percent, values = 100, f.wrong
	case f.must != nil && f.must(d, o):
		percent = 100 - d.Wrong/2
	}

	if len(values) == 0 || !d.in100(percent) {
		return nil
	}

	v := values[d.IntN(len(values))]
	if makes, ok := v.(maker); ok {
		return makes(d, o)
	}
	return v
}

// reach returns the number of values, except the wrong ones, that the field can have in a Range.
func (f *field) reach(r Range) int {
	return [...]int{len(f.small), len(f.small) + len(f.wild), len(f.small) + len(f.wild) + len(f.limits)}[r]
}

// of returns a maker of objects with the fields of a table.
func of(fields []field) maker { return func(d *draw, _ Object) any { return d.object(fields) } }

// several returns a maker of lists of objects. Argument count is a field whose value is the number
// of objects. Each object has the fields in argument each.
func several(count field, each []field) maker {
	return func(d *draw, o Object) any {
		all := list{}
		for range d.value(&count, o).(int) {
			all = append(all, d.object(each))
		}
		return all
	}
}

// in100 is true in the given percentage of cases. If the source chooses 0, it is false unless
// percent is 100.
func (d *draw) in100(percent int) bool {
	return percent >= 100 || percent > 0 && d.IntN(100) >= 100-percent
}
