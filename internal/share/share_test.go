package share

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

func share(args ...string) (*Share, error) {
	var s Share
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	s.Flags(f)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	return &s, s.Check()
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, index, args, path, err string
		mine                         int
	}{
		{name: "one process has all", args: "-out=a.txt", path: "a.txt"},
		{name: "one process is not an index", index: "3", args: "-out=a.txt", path: "a.txt"},
		{name: "an index", index: "3", args: "-shares=4 -out=b/a.txt", mine: 3, path: "b/a-3.txt"},
		{name: "a flag is stronger than the index", index: "3", args: "-shares=4 -share=1 -out=a", mine: 1, path: "a-1"},
		{name: "no shares", args: "-shares=0", err: "0 shares: must be at least 1"},
		{name: "too high", args: "-shares=4 -share=4", err: "share 4: must be from 0 to 3"},
		{name: "which?", args: "-shares=4", err: "share -1: must be from 0 to 3, or JOB_COMPLETION_INDEX"},
		{name: "no number", index: "x", args: "-shares=4", err: `JOB_COMPLETION_INDEX: "x" is not a number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(index, c.index)
			s, err := share(strings.Fields(c.args)...)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want %s", err, c.err)
				}
				return
			}
			if err != nil || s.Mine != c.mine || s.Path() != c.path {
				t.Errorf("%+v, %s, %v", s, s.Path(), err)
			}
		})
	}
}

// TestHas: each case is in one share, and no share has twice or half its part of the cases, nor of
// those with every n-th number.
func TestHas(t *testing.T) {
	const cases = 300
	for of := 1; of < 10; of++ {
		for every := 1; every <= 50; every++ {
			counts, total := make([]int, of), 0
			for mine := range of {
				s := Share{Mine: mine, Of: of}
				for i := range cases {
					if s.Has(every/2 + i*every) {
						counts[mine]++
					}
				}
				total += counts[mine]
			}

			if total != cases || slices.Max(counts)*of >= 2*cases || slices.Min(counts)*of <= cases/2 {
				t.Errorf("one case in %d: %d shares have %v", every, of, counts)
			}
		}
	}
}

// cases counts the cases of a share among ten: all of them, and each by its number.
func cases(s *Share) map[string]int {
	counts := map[string]int{}
	for n := range 10 {
		if s.Has(n) {
			counts["cases"]++
			counts[fmt.Sprint("case ", n)]++
		}
	}
	return counts
}

// The counts of all shares add up to the counts of one process. Each share may be counted only once.
func TestCounts(t *testing.T) {
	dir := t.TempDir()
	count := func(s *Share) { must.OK(t, WriteCounts(s, "ten cases", cases(s))) }

	whole := &Share{Of: 1, File: filepath.Join(dir, "whole.json")}
	count(whole)
	var files []string
	for i := range 3 {
		part := &Share{Mine: i, Of: 3, File: filepath.Join(dir, "part.json")}
		count(part)
		files = append(files, part.Path())
	}

	read := func(files ...string) (map[string]int, string, error) {
		total := map[string]int{}
		of, err := ReadCounts(files, func(counts map[string]int) {
			for name, n := range counts {
				total[name] += n
			}
		})
		return total, of, err
	}

	total, of, err := read(files[2], files[0], files[1])
	if err != nil || total["cases"] != 10 || !maps.Equal(total, cases(&Share{Of: 1})) {
		t.Fatal(total, err)
	}

	merged := &Share{Of: 1, File: filepath.Join(dir, "merged.json")}
	must.OK(t, WriteCounts(merged, of, total))
	want, _ := os.ReadFile(whole.File)
	if have, err := os.ReadFile(merged.File); err != nil || !bytes.Equal(have, want) {
		t.Errorf("%v\n%s\nwant\n%s", err, have, want)
	}

	for want, files := range map[string][]string{
		"part-2.json: is share 2 of 3; given: 1 file": files[2:],
		"is share 1, as is":                           {files[0], files[1], files[1]},
		"whole.json: is share 0 of 1":                 {files[0], whole.File, files[2]},
		"files of the shares are":                     nil,
		"no such file":                                {filepath.Join(dir, "none")},
	} {
		if _, _, err := read(files...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// mine is the share of a process that TestDivide starts.
var mine Share

func init() { mine.Flags(flag.CommandLine) }

// Each of three processes counts its cases. A process that ends without its file is an error.
func TestDivide(t *testing.T) {
	if mine.Of > 1 {
		must.OK(t, mine.Check())
		must.OK(t, WriteCounts(&mine, "ten cases", cases(&mine)))
		return
	}

	total := map[string]int{}
	add := func(counts map[string]int) {
		for name, n := range counts {
			total[name] += n
		}
	}
	of, err := Divide(3, []string{"-test.run=^TestDivide$", "-test.testlogfile="}, add)
	if all := cases(&Share{Of: 1}); err != nil || of != "ten cases" || !maps.Equal(total, all) {
		t.Errorf("%v of %q, %v; want %v", total, of, err, all)
	}

	_, err = Divide(3, []string{"-test.run=^TestCheck$", "-test.testlogfile="}, add)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want an error for the missing file", err)
	}
}

// The lines of all shares merge into those of one process, if each file has the lines of its share.
func TestLines(t *testing.T) {
	for of := 1; of <= 5; of++ {
		dir, whole := t.TempDir(), ""
		files, parts := make([]string, of), make([]string, of)
		for n := range 23 {
			line := fmt.Sprintf("case %d\n", n)
			whole += line
			for mine := range of {
				if (&Share{Mine: mine, Of: of}).Has(n) {
					parts[mine] += line
				}
			}
		}
		for mine, part := range parts {
			files[mine] = filepath.Join(dir, fmt.Sprint(mine))
			must.OK(t, os.WriteFile(files[mine], []byte(part), 0o600))
		}

		var merged strings.Builder
		if err := Lines(&merged, files); err != nil || merged.String() != whole {
			t.Errorf("%d shares: %v\n%s", of, err, &merged)
		}

		must.OK(t, os.WriteFile(files[of-1], nil, 0o600))
		if err := Lines(io.Discard, files); of > 1 && (err == nil || !strings.HasPrefix(err.Error(), files[of-1])) {
			t.Errorf("%d shares, the last without a line: %v", of, err)
		}
	}
}
