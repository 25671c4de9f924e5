package citations

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
)

// quote matches a quotation of a file in a document: a block of code below a comment that names the
// file.
var quote = regexp.MustCompile("(?m)^<!-- from (\\S+) -->\n+```\\w*\n((?s:.*?))^```$")

// goBlock matches the first line of a block of Go in a document.
var goBlock = regexp.MustCompile("(?m)^```go$")

// TestQuotations compares what documents quote with the files that they name. Each block of Go is
// such a quotation, so the code in documents compiles. The line "// ..." marks lines that are left
// out.
func TestQuotations(t *testing.T) {
	quotations := 0
	for _, file := range documents(t) {
		text, found := testfile.Read(t, root, file), 0
		for _, m := range quote.FindAllStringSubmatch(text, -1) {
			found++
			source, err := os.ReadFile(filepath.Join(root, m[1]))
			if err != nil {
				t.Errorf("%s: %v", file, err)
			}
			if missing := unquoted(string(source), m[2]); missing != "" {
				t.Errorf("%s: %s does not hold these lines:\n%s", file, m[1], missing)
			}
		}

		if blocks := len(goBlock.FindAllString(text, -1)); blocks > found {
			t.Errorf("%s: of %d blocks of Go %d have no line <!-- from FILE --> above them", file, blocks, blocks-found)
		}
		quotations += found
	}

	if quotations < 10 {
		t.Errorf("only %d quotations were found: something is not read", quotations)
	}
}

// unquoted returns the first part of a quotation that is missing in a source, or "". The source
// must have the parts in this order and as whole lines. Indentation does not count.
func unquoted(source, quotation string) string {
	source = "\n" + unindented(source)
	for part := range strings.SplitSeq(unindented(quotation), "// ...\n") {
		_, after, ok := strings.Cut(source, "\n"+part)
		if !ok {
			return part
		}
		source = "\n" + after
	}
	return ""
}

// unindented returns a text without the white space around its lines.
func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}

func TestUnquoted(t *testing.T) {
	const source = "func f() {\n\tfirst()\n\tsecond()\n\tif ok {\n\t\tthird()\n\t}\n}\n"
	for _, tt := range []struct{ quotation, want string }{
		{"first()\nsecond()\n", ""},
		{"\tfirst()\n\tsecond()\n", ""},
		{"func f() {\n\t// ...\n\tif ok {\n\t\tthird()\n", ""},
		{"first()\nthird()\n", "first()\nthird()\n"},
		{"if ok {\n// ...\nfirst()\n", "first()\n"},
		{"econd()\n", "econd()\n"},
		{"secon\n", "secon\n"},
	} {
		if got := unquoted(source, tt.quotation); got != tt.want {
			t.Errorf("unquoted(%q) = %q, want %q", tt.quotation, got, tt.want)
		}
	}
}

// documents returns the paths of all documents from the root.
func documents(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := entry.Name(); {
		case entry.IsDir() && path != root && strings.HasPrefix(name, "."):
			return fs.SkipDir
		case !entry.IsDir() && strings.HasSuffix(name, ".md"):
			relative, err := filepath.Rel(root, path)
			files = append(files, filepath.ToSlash(relative))
			return err
		}
		return nil
	})
	must.OK(t, err)
	return files
}
