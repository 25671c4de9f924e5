package backoff

import (
	"errors"
	"fmt"
	"time"
)

// The defaults of [Policy]. A Job waits for these delays before it replaces failed pods (J31).
const (
	DefaultBase   = 10 * time.Second
	DefaultFactor = 2
	DefaultMax    = 10 * time.Minute
)

// Policy is an exponential backoff: Base after the first failure, Factor times
// as long after each further one, never more than Max. A zero field means its
// default, so the zero Policy is 10 s, 20 s, 40 s, ... 10 min (J31).
// Policies can be compared with ==.
type Policy struct {
	// Base is the delay after one failure. Zero means DefaultBase, or Max if that is
	// shorter.
	Base time.Duration `json:"base,omitempty,format:nano"`
	// Factor multiplies the delay after each further failure; 1 keeps it constant.
	// Zero means DefaultFactor.
	Factor int `json:"factor,omitempty"`
	// Max is the longest delay. Zero means DefaultMax, or Base if that is longer.
	Max time.Duration `json:"max,omitempty,format:nano"`
}

// Retry returns the policy for repeating a write that failed: 1 s, 2 s, 4 s, ...
// 1 min (J43).
func Retry() Policy {
	return Policy{Base: time.Second, Factor: 2, Max: time.Minute}
}

// Validate returns an error if a field is negative, or if Base and Max are set and Max is shorter.
// All problems are reported together: the error joins an [*InputError] for each.
func (p Policy) Validate() error {
	var problems []error
	add := func(field string, value any, problem string) {
		problems = append(problems, &InputError{field, fmt.Sprint(value), problem})
	}

	if p.Base < 0 {
		add("base", p.Base, "must not be negative")
	}
	if p.Factor < 0 {
		add("factor", p.Factor, "must not be negative")
	}
	if p.Max < 0 {
		add("max", p.Max, "must not be negative")
	}
	if p.Max > 0 && p.Max < p.Base {
		add("max", p.Max, fmt.Sprintf("is shorter than the base, %v", p.Base))
	}
	return errors.Join(problems...)
}

// InputError reports a field of a [Policy] that is not allowed.
type InputError struct {
	// Field is "base", "factor" or "max".
	Field string
	// Value is the offending value, as text.
	Value string
	// Problem tells what is wrong with the value.
	Problem string
}

// Error names the field, the value and the problem.
func (e *InputError) Error() string { return fmt.Sprintf("%s: %s: %s", e.Field, e.Value, e.Problem) }

// Delay returns the time to wait after that many failures in a row: Base *
// Factor^(failures-1), at most Max; 0 when there was none (J31). It is never negative
// and does not overflow. A negative field, which Validate refuses, means its default
// here.
func (p Policy) Delay(failures int) time.Duration {
	if failures <= 0 {
		return 0
	}
	p = p.withDefaults()
	delay := min(p.Base, p.Max)
	if p.Factor == 1 {
		return delay
	}

	// A factor of 2 or more reaches any Max within 63 turns of this loop, however many failures
	// there are.
	for range failures - 1 {
		if delay > p.Max/time.Duration(p.Factor) {
			return p.Max
		}
		delay *= time.Duration(p.Factor)
	}
	return delay
}

func (p Policy) withDefaults() Policy {
	if p.Factor <= 0 {
		p.Factor = DefaultFactor
	}

	// If only one of Base and Max is set, the default of the other is adjusted, so that Base is at
	// most Max.
	switch {
	case p.Base <= 0 && p.Max <= 0:
		p.Base, p.Max = DefaultBase, DefaultMax
	case p.Base <= 0:
		p.Base = min(DefaultBase, p.Max)
	case p.Max <= 0:
		p.Max = max(DefaultMax, p.Base)
	}
	return p
}
