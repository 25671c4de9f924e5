// Command build compiles the tests of package rounds with the overlay that they need.
package main

import (
	"fmt"
	"os"

	"github.com/batchplan/batchplan/internal/conformance/rounds/overlay"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: build FILE")
		os.Exit(2)
	}
	if err := overlay.Build("./rounds", os.Args[1], nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
