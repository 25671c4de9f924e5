package citations

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

// stumbling lists phrases that make a reader stumble, and what to write instead.
var stumbling = []struct {
	phrase  *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\bfor ever\b`), "without end, or always"},
	{regexp.MustCompile(`(?i)\bsomebody\b`), "another client, user or owner"},
	{regexp.MustCompile(`(?i)\bwhosever\b`), "whoever owns it"},
	{regexp.MustCompile(`(?i)\bin the place of\b`), "instead of"},
	{regexp.MustCompile(`(?i)\bstands? twice\b`), "is a duplicate"},
	{regexp.MustCompile(`, too[.;:]`), "also, before the verb"},
	{regexp.MustCompile(`(?i)\bmended\b`), "fixed"},
	{regexp.MustCompile(`(?i)\b(is|are|was|were) told of\b`), "receives, or learns of"},
	{regexp.MustCompile(`(?i)\bputs? the end off\b`), "delays the end"},
	{regexp.MustCompile(`(?i)\b(has|have) got on\b`), "has advanced"},
	{regexp.MustCompile(`(?i)\bcomes? of\b`), "follows from"},
	{regexp.MustCompile(`(?i)\bgone on with\b`), "continued, or resumed"},
}

// TestWording fails if a comment or a document has one of the phrases that stumbling lists.
func TestWording(t *testing.T) {
	lines := 0
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		rel = filepath.ToSlash(rel)
		hidden := strings.HasPrefix(entry.Name(), ".") && file != root
		switch {
		case err != nil:
			return err
		case entry.IsDir() && hidden:
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		prose, err := proseOf(file)
		for _, l := range prose {
			lines++
			for _, s := range stumbling {
				if found := s.phrase.FindString(l.text); found != "" {
					t.Errorf("%s:%d: %q: better %s", rel, l.number, found, s.instead)
				}
			}
		}
		return err
	})
	must.OK(t, err)
	if lines < 1000 {
		t.Errorf("only %d lines were found: something is not read", lines)
	}
}

// prose is a line of a document or of a comment.
type prose struct {
	number int
	text   string
}

// proseOf returns the lines of a document, or of the comments of a Go file.
func proseOf(file string) (lines []prose, err error) {
	add := func(first int, text string) {
		for n, line := range strings.Split(text, "\n") {
			lines = append(lines, prose{first + n, line})
		}
	}
	switch path.Ext(file) {
	case ".md":
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		add(1, string(text))
	case ".go":
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, group := range parsed.Comments {
			for _, c := range group.List {
				add(fset.Position(c.Pos()).Line, c.Text)
			}
		}
	}
	return lines, nil
}
