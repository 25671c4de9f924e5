package command

import (
	"errors"
	"flag"
	"os/exec"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	var b strings.Builder
	Report(&b, "tool", errors.Join(errors.New("one \x1b[2J"), errors.New("two")))
	if want := "tool: one \\u001b[2J\ntool: two\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		arg, out, err string
		done          bool
	}{
		{"-n=3", "", "", false},
		{"-h", "Does it.\n\nUsage:\n  tool [FLAGS]\n  tool completion bash|zsh|fish\n\nExamples:\n  tool -n 3  # thrice\n\nExit status: 0 done\n\nFlags:\n", "", true},
		{"completion", "", "completion \"\": expected bash, zsh or fish", true},
		{"--help", "the `number`", "", true},
		{"-version", "tool version ", "", true},
		{"-x", "", "flag provided but not defined: -x; see tool -h", false},
	} {
		var b strings.Builder
		flags := flag.NewFlagSet("tool", flag.ContinueOnError)
		n := flags.Int("n", 0, "the `number`")
		done, err := Parse(flags, Help{Short: "Does it.", Use: "tool [FLAGS]", Status: "0 done", Examples: []string{"tool -n 3  # thrice"}}, []string{test.arg}, &b)
		text := strings.ReplaceAll(b.String(), "the number", "the `number`")
		if done != test.done || !strings.Contains(text, test.out) || test.out == "" && text != "" {
			t.Errorf("%s: %v, %q", test.arg, done, text)
		}
		if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
			t.Errorf("%s: %v", test.arg, err)
		}
		if test.arg == "-n=3" && *n != 3 {
			t.Error(*n)
		}
	}
}

// The completion scripts name every flag. If a shell is on this machine, the test also runs its
// script.
func TestCompletion(t *testing.T) {
	for shell, want := range map[string]string{
		"bash": "complete -o default -W '-it -n -version' tool\n",
		"zsh":  "bashcompinit\n# zsh completion for tool\ncomplete ",
		"fish": `complete -c tool -o it -d 'it'\''s on'` + "\n",
	} {
		var b strings.Builder
		flags := flag.NewFlagSet("tool", flag.ContinueOnError)
		flags.Int("n", 0, "the `number`")
		flags.Bool("it", false, "it's on")
		if done, err := Parse(flags, Help{}, []string{"completion", shell}, &b); !done || err != nil ||
			!strings.Contains(b.String(), want) {
			t.Errorf("%s: %v, %v, %q", shell, done, err, b.String())
		}
		if path, err := exec.LookPath(shell); err == nil {
			cmd := exec.Command(path, "-n")
			cmd.Stdin = strings.NewReader(b.String())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", shell, err, out)
			}
		}
	}
}
