package logs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// prepare returns the folder of a pod that has the given containers, and the pod.
func prepare(t *testing.T, containers ...string) (pod.Folder, *store.Pod) {
	t.Helper()
	spec := pod.Spec{UID: "u"}
	for _, c := range containers {
		spec.Containers = append(spec.Containers, pod.ContainerSpec{Name: c})
	}
	data, err := json.Marshal(spec)
	must.OK(t, err)
	folder := pod.Folder(filepath.Join(t.TempDir(), "pods", "u"))
	must.OK(t, folder.Prepare(data))
	return folder, &store.Pod{Name: "p", Spec: data}
}

func write(t *testing.T, folder pod.Folder, name, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(string(folder), "logs", name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		f.Close()
	}
	must.OK(t, err)
}

func read(t *testing.T, r *Reader, end bool) (lines []string) {
	t.Helper()
	must.OK(t, r.Read(end, func(l Line) { lines = append(lines, fmt.Sprintf("%s %s %s", l.Name(), l.Stream, l.Text)) }))
	return lines
}

func want(t *testing.T, have []string, want ...string) {
	t.Helper()
	if !slices.Equal(have, want) {
		t.Errorf("%q, want %q", have, want)
	}
}

// Each line is read once and as a whole, and only from the selected containers.
func TestRead(t *testing.T) {
	folder, p := prepare(t, "a", "b")
	all, err := Open(folder, p, Select{Tail: -1})
	must.OK(t, err)
	b, err := Open(folder, p, Select{Container: "b", Tail: -1})
	must.OK(t, err)
	want(t, read(t, all, false))
	write(t, folder, "a.stdout", "one\ntw")
	write(t, folder, "b.stderr", "\nx\n")
	want(t, read(t, all, false), "p/a stdout one", "p/b stderr ", "p/b stderr x")
	write(t, folder, "a.stdout", "o\nl")
	want(t, read(t, all, false), "p/a stdout two")
	want(t, read(t, all, true), "p/a stdout l")
	want(t, read(t, all, true))
	want(t, read(t, b, true), "p/b stderr ", "p/b stderr x")
	if none, err := Open(folder, p, Select{Container: "c"}); err != nil || !none.Empty() {
		t.Errorf("%+v, %v", none, err)
	}
	long := strings.Repeat("x", maxLine+5)
	write(t, folder, "b.stdout", long)
	if parts := read(t, b, true); len(parts) != 2 ||
		strings.Join(parts, "") != "p/b stdout "+long[:maxLine]+"p/b stdout xxxxx" {
		t.Errorf("a line of %d bytes comes in %d parts", len(long), len(parts))
	}
}

// TestRead_LongLine: once a line has 16 KiB, it is shown before it ends. A shorter line is not.
func TestRead_LongLine(t *testing.T) {
	for size, parts := range map[int][]int{16383: nil, 16384: {16384}, 16385: {16384}, 32768: {16384, 16384}} {
		folder, p := prepare(t, "a")
		write(t, folder, "a.stdout", strings.Repeat("x", size))
		r, err := Open(folder, p, Select{Tail: -1})
		must.OK(t, err)
		var have []int
		must.OK(t, r.Read(false, func(l Line) { have = append(have, len(l.Text)) }))
		if !slices.Equal(have, parts) {
			t.Errorf("%d bytes: lines of %d, want %d", size, have, parts)
		}
	}
}

// TestSkipAll: lines that the logs already have are left out, and later lines are not.
func TestSkipAll(t *testing.T) {
	folder, p := prepare(t, "a", "b")
	r, err := Open(folder, p, Select{Tail: -1})
	must.OK(t, err)
	write(t, folder, "a.stdout", "old\n")
	r.SkipAll()
	write(t, folder, "a.stdout", "new\n")
	write(t, folder, "b.stderr", "first\n")
	want(t, read(t, r, true), "p/a stdout new", "p/b stderr first")
}

// TestOpen_Fails: if a pod or a log cannot be read, that is an error. A log that does not exist is
// empty.
func TestOpen_Fails(t *testing.T) {
	folder, p := prepare(t, "a")
	r, err := Open(folder, p, Select{Tail: 1, Since: time.Now()})
	must.OK(t, err)
	want(t, read(t, r, true))
	write(t, folder, "a.stdout", "one\n")
	want(t, read(t, r, true), "p stdout one")

	broken := &store.Pod{Name: "p", Spec: []byte("{")}
	if r, err := Open(folder, broken, Select{}); err == nil {
		t.Errorf("a pod that is no JSON: %+v", r)
	}
	if lines, err := Last(folder, broken, "a", 1); err == nil {
		t.Errorf("a pod that is no JSON: %q", lines)
	}

	// A container may put a link where the runner expects its own file.
	link := filepath.Join(string(folder), "logs", "a.stdout.times")
	must.OK(t, os.Symlink("/dev/null", link))
	if _, err := Open(folder, p, Select{Tail: -1, Since: time.Now()}); err == nil {
		t.Error("the times of a log are read through a link")
	}
	must.OK(t, os.Rename(link, strings.TrimSuffix(link, ".times")))
	if _, err := Open(folder, p, Select{Tail: 1}); err == nil {
		t.Error("a log is read through a link")
	}
}

// One call reads the whole log. A log that cannot be read is an error.
func TestRead_Long(t *testing.T) {
	folder, p := prepare(t, "a")
	write(t, folder, "a.stdout", strings.Repeat(strings.Repeat("z", 99)+"\n", 3000))
	r, err := Open(folder, p, Select{Tail: -1})
	must.OK(t, err)
	if lines := read(t, r, true); len(lines) != 3000 || lines[2999] != lines[0] {
		t.Errorf("%d lines", len(lines))
	}
	folder, p = prepare(t, "a")
	if r, err = Open(folder, p, Select{Tail: -1}); err != nil {
		t.Fatal(err)
	}
	must.OK(t, os.Mkdir(filepath.Join(string(folder), "logs", "a.stdout"), 0o700))
	if err := r.Read(true, func(Line) {}); err == nil {
		t.Error("a folder is read as a log")
	}
}

func TestTail(t *testing.T) {
	folder, p := prepare(t, "a")
	write(t, folder, "a.stdout", "1\n2\n\n3\n")
	write(t, folder, "a.stderr", strings.Repeat(strings.Repeat("y", 999)+"\n", 300)+"no end")
	for n, lines := range map[int][]string{0: nil, 1: {"3"}, 2: {"", "3"}, 4: {"1", "2", "", "3"}, 9: {"1", "2", "", "3"}} {
		r, err := Open(folder, p, Select{Tail: n})
		must.OK(t, err)
		var have []string
		long := 0
		if err := r.Read(true, func(l Line) {
			if l.Stream == "stdout" {
				have = append(have, string(l.Text))
			} else {
				long++
			}
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(have, lines) || long != n {
			t.Errorf("tail %d: %q, and %d long lines", n, have, long)
		}
	}
	if at, err := tail(folder, "a", "stderr", 200); err != nil || at != 101*1000 {
		t.Errorf("%d, %v", at, err)
	}
	last, err := Last(folder, p, "a", 1)
	if err != nil || !slices.Equal(last, []string{"no end"}) {
		t.Errorf("%q, %v", last, err)
	}
}

// TestTail_Bounds: a line may end at the first byte of a log, or at the end of a block that is
// read.
func TestTail_Bounds(t *testing.T) {
	long := strings.Repeat("x", 64<<10-1) + "\n"
	for _, test := range []struct {
		text string
		n    int
		at   int64
	}{
		{"", 1, 0},
		{"\n", 1, 0},
		{"\nx\n", 1, 1},
		{"\nx", 1, 1},
		{"\nx\n", 2, 0},
		{"1\n2\n" + long, 1, 4},
		{"1\n2\n" + long, 2, 2},
		{"1\n2\n" + long, 3, 0},
		{"1\n2\n" + long, 0, 4 + 64<<10},
	} {
		folder, _ := prepare(t, "a")
		write(t, folder, "a.stdout", test.text)
		if at, err := tail(folder, "a", "stdout", test.n); err != nil || at != test.at {
			t.Errorf("the last %d lines of %.9q begin at %d, want %d; %v", test.n, test.text, at, test.at, err)
		}
	}
}

// TestLast: the last lines come from one container, and from its stdout only if its stderr is
// empty.
func TestLast(t *testing.T) {
	folder, p := prepare(t, "a", "b")
	write(t, folder, "a.stdout", "1\n2\n3\n")
	write(t, folder, "b.stdout", "out\n")
	write(t, folder, "b.stderr", "err\n")
	for container, lines := range map[string][]string{"a": {"2", "3"}, "b": {"err"}, "c": nil} {
		got, err := Last(folder, p, container, 2)
		must.OK(t, err)
		want(t, got, lines...)
	}
}

// The file with the times of a log gives the offset for a time. If there is no such file, the time
// of the log's own file decides.
func TestSince(t *testing.T) {
	folder, p := prepare(t, "a")
	base := time.Now().Add(-time.Hour)
	write(t, folder, "a.stdout", "1\n2\n3\n")
	write(t, folder, "a.stderr", "old\n")
	must.OK(t, os.Chtimes(filepath.Join(string(folder), "logs", "a.stderr"), base, base))
	for i := range 3 {
		write(t, folder, "a.stdout.times",
			fmt.Sprintf("%d %d\n", 2*i, base.Add(time.Duration(i)*time.Minute).UnixNano()))
	}
	for after, lines := range map[time.Duration][]string{
		-time.Second:                  {"p stdout 1", "p stdout 2", "p stdout 3", "p stderr old"},
		500 * time.Millisecond:        {"p stdout 1", "p stdout 2", "p stdout 3"},
		2 * time.Second:               {"p stdout 2", "p stdout 3"},
		2 * time.Minute:               {"p stdout 3"},
		2*time.Minute + 2*time.Second: nil,
	} {
		r, err := Open(folder, p, Select{Tail: -1, Since: base.Add(after)})
		must.OK(t, err)
		want(t, read(t, r, true), lines...)
	}
	for n, lines := range map[int][]string{1: {"p stdout 3"}, 9: {"p stdout 2", "p stdout 3"}} { // both limits apply
		r, err := Open(folder, p, Select{Tail: n, Since: base.Add(2 * time.Second)})
		must.OK(t, err)
		want(t, read(t, r, true), lines...)
	}
	write(t, folder, "a.stderr.times", "what a container wrote\n")
	if at, err := folder.LogSince("a", "stderr", time.Now()); at != 0 || err != nil {
		t.Errorf("%d, %v", at, err)
	}
}
