package job

import "strings"

// This file checks the forms of names in Kubernetes: labels, domains and paths.

const (
	maxLabelLength     = 63
	maxSubdomainLength = 253
)

const qualifiedNameProblem = "must be a qualified name, such as Ready or example.com/ready"

// isQualifiedName reports whether text is a name with an optional domain before it, as
// in "Ready" and "example.com/ready".
func isQualifiedName(text string) bool {
	name := text
	if domain, rest, found := strings.Cut(text, "/"); found {
		if !isSubdomain(domain) {
			return false
		}
		name = rest
	}
	return name != "" && isLabelValue(name)
}

// isLabelValue reports whether text may be the value of a label.
func isLabelValue(text string) bool {
	return len(text) <= maxLabelLength && isWord(text, isAlphanumeric, "-_.")
}

// isSubdomain reports whether text is a domain of lower-case labels.
func isSubdomain(text string) bool {
	if text == "" || len(text) > maxSubdomainLength {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || !isWord(label, isLowerAlphanumeric, "-") {
			return false
		}
	}
	return true
}

// isPath reports whether text can be the path of a URL, without a query.
func isPath(text string) bool {
	for i := range len(text) {
		if !isAlphanumeric(text[i]) && strings.IndexByte("/-._~%!$&'()*+,;=:", text[i]) < 0 {
			return false
		}
	}
	return text != ""
}

// isWord reports whether text begins and ends with a letter and has only letters and
// marks in it. An empty text is a word.
func isWord(text string, isLetter func(byte) bool, marks string) bool {
	for i := range len(text) {
		inside := i > 0 && i < len(text)-1
		if !isLetter(text[i]) && !(inside && strings.IndexByte(marks, text[i]) >= 0) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool             { return '0' <= c && c <= '9' }
func isLowerAlphanumeric(c byte) bool { return 'a' <= c && c <= 'z' || isDigit(c) }
func isAlphanumeric(c byte) bool      { return isLowerAlphanumeric(c) || 'A' <= c && c <= 'Z' }
