// Package command has what the command lines of all commands share: errors, exit statuses,
// and the version.
package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/x/cmd/internal/terminal"
)

// Usage is the exit status of a command whose arguments or input are wrong. Nothing was
// done.
const Usage = 2

// Interrupted is the exit status of a command that was ended by Ctrl-C.
const Interrupted = 130

// Report writes an error. Each line begins with the name of the command.
func Report(out io.Writer, name string, err error) {
	w := terminal.NewWriter(out)
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(w, "%s: %s\n", name, strings.TrimRight(line, "\n"))
	}
}

// Version returns the version of this program, with the commit that it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	if version == "" {
		version = "(devel)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && !strings.Contains(version, s.Value[:min(12, len(s.Value))]) {
			version += " " + s.Value
		}
	}
	return version + " " + info.GoVersion
}

// Help is the text of -h, besides the flags.
type Help struct {
	// Short is one line. Use is the command line. Status is what the exit statuses mean.
	Short, Use, Status string
	// Examples are command lines, each with a comment.
	Examples []string
}

// Parse parses the flags of a command that has no subcommands. It adds -version, and the argument
// completion, which prints a script for a shell. If one of these or help was requested, Parse
// writes it to out and returns true. If Parse returns an error, the caller prints it with [Report]
// and exits with [Usage].
func Parse(flags *flag.FlagSet, help Help, args []string, out io.Writer) (done bool, err error) {
	version := flags.Bool("version", false, "print the version")
	flags.SetOutput(io.Discard) // the error is reported once
	if len(args) > 0 && args[0] == "completion" {
		return true, complete(flags, args[1:], out)
	}
	err = flags.Parse(args)
	flags.SetOutput(out)
	switch {
	case errors.Is(err, flag.ErrHelp):
		help.write(flags, out)
		return true, nil
	case err != nil:
		return false, fmt.Errorf("%w; see %s -h", err, flags.Name())
	case *version:
		fmt.Fprintf(out, "%s version %s\n", flags.Name(), Version())
	}
	return *version, nil
}

func (h *Help) write(flags *flag.FlagSet, out io.Writer) {
	fmt.Fprintf(out, "%s\n\nUsage:\n  %s\n  %s completion bash|zsh|fish\n\nExamples:\n", h.Short, h.Use, flags.Name())
	for _, e := range h.Examples {
		fmt.Fprintf(out, "  %s\n", e)
	}
	fmt.Fprintf(out, "\nExit status: %s\n\nFlags:\n", h.Status)
	flags.PrintDefaults()
}

// complete prints a script that completes the flags in a shell.
func complete(flags *flag.FlagSet, args []string, out io.Writer) error {
	if len(args) != 1 || !slices.Contains([]string{"bash", "zsh", "fish"}, args[0]) {
		return fmt.Errorf("completion %q: expected bash, zsh or fish", strings.Join(args, " "))
	}
	name := flags.Name()
	if args[0] == "fish" {
		flags.VisitAll(func(f *flag.Flag) {
			_, usage := flag.UnquoteUsage(f)
			fmt.Fprintf(out, "complete -c %s -o %s -d %s\n", name, f.Name, quote(usage))
		})
		return nil
	}
	var words []string
	flags.VisitAll(func(f *flag.Flag) { words = append(words, "-"+f.Name) })
	if args[0] == "zsh" {
		fmt.Fprintln(out, "autoload -U +X bashcompinit && bashcompinit")
	}
	_, err := fmt.Fprintf(out, "# %s completion for %s\ncomplete -o default -W %s %s\n", args[0], name,
		quote(strings.Join(words, " ")), name)
	return err
}

// quote returns a text as one word of a shell.
func quote(text string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "'", "'\\''") + "'"
}
