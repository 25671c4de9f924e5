package share

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Divide runs this program again for each of n shares, all at the same time, and calls add with the
// counts of each. It returns the name of the set of cases. Each process gets the arguments of this
// program, then args, then the arguments of its share, and writes to the output of this program.
func Divide[T any](n int, args []string, add func(T)) (of string, err error) {
	binary, err := os.Executable()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "shares-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	done, files := make(chan error), make([]string, n)
	for i := range n {
		part := Share{Mine: i, Of: n, File: filepath.Join(dir, "counts.json")}
		files[i] = part.Path()

		all := append(append([]string(nil), os.Args[1:]...), args...)
		all = append(all, fmt.Sprint("-share=", i), fmt.Sprint("-shares=", n), "-out="+part.File)
		cmd := exec.Command(binary, all...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		go func() { done <- cmd.Run() }()
	}

	var failed []error
	for range n {
		if err := <-done; err != nil {
			failed = append(failed, err)
		}
	}
	of, err = ReadCounts(files, add)
	return of, errors.Join(append(failed, err)...)
}
