package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// play runs the tests of a package with the given source.
func play(t *testing.T, source string, args ...string) (status int, out string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/x\n\ngo 1.25\n", "x_test.go": "package x\n\nimport \"testing\"\n\n" + source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var o, e bytes.Buffer
	status, err := run(append(append([]string{"-C", dir}, args...), "./..."), &o, &e)
	if err != nil {
		t.Fatal(err)
	}
	return status, o.String() + e.String()
}

func TestRun(t *testing.T) {
	const skips = "func TestB(t *testing.T) { t.Run(\"c d\", func(t *testing.T) { t.Log(\"x\"); t.Skip(\"only root can\\nfly\") }) }\n"
	for _, test := range []struct {
		name, source string
		status       int
		want, not    []string
	}{
		{"passes", "func TestA(t *testing.T) { t.Log(\"secret\") }\n", 0, []string{"ok  \texample.com/x"}, []string{"secret", "skipped", "=== RUN", "PASS"}},
		{"skips", skips, 0, []string{"ok  \texample.com/x", "skipped: example.com/x TestB/c_d: only root can\n"}, []string{"fly"}},
		{"fails", skips + "func TestA(t *testing.T) { t.Error(\"bad\") }\n", 1, []string{"--- FAIL: TestA", "bad", "FAIL\texample.com/x", "skipped: "}, nil},
		{"a part fails", "func TestA(t *testing.T) { t.Run(\"b\", func(t *testing.T) { t.Error(\"bad\") }) }\n", 1, []string{"--- FAIL: TestA", "--- FAIL: TestA/b", "bad"}, nil},
		{"panics", "func TestA(t *testing.T) { panic(\"bad\") }\n", 1, []string{"panic: bad", "FAIL\texample.com/x"}, nil},
		{"exits", "import \"os\"\n\nfunc TestA(t *testing.T) { os.Exit(3) }\n", 1, []string{"FAIL\texample.com/x"}, nil},
		{"does not compile", "func TestA(t *testing.T) { x }\n", 1, []string{"undefined: x", "[build failed]"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, out := play(t, test.source)
			if status != test.status {
				t.Errorf("status %d", status)
			}
			for _, want := range test.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q", want)
				}
			}
			for _, not := range test.not {
				if strings.Contains(out, not) {
					t.Errorf("it has %q", not)
				}
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "skipped")
	for range 2 {
		if _, out := play(t, skips, "-skipped", file); strings.Contains(out, "skipped") {
			t.Errorf("%s", out)
		}
	}
	if data, err := os.ReadFile(file); err != nil || strings.Count(string(data), "TestB/c_d") != 2 {
		t.Errorf("%q, %v", data, err)
	}
}
