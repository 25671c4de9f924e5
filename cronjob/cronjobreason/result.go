package cronjobreason

import "github.com/batchplan/batchplan/internal/enum"

// Result is what became of one read or write.
type Result uint8

const (
	// ResultNotTried: the round stopped before it. An Outcome with only these is what a crash
	// before the first write leaves.
	ResultNotTried Result = iota
	// ResultDone: the write took effect; for a read, the job is there.
	ResultDone
	// ResultGone: the job was not there any more.
	ResultGone
	// ResultUnsuccessful: the write did not take effect, or its reply was lost.
	ResultUnsuccessful
	// ResultRefused: the write did not and will not take effect, since the namespace is
	// going away.
	ResultRefused
	// ResultAlreadyExists: a job of that name is there, and this CronJob controls it.
	ResultAlreadyExists
	// ResultNameTaken: a job of that name is there, and another owner controls it or none.
	ResultNameTaken
)

const results = "not tried|done|gone|unsuccessful|refused|already exists|name taken"

// String returns the result in words.
func (r Result) String() string { return enum.String(results, int(r), "Result") }

// MarshalText returns the result in words.
func (r Result) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a result in words; the empty text is ResultNotTried.
func (r *Result) UnmarshalText(text []byte) error {
	i, err := enum.Parse(results, string(text), "result")
	*r = Result(i)
	return err
}
