package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/batchplan/batchplan/x/cmd/internal/command"
	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

// program is one invocation of the command.
type program struct {
	in       io.Reader
	out, err io.Writer
	now      func() time.Time
	name     string // of the command, in errors
	status   int
	flags
}

type flags struct {
	at        string
	ahead     string
	output    string
	plot      string
	colour    string
	names     []string
	plan      bool
	details   bool
	progress  bool
	following bool
	limit     int
	// kubectl is true if kubectl reads the objects, with the options namespace, context and all.
	kubectl   bool
	namespace string
	context   string
	all       bool
}

func (p *program) report(err error) { command.Report(p.err, p.name, err) }

// size returns the width and the height of a stream's terminal, 0 if the stream is not a terminal.
func (p *program) size(stream any) (width, height int) {
	if f, ok := stream.(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return max(w, 40), h
		}
	}
	return 0, 0
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// parseTime parses a time. It is in UTC unless it names a zone.
func parseTime(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime,
		"2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("--at: %q: must be a time such as 2026-01-31T18:00:00Z", text)
}
