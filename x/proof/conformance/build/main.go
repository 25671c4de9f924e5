// Command build compiles the tests of a package with the controllers of a release of Kubernetes.
// The tests of package rounds get the overlay that they need.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/rounds/overlay"
)

func main() {
	more := flag.String("overlay", "", "a build overlay of Go, a JSON `file`, to be added")
	var r release.Release
	flag.TextVar(&r, "release", release.Newest(), "the `release` of Kubernetes whose controllers are compiled")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: build [-release RELEASE] [-overlay FILE] PACKAGE FILE") }
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	if err := build(r, *more, flag.Arg(0), flag.Arg(1)); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func build(r release.Release, more, pkg, out string) error {
	if pkg != "./rounds" {
		return overlay.Plain(r, pkg, out, more)
	}
	var added struct{ Replace map[string]string }
	if more != "" {
		data, err := os.ReadFile(more)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &added); err != nil {
			return fmt.Errorf("%s: %w", more, err)
		}
	}
	return overlay.Build(r, pkg, out, added.Replace)
}
