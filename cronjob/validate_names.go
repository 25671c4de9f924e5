package cronjob

import (
	"fmt"
	"strings"
)

const (
	// maxName is the length of the longest name of a CronJob: a Job's name has at most
	// 63 bytes, and a run adds up to 11 (C13).
	maxName  = 52
	maxLabel = 63
)

const notLabel = "must consist of at most 63 lower case letters, digits and '-', and begin and end with a letter or digit"

// nameProblem is what is wrong with the name of a CronJob: it consists of labels with
// dots between them.
func nameProblem(name string) string {
	if len(name) > maxName {
		return fmt.Sprintf("must not be longer than %d bytes, or its jobs' names are too long", maxName)
	}
	for part := range strings.SplitSeq(name, ".") {
		if !isLabel(part) {
			return "each part between dots " + notLabel
		}
	}
	return ""
}

// isLabel reports whether a text is a DNS label (RFC 1123).
func isLabel(text string) bool {
	if text == "" || len(text) > maxLabel || text[0] == '-' || text[len(text)-1] == '-' {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}

// isZoneName reports whether a name has the form that the zone database gives to names.
// If the database is a folder of files, other names may also find a file in it.
func isZoneName(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." || len(part) > 14 || part[0] == '-' {
			return false
		}
		for i := range len(part) {
			c := part[i]
			if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(".-_+", c) >= 0) {
				return false
			}
		}
	}
	return true
}
