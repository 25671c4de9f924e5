package cli

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/testfile"
)

var update = flag.Bool("update", false, "rewrite the stored help: read it as a new user would")

func TestHelp(t *testing.T) {
	const file = "testdata/help.txt"
	var got strings.Builder
	for _, name := range []string{"", "page", "serve", "trace", "upgrade"} {
		status, out, errOut := run(t, "", append(strings.Fields("batchwhy "+name), "-h")...)
		if status != exitFine || errOut != "" {
			t.Errorf("%s: status %d, %s", name, status, errOut)
		}
		fmt.Fprintf(&got, "$ batchwhy %s -h\n%s\n", name, out)
	}
	if *update {
		testfile.Write(t, got.String(), file)
	}
	if got.String() != testfile.Read(t, file) {
		t.Errorf("%s is not what is printed (-update writes it):\n%s", file, got.String())
	}
}
