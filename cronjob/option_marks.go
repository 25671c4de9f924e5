package cronjob

import (
	"strconv"
	"time"

	"github.com/batchplan/batchplan/internal/enum"
)

// Marks define where a job stores the time of its run, and who requested the job. The zero value
// stores both as Kubernetes does.
type Marks struct {
	// TimeIn says where a job has the time of its run: in an annotation, in a label, or in its name.
	TimeIn MarkPlace `json:"timeIn,omitempty"`
	// TimeKey is the key of the annotation or label with the time of the run;
	// batch.kubernetes.io/cronjob-scheduled-timestamp if it is empty.
	TimeKey string `json:"timeKey,omitempty"`
	// UTC writes the annotation's time in UTC. By default it is in the CronJob's timeZone, as in
	// Kubernetes (C13).
	UTC bool `json:"utc,omitempty"`
	// RequestKey is the key of the annotation of jobs that the schedule did not start. The value of
	// the annotation is "manual" or "backfill". An empty key means
	// cronjob.kubernetes.io/instantiate.
	RequestKey string `json:"requestKey,omitempty"`
}

// MarkPlace is a place where jobs can store the times of their runs.
type MarkPlace uint8

// The places.
const (
	// InAnnotation: the value is the time in RFC 3339 format.
	InAnnotation MarkPlace = iota
	// InLabel: the value is in seconds since 1970, because a label cannot contain colons.
	InLabel
	// InName: only the name of the job identifies its run. Then every job with the name counts as
	// the job of the run, even if it was made by hand.
	InName
)

const markPlaces = "Annotation|Label|Name"

// String returns the name of the constant without In.
func (p MarkPlace) String() string { return enum.String(markPlaces, int(p), "MarkPlace") }

// MarshalText is [MarkPlace.String].
func (p MarkPlace) MarshalText() ([]byte, error) { return enum.Text(markPlaces, int(p), "MarkPlace") }

// UnmarshalText reads what MarshalText writes; the empty text is InAnnotation. Any other text is an
// error and changes nothing.
func (p *MarkPlace) UnmarshalText(text []byte) error { return enum.Read(p, markPlaces, text, "timeIn") }

// timestampAnnotation holds the time of a job's run (KEP-4026).
const timestampAnnotation = "batch.kubernetes.io/cronjob-scheduled-timestamp"

// instantiateAnnotation marks jobs that the schedule did not start: its value is "manual" for jobs
// of triggers and jobs made by hand, and "backfill" for jobs of backfills.
const instantiateAnnotation = "cronjob.kubernetes.io/instantiate"

// backfilled is the value of instantiateAnnotation on the job of a backfill.
const backfilled = "backfill"

func (m *Marks) timeKey() string {
	if m.TimeKey == "" {
		return timestampAnnotation
	}
	return m.TimeKey
}

func (m *Marks) requestKey() string {
	if m.RequestKey == "" {
		return instantiateAnnotation
	}
	return m.RequestKey
}

// ReadMarks returns the marks of a job: the time of its run, zero if it belongs to no run, and
// whether a backfill started it. An adapter copies them into ScheduledTime and Backfilled of a
// [Child]. A time that cannot be parsed counts as zero.
func (o *Options) ReadMarks(
	cronJob, name string, labels, annotations map[string]string,
) (run time.Time, isBackfill bool) {
	m := &o.Marks
	isBackfill = annotations[m.requestKey()] == backfilled
	switch m.TimeIn {
	case InAnnotation:
		if t, err := time.Parse(time.RFC3339, annotations[m.timeKey()]); err == nil {
			run = t
		}
	case InLabel:
		if seconds, err := strconv.ParseInt(labels[m.timeKey()], 10, 64); err == nil {
			run = time.Unix(seconds, 0).UTC()
		}
	case InName:
		if t, ok := o.Naming.RunNamed(cronJob, name); ok {
			run = t
		}
	}
	return run, isBackfill
}

func (m *Marks) check() error {
	switch {
	case m.TimeIn > InName:
		return invalid("options.marks.timeIn", int(m.TimeIn), "is not a place of marks")
	case m.TimeIn == InName && m.TimeKey != "":
		return invalid("options.marks.timeKey", m.TimeKey, "must be empty where only the name tells the run")
	case m.TimeIn != InAnnotation && m.UTC:
		return invalid("options.marks.utc", m.UTC, "must be false unless an annotation holds the time")
	case m.TimeIn == InAnnotation && m.timeKey() == m.requestKey():
		return invalid("options.marks.requestKey", m.requestKey(), "is also the key of the time")
	}
	return nil
}
