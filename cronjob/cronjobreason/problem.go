package cronjobreason

import "github.com/batchplan/batchplan/internal/enum"

// Problem is the reason why a CronJob has no schedule (C6).
type Problem uint8

// The reasons why there is no schedule. They are the reasons of Kubernetes' events as well.
const (
	// ProblemUnparseableSchedule: the schedule does not parse.
	ProblemUnparseableSchedule Problem = 1 + iota
	// ProblemUnknownTimeZone: timeZone is not known.
	ProblemUnknownTimeZone
)

const problemNames = "|UnparseableSchedule|UnknownTimeZone"

// String returns the reason of the event: the name of the constant without Problem.
func (p Problem) String() string { return enum.String(problemNames, int(p), "Problem") }

// MarshalText returns the same as String. A value without a name is an error.
func (p Problem) MarshalText() ([]byte, error) { return enum.Text(problemNames, int(p), "Problem") }

// UnmarshalText reads what MarshalText returns. Any other text is an error and changes nothing.
func (p *Problem) UnmarshalText(text []byte) error {
	return enum.Read(p, problemNames, text, "problem")
}
