package share

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/batchplan/batchplan/internal/value"
)

// Lines merges the files of all shares, which come in the order of the shares. Each file has one
// line for each case of its share, in the order of the cases.
func Lines(out io.Writer, files []string) error {
	parts := make([][]string, len(files))
	total := 0
	for i, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(data) {
			parts[i] = append(parts[i], string(line))
		}
		total += len(parts[i])
	}

	written := make([]int, len(files))
	for n := range total {
		part := mixed(n, len(files))
		if written[part] == len(parts[part]) {
			return fmt.Errorf("%s: has %s, the others have more: "+
				"the shares are of different runs, or not in their order",
				files[part], value.Count(len(parts[part]), "line"))
		}

		if _, err := io.WriteString(out, parts[part][written[part]]); err != nil {
			return err
		}
		written[part]++
	}
	return nil
}

// Counts are the results of a share. Counts add up, so their files merge in any order.
type Counts[T any] struct {
	// Of is the name of the set of cases that the shares divide.
	Of string
	// Share and Shares are the number of the share and of all shares; zero if there is only one.
	Share  int `json:",omitempty"`
	Shares int `json:",omitempty"`
	Counts T
}

// WriteCounts writes the counts of the share.
func WriteCounts[T any](s *Share, of string, counts T) error {
	c := Counts[T]{Of: of, Counts: counts}
	if s.Of > 1 {
		c.Share, c.Shares = s.Mine, s.Of
	}

	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return s.Write(append(data, '\n'))
}

// ReadCounts calls add with the counts of each file, and returns the name that the files give to
// the cases. Each share must have exactly one file.
func ReadCounts[T any](files []string, add func(T)) (of string, err error) {
	seen := make([]string, len(files))
	for i, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		var c Counts[T]
		if err := json.Unmarshal(data, &c); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}

		if i > 0 && c.Of != of {
			return "", fmt.Errorf("%s: has %s, and %s has %s", name, c.Of, files[0], of)
		}
		if max(c.Shares, 1) != len(files) || c.Share >= len(files) || c.Share < 0 {
			return "", fmt.Errorf("%s: is share %d of %d; given: %s",
				name, c.Share, max(c.Shares, 1), value.Count(len(files), "file"))
		}
		if other := seen[c.Share]; other != "" {
			return "", fmt.Errorf("%s: is share %d, as is %s", name, c.Share, other)
		}

		of, seen[c.Share] = c.Of, name
		add(c.Counts)
	}

	if len(files) == 0 {
		return "", fmt.Errorf("the files of the shares are missing")
	}
	return of, nil
}
