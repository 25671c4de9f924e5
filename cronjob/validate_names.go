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

	lowerLetters = "abcdefghijklmnopqrstuvwxyz0123456789"
	letters      = lowerLetters + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

const notLabel = "must consist of at most 63 lower case letters, digits and '-', " +
	"and begin and end with a letter or digit"

// nameProblem returns the problem of a CronJob's name, or "".
func nameProblem(name string) string {
	switch {
	case len(name) > maxName:
		return fmt.Sprintf("must not be longer than %d bytes, or its jobs' names are too long", maxName)
	case !isSubdomain(name):
		return "each part between dots " + notLabel
	}
	return ""
}

// isSubdomain reports whether a text consists of DNS labels with dots between them.
func isSubdomain(text string) bool {
	for part := range strings.SplitSeq(text, ".") {
		if !isLabel(part) {
			return false
		}
	}
	return true
}

// isLabel reports whether a text is a DNS label (RFC 1123).
func isLabel(text string) bool { return len(text) <= maxLabel && isWord(text, lowerLetters, "-") }

// isWord reports whether a text consists of letters, with marks between them.
func isWord(text, letters, marks string) bool {
	return text != "" && strings.Trim(text, letters+marks) == "" && strings.Trim(text, marks) == text
}

// isZoneName reports whether a name has the form of the zone database's names. If the database is a
// folder of files, a name of another form could find a file that is not a zone.
func isZoneName(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "", part == ".", part == "..", part[0] == '-', len(part) > 14,
			strings.Trim(part, letters+".-_+") != "":
			return false
		}
	}
	return true
}
