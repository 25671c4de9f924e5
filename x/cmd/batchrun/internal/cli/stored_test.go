package cli

import (
	"bytes"
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest/mistakes"
)

// TestMistakes: the command reports the same mistakes as the other commands, except a missing
// image.
func TestMistakes(t *testing.T) {
	mistakes.Check(t, func() string {
		var out, errs bytes.Buffer
		Main([]string{"run", "f.yaml"}, nil, &out, &errs)
		return errs.String()
	}, "no image")
}

var update = flag.Bool("update", false, "rewrite the stored texts: read them as a new user would")

// processors matches the only default that depends on the machine.
var processors = regexp.MustCompile(`(over all jobs \(default )\d+`)

// TestHelp compares the help of each command with the stored one.
func TestHelp(t *testing.T) {
	const file = "testdata/help.txt"
	var got strings.Builder
	for _, name := range []string{"", "run ", "next ", "trigger ", "status ", "logs ", "rm "} {
		var out, errs bytes.Buffer
		if status := Main(append(strings.Fields(name), "-h"), nil, &out, &errs); status != 0 || errs.Len() > 0 {
			t.Errorf("%s: status %d, %s", name, status, &errs)
		}
		fmt.Fprintf(&got, "$ batchrun %s-h\n%s\n", name, processors.ReplaceAllString(out.String(), "${1}16"))
	}
	if *update {
		testfile.Write(t, got.String(), file)
	}
	if got.String() != testfile.Read(t, file) {
		t.Errorf("%s is not what is printed (-update writes it):\n%s", file, got.String())
	}
}
