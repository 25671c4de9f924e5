package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/share"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/job"
)

// explored runs the command with a low depth and returns the lines that it writes to a file.
func explored(t *testing.T, file string, args ...string) string {
	t.Helper()
	o, err := parse(append([]string{"-brief", "-depth=3", "-out=" + file}, args...))
	if err == nil {
		err = run(o)
	}
	must.OK(t, err)
	return testfile.Read(t, o.share.Path())
}

// The shares of a search, merged, are what one process writes, byte for byte.
func TestShares(t *testing.T) {
	dir := t.TempDir()
	whole := explored(t, filepath.Join(dir, "whole.txt"))
	if n := strings.Count(whole, "\n"); n < 20 {
		t.Fatalf("%d lines", n)
	}

	var files []string
	for i := range 4 {
		t.Setenv(job.IndexVariable, fmt.Sprint(i))
		explored(t, filepath.Join(dir, "part.txt"), "-shares=4")
		files = append(files, filepath.Join(dir, fmt.Sprintf("part-%d.txt", i)))
	}

	var merged bytes.Buffer
	if err := share.Lines(&merged, files); err != nil || merged.String() != whole {
		t.Errorf("%v\n%s\nwant\n%s", err, &merged, whole)
	}

	files[0], files[3] = files[3], files[0]
	if err := share.Lines(&merged, files); strings.Count(whole, "\n")%4 != 0 && err == nil {
		t.Error("shares in another order are merged")
	}
	if err := share.Lines(&merged, []string{filepath.Join(dir, "none")}); err == nil {
		t.Error("a share that is missing is merged")
	}
}

func TestSharesRefused(t *testing.T) {
	t.Setenv(job.IndexVariable, "")
	for want, args := range map[string][]string{
		"-shares and -out need -brief":    {"-shares=4", "-share=0"},
		"-merge: the files of the shares": {"-merge"},
		"unexpected argument \"x\"":       {"x"},
	} {
		if _, err := parse(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
}
