package scenario

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/x/sim"
)

// trace reads the jobs of a trace one by one. So a trace may have any length.
func (s *Scenario) trace(src *Source) iter.Seq2[sim.Job, error] {
	return func(yield func(sim.Job, error) bool) {
		file, read := s.path(src.SWF), readSWF
		if src.CSV != "" {
			file, read = s.path(src.CSV), readCSV
		}

		in, err := open(file)
		if err != nil {
			yield(sim.Job{}, err)
			return
		}
		defer in.Close()

		n := 0
		for r, err := range read(file, in) {
			if err == nil && src.Limit > 0 && n == src.Limit {
				return
			}
			n++

			var j sim.Job
			if err == nil {
				j = r.job(src.MaxPods)
				err = s.finish(&j, j.Name)
			}
			if !yield(j, err) || err != nil {
				return
			}
		}
	}
}

// open opens a file, which may be compressed.
func open(file string) (io.ReadCloser, error) {
	f, err := os.Open(file)
	if err != nil || !strings.HasSuffix(file, ".gz") {
		return f, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

// record is a job of a trace.
type record struct {
	name             string
	submit, duration time.Duration
	// pods is how many pods must succeed, and parallel is how many of them run at the same time.
	pods, parallel int32
	backoffLimit   int32
	cpu, memory    int64
	// fails is true for a job that ended in failure.
	fails  bool
	source string
}

func (r *record) job(most int32) sim.Job {
	parallel := r.parallel
	if most > 0 {
		parallel = min(parallel, most)
	}
	spec := sim.Spec(r.pods, parallel)
	spec.BackoffLimit = &r.backoffLimit
	j := sim.Job{
		Name: r.name, Submit: r.submit, Spec: spec, Source: r.source,
		Pod: sim.Pod{Duration: sim.Constant(r.duration), Resources: sim.Resources{CPU: r.cpu, Memory: r.memory}},
	}
	if r.fails {
		j.Pod.Failure, j.Pod.FailAfter = 1, sim.Constant(r.duration)
	}
	return j
}

// maxTracePods is the maximum number of pods of a job of a trace.
const maxTracePods = 10_000_000

// The places of the fields that are read in a line of the Standard Workload Format, counted from 0.
const (
	swfNumber, swfSubmit, swfRunTime, swfProcessors = 0, 1, 3, 4
	swfRequested, swfStatus, swfFields              = 7, 10, 18
)

// readSWF reads a trace of the Parallel Workloads Archive. A job has one pod for each processor.
// All pods run as long as the job ran. If the job failed, it fails with its first pod.
func readSWF(file string, in io.Reader) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		lines := bufio.NewScanner(in)
		for line := 1; lines.Scan(); line++ {
			text := strings.TrimSpace(lines.Text())
			if text == "" || text[0] == ';' {
				continue
			}
			r, err := parseSWF(text)
			r.source = fmt.Sprintf("%s:%d", file, line)
			if err != nil {
				err = fmt.Errorf("%s: %w", r.source, err)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(record{}, fmt.Errorf("%s: %w", file, err))
		}
	}
}

func parseSWF(text string) (record, error) {
	fields := strings.Fields(text)
	if len(fields) < swfFields {
		return record{}, fmt.Errorf(
			"has %s; the Standard Workload Format has %d", value.Count(len(fields), "field"), swfFields)
	}
	var n [swfFields]float64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseFloat(fields[i], 64); err != nil {
			return record{}, fmt.Errorf("field %d: %q is not a number", i+1, fields[i])
		}
	}
	processors := n[swfProcessors]
	if processors <= 0 {
		processors = n[swfRequested]
	}
	switch {
	case !(n[swfSubmit] >= 0):
		return record{}, fmt.Errorf("field 2, submit time: %s: must not be negative", fields[swfSubmit])
	case !(n[swfRunTime] >= 0):
		return record{}, fmt.Errorf("field 4, run time: %s: must not be negative", fields[swfRunTime])
	case !(processors >= 1 && processors <= maxTracePods):
		return record{}, fmt.Errorf("fields 5 and 8, processors: %s and %s: one must be from 1 to %d",
			fields[swfProcessors], fields[swfRequested], maxTracePods)
	}
	pods := int32(processors)
	return record{
		name: "job-" + fields[swfNumber], submit: inSeconds(n[swfSubmit]), duration: inSeconds(n[swfRunTime]),
		pods: pods, parallel: pods, fails: n[swfStatus] == 0,
	}, nil
}

func inSeconds(s float64) time.Duration {
	const most = 100 * 365 * 24 * 3600
	return time.Duration(min(s, most) * float64(time.Second))
}

// columns are the columns that a CSV file may have. The first two are required.
var columns = map[string]func(r *record, value string) error{
	"submit":   func(r *record, v string) error { return duration(&r.submit, v) },
	"duration": func(r *record, v string) error { return duration(&r.duration, v) },
	"name":     func(r *record, v string) error { r.name = v; return nil },
	"pods":     func(r *record, v string) error { return number(&r.pods, v, 1, maxTracePods) },
	"parallelism": func(r *record, v string) error {
		return number(&r.parallel, v, 1, maxTracePods)
	},
	"backoffLimit": func(r *record, v string) error { return number(&r.backoffLimit, v, 0, 1<<31-1) },
	"cpu":          func(r *record, v string) error { return quantity(&r.cpu, v, (*Quantity).milli) },
	"memory":       func(r *record, v string) error { return quantity(&r.memory, v, (*Quantity).bytes) },
	"fails": func(r *record, v string) (err error) {
		if r.fails, err = strconv.ParseBool(v); err != nil {
			err = fmt.Errorf("%q is neither true nor false", v)
		}
		return err
	},
}

func duration(to *time.Duration, text string) error {
	d, err := sim.ParseDist(text)
	if err != nil {
		return err
	}
	fixed, ok := d.Fixed()
	if !ok {
		return fmt.Errorf("%q is not a duration such as 90s", text)
	}
	*to = fixed
	return nil
}

func number(to *int32, text string, least, most int64) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return fmt.Errorf("%q is not a number from %d to %d", text, least, most)
	}
	*to = int32(n)
	return nil
}

func quantity(to *int64, text string, in func(*Quantity) int64) error {
	var p sim.Pod
	return amount(func(_ *sim.Pod, q *Quantity) { *to = in(q) })(&p, text)
}

// readCSV reads a trace whose first line has the names of the columns.
func readCSV(file string, in io.Reader) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		lines := csv.NewReader(in)
		lines.ReuseRecord = true
		fail := func(err error) { yield(record{}, err) }

		header, err := lines.Read()
		if err != nil {
			fail(csvError(file, err))
			return
		}

		readers := make([]func(*record, string) error, len(header))
		names := make([]string, len(header))
		has := map[string]bool{}
		for i, name := range header {
			names[i] = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))
			if readers[i] = columns[names[i]]; readers[i] == nil {
				fail(fmt.Errorf("%s:1: column %q is unknown; there are submit, duration, name, pods, parallelism, "+
					"backoffLimit, cpu, memory and fails", file, names[i]))
				return
			}
			has[names[i]] = true
		}

		for _, name := range []string{"submit", "duration"} {
			if !has[name] {
				fail(fmt.Errorf("%s:1: column %q is missing", file, name))
				return
			}
		}

		for n := 0; ; n++ {
			fields, err := lines.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				fail(csvError(file, err))
				return
			}

			line, _ := lines.FieldPos(0)
			r := record{
				name:         fmt.Sprintf("job-%d", n),
				pods:         1,
				backoffLimit: 6,
				source:       fmt.Sprintf("%s:%d", file, line),
			}

			for i, value := range fields {
				if err := readers[i](&r, strings.TrimSpace(value)); err != nil {
					fail(fmt.Errorf("%s: %s: %w", r.source, names[i], err))
					return
				}
			}

			if r.parallel == 0 {
				r.parallel = r.pods
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// csvError puts the file and the line before the text of an error.
func csvError(file string, err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("%s:%d: %w", file, parse.Line, parse.Err)
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s:1: is empty; expected a line of column names", file)
	}
	return fmt.Errorf("%s: %w", file, err)
}
