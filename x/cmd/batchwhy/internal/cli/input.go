package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
)

// source is where the objects come from, and how old they are.
type source struct {
	// written is when the newest file was written; live is true if there is an input that
	// is as new as it can be.
	written time.Time
	live    bool
}

// farApart is how far the newest time of the objects may be from their source's time before
// a user is warned.
const farApart = time.Hour

// timeOf is the time to explain if none is given, and where it comes from: the present for a
// cluster and a pipe, and for files the newest time that their objects know.
func (p *program) timeOf(s *source, objects *read.Objects) (time.Time, string) {
	now, latest := p.now(), objects.Latest
	warn := func(format string, args ...any) { p.report(fmt.Errorf("warning: "+format, args...)) }
	switch {
	case latest.IsZero():
		if !s.live && !s.written.IsZero() && s.written.Before(now) {
			return s.written, ", when the newest file was written: its objects contain no time"
		}
		return now, ""
	case s.live && !p.kubectl && now.Sub(latest) > 24*farApart:
		warn("the newest time in the input is %s: if it was saved earlier, explain that time with --at %s", stamp(latest), latest.UTC().Format(time.RFC3339))
		return now, ""
	case s.live:
		return now, ""
	case latest.After(now):
		warn("the objects contain a time in the future, %s: a clock is wrong; explained as of now", stamp(latest))
		return now, ""
	}
	if d := s.written.Sub(latest); d > farApart {
		warn("explained as of %s, the newest time that the objects contain, although the file was written %s later: choose another time with --at", stamp(latest), d.Round(time.Minute))
	}
	return latest, ", the newest time in the objects"
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// readAll reads all inputs.
func (p *program) readAll(ctx context.Context, objects *read.Objects, args []string) (*source, error) {
	s := &source{}
	bar := &progress{out: p.err, on: p.progress}
	defer bar.clear()
	if p.kubectl {
		s.live = true
		return s, p.askKubectl(ctx, objects)
	}
	if len(args) == 0 {
		if isTerminal(p.in) {
			return nil, fmt.Errorf("no input: name files, or pipe: kubectl get jobs,cronjobs,pods,events -o json | batchwhy")
		}
		args = []string{"-"}
	}
	for _, arg := range args {
		if err := p.readOne(objects, arg, s, bar); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// readStandardInput notes how old standard input is: a pipe is as new as can be, a file is as old
// as it is.
func (s *source) readStandardInput(in io.Reader) {
	if f, ok := in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			s.written = later(s.written, info.ModTime())
			return
		}
	}
	s.live = true
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (p *program) readOne(objects *read.Objects, arg string, s *source, bar *progress) error {
	if arg == "-" {
		s.readStandardInput(p.in)
		return copyAll(objects.Stream("standard input"), p.in, bar)
	}
	name := resolve(arg)
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return p.readFile(objects, name, arg, s, bar)
	}
	files, err := filesOf(name)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s: contains no .json, .yaml or .yml file", arg)
	}
	objects.Lenient = true
	defer func() { objects.Lenient = false }()
	for _, file := range files {
		if err := p.readFile(objects, filepath.Join(name, file), filepath.Join(arg, file), s, bar); err != nil {
			return err
		}
	}
	return nil
}

// filesOf lists the files of a folder that may contain objects, in order.
func filesOf(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch strings.ToLower(filepath.Ext(path)) {
		case ".json", ".yaml", ".yml":
			if d.Type().IsRegular() {
				rel, _ := filepath.Rel(folder, path)
				files = append(files, rel)
			}
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

func (p *program) readFile(objects *read.Objects, path, shown string, s *source, bar *progress) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		bar.total += info.Size()
		if info.ModTime().After(s.written) {
			s.written = info.ModTime()
		}
	}
	return copyAll(objects.Stream(shown), f, bar)
}

func copyAll(to *manifest.Stream, from io.Reader, bar *progress) error {
	buffer := make([]byte, 256<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			_, _ = to.Write(buffer[:n]) // never fails
			bar.add(int64(n))
		}
		if err == io.EOF {
			return to.Close()
		}
		if err != nil {
			return err
		}
	}
}

// progress is a line that says how much is read.
type progress struct {
	out         io.Writer
	on          bool
	total, done int64
	shown       int64
}

// add shows the progress every few megabytes.
func (p *progress) add(n int64) {
	p.done += n
	if !p.on || p.done-p.shown < 4<<20 {
		return
	}
	p.shown = p.done
	if p.total > 0 {
		fmt.Fprintf(p.out, "\rread %d of %d MB ", p.done>>20, p.total>>20)
	} else {
		fmt.Fprintf(p.out, "\rread %d MB ", p.done>>20)
	}
}

func (p *progress) clear() {
	if p.shown > 0 {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// resolve finds a file of the user. Under "go run -C DIR" the command starts in DIR, and
// the user's folder is in PWD; it is tried first.
func resolve(name string) string {
	caller := os.Getenv("PWD")
	if filepath.IsAbs(name) || !filepath.IsAbs(caller) {
		return name
	}
	if path := filepath.Join(caller, name); exists(path) {
		return path
	}
	return name
}

// output names a file to write, relative to the user's folder.
func output(name string) string {
	if caller := os.Getenv("PWD"); !filepath.IsAbs(name) && filepath.IsAbs(caller) {
		return filepath.Join(caller, name)
	}
	return name
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
