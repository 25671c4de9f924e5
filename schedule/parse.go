package schedule

import (
	"fmt"
	"strings"
	"time"
)

// ParseError says which part of a schedule does not parse. Field is one of
// "second", "minute", "hour", "day-of-month", "month", "day-of-week" for a field, "zone" for
// the time zone, "descriptor" for a word after "@", "fields" when their number is wrong,
// and "bounds" for NotBefore and NotAfter. Value is the offending text.
type ParseError struct {
	Spec  string // as given to Parse, Also or Except
	Field string
	Value string
	Err   error // what is wrong with it
}

// Error names the field and the value, as in: schedule "0 0 * * 7": day-of-week
// "7": ...
func (e *ParseError) Error() string {
	return fmt.Sprintf("schedule %q: %s %q: %v", e.Spec, e.Field, e.Value, e.Err)
}

// Unwrap returns Err.
func (e *ParseError) Unwrap() error { return e.Err }

// fieldNames are the fields by index. The seconds are the last, although they are written
// first, so that the others keep their index without them.
var fieldNames = [...]string{"minute", "hour", "day-of-month", "month", "day-of-week", "second"}

// splitFields returns the fields of a schedule by index.
func splitFields(text string) []string {
	fields := strings.Fields(text)
	if len(fields) == len(fieldNames) {
		fields = append(fields[1:], fields[0])
	}
	return fields
}

// Parse compiles a schedule: five fields, six if WithSeconds is given, a descriptor such as
// @daily, or "@every 1h30m" (S1). It accepts what robfig/cron's standard parser accepts;
// anything else is an error of type *ParseError. So "@every" is rounded to whole
// seconds, at least one, which Lint reports; and a schedule that can never run is
// accepted, but Never and Lint report it.
//
// A leading "TZ=zone " or "CRON_TZ=zone " sets the zone and, as in Kubernetes,
// wins over an option. Without either the zone is UTC. The zone "Local" is
// refused, since it depends on the machine.
//
// Parse is the slow step: parse once and keep the Schedule. A zone given by name is
// read from the zone database; nothing else is read.
func Parse(spec string, opts ...Option) (Schedule, error) {
	var set settings
	for _, opt := range opts {
		opt(&set)
	}
	text, err := splitZone(spec, &set)
	if err != nil {
		return Schedule{}, err
	}
	parsed, err := parseReference(text, set.seconds)
	if err != nil {
		return Schedule{}, explain(spec, text, err, set.seconds)
	}
	z, err := set.resolveZone(spec)
	if err != nil {
		return Schedule{}, err
	}
	p := &plan{spec: text, zone: z}
	p.adopt(parsed, &set)
	if err := p.combine(spec, &set); err != nil {
		return Schedule{}, err
	}
	if err := p.bound(spec, &set); err != nil {
		return Schedule{}, err
	}
	p.evenSince = p.table.evenSince()
	if set.afterAnchor {
		p.single, p.hasSingle = set.anchor+1, true
	}
	p.never = p.every.seconds == 0 && p.table.never() || p.boundsAreEmpty()
	p.special = p.never || p.reference != nil || p.hasSingle
	return Schedule{p}, nil
}

// splitZone removes a zone prefix, up to the first space as the reference does, and
// keeps its name. The reference would load the zone itself.
func splitZone(spec string, set *settings) (string, error) {
	if !hasZone(spec) {
		return spec, nil
	}
	_, rest, _ := strings.Cut(spec, "=")
	name, text, found := strings.Cut(rest, " ")
	if !found {
		return "", &ParseError{spec, "zone", name, fmt.Errorf("no schedule follows the zone")}
	}
	text = strings.TrimSpace(text)
	if hasZone(text) {
		return "", &ParseError{spec, "fields", text, fmt.Errorf("a second zone")}
	}
	set.zone, set.zoneName = nil, name
	return text, nil
}

func hasZone(spec string) bool {
	return strings.HasPrefix(spec, "TZ=") || strings.HasPrefix(spec, "CRON_TZ=")
}

func (set *settings) resolveZone(spec string) (*zone, error) {
	if set.zone != nil {
		return set.zone, nil
	}
	loc, err := loadZone(set.zoneName)
	if err != nil {
		return nil, &ParseError{spec, "zone", set.zoneName, err}
	}
	return compileZone(loc), nil
}

// explain finds the part of a schedule that the reference refused. The reference's
// own message names the value at best.
func explain(spec, text string, cause error, seconds bool) error {
	if strings.HasPrefix(text, "@") {
		return &ParseError{spec, "descriptor", text, descriptorReason(text)}
	}
	fields := splitFields(text)
	if n := len(fields); n != 5 && !(n == 6 && seconds) {
		return &ParseError{spec, "fields", text, numberReason(n, seconds)}
	}
	for i, value := range fields {
		if err := fieldReason(i, value); err != nil {
			return &ParseError{spec, fieldNames[i], value, err}
		}
	}
	return &ParseError{spec, "fields", text, cause}
}

func descriptorReason(text string) error {
	if d, ok := strings.CutPrefix(text, everyPrefix); ok {
		_, err := time.ParseDuration(d)
		return err
	}
	return fmt.Errorf("want @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly or @every with a duration")
}

func numberReason(n int, seconds bool) error {
	const want = "want 5 fields (minute hour day-of-month month day-of-week), found %d"
	if seconds {
		return fmt.Errorf("want 5 fields (minute hour day-of-month month day-of-week), or 6 with the second before them, found %d", n)
	}
	if n == 6 || n == 7 {
		return fmt.Errorf(want+"; fields for seconds or years are not part of a standard schedule", n)
	}
	return fmt.Errorf(want, n)
}
