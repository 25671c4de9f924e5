package manifest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
)

// sink notes each object and each problem of a stream as a line of text.
type sink struct {
	lines       []string
	passForeign bool
}

func (s *sink) Add(o *manifest.Object) error {
	t, err := o.Type()
	if err == nil {
		err = manifest.CheckType(t, "x")
	}
	if err != nil {
		return err
	}
	var head struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(o.JSON, &head); err != nil {
		return err
	}
	s.lines = append(s.lines, fmt.Sprintf("%s %s:%s, %s line %d", t.APIVersion, t.Kind, head.Metadata.Name, o.At.File, o.At.Line))
	return nil
}

func (s *sink) Problem(p manifest.Problem) { s.lines = append(s.lines, "! "+p.Error()) }

func (s *sink) PassForeign() bool { return s.passForeign }

// readText reads a text in pieces of the given size. A size of 0 means one piece.
func readText(s *sink, file, text string, size int) string {
	stream := manifest.NewStream(s, file)
	for rest := []byte(text); len(rest) > 0; {
		n := len(rest)
		if size > 0 {
			n = min(n, size)
		}
		_, _ = stream.Write(rest[:n])
		rest = rest[n:]
	}
	_, _ = stream.Close(), stream.Close()
	return strings.Join(s.lines, "\n")
}

const (
	jobA = `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}}`
	jobB = `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "b"}}`
)

func yamlJob(name string) string {
	return "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + name + "\n"
}

func yamlItem(name string) string {
	return "- " + strings.ReplaceAll(strings.TrimSpace(yamlJob(name)), "\n", "\n  ") + "\n"
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}

// job returns the text that a sink notes for a Job. Argument line is the line of file f at which
// the Job begins.
func job(name string, line int) string {
	return fmt.Sprintf("batch/v1 Job:%s, f line %d", name, line)
}

func jobs(lines ...int) string {
	var all []string
	for i, line := range lines {
		all = append(all, job(string(rune('a'+i)), line))
	}
	return strings.Join(all, "\n")
}

// TestForms reads the same objects in each form of input, in pieces of several sizes.
func TestForms(t *testing.T) {
	const untyped = `{"metadata": {"name": "a"}}`
	pod := func(file string) string { return "v1 Pod:a, " + file + " line 1" }
	for _, test := range []struct{ name, text, want string }{
		{"a List", "{\"apiVersion\": \"v1\",\n\"items\": [\n" + jobA + ",\n" + jobB + "],\n\"kind\": \"List\"}", jobs(3, 4)},
		{"a JobList whose kind comes last", `{"apiVersion": "batch/v1", "items": [{"metadata": {"name": "a", "ownerReferences": [{"kind": "CronJob"}]}}], "kind": "JobList"}`, jobs(1)},
		{"a PodList whose kind comes first", `{"kind": "PodList", "apiVersion": "v1", "items": [` + untyped + `]}`, pod("f")},
		{"a JobList with a List inside", `{"kind": "JobList", "apiVersion": "batch/v1", "metadata": {"items": [` + jobB + `]}, "items": [` + untyped + `]}`, jobs(1)},
		{"single objects in a row", jobA + "\n" + jobB, jobs(1, 2)},
		{"single objects that touch", jobA + jobB, jobs(1, 1)},
		{"an array", "[" + jobA + ",\n" + jobB + "]", jobs(1, 2)},
		{"an array after an array", "[" + jobA + "]\n[" + jobB + "]", jobs(1, 2)},
		{"an array of objects without a kind", "[" + untyped + "]", "! f:1: " + manifest.ErrNoKind.Error()},
		{"an object after a List", `{"kind": "PodList", "apiVersion": "v1", "items": [` + untyped + `]}` + "\n" + jobB, pod("f") + "\n" + job("b", 2)},
		{"an empty List", `{"apiVersion": "v1", "items": [], "kind": "List"}`, ""},
		{"a text with brackets and quotes", `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "uid": "}]\"\\", "annotations": {"items": "[{"}}}`, pod("f")},
		{"a line end in an object", "{\"kind\": \"Pod\",\n\n\"apiVersion\": \"v1\", \"metadata\": {\"name\": \"a\"}}\n" + jobB, pod("f") + "\n" + job("b", 4)},
		{"JSON with a mark of the order of bytes", "\xef\xbb\xbf" + jobA, jobs(1)},
		{"YAML with a mark of the order of bytes", "\xef\xbb\xbf" + yamlJob("a"), jobs(1)},
		{"YAML documents", "# c\n---\n" + yamlJob("a") + "---\n" + yamlJob("b") + "...\n", jobs(2, 7)},
		{"YAML with the line ends of Windows", strings.ReplaceAll(yamlJob("a")+"---\n"+yamlJob("b"), "\n", "\r\n"), jobs(1, 5)},
		{"YAML without a last line end", strings.TrimSpace(yamlJob("a")), jobs(1)},
		{"a document beside its mark", "--- {apiVersion: batch/v1, kind: Job, metadata: {name: a}}\n--- # c\n" + yamlJob("b"), jobs(1, 2)},
		{"a document after an end", yamlJob("a") + "...\n" + yamlJob("b"), jobs(1, 6)},
		{"a text that begins like a mark", "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: |-\n    ---x\n    a\n", "batch/v1 Job:---x\na, f line 1"},
		{"a YAML List", "apiVersion: v1\nitems:\n" + yamlItem("a") + "\n# c\n" + yamlItem("b") + "kind: List\nmetadata:\n  resourceVersion: \"\"\n", jobs(3, 9)},
		{"a YAML List with indented items", "kind: List\napiVersion: v1\nitems:\n" + indented(yamlItem("a")+"\n # c\n"+yamlItem("b")), jobs(4, 10)},
		{"a YAML List with dashes alone", "kind: List\napiVersion: v1\nitems:\n-\n" + indented(yamlJob("a")) + "-\n" + indented(yamlJob("b")), jobs(4, 9)},
		{"a YAML List with comments in an item", "kind: List\nitems:\n# c\n- apiVersion: batch/v1\n# c\n  kind: Job\n  # c\n  metadata:\n    name: |\n      # a\n", "batch/v1 Job:# a\n, f line 4"},
		{"lists in an item", "kind: List\nitems:\n- apiVersion: batch/v1\n  kind: Job\n  x:\n  - y\n  - z\n  metadata: {name: a}\n" + yamlItem("b"), jobs(3, 9)},
		{"two YAML Lists", "kind: List\nitems:\n" + yamlItem("a") + "---\nitems:\n- metadata: {name: b}\nkind: JobList\napiVersion: batch/v1\n", jobs(3, 9)},
		{"an object after a YAML List", "kind: List\nitems:\n" + yamlItem("a") + "---\n" + yamlJob("b"), jobs(3, 7)},
		{"a YAML JobList", "kind: JobList\napiVersion: batch/v1\nitems:\n- metadata: {name: a}\n  spec: {}\n", jobs(4)},
		{"a YAML JobList whose kind comes last", "apiVersion: batch/v1\nitems:\n- metadata: {name: a}\n  spec: {}\nkind: JobList\n", jobs(3)},
		{"a flow mapping", "{apiVersion: batch/v1, kind: Job, metadata: {name: a}}", jobs(1)},
		{"a flow List", "{apiVersion: v1, kind: List, items: [" + jobA + "]}", jobs(1)},
		{"a flow JobList", "{apiVersion: batch/v1, kind: JobList, items: [" + untyped + "]}", jobs(1)},
		{"an empty flow List", "{apiVersion: v1, kind: List, items: []}", ""},
		{"items that are an object", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nitems: {b: c}\n", pod("f")},
		{"a date and words of YAML 1.1", "apiVersion: v1\nkind: Pod\nmetadata: {name: 2026-01-01}\n", "v1 Pod:2026-01-01, f line 1"},
	} {
		for _, size := range []int{0, 1, 7} {
			for _, file := range []string{"f", "f.json", "f.yaml"} {
				isJSON := strings.IndexByte("{[\xef", test.text[0]) >= 0 && strings.Contains(test.text, `"kind": `) &&
					!strings.HasPrefix(test.text, "{apiVersion")
				if file == "f.json" && !isJSON {
					continue
				}
				s := &sink{}
				got := strings.ReplaceAll(readText(s, file, test.text, size), file, "f")
				if got != test.want {
					t.Errorf("%s as %s, pieces of %d: got\n%s\nwant\n%s", test.name, file, size, got, test.want)
				}
			}
		}
	}
}

// TestBadInput: problems have a file and a line, and the rest of the input is read.
func TestBadInput(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i, i,
			strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	noKind := manifest.ErrNoKind.Error()

	for _, test := range []struct{ name, text, want string }{
		{"empty", " \n", "! f: is empty"},
		{"comments", "# nothing\n---\n", "! f: contains no object"},
		{"truncated in an item", "{\"items\": [\n" + jobA + ",\n" + jobB[:60], job("a", 2) + "\n! f:3: the input ends inside a string inside item 2 of the list, which begins at line 3"},
		{"truncated in a text", "{\"kind\": \"Jo", "! f:1: the input ends inside a string inside the object that begins at line 1"},
		{"truncated in a second object", jobA + "\n{\"kind\": \"Jo\",\n", job("a", 1) + "\n! f:3: the input ends inside the object that begins at line 2"},
		{"truncated after an item", "{\"items\": [" + jobA + ",\n", job("a", 1) + "\n! f:2: the input ends after item 1 of the list, which is not closed"},
		{"truncated before the kind", "{\"items\": [{\"metadata\": {}},\n", "! f:2: the input ends after item 1 of the list, which is not closed\n! f:1: " + noKind},
		{"an item that is not JSON", "{\"items\": [" + jobA + ",\n{\"kind\":\nnope},\n" + jobB + "], \"kind\": \"List\"}", job("a", 1) + "\n! f:3: invalid character 'o' in literal null (expecting 'u')\n" + job("b", 4)},
		{"an item that is not an object", "{\"items\": [" + jobA + ",\n7, " + jobB + "]}", job("a", 1) + "\n! f:2: expected an object, found '7'; the rest is not read"},
		{"an item that is an array", "{\"items\": [" + jobA + ",\n[" + jobB + "]]}", job("a", 1) + "\n! f:2: expected an object, found an array; the rest is not read"},
		{"an item that is a text", "{\"items\": [" + jobA + ",\n\"b\", " + jobB + "]}", job("a", 1) + "\n! f:2: expected an object, found a string; the rest is not read"},
		{"a text beside an object", jobA + "\n\"b\"", job("a", 1) + "\n! f:2: expected an object, found a string; the rest is not read"},
		{"brackets that do not match", "{\"items\": [" + jobA + "\n}}", job("a", 1) + "\n! f:2: expected \",\" or \"]\" in the list, found \"}\"; the rest is not read"},
		{"a bracket that closes nothing", jobA + "\n}", job("a", 1) + "\n! f:2: '}' closes nothing; the rest is not read"},
		{"items without a kind before a mistake", "{\"items\": [{\"metadata\": {}},\n7]}", "! f:2: expected an object, found '7'; the rest is not read\n! f:1: " + noKind},
		{"a list with a bad head", "{\"kind\": \"List\", \"items\": [" + jobA + "],\n\"x\": nope}", job("a", 1) + "\n! f:2: invalid character 'o' in literal null (expecting 'u')"},
		{"a wrong type", "{\"apiVersion\": \"batch/v1\", \"kind\": \"Job\",\n\"metadata\": {\"name\": 7}}\n" + jobB, "! f:2: metadata.name: is a number, expected a string\n" + job("b", 3)},
		{"items of another kind", `{"apiVersion": "v1", "kind": "Pod", "items": [` + jobA + `]}`, job("a", 1) + "\n! f:1: Pod has items: expected a List"},
		{"items of another kind in YAML", "# c\n---\nkind: Pod\nitems:\n" + yamlItem("a"), job("a", 5) + "\n! f:2: Pod has items: expected a List"},
		{"no kind", "spec: {}\n", "! f:1: " + noKind},
		{"no kind in a List", "kind: List\nitems:\n" + yamlItem("a") + "- spec: {}\n", job("a", 3) + "\n! f:7: " + noKind},
		{"a tab", "apiVersion: batch/v1\nkind: Job\nmetadata:\n\tname: a\n", "! f:4:1: indented with a tab; YAML requires spaces"},
		{"a tab in a later document", yamlJob("a") + "---\nkind: Job\nmetadata:\n \tname: a\n---\n" + yamlJob("b"), job("a", 1) + "\n! f:8:2: indented with a tab; YAML requires spaces\n" + job("b", 9)},
		{"a bad item between good ones", "kind: List\nitems:\n" + yamlItem("a") + "- kind: Job\n  metadata: {name: [}\n" + yamlItem("b"), job("a", 3) + "\n! f:7: did not find expected node content\n" + job("b", 9)},
		{"a double key in a later document", yamlJob("a") + "---\n" + yamlJob("b") + "kind: Job\n", job("a", 1) + "\n! f:10:1: kind: is given twice, first at line 7"},
		{"double keys in a document beside its mark", "--- {a: 1, a: {b: 2, b: 3}, c: [{d: 1, d: 2}]}", "! f:1:12: a: is given twice, first at line 1\n! f:1:22: a.b: is given twice, first at line 1\n! f:1:40: c[0].d: is given twice, first at line 1"},
		{"a template in a later document", yamlJob("a") + "---\n# c\nmetadata: {{ .Values.x }}\n---\n" + yamlJob("b"), job("a", 1) + "\n! f:7: is a template with {{ }}, as those of Helm; expected objects: render it first, as with helm template\n" + job("b", 8)},
		{"a describe text in a later document", yamlJob("a") + "---\n\nName:  x\nLabels: y\n", job("a", 1) + "\n! f:7: is a text of kubectl describe; expected objects, as kubectl get -o yaml prints them"},
		{"a table in a later document", yamlJob("a") + "---\nNAMESPACE NAME  READY\nx y z\n", job("a", 1) + "\n! f:6: is a table of kubectl get; expected objects: add -o yaml to the command"},
		{"a bomb", bomb.String(), "! f:1: document contains excessive aliasing"},
		{"a value that JSON lacks", "apiVersion: v1\nkind: Pod\nx: .nan\n", "! f:1: unsupported value: NaN"},
		{"no YAML object", "just words\n", "! f:1: is not an object with apiVersion, kind and metadata"},
		{"a YAML list", "# c\n---\n- a\n", "! f:2: is not an object with apiVersion, kind and metadata"},
		{"a HTML page", "<html>", "! f:1: is not an object with apiVersion, kind and metadata"},
		{"a bracket", "[", "! f:1: did not find expected node content"},
	} {
		for _, size := range []int{0, 1} {
			if got := readText(&sink{}, "f", test.text, size); got != test.want {
				t.Errorf("%s, pieces of %d: got\n%s\nwant\n%s", test.name, size, got, test.want)
			}
		}
	}
}

// TestPassForeign: a sink can ask to ignore what is not an object of Kubernetes.
func TestPassForeign(t *testing.T) {
	for text, want := range map[string]string{
		"just words\n---\n" + yamlJob("a"):    job("a", 2),
		"spec: {}\n---\n" + yamlJob("a"):      job("a", 2),
		"{\"spec\": {}}\n" + jobA:             job("a", 2),
		jobA + "\n7 " + jobB:                  job("a", 1),
		"[1, 2]":                              "",
		"- a\n":                               "",
		"a: {{ .Values.x }}\n":                "! f:1: is a template with {{ }}, as those of Helm; expected objects: render it first, as with helm template",
		"{\"items\": [{\"metadata\": {}}]}\n": "",
	} {
		if got := readText(&sink{passForeign: true}, "f", text, 0); got != want {
			t.Errorf("%q: got\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestDeepNesting: any number of open brackets is an error and not a crash.
func TestDeepNesting(t *testing.T) {
	for _, text := range []string{
		`{"kind": "Pod", "x": ` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}",
		`{"items": [{"a": ` + strings.Repeat(`{"a":`, 100_000),
		"a: " + strings.Repeat("[", 100_000),
	} {
		if got := readText(&sink{}, "f", text, 0); !strings.Contains(got, "! f:1: ") {
			t.Errorf("no problem: %.100s", got)
		}
	}
}

// TestLongObjects: an object of 16 MB is read, a longer one is left out, and the next one is read.
func TestLongObjects(t *testing.T) {
	const most = 16 << 20
	const left = "an object of more than 16 MB is left out"
	fill := func(before, after string, length int) string {
		return before + strings.Repeat("x", length-len(before)-len(after)) + after
	}
	inJSON := func(length int) string {
		return fill(`{"kind": "Job", "apiVersion": "batch/v1", "x": "`, `", "y": 1}`, length)
	}
	inYAML := func(length int) string { return fill("kind: Job\napiVersion: batch/v1\nx: ", "\n", length) }
	item := func(length int) string { return fill("- kind: Job\n  apiVersion: batch/v1\n  x: ", "\n", length) }
	oneLine := func(length int) string { return fill("- {kind: Job, apiVersion: batch/v1, x: ", "}\n", length) }

	for _, test := range []struct{ name, text, want string }{
		{"JSON", inJSON(most) + "\n" + jobB, job("", 1) + "\n" + job("b", 2)},
		{"longer JSON", inJSON(most+1) + "\n" + jobB, "! f:1: " + left + "\n" + job("b", 2)},
		{"a key that begins at the limit", fill(`{"x": "`, `", `, most) + `"y": 1}` + "\n" + jobB, "! f:1: " + left + "\n" + job("b", 2)},
		{"an item", `{"items": [` + inJSON(most) + ",\n" + jobB + "]}", job("", 1) + "\n" + job("b", 2)},
		{"a longer item", `{"items": [` + inJSON(most+1) + ",\n" + jobB + "]}", "! f:1: " + left + "\n" + job("b", 2)},
		{"YAML", inYAML(most) + "---\n" + yamlJob("b"), job("", 1) + "\n" + job("b", 4)},
		{"longer YAML", inYAML(most+1) + "---\n" + yamlJob("b"), "! f:1: " + left + "\n" + job("b", 4)},
		{"a YAML item", "items:\n" + item(most) + yamlItem("b"), job("", 2) + "\n" + job("b", 5)},
		{"a longer YAML item", "items:\n" + item(most+1) + yamlItem("b"), "! f:2: " + left + "\n" + job("b", 5)},
		{"a line that is longer in some pieces", "items:\n" + oneLine(most+1<<17) + yamlItem("b"), "! f:2: " + left + "\n" + job("b", 3)},
	} {
		if got := readText(&sink{}, "f", test.text, 1<<16); got != test.want {
			t.Errorf("%s: got\n%.300s\nwant\n%s", test.name, got, test.want)
		}
	}
}
