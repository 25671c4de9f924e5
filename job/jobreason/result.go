package jobreason

import "github.com/batchplan/batchplan/internal/enum"

// Result is the result of one read or write.
type Result uint8

const (
	// ResultNotTried: the round stopped before the write. An Outcome in which all results are
	// ResultNotTried describes a crash before the first write.
	ResultNotTried Result = iota
	// ResultDone: the write took effect.
	ResultDone
	// ResultGone: the object no longer existed. That counts as done, but no notification will come.
	ResultGone
	// ResultUnsuccessful: the write did not take effect, or its reply was lost.
	ResultUnsuccessful
	// ResultStillTracked: the finalizer could not be removed, so the pod was not deleted.
	ResultStillTracked
	// ResultRefused: the write will never take effect, since the namespace is being deleted. It is
	// not retried (J34).
	ResultRefused
)

const resultNames = "NotTried|Done|Gone|Unsuccessful|StillTracked|Refused"

const results = "not tried|done|gone|unsuccessful|still tracked|refused"

// String returns the result in words.
func (r Result) String() string { return enum.String(results, int(r), "Result") }

// MarshalText returns the name of the constant without Result.
func (r Result) MarshalText() ([]byte, error) { return enum.Text(resultNames, int(r), "Result") }

// UnmarshalText reads what MarshalText returns; the empty text is ResultNotTried. Any other text is
// an error and changes nothing.
func (r *Result) UnmarshalText(text []byte) error { return enum.Read(r, resultNames, text, "result") }
