package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/internal/terminal"
)

// Changes that belong together arrive in several pieces. So an explanation waits until nothing has
// arrived for quietTime, but it never waits longer than mostTime.
const (
	quietTime = 300 * time.Millisecond
	mostTime  = 2 * time.Second
)

// follower explains objects again when they change.
type follower struct {
	*program
	objects *read.Objects
	options explain.Options
	printer explain.Printer
	// owners has the changes that are not explained yet, by the UID of the Job or CronJob that they
	// concern.
	owners map[job.UID][]read.Change
	// said has the latest explanation of each object, and problems is the number of reported problems.
	said     map[job.UID]*explain.Explanation
	problems int
}

// piece is what was read from an input: bytes, or its end.
type piece struct {
	input int
	data  []byte
	err   error
}

// follow reads all inputs concurrently, and explains each Job and CronJob again whenever a change
// concerns it, until the inputs end.
func (p *program) follow(ctx context.Context, args []string) error {
	if p.at != "" || p.plot != "" {
		return errors.New("--watch: explains the present: leave out --at and --plot")
	}

	options, err := p.options()
	if err != nil {
		return err
	}

	f := &follower{
		program: p, objects: &read.Objects{Limit: p.limit}, options: options, printer: p.printer(),
		owners: make(map[job.UID][]read.Change), said: make(map[job.UID]*explain.Explanation),
	}
	f.objects.OnChange = f.note

	streams, pieces, err := f.open(ctx, args)
	if err != nil {
		return err
	}
	if err := f.listen(ctx, streams, pieces); err != nil {
		return err
	}

	for _, x := range f.said {
		if explain.IsWrong(x.Findings) {
			p.status = exitFindings
		}
	}
	if f.objects.ProblemCount() > 0 {
		p.status = exitBadInput
	}
	return nil
}

// open starts to read all inputs.
func (f *follower) open(ctx context.Context, args []string) (streams []*manifest.Stream, pieces chan piece, err error) {
	inputs, err := f.inputs(ctx, args)
	if err != nil {
		return nil, nil, err
	}
	pieces = make(chan piece)
	for i, in := range inputs {
		streams = append(streams, f.objects.Stream(in.name))
		go send(ctx, pieces, i, in.from)
	}
	return streams, pieces, nil
}

// inputs returns the inputs to follow: a cluster, or files and standard input.
func (f *follower) inputs(ctx context.Context, args []string) (inputs []input, err error) {
	if f.kubectl {
		return f.watchKubectl(ctx)
	}
	if len(args) == 0 {
		args = []string{"-"}
	}
	for _, arg := range args {
		if arg == "-" {
			inputs = append(inputs, input{"standard input", f.in})
			continue
		}
		file, err := os.Open(resolve(arg))
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, input{arg, file})
	}
	return inputs, nil
}

// send reads from a reader, and sends what it reads to the channel pieces. It ends after the first
// error or when ctx is done. The last piece has the error.
func send(ctx context.Context, pieces chan<- piece, input int, from io.Reader) {
	for {
		buffer := make([]byte, 64<<10)
		n, err := from.Read(buffer)
		select {
		case pieces <- piece{input, buffer[:n], err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// listen reads the pieces, and explains the changes when the inputs are quiet.
func (f *follower) listen(ctx context.Context, streams []*manifest.Stream, pieces <-chan piece) error {
	timer := time.NewTimer(0)
	<-timer.C
	var first time.Time // the time of the first change that is not explained yet
	for open := len(streams); open > 0; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case p := <-pieces:
			_, _ = streams[p.input].Write(p.data) // never fails
			if p.err != nil {
				open--
				_ = streams[p.input].Close()
			}
			if p.err != nil && p.err != io.EOF {
				return p.err
			}
			if len(f.owners) == 0 {
				break
			}
			if first.IsZero() {
				first = time.Now()
			}
			timer.Reset(min(quietTime, max(0, mostTime-time.Since(first))))
		case <-timer.C:
			first = time.Time{}
			if err := f.explainChanged(); err != nil {
				return err
			}
		}
	}
	return f.explainChanged()
}

// note adds a change to the objects that it concerns. A change of a pod concerns its Job, and a
// change of a Job concerns its CronJob as well.
func (f *follower) note(c read.Change) {
	concerned := []job.UID{c.Owner}
	if c.Kind == "Job" || c.Kind == "CronJob" {
		concerned = append(concerned, c.UID)
	}
	for _, uid := range concerned {
		if uid != "" {
			f.owners[uid] = append(f.owners[uid], c)
		}
	}
}

func (f *follower) explainChanged() error {
	owners := f.owners
	f.owners = make(map[job.UID][]read.Change)
	explain.ConcernManifests(f.objects, owners)
	f.options.At = f.now()
	f.options.Only = func(uid job.UID) bool { return len(owners[uid]) > 0 }

	e := explain.New(f.objects, f.options)
	for {
		x, ok := e.Next()
		if !ok {
			break
		}
		if err := f.write(&x, owners[x.Of]); err != nil {
			return err
		}
		f.said[x.Of] = &x
	}

	for _, uid := range slices.Sorted(maps.Keys(owners)) {
		last := owners[uid][len(owners[uid])-1]
		if x := f.said[uid]; x != nil && last.Gone && last.UID == uid {
			delete(f.said, uid)
			if err := f.writeGone(x); err != nil {
				return err
			}
		}
	}

	for _, problem := range f.objects.Problems[min(f.problems, len(f.objects.Problems)):] {
		f.report(problem)
	}
	f.problems = f.objects.ProblemCount()
	return nil
}

// write writes one explanation: as a line of JSON, or as a text with the changes since the last
// one.
func (f *follower) write(x *explain.Explanation, changes []read.Change) error {
	if f.output != "json" {
		return f.printer.Update(f.options.At, x, f.said[x.Of], changes)
	}
	data, err := json.Marshal(explain.Report{
		SchemaVersion: explain.SchemaVersion,
		At:            f.options.At.UTC(),
		Objects:       []explain.Explanation{*x},
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(terminal.NewWriter(f.out), "%s\n", data)
	return err
}

func (f *follower) writeGone(x *explain.Explanation) error {
	if f.output == "json" {
		return nil
	}
	return f.printer.Gone(f.options.At, x)
}
