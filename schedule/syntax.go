package schedule

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// This file explains the problem of a field that robfig/cron refuses, and what to write instead.

// fieldRange holds the possible values of a field.
type fieldRange struct {
	min, max int
	names    []string // three letters each, from min on
}

func rangeOf(field int) fieldRange {
	switch fieldNames[field] {
	case "minute", "second":
		return fieldRange{0, 59, nil}
	case "hour":
		return fieldRange{0, 23, nil}
	case "day-of-month":
		return fieldRange{1, 31, nil}
	case "month":
		return fieldRange{1, 12, strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")}
	}
	return fieldRange{0, 6, strings.Fields("sun mon tue wed thu fri sat")}
}

// fieldReason explains why robfig/cron refuses a field; nil if it does not.
func fieldReason(index int, value string) error {
	cause := fieldError(index, value)
	for part := range strings.SplitSeq(value, ",") {
		err := fieldError(index, part)
		if err == nil || part == "" {
			continue
		}
		problem := partProblem(index, part)
		if problem == "" {
			problem = err.Error()
		}
		if part != value {
			problem = fmt.Sprintf("%q: %s", part, problem)
		}
		return errors.New(problem)
	}
	return cause
}

// partProblem explains one part of a list, such as "5", "1-5" or "*/2".
func partProblem(index int, part string) string {
	if problem := extensionProblem(index, part); problem != "" {
		return problem
	}

	base, step, stepped := strings.Cut(part, "/")
	low, high, ranged := strings.Cut(base, "-")
	if problem := valueProblem(index, low, part); problem != "" {
		return problem
	}
	if ranged {
		if problem := valueProblem(index, high, part); problem != "" {
			return problem
		}
	}

	if n, err := strconv.Atoi(step); stepped && (err != nil || n < 1) {
		return fmt.Sprintf("the step after the slash must be a number from 1 on, not %q", step)
	}
	if a, b := valueOf(index, low), valueOf(index, high); ranged && a > b {
		return fmt.Sprintf("a range must not end before it begins; write %d-%d,%d-%d",
			a, rangeOf(index).max, rangeOf(index).min, b)
	}
	return ""
}

// extensionProblem explains extensions of other programs, such as "L" or "#".
func extensionProblem(index int, part string) string {
	switch r := rangeOf(index); {
	case part == "H", strings.HasPrefix(part, "H/"), strings.HasPrefix(part, "H("):
		return fmt.Sprintf("H, a value chosen for the job, is not supported; write a value from %d to %d", r.min, r.max)
	}

	switch index {
	case dayField:
		switch {
		case strings.HasSuffix(part, "W"):
			return "W, the working day next to a date, is not standard; " +
				"write the day, or * and 1-5 as day-of-week"
		case strings.HasPrefix(part, "L"):
			return "L, the last day of a month, is not standard; " +
				"write 28-31 and let the job check that tomorrow is the 1st"
		}

	case weekdayField:
		if day, nth, found := strings.Cut(part, "#"); found {
			instead := "the days of that week"
			if n, err := strconv.Atoi(nth); err == nil && 1 <= n && n <= 5 {
				instead = fmt.Sprintf("%d-%d", 7*n-6, min(7*n, 31))
			}
			return fmt.Sprintf("#, the nth weekday of a month, is not standard; write %s as day-of-month, "+
				"* as day-of-week, and let the job check for weekday %s", instead, day)
		}

		day, isLast := strings.CutSuffix(part, "L")
		switch {
		case part == "L":
			return "L is not supported; write 6 for Saturday"
		case isLast:
			return fmt.Sprintf("L, the last weekday of a month, is not standard; write 22-31 as day-of-month, "+
				"* as day-of-week, and let the job check for the last weekday %s", day)
		}
	}
	return ""
}

// valueProblem explains one value of a part.
func valueProblem(index int, value, part string) string {
	r := rangeOf(index)
	n := valueOf(index, value)
	inRange := r.min <= n && n <= r.max
	switch {
	case value == "*", value == "?", inRange:
		return ""
	case index == weekdayField && n == 7:
		if low, _, ranged := strings.Cut(part, "-"); ranged && value != low && !strings.Contains(part, "/") {
			return fmt.Sprintf("Sunday is 0; write %s-6,0", low)
		}
		return "Sunday is 0; write 0 or sun"
	case n >= 0:
		return fmt.Sprintf("must be from %d to %d", r.min, r.max)
	}

	for _, name := range r.names {
		if strings.HasPrefix(strings.ToLower(value), name) {
			return fmt.Sprintf("names have three letters; write %s", name)
		}
	}
	if r.names != nil {
		last := r.names[len(r.names)-1]
		return fmt.Sprintf("must be from %d to %d, or a name from %s to %s", r.min, r.max, r.names[0], last)
	}
	return fmt.Sprintf("must be a number from %d to %d", r.min, r.max)
}

// valueOf returns the value of a number or a name, and -1 for anything else.
func valueOf(index int, value string) int {
	r := rangeOf(index)
	for i, name := range r.names {
		if strings.EqualFold(name, value) {
			return r.min + i
		}
	}
	if n, err := strconv.Atoi(value); err == nil && n >= 0 {
		return n
	}
	return -1
}

// splitFields returns the fields of a schedule by index (fieldNames).
func splitFields(text string) []string {
	fields := strings.Fields(text)
	if len(fields) == len(fieldNames) {
		fields = append(fields[1:], fields[0])
	}
	return fields
}
