package schedule

import (
	"fmt"
	"strings"
	"time"
)

// ParseError is the error for a schedule that does not parse. Field is "second", "minute", "hour",
// "day-of-month", "month" or "day-of-week" for a field, "zone" for the time zone, "descriptor" for
// a word after "@", "fields" for a wrong number of fields, and "bounds" for NotBefore and NotAfter.
// Value is the offending text.
type ParseError struct {
	Spec  string // as given to Parse, Also or Except
	Field string
	Value string
	Err   error // the problem
}

// Error names the field and the value, as in: schedule "0 0 * * 7": day-of-week
// "7": ...
func (e *ParseError) Error() string {
	return fmt.Sprintf("schedule %q: %s %q: %v", e.Spec, e.Field, e.Value, e.Err)
}

// Unwrap returns Err.
func (e *ParseError) Unwrap() error { return e.Err }

// explain finds the part of a schedule that robfig/cron refused. The message of robfig/cron names
// the value at best.
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
	return fmt.Errorf("want @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly " +
		"or @every with a duration")
}

func numberReason(n int, seconds bool) error {
	const want = "want 5 fields (minute hour day-of-month month day-of-week), found %d"
	if seconds {
		return fmt.Errorf("want 5 fields (minute hour day-of-month month day-of-week), "+
			"or 6 with the second before them, found %d", n)
	}
	if n == 6 || n == 7 {
		return fmt.Errorf(want+"; fields for seconds or years are not part of a standard schedule", n)
	}
	return fmt.Errorf(want, n)
}

func hasZone(spec string) bool {
	return strings.HasPrefix(spec, "TZ=") || strings.HasPrefix(spec, "CRON_TZ=")
}
