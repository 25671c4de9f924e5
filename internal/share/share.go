// Package share divides numbered cases among processes, such as the pods of an Indexed Job. Each
// process writes its results to a file. The merged files are equal, byte for byte, to the file that
// a single process would write.
package share

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// index is the variable in which a pod of an Indexed Job finds its index: job.IndexVariable.
// Internal packages import none of the planners.
const index = "JOB_COMPLETION_INDEX"

// Share is one share of the cases. Of is the number of shares, and Mine the number of this one,
// from 0. The file of its results is File; with more than one share, the number is added to the
// name.
type Share struct {
	Mine, Of int
	File     string
}

// Flags defines -share, -shares and -out.
func (s *Share) Flags(f *flag.FlagSet) {
	f.IntVar(&s.Of, "shares", 1, "the number of processes that divide the cases")
	f.IntVar(&s.Mine, "share", -1, "which of them this is, from 0; "+index+" otherwise")
	f.StringVar(&s.File, "out", "", "the `file` for the results; with -shares, its name gets the number of the share")
}

// Check finds the number of the share, and returns an error if there is none.
func (s *Share) Check() error {
	if s.Of < 1 {
		return fmt.Errorf("%d shares: must be at least 1", s.Of)
	}
	if s.Of == 1 && s.Mine < 0 {
		s.Mine = 0
	}

	if text := os.Getenv(index); s.Mine < 0 && text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%s: %q is not a number", index, text)
		}
		s.Mine = n
	}

	if s.Mine < 0 || s.Mine >= s.Of {
		return fmt.Errorf("share %d: must be from 0 to %d, or %s must say it", s.Mine, s.Of-1, index)
	}
	return nil
}

// Has reports whether the share has the case with this number.
func (s *Share) Has(number int) bool { return mixed(number, s.Of) == s.Mine }

// mixed returns the share of a case. Costly cases may have every n-th number, so it spreads the
// numbers before it divides them. Otherwise one of two shares could have all the costly cases.
func mixed(number, shares int) int {
	x := (uint64(number) + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int((x ^ x>>31) % uint64(shares))
}

// Path returns the file of the share.
func (s *Share) Path() string {
	if s.Of == 1 {
		return s.File
	}
	ext := filepath.Ext(s.File)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(s.File, ext), s.Mine, ext)
}

// Write writes the results of the share to its file, or to the standard output if there is none. A
// process that is killed leaves no file, or the file of an earlier process.
func (s *Share) Write(results []byte) error {
	if s.File == "" {
		_, err := os.Stdout.Write(results)
		return err
	}
	scratch := fmt.Sprintf("%s.%d.part", s.Path(), os.Getpid())
	return errors.Join(os.WriteFile(scratch, results, 0o644), os.Rename(scratch, s.Path()))
}
