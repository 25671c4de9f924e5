package cronjobreason

import "github.com/batchplan/batchplan/internal/enum"

// Result is the result of one read or write.
type Result uint8

const (
	// ResultNotTried: the round ended before the read or write was made. After a crash before the
	// first write, all results are ResultNotTried.
	ResultNotTried Result = iota
	// ResultDone: the write took effect; for a read, the job exists.
	ResultDone
	// ResultGone: the job did not exist any more.
	ResultGone
	// ResultUnsuccessful: the write did not take effect, or its reply was lost.
	ResultUnsuccessful
	// ResultRefused: the write did not and will not take effect, because the namespace is being
	// deleted.
	ResultRefused
	// ResultAlreadyExists: a job of that name exists, and this CronJob controls it.
	ResultAlreadyExists
	// ResultNameTaken: a job of that name exists, and this CronJob does not control it.
	ResultNameTaken
)

const resultNames = "NotTried|Done|Gone|Unsuccessful|Refused|AlreadyExists|NameTaken"

const results = "not tried|done|gone|unsuccessful|refused|already exists|name taken"

// String returns the result in words.
func (r Result) String() string { return enum.String(results, int(r), "Result") }

// MarshalText returns the name of the constant without Result.
func (r Result) MarshalText() ([]byte, error) { return enum.Text(resultNames, int(r), "Result") }

// UnmarshalText reads what MarshalText returns; the empty text is ResultNotTried. Any other text is an
// error and changes nothing.
func (r *Result) UnmarshalText(text []byte) error { return enum.Read(r, resultNames, text, "result") }
