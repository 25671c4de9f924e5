package pod

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// TestCapabilityNumbers: names with and without their prefix, in any case.
func TestCapabilityNumbers(t *testing.T) {
	for name, want := range map[string][]int{
		"CHOWN": {0}, "cap_dac_override": {1}, "CAP_KILL": {5}, "SYS_ADMIN": {21}, "CHECKPOINT_RESTORE": {40},
		"": nil, "CAP_": nil, "CAP_CAP_KILL": nil, "NONE": nil,
	} {
		if got := CapabilityNumbers(name); !slices.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
	if all := CapabilityNumbers("ALL"); len(all) != 41 || all[0] != 0 || all[40] != 40 {
		t.Errorf("ALL: %v", all)
	}
}

func at(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

// ran returns a state with two containers, one of which has ended twice.
func ran() State {
	return State{
		Phase: job.PodRunning, Ready: true, ReadyTransition: at(1),
		Containers: []Container{
			{
				Container: jobpod.Container{Name: "a", State: jobpod.Running, FinishedAt: at(2)}, StartedAt: at(3),
				Exits: []Exit{{Code: 1, StartedAt: at(4), FinishedAt: at(5)}, {Code: 2, StartedAt: at(6), FinishedAt: at(7)}},
			},
			{Container: jobpod.Container{Name: "b", State: jobpod.Terminated, ExitCode: 3, FinishedAt: at(8)}, Reason: ReasonError},
			{Container: jobpod.Container{Name: "c", State: jobpod.Waiting}},
		},
	}
}

// TestTranslate: each time is translated, and the original stays as it is.
func TestTranslate(t *testing.T) {
	s, before := ran(), ran()
	got := s.Translate(func(at time.Time) time.Time {
		if at.IsZero() {
			return at
		}
		return at.Add(100 * time.Second)
	})
	if !reflect.DeepEqual(s, before) {
		t.Errorf("the state has changed: %+v", s)
	}

	want := ran()
	want.ReadyTransition = at(101)
	a := &want.Containers[0]
	a.FinishedAt, a.StartedAt = at(102), at(103)
	a.Exits[0] = Exit{Code: 1, StartedAt: at(104), FinishedAt: at(105)}
	a.Exits[1] = Exit{Code: 2, StartedAt: at(106), FinishedAt: at(107)}
	want.Containers[1].FinishedAt = at(108)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestLost: a container that may have run has an unknown end. One that had ended keeps its end, and
// the original stays as it is.
func TestLost(t *testing.T) {
	s, before := ran(), ran()
	got := s.Lost(at(9))
	if !reflect.DeepEqual(s, before) {
		t.Errorf("the state has changed: %+v", s)
	}

	want := ran()
	want.Done, want.Phase, want.Reason, want.Message = true, job.PodFailed, ReasonSupervisorLost, got.Message
	want.Ready, want.ReadyTransition = false, at(9)
	for _, i := range []int{0, 2} {
		c := &want.Containers[i]
		c.State, c.ExitCode, c.FinishedAt, c.Reason = jobpod.Terminated, 137, at(9), ReasonStatusUnknown
	}
	if !reflect.DeepEqual(got, want) || got.Message == "" {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if again := got.Lost(at(10)); !again.ReadyTransition.Equal(at(9)) {
		t.Errorf("a pod that was not ready has become so at %v", again.ReadyTransition)
	}
}

// TestUnrecorded: all containers of the spec have an unknown end, and the message says why.
func TestUnrecorded(t *testing.T) {
	spec := &Spec{Containers: []ContainerSpec{{Name: "i", Kind: jobpod.Init}, {Name: "a", Kind: jobpod.App}}}
	got := spec.Unrecorded(errors.New("it is gone"), at(1))
	want := State{Done: true, Phase: job.PodFailed, Reason: ReasonRecordLost, Message: "how the pod ended is not known: it is gone"}
	for _, c := range spec.Containers {
		want.Containers = append(want.Containers, Container{
			Container: jobpod.Container{Name: c.Name, Kind: c.Kind, State: jobpod.Terminated, ExitCode: 137, FinishedAt: at(1)},
			Reason:    ReasonStatusUnknown,
		})
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// folderWith returns the folder of a pod with files in its folder for logs.
func folderWith(t *testing.T, files map[string]string) Folder {
	t.Helper()
	folder := Folder(filepath.Join(t.TempDir(), "pods", "p"))
	must.OK(t, folder.Prepare([]byte("{}")))
	for name, text := range files {
		must.OK(t, os.WriteFile(filepath.Join(string(folder), "logs", name), []byte(text), 0o600))
	}
	return folder
}

// TestLogSince: the offset of what was written within the second before a time, and after it.
func TestLogSince(t *testing.T) {
	second := func(n int64) string { return fmt.Sprint(at(n).UnixNano()) }
	marks := "0 " + second(10) + "\n4 " + second(20) + "\n8 " + second(30) + "\n"
	folder := folderWith(t, map[string]string{
		"a.stdout": "one\ntwo\nthree\n", "a.stdout.times": marks,
		"b.stdout": "one\ntwo\nthree\n", "b.stdout.times": "0 " + second(10) + "\n8 " + second(20)[:10],
		"c.stdout": "one\ntwo\nthree\n", "c.stdout.times": "x y\n",
		"d.stdout": "one\ntwo\nthree\n", "d.stdout.times": "-1 " + second(10) + "\n8 " + second(20) + "\n",
		"e.stdout": "one\ntwo\nthree\n",
		"f.stdout": "one\ntwo\nthree\n", "f.stdout.times": "",
	})
	must.OK(t, os.Chtimes(filepath.Join(string(folder), "logs", "e.stdout"), at(20), at(20)))
	for _, c := range []struct {
		container string
		since     time.Time
		want      int64
	}{
		{"a", at(0), 0},
		{"a", at(11).Add(-1), 0},
		{"a", at(11), 4}, // what was noted at 10 s was written before 11 s
		{"a", at(20), 4},
		{"a", at(21), 8},
		{"a", at(30), 8},
		{"a", at(31), 14},
		{"b", at(15), 14}, // the second line is cut, so its time is too early
		{"c", at(15), 0},
		{"d", at(0), 8},
		{"e", at(20), 0},
		{"e", at(20).Add(1), 14},
		{"f", at(0), 14},
		{"none", at(0), 0},
	} {
		if got, err := folder.LogSince(c.container, "stdout", c.since); got != c.want || err != nil {
			t.Errorf("%s since %v: %d, want %d, %v", c.container, c.since, got, c.want, err)
		}
	}
	for name, want := range map[string]int64{"a": 14, "none": 0} {
		if got := folder.LogSize(name, "stdout"); got != want {
			t.Errorf("%s has %d bytes", name, got)
		}
	}

	link := filepath.Join(string(folder), "logs", "g.stdout.times")
	must.OK(t, os.Symlink("a.stdout.times", link))
	if _, err := folder.LogSince("g", "stdout", at(0)); err == nil {
		t.Error("the file of the times is a link")
	}
}

// newLog returns a stream whose writes the test makes, and its files.
func newLog(t *testing.T, most int64) (s *stream, text func() (log, times string)) {
	t.Helper()
	dir := t.TempDir()
	open := func(name string) *os.File {
		file, err := os.Create(filepath.Join(dir, name))
		must.OK(t, err)
		t.Cleanup(func() { file.Close() })
		return file
	}
	s, err := newStream(open("log"), open("times"), most)
	must.OK(t, err)
	must.OK(t, s.in.Close()) // nothing comes from a container
	<-s.done
	return s, func() (string, string) {
		log, logErr := os.ReadFile(filepath.Join(dir, "log"))
		times, timesErr := os.ReadFile(filepath.Join(dir, "times"))
		must.OK(t, errors.Join(logErr, timesErr))
		return string(log), string(times)
	}
}

// TestWrite_Limit: a log takes exactly as many bytes as it may, and is then cut once.
func TestWrite_Limit(t *testing.T) {
	for _, c := range []struct {
		most   int64
		writes []string
		want   string
		cut    bool
	}{
		{0, []string{"abc", "def"}, "abcdef", false},
		{-1, []string{"abc"}, "abc", false},
		{6, []string{"abc", "", "def"}, "abcdef", false},
		{6, []string{"abc", "def", "g", "h"}, "abcdef\n[cut here: --max-log is 6 bytes]\n", true},
		{5, []string{"abc", "def", "g"}, "abcde\n[cut here: --max-log is 5 bytes]\n", true},
		{1, []string{"abc"}, "a\n[cut here: --max-log is 1 byte]\n", true},
	} {
		s, text := newLog(t, c.most)
		for _, w := range c.writes {
			s.write([]byte(w))
		}
		if log, _ := text(); log != c.want || s.cut.Load() != c.cut {
			t.Errorf("at most %d of %q: %q, cut %v", c.most, c.writes, log, s.cut.Load())
		}
	}
}

// TestWrite_Lost: bytes that could not be written are counted, and named where writes succeed again.
// They take nothing of the limit.
func TestWrite_Lost(t *testing.T) {
	s, text := newLog(t, 10)
	s.write([]byte("abc"))
	file := s.file
	readOnly, err := os.Open(file.Name())
	must.OK(t, err)
	defer readOnly.Close()

	s.file = readOnly
	s.write([]byte("lost"))
	s.write([]byte("gone!"))
	if s.lost != 9 || s.room != 7 || s.size != 3 {
		t.Errorf("%d bytes are lost, there is room for %d, and the log has %d", s.lost, s.room, s.size)
	}
	s.file = file
	s.write([]byte("def"))
	want := "abc\n[9 bytes lost here: the write failed]\ndef"
	if log, _ := text(); log != want || s.lost != 0 || s.room != 4 || s.size != int64(len(want)) {
		t.Errorf("%q, %d bytes are lost, there is room for %d, and the log has %d", log, s.lost, s.room, s.size)
	}
}

// TestNote: the offset is noted at most once a second, before the write.
func TestNote(t *testing.T) {
	s, text := newLog(t, 0)
	for _, step := range []struct {
		at   time.Time
		size int64
	}{{at(10), 0}, {at(11).Add(-1), 5}, {at(11), 7}, {at(11).Add(1), 8}, {at(20), 9}} {
		s.size = step.size
		s.note(step.at)
	}
	_, times := text()
	if want := fmt.Sprintf("0 %d\n7 %d\n9 %d\n", at(10).UnixNano(), at(11).UnixNano(), at(20).UnixNano()); times != want {
		t.Errorf("%q, want %q", times, want)
	}
}

// TestStamp: the stamp changes with each record, and is zero without one.
func TestStamp(t *testing.T) {
	folder := folderWith(t, nil)
	if folder.Stamp() != (Stamp{}) {
		t.Error("there is no record")
	}
	var last Stamp
	for range 3 {
		must.OK(t, folder.writeState(&State{Phase: job.PodRunning}))
		s := folder.Stamp()
		if s == last || s == (Stamp{}) {
			t.Errorf("%+v after %+v", s, last)
		}
		last = s
	}
}

// TestStop_Shortest: the shortest grace period applies.
func TestStop_Shortest(t *testing.T) {
	folder := folderWith(t, nil)
	if _, asked := folder.stopAsked(); asked {
		t.Error("nobody has asked")
	}
	for _, step := range []struct{ ask, want time.Duration }{
		{time.Minute, time.Minute}, {time.Hour, time.Minute}, {time.Minute, time.Minute}, {time.Second, time.Second}, {0, 0}, {time.Second, 0},
	} {
		must.OK(t, folder.Stop(step.ask))
		if got, asked := folder.stopAsked(); !asked || got != step.want {
			t.Errorf("after %v: %v, %v", step.ask, got, asked)
		}
	}
}

// TestSeal: only what seal has returned is unsealed.
func TestSeal(t *testing.T) {
	for _, text := range []string{"", "{}", strings.Repeat("x", 100)} {
		file := seal([]byte(text))
		if got, err := unseal(file); err != nil || string(got) != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		for _, wrong := range [][]byte{file[:len(file)-1], append(slices.Clone(file), '\n'), nil} {
			if got, err := unseal(wrong); !errors.Is(err, errDamaged) {
				t.Errorf("%q: %q, %v", wrong, got, err)
			}
		}
	}
}
