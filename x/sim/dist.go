package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// Dist is a distribution of durations. The zero value is always 0. Draws are never
// negative, and at most a century.
type Dist struct {
	kind distKind
	// a and b are the parameters of the kind, in seconds if they are times.
	a, b float64
}

type distKind uint8

const (
	distConstant distKind = iota
	distUniform
	distExponential
	distLogNormal
	distPareto
	distWeibull
)

// century bounds every duration of a simulation: the sum of two still fits into a Duration.
const century = 100 * 365 * 24 * time.Hour

// Constant is always d.
func Constant(d time.Duration) Dist { return Dist{distConstant, d.Seconds(), 0} }

// Uniform is between low and high; all values are equally likely.
func Uniform(low, high time.Duration) Dist { return Dist{distUniform, low.Seconds(), high.Seconds()} }

// Exponential is the time between events that happen independently of each other.
func Exponential(mean time.Duration) Dist { return Dist{distExponential, mean.Seconds(), 0} }

// LogNormal has the given median; sigma is the standard deviation of the logarithm. With
// sigma 1, one in twenty is more than five times the median.
func LogNormal(median time.Duration, sigma float64) Dist {
	return Dist{distLogNormal, median.Seconds(), sigma}
}

// Pareto has a heavy tail: no value is below the minimum, and the smaller the shape, the
// longer the tail. The mean is infinite for a shape up to 1.
func Pareto(minimum time.Duration, shape float64) Dist {
	return Dist{distPareto, minimum.Seconds(), shape}
}

// Weibull has a heavy tail for a shape below 1.
func Weibull(scale time.Duration, shape float64) Dist {
	return Dist{distWeibull, scale.Seconds(), shape}
}

// Draw returns a duration.
func (d Dist) Draw(r *rand.Rand) time.Duration {
	switch d.kind {
	case distUniform:
		return seconds(d.a + float64((d.b-d.a)*r.Float64())) // converted, so that no machine fuses the operations
	case distExponential:
		return seconds(d.a * r.ExpFloat64())
	case distLogNormal:
		return seconds(d.a * math.Exp(d.b*r.NormFloat64()))
	case distPareto:
		return seconds(d.a * math.Exp(r.ExpFloat64()/d.b))
	case distWeibull:
		return seconds(d.a * math.Pow(r.ExpFloat64(), 1/d.b))
	}
	return seconds(d.a)
}

// IsZero reports whether every draw is 0.
func (d Dist) IsZero() bool { return d == Dist{} }

// Fixed returns the value of a constant distribution.
func (d Dist) Fixed() (time.Duration, bool) { return seconds(d.a), d.kind == distConstant }

// seconds turns a number of seconds into a duration within bounds.
func seconds(s float64) time.Duration {
	switch {
	case !(s > 0): // or not a number
		return 0
	case s >= century.Seconds():
		return century
	}
	return time.Duration(s * float64(time.Second))
}

// distNames are the names of [ParseDist], with their parameters.
var distNames = [...]struct {
	name   string
	a, b   string // b is "" for a kind with one parameter
	number bool   // b is a number and not a duration
}{
	distConstant:    {"constant", "value", "", false},
	distUniform:     {"uniform", "low", "high", false},
	distExponential: {"exponential", "mean", "", false},
	distLogNormal:   {"lognormal", "median", "sigma", true},
	distPareto:      {"pareto", "minimum", "shape", true},
	distWeibull:     {"weibull", "scale", "shape", true},
}

// String returns the text that [ParseDist] reads.
func (d Dist) String() string {
	n := distNames[d.kind]
	a := seconds(d.a).String()
	switch {
	case d.kind == distConstant:
		return a
	case n.b == "":
		return n.name + "(" + a + ")"
	case n.number:
		return fmt.Sprintf("%s(%s, %s)", n.name, a, strconv.FormatFloat(d.b, 'g', -1, 64))
	}
	return fmt.Sprintf("%s(%s, %s)", n.name, a, seconds(d.b))
}

// ParseDist reads a duration such as "90s", which is constant, or one of
// uniform(10s, 20s), exponential(1m), lognormal(1m, 0.8), pareto(10s, 1.5) and
// weibull(1m, 0.7).
func ParseDist(text string) (Dist, error) {
	text = strings.TrimSpace(text)
	name, rest, ok := strings.Cut(text, "(")
	if !ok {
		d, err := parseDuration(text)
		return Constant(d), err
	}

	arguments, ok := strings.CutSuffix(strings.TrimSpace(rest), ")")
	if !ok {
		return Dist{}, fmt.Errorf("%q: a closing bracket is missing", text)
	}

	for kind, n := range distNames {
		if n.name == strings.TrimSpace(name) {
			return parseArguments(text, distKind(kind), strings.Split(arguments, ","))
		}
	}
	return Dist{}, fmt.Errorf("%q: unknown distribution %q; "+
		"there are uniform, exponential, lognormal, pareto and weibull", text, name)
}

func parseArguments(text string, kind distKind, arguments []string) (Dist, error) {
	n := distNames[kind]
	want := []string{n.a}
	if n.b != "" {
		want = append(want, n.b)
	}
	if len(arguments) != len(want) {
		return Dist{}, fmt.Errorf("%q: %s takes %s, not %s",
			text, n.name, strings.Join(want, " and "), value.Count(len(arguments), "value"))
	}

	a, err := parseDuration(strings.TrimSpace(arguments[0]))
	if err != nil {
		return Dist{}, fmt.Errorf("%q: %s: %w", text, n.a, err)
	}

	d := Dist{kind: kind, a: a.Seconds()}
	switch {
	case n.b == "":
	case n.number:
		d.b, err = strconv.ParseFloat(strings.TrimSpace(arguments[1]), 64)
		if err == nil && (!(d.b > 0) || math.IsInf(d.b, 0)) {
			err = fmt.Errorf("%v: must be above 0", d.b)
		}
	default:
		var b time.Duration
		b, err = parseDuration(strings.TrimSpace(arguments[1]))
		if d.b = b.Seconds(); err == nil && d.b < d.a {
			err = fmt.Errorf("%v: must not be below %s, %v", b, n.a, a)
		}
	}

	if err != nil {
		return Dist{}, fmt.Errorf("%q: %s: %w", text, n.b, err)
	}
	return d, nil
}

// parseDuration reads a duration that is not negative; a number without a unit means
// seconds.
func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		s, problem := strconv.ParseFloat(text, 64)
		if problem != nil || math.IsNaN(s) {
			return 0, fmt.Errorf("%q is not a duration such as 90s or 1h30m", text)
		}
		if s < 0 {
			return 0, fmt.Errorf("%q: must not be negative", text)
		}
		d = seconds(s)
	}
	if d < 0 {
		return 0, fmt.Errorf("%q: must not be negative", text)
	}
	return min(d, century), nil
}
