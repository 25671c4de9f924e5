package explain_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // zones do not depend on the machine

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

var update = flag.Bool("update", false, "rewrite the expected outputs: read each changed sentence aloud")

// situation reads the inputs and the options of a folder.
func situation(t *testing.T, folder string) (*read.Objects, explain.Options) {
	t.Helper()
	objects := &read.Objects{}
	files, err := filepath.Glob(filepath.Join(folder, "input", "*.*"))
	must.OK(t, err)
	for _, file := range files {
		if filepath.Ext(file) == ".txt" {
			continue
		}
		stream := objects.Stream(filepath.Base(file))
		_, _ = stream.Write([]byte(testfile.Read(t, file)))
		_ = stream.Close()
	}
	text := testfile.Read(t, folder, "args")
	return objects, options(t, strings.Fields(text))
}

func options(t *testing.T, args []string) (o explain.Options) {
	t.Helper()
	var err error
	for i := 0; i+1 < len(args); i += 2 {
		switch args[i] {
		case "--at":
			o.At, err = time.Parse(time.RFC3339, args[i+1])
		case "--for":
			o.For, err = time.ParseDuration(args[i+1])
		default:
			t.Fatalf("unknown option %q", args[i])
		}
		must.OK(t, err)
	}
	return o
}

// TestSituations explains real situations and compares each sentence with the stored one. Most
// situations are built from the manifests of the Kubernetes documentation.
func TestSituations(t *testing.T) {
	folders, err := filepath.Glob("testdata/situations/*")
	if err != nil || len(folders) < 12 {
		t.Fatalf("%d situations: %v", len(folders), err)
	}
	schema := compileSchema(t)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			objects, o := situation(t, folder)
			report := explain.All(objects, o)
			compare(t, filepath.Join(folder, "want.txt"), text(t, report))
			o.Timeline, o.Plan = true, true
			data := encode(t, explain.All(objects, o))
			compare(t, filepath.Join(folder, "want.json"), data)
			checkSchema(t, schema, data)
		})
	}
}

func text(t *testing.T, r *explain.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	p := explain.Printer{Out: &b}
	must.OK(t, p.Head(r.At, ""))
	for i := range r.Objects {
		must.OK(t, p.Explanation(&r.Objects[i]))
	}
	must.OK(t, p.Report(r))
	for _, problem := range r.Problems {
		b.WriteString("error: " + problem.Error() + "\n")
	}
	return b.Bytes()
}

func encode(t *testing.T, r *explain.Report) []byte {
	t.Helper()
	data, err := json.MarshalIndent(r, "", " ")
	must.OK(t, err)
	return append(data, '\n')
}

func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		must.OK(t, os.WriteFile(file, got, 0o644))
	}
	want := testfile.Read(t, file)
	if string(got) == want {
		return
	}
	a, b := strings.Split(want, "\n"), strings.Split(string(got), "\n")
	for i := range b {
		if i >= len(a) || a[i] != b[i] {
			t.Errorf("%s:%d: got\n%s\nwant\n%s", file, i+1, b[i], strings.Join(a[min(i, len(a)):min(i+1, len(a))], ""))
			return
		}
	}
	t.Errorf("%s: the output ends after line %d of %d", file, len(b), len(a))
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("../../schema.json")
	must.OK(t, err)
	return schema
}

func checkSchema(t *testing.T, schema *jsonschema.Schema, data []byte) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	must.OK(t, err)
	if err := schema.Validate(value); err != nil {
		t.Error(err)
	}
}

// TestOrder: the explanations do not depend on the order of the objects or on the size of the
// pieces.
func TestOrder(t *testing.T) {
	folders, _ := filepath.Glob("testdata/situations/*")
	for _, folder := range folders {
		objects, o := situation(t, folder)
		want := text(t, explain.All(objects, o))
		slices.Reverse(objects.Pods)
		if got := text(t, explain.All(objects, o)); !bytes.Equal(got, want) {
			t.Errorf("%s: with the pods in reverse order:\n%s\nwant\n%s", folder, got, want)
		}
	}
}

// TestEverySentenceHasFigures: the summary of an explanation contains a number or a
// time, and every sentence ends with a full stop.
func TestEverySentenceHasFigures(t *testing.T) {
	folders, _ := filepath.Glob("testdata/situations/*")
	for _, folder := range folders {
		objects, o := situation(t, folder)
		for _, x := range explain.All(objects, o).Objects {
			if !strings.ContainsAny(x.Summary, "0123456789") {
				t.Errorf("%s: no figure in %q", folder, x.Summary)
			}
			for _, s := range x.Next {
				checkSentence(t, s.Text)
			}
			for _, f := range x.Facts {
				checkSentence(t, f.Text)
			}
			for _, f := range x.Findings {
				checkSentence(t, f.Text)
			}
		}
	}
}

func checkSentence(t *testing.T, s string) {
	t.Helper()
	if !strings.HasSuffix(s, ".") || strings.Contains(s, "..") || strings.Contains(s, "  ") ||
		strings.Contains(s, "%!") {
		t.Errorf("bad sentence %q", s)
	}
}
