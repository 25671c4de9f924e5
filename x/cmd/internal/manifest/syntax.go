package manifest

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s*)?line (\d+): `)

// Syntax returns the problem of a text that the parser of YAML refuses. If it recognises the
// mistake, the problem has a better line and text than those of the parser.
func Syntax(file string, text []byte, err error) Problem {
	if what, line := NotManifest(text); what != "" {
		return Problem{Position{File: file, Line: line}, what}
	}
	p := Problem{Position{File: file, Line: 1}, strings.TrimPrefix(err.Error(), "yaml: ")}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		p.Line, _ = strconv.Atoi(m[1])
		p.Text = strings.ReplaceAll(err.Error()[len(m[0]):], "\n  ", "; ")
	}
	isAboutTabs := strings.Contains(p.Text, "tab character") || strings.Contains(p.Text, "cannot start any token")
	for i, line := range bytes.Split(text, []byte("\n")) {
		indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
		hasTab := len(indent) < len(line) && bytes.IndexByte(indent, '\t') >= 0
		switch {
		case hasTab && isAboutTabs:
			return Problem{Position{file, i + 1, bytes.IndexByte(indent, '\t') + 1}, "indented with a tab; YAML " +
				"requires spaces"}
		case unquoted.Match(line):
			return Problem{Position{file, i + 1, bytes.IndexAny(line, "*@") + 1},
				"schedule: begins with " + strconv.Quote(string(line[bytes.IndexAny(line,
					"*@")])) + ", which has a meaning of its own in YAML; write the schedule in quotes"}
		}
	}
	return p
}

var (
	unquoted = regexp.MustCompile(`^[\s-]*"?schedule"?:\s+[*@]`)
	template = regexp.MustCompile(`\{\{-?\s*[.\w"(/$]`)
	table    = regexp.MustCompile(`^(NAME|NAMESPACE\s+NAME)\s+[A-Z]+`)
	describe = regexp.MustCompile(`^Name:\s[^\n]*\n(.*\n)*?(Namespace|Labels|Annotations|Selector|Schedule):`)
)

// NotManifest recognises texts that users pass by mistake instead of a manifest. It returns what
// the text is, and the line that shows it.
func NotManifest(text []byte) (what string, line int) {
	trimmed := bytes.TrimLeft(text, " \r\n")
	line = 1 + bytes.Count(text[:len(text)-len(trimmed)], []byte("\n"))
	switch {
	case table.Match(trimmed):
		return "is a table of kubectl get; expected objects: add -o yaml to the command", line
	case describe.Match(trimmed):
		return "is a text of kubectl describe; expected objects, as kubectl get -o yaml prints them", line
	}
	if at := template.FindIndex(text); at != nil {
		return "is a template with {{ }}, as those of Helm; expected objects: render it first, as with helm template",
			1 + bytes.Count(text[:at[0]], []byte("\n"))
	}
	return "", 0
}
