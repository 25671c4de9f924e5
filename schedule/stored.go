package schedule

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/job/release"
)

// storedSchedule is the JSON of a schedule: the arguments with which Parse makes it again.
type storedSchedule struct {
	Spec   string   `json:"spec"`
	Also   []string `json:"also,omitempty"`
	Except []string `json:"except,omitempty"`
	// TimeZone is the name of the zone; UTC if it is empty. If Offset is set, in seconds east of
	// UTC, the zone always has that offset, and its name need not be in the zone database.
	TimeZone string `json:"timeZone,omitempty"`
	Offset   *int   `json:"offset,omitempty"`
	// Anchor is the time from which "@every" counts, in seconds since 1970.
	Anchor int64 `json:"anchor,omitempty"`
	// AfterAnchor adds the run a second after the anchor.
	AfterAnchor bool `json:"afterAnchor,omitempty"`
	// NotBefore and NotAfter are the times of the first and the last possible run, in seconds since
	// 1970.
	NotBefore  *int64 `json:"notBefore,omitempty"`
	NotAfter   *int64 `json:"notAfter,omitempty"`
	Skipped    string `json:"skipped,omitempty"`
	Repeated   string `json:"repeated,omitempty"`
	Kubernetes bool   `json:"kubernetes,omitempty"`
}

// The policies in JSON.
const (
	storedGapEnd = "atGapEnd"
	storedFirst  = "first"
	storedLast   = "last"
)

// maxOffset is farther from UTC than any zone has ever been, in seconds.
const maxOffset = 26 * 60 * 60

// MarshalJSON writes the arguments of Parse, and null for the zero Schedule. The zone is written as
// its name, with its offset if that never changes. MarshalJSON returns an error for a zone that has
// no name of its own and whose offset changes, such as the machine's "Local".
func (s Schedule) MarshalJSON() ([]byte, error) {
	p := s.plan
	if p == nil {
		return []byte("null"), nil
	}
	out := storedSchedule{
		Spec:       p.spec,
		Also:       p.also,
		Except:     p.except,
		Anchor:     p.every.anchor,
		Kubernetes: p.reference != nil,
	}

	if p.hasSingle {
		out.Anchor, out.AfterAnchor = p.single-1, true
	}
	if p.after > firstUnix {
		first := p.after + 1
		out.NotBefore = &first
	}
	if p.until < lastUnix {
		out.NotAfter = &p.until
	}

	if p.table.gapEnd {
		out.Skipped = storedGapEnd
	}
	switch p.table.repeated {
	case repeatedFirst:
		out.Repeated = storedFirst
	case repeatedLast:
		out.Repeated = storedLast
	}

	if location := p.zone.location; location != time.UTC {
		out.TimeZone = location.String()
		switch offset, ok := fixedOffset(location); {
		case ok:
			out.Offset = &offset
		case out.TimeZone == "Local" || out.TimeZone == "":
			return nil, fmt.Errorf("schedule %q: zone %q cannot be stored: %w", p.spec, out.TimeZone, errMachineZone)
		}
	}

	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes. Like Parse, it looks up a zone in the zone database
// by name.
func (s *Schedule) UnmarshalJSON(data []byte) error {
	var in *storedSchedule
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("schedule: %w", err)
	}
	if in == nil {
		*s = Schedule{}
		return nil
	}

	opts, err := in.options()
	if err != nil {
		return fmt.Errorf("schedule %q: %w", in.Spec, err)
	}
	parsed, err := Parse(in.Spec, opts...)
	if err != nil {
		return err
	}
	*s = parsed
	return nil
}

func (in *storedSchedule) options() ([]Option, error) {
	// WithSeconds and WithSpecialDays accept all stored schedules: five or six fields, and special
	// days.
	opts := []Option{
		WithTimeZone(in.TimeZone),
		WithSeconds(),
		WithSpecialDays(),
		Also(in.Also...),
		Except(in.Except...),
		WithAnchor(time.Unix(in.Anchor, 0)),
	}
	if offset := in.Offset; offset != nil {
		if *offset < -maxOffset || *offset > maxOffset {
			return nil, fmt.Errorf("offset: %d: is more than %d seconds from UTC", *offset, maxOffset)
		}
		opts[0] = WithLocation(time.FixedZone(in.TimeZone, *offset))
	}

	if in.NotBefore != nil {
		opts = append(opts, NotBefore(time.Unix(*in.NotBefore, 0)))
	}
	if in.NotAfter != nil {
		opts = append(opts, NotAfter(time.Unix(*in.NotAfter, 1))) // not the zero Time, which means no bound
	}
	if in.AfterAnchor {
		opts = append(opts, RunAfterAnchor())
	}

	switch in.Skipped {
	case "":
	case storedGapEnd:
		opts = append(opts, RunSkippedAtGapEnd())
	default:
		return nil, fmt.Errorf("skipped: %q: must be empty or %q", in.Skipped, storedGapEnd)
	}

	switch in.Repeated {
	case "":
	case storedFirst:
		opts = append(opts, RunRepeatedFirst())
	case storedLast:
		opts = append(opts, RunRepeatedLast())
	default:
		return nil, fmt.Errorf("repeated: %q: must be empty, %q or %q", in.Repeated, storedFirst, storedLast)
	}

	if in.Kubernetes {
		opts = append(opts, Kubernetes(release.Release{}))
	}
	return opts, nil
}

// fixedOffset returns the offset of a zone from UTC, and false if it changes.
func fixedOffset(location *time.Location) (seconds int, ok bool) {
	t := time.Unix(0, 0).In(location)
	_, seconds = t.Zone()
	start, end := t.ZoneBounds()
	return seconds, start.IsZero() && end.IsZero()
}
