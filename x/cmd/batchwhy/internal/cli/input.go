package cli

import (
	"bufio"
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

func (p *program) readAll(ctx context.Context, objects *read.Objects, args []string) (*read.Source, error) {
	s := &read.Source{}
	bar := &progress{out: p.err, on: p.progress}
	defer bar.clear()
	defer objects.UseLogs()
	if p.kubectl {
		s.Live, s.Fresh = true, true
		if err := p.askKubectl(ctx, objects); err != nil {
			return s, err
		}
		p.askLogs(ctx, objects)
		return s, nil
	}

	if len(args) == 0 {
		if isTerminal(p.in) {
			return nil, fmt.Errorf("no input: name files, or pipe: kubectl get jobs,cronjobs,pods,events -o json | " +
				"batchwhy")
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

// readStandardInput notes how old standard input is. A pipe shows the present, and a file shows the
// time at which it was written.
func readStandardInput(s *read.Source, in io.Reader) {
	if f, ok := in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			s.Written = later(s.Written, info.ModTime())
			return
		}
	}
	s.Live = true
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (p *program) readOne(objects *read.Objects, arg string, s *read.Source, bar *progress) error {
	if arg == "-" {
		readStandardInput(s, p.in)
		return copyAll(objects.Stream("standard input"), p.in, bar)
	}

	name := resolve(arg)
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		_, err := p.readFile(objects, name, arg, s, bar)
		return err
	}

	files, err := filesOf(name)
	if err != nil {
		return err
	}
	objects.Lenient = true
	defer func() { objects.Lenient = false }()
	isEmpty := true
	for _, file := range files {
		isRead, err := p.readFile(objects, filepath.Join(name, file), filepath.Join(arg, file), s, bar)
		if err != nil {
			return err
		}
		isEmpty = isEmpty && !isRead
	}
	if isEmpty {
		return fmt.Errorf("%s: contains no .json, .yaml or .yml file and no log", arg)
	}
	return nil
}

// filesOf lists the files of a folder that may contain objects or logs, in order.
func filesOf(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch strings.ToLower(filepath.Ext(path)) {
		case ".json", ".yaml", ".yml", ".log", ".txt":
		default:
			return nil
		}
		if d.Type().IsRegular() {
			rel, _ := filepath.Rel(folder, path)
			files = append(files, rel)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

// readFile reads a file of objects or logs. In a folder, it does not read other texts.
func (p *program) readFile(objects *read.Objects, path, shown string, s *read.Source, bar *progress) (
	isRead bool, err error,
) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	head, _ := in.Peek(len(read.LogMark))
	isLog := string(head) == read.LogMark
	ext := strings.ToLower(filepath.Ext(path))
	if isText := ext == ".log" || ext == ".txt"; objects.Lenient && isText && !isLog {
		if key, ok := read.LogOfFile(path); ok {
			return true, readPodLog(objects, key, f)
		}
		return false, nil
	}

	if info, err := f.Stat(); err == nil {
		bar.total += info.Size()
		if info.ModTime().After(s.Written) {
			s.Written = info.ModTime()
		}
	}
	if isLog {
		return true, objects.ReadLogs(in)
	}
	return true, copyAll(objects.Stream(shown), in, bar)
}

// readPodLog reads the end of a file that kubectl logs has written.
func readPodLog(objects *read.Objects, key read.LogKey, f *os.File) error {
	const most = 64 << 10
	if info, err := f.Stat(); err == nil {
		if _, err := f.Seek(max(0, info.Size()-most), io.SeekStart); err != nil {
			return err
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, most))
	objects.AddLog(key, string(data))
	return err
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

// resolve returns the path of a file to read. Under "go run -C DIR" the command starts in DIR, and
// PWD is the user's folder. So the user's folder is tried first.
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

// output returns the path of a file to write, relative to the user's folder.
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
