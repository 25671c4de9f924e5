package explain

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// The last moment of a day.
var midnight = time.Date(2026, 3, 4, 23, 59, 59, 0, time.UTC)

// TestWords has a case on each side of the boundary of each unit.
func TestWords(t *testing.T) {
	w := words{midnight}
	zone := time.FixedZone("", 7200)
	for _, test := range []struct{ got, want string }{
		{w.at(midnight), "at 23:59:59 (now)"},
		{w.at(midnight.Add(time.Nanosecond)), "at 23:59:59 (in 1s)"},
		{w.at(midnight.Add(-time.Second + 1)), "at 23:59:58 (now)"},
		{w.at(midnight.Add(-time.Second)), "at 23:59:58 (1s ago)"},
		{w.at(midnight.Add(time.Second)), "on 2026-03-05 at 00:00:00 (in 1s)"},
		{w.at(midnight.In(zone)), "at 23:59:59 (now)"},
		{words{midnight.In(zone)}.at(midnight), "at 23:59:59 (now)"},
		{w.clock(midnight.In(zone)), "23:59:59"},
		{w.clock(midnight.Add(-24 * time.Hour)), "2026-03-03 23:59:59"},
		{words{midnight.In(zone)}.clock(midnight), "23:59:59"},
		{w.since(midnight.Add(-time.Minute)), "1m"},

		{span(-1), "0s"},
		{span(0), "0s"},
		{span(1), "1s"},
		{span(59 * time.Second), "59s"},
		{span(59*time.Second + 1), "1m"},
		{span(61 * time.Second), "1m1s"},
		{span(time.Hour - 1), "1h"},
		{span(time.Hour - time.Second), "59m59s"},
		{span(time.Hour + time.Minute - time.Second), "1h"},
		{span(time.Hour + time.Minute), "1h1m"},
		{span(24*time.Hour - time.Second), "23h59m"},
		{span(24 * time.Hour), "1d"},
		{span(25 * time.Hour), "1d1h"},

		{count(0, "pod"), "0 pods"},
		{count(1, "pod"), "1 pod"},
		{count(2, "pod"), "2 pods"},
		{count(1, "index", "indexes"), "1 index"},
		{count(2, "index", "indexes"), "2 indexes"},
		{verb(0, "is", "are") + verb(1, "is", "are") + verb(2, "is", "are"), "areisare"},

		{list(nil), "none"},
		{list(strings.Fields("a")), "a"},
		{list(strings.Fields("a b")), "a and b"},
		{list(strings.Fields("a b c d e f")), "a, b, c, d, e and f"},
		{list(strings.Fields("a b c d e f g")), "a, b, c, d, e and 2 more"},

		{sentence(" "), ""},
		{sentence("it is so"), "It is so."},
		{sentence("is it so?"), "Is it so?"},
		{sentence("backoffLimit is 6"), "backoffLimit is 6."},
		{lowerFirst("Aa") + lowerFirst("Az"), "aaaz"},
		{lowerFirst("A`") + lowerFirst("A{") + lowerFirst("A"), "A`A{A"},
		{lowerWord("Delete it"), "delete it"},
		{lowerWord("ResourceQuota is full"), "ResourceQuota is full"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func printed(print func(p *Printer)) string {
	var b strings.Builder
	print(&Printer{Out: &b, Width: 60})
	return b.String()
}

// TestPrinter_Runs: consecutive runs with the same text share one line. The line names the last day
// if it differs from the first day.
func TestPrinter_Runs(t *testing.T) {
	run := func(hours int, text string) Run {
		return Run{At: midnight.Add(time.Second + time.Duration(hours)*time.Hour), Text: text}
	}
	s := &Schedule{
		Spec: "@hourly",
		Last: []Run{run(2, "failed"), run(1, "done"), run(0, "done"), run(-1, "late"), run(-2, "late"), run(-3, "done"), run(-4, "late"), run(-30, "late")},
		Next: []Run{run(3, "due"), run(4, "due")},
	}
	was := intact.Copy(s)
	const want = `  runs of "@hourly"
    2026-03-03 18:00 to 2026-03-04 20:00 (2 runs)  late
    2026-03-04 21:00  done
    2026-03-04 22:00 to 23:00 (2 runs)  late
    2026-03-05 00:00 to 01:00 (2 runs)  done
    2026-03-05 02:00  failed
    2026-03-05 03:00  due
    2026-03-05 04:00  due
`
	if got := printed(func(p *Printer) { p.schedule(s) }); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if d := intact.Diff(s, was); d != "" {
		t.Error("the schedule is written to", d)
	}
	for _, empty := range []*Schedule{nil, {Spec: "@hourly"}} {
		if got := printed(func(p *Printer) { p.schedule(empty) }); got != "" {
			t.Errorf("without runs: %s", got)
		}
	}
}

// TestPrinter_Pods: ten pods are written, and the others are counted, including those that the
// explanation leaves out.
func TestPrinter_Pods(t *testing.T) {
	for _, test := range []struct {
		pods, more int
		state      State
		lines      int
		last       string
	}{
		{0, 0, Running, 0, ""},
		{10, 0, Running, 11, "pod-9: x"},
		{11, 0, Running, 12, "and 1 more"},
		{12, 7, Failed, 12, "and 9 more"},
		{12, 7, Complete, 0, ""},
	} {
		x := &Explanation{State: test.state, MorePods: test.more}
		for i := range test.pods {
			x.Pods = append(x.Pods, Pod{Name: fmt.Sprint("pod-", i), Text: "x"})
		}
		got := strings.Split(strings.TrimSpace(printed(func(p *Printer) { p.pods(x) })), "\n")
		if got[0] == "" {
			got = nil
		}
		if len(got) != test.lines || len(got) > 0 && strings.TrimSpace(got[len(got)-1]) != test.last {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// TestPrinter_Width: a line may be as wide as the printer allows. Colours and control characters do
// not count.
func TestPrinter_Width(t *testing.T) {
	for words, want := range map[string][]string{
		strings.Repeat("a", 50) + " " + strings.Repeat("b",
			7): {"  " + strings.Repeat("a", 50) + " " + strings.Repeat("b", 7)},
		strings.Repeat("a", 50) + " " + strings.Repeat("b",
			8): {"  " + strings.Repeat("a", 50), "    " + strings.Repeat("b", 8)},
		strings.Repeat("a", 70) + " b": {"  " + strings.Repeat("a", 70), "    b"},
		strings.Repeat("é", 50) + " " + strings.Repeat("b",
			7) + "  \n  end": {"  " + strings.Repeat("é", 50) + " " + strings.Repeat("b", 7), "    end"},
	} {
		if got := strings.Split(strings.TrimSuffix(printed(func(p *Printer) { p.item("  ", "", words) }), "\n"), "\n"); !slices.Equal(got, want) {
			t.Errorf("%q: %q", words, got)
		}
	}
	p := &Printer{Colour: true}
	if n := visible(p.paint(bold, "abc") + "d"); n != 4 {
		t.Errorf("%d characters of four are visible", n)
	}
}

// TestTimeline_Finish: at most sixty lanes are drawn, over at least ten seconds. A lane that is
// left out does not make the timeline longer.
func TestTimeline_Finish(t *testing.T) {
	for lanes, want := range map[int][2]int{0: {0, 0}, 60: {60, 0}, 61: {60, 1}, 75: {60, 15}} {
		tl := &Timeline{From: midnight, To: midnight, Now: midnight}
		for i := range lanes {
			lane := Lane{Bars: []Bar{{From: midnight.Add(-time.Duration(i) * time.Second), To: midnight}}}
			tl.Lanes = append(tl.Lanes, lane)
		}
		tl.finish()
		from := midnight.Add(-time.Duration(max(want[0]-1, 0)) * time.Second)
		if to := from.Add(max(10*time.Second, midnight.Sub(from))); len(tl.Lanes) != want[0] || tl.More != want[1] ||
			!tl.From.Equal(from) || !tl.To.Equal(to) {
			t.Errorf("%d lanes: %d and %d more, from %s to %s", lanes, len(tl.Lanes), tl.More, tl.From, tl.To)
		}
	}

	tl := &Timeline{From: midnight, To: midnight, Lanes: []Lane{{Bars: []Bar{{To: midnight.Add(time.Minute)}}, Marks: []Mark{{At: midnight.Add(2 * time.Minute)}, {}}}}}
	tl.finish()
	tl.addForecast(&Forecast{Until: midnight.Add(time.Hour), Events: []Step{{At: midnight.Add(time.Second), Text: "x"}}})
	if !tl.From.Equal(midnight) || !tl.To.Equal(midnight.Add(time.Hour)) || len(tl.Lanes) != 2 ||
		tl.Lanes[1].Marks[0].Kind != "future" {
		t.Errorf("%+v", tl)
	}
}

// TestActivity: a container that still runs after the others is a helper if it is known as one, or if
// the others ended long ago.
func TestActivity(t *testing.T) {
	running := func(name string) read.Container { return read.Container{Name: name, Running: true} }
	ended := func(name string, ago time.Duration) read.Container {
		return read.Container{Name: name, Ended: true, Since: midnight.Add(-ago)}
	}
	for _, test := range []struct {
		name       string
		phase      job.PodPhase
		leaving    bool
		template   map[string]bool
		containers []read.Container
		want       string // working, helpers, guessed
	}{
		{"nothing tells", job.PodRunning, false, nil, nil, "true 0 false"},
		{"nothing tells, and it is being deleted", job.PodRunning, true, nil, nil, "false 0 false"},
		{"pending", job.PodPending, false, nil, nil, "false 0 false"},
		{"over", job.PodSucceeded, false, nil, []read.Container{running("a")}, "false 0 false"},
		{"all run", job.PodRunning, false, nil, []read.Container{running("a"), running("envoy")}, "true 0 false"},
		{"a known helper", job.PodRunning, false, nil, []read.Container{ended("a", 0), running("envoy")}, "false 1 false"},
		{"not of the template", job.PodRunning, false, map[string]bool{"a": true}, []read.Container{ended("a", 0), running("b")}, "false 1 false"},
		{"of the template", job.PodRunning, false, map[string]bool{"a": true, "b": true}, []read.Container{ended("a", 0), running("b")}, "true 0 false"},
		{"a helper and another", job.PodRunning, false, nil, []read.Container{ended("a", 0), running("b"), running("envoy")}, "true 0 false"},
		{"ended fifteen minutes ago", job.PodRunning, false, nil, []read.Container{ended("a", endedLong), running("b")}, "true 0 false"},
		{"ended longer ago", job.PodRunning, false, nil, []read.Container{ended("a", endedLong+1), running("b")}, "true 1 true"},
		{"one ended long ago, and one just now", job.PodRunning, false, nil, []read.Container{ended("a", time.Hour), ended("c", 0), running("b")}, "true 0 false"},
		{"one is still to start", job.PodRunning, false, nil, []read.Container{ended("a", time.Hour), running("b"), {Name: "c", Waiting: true}}, "true 0 false"},
		{"it is being deleted", job.PodRunning, true, nil, []read.Container{ended("a", time.Hour), running("envoy")}, "false 0 false"},
		{"init containers do no work", job.PodPending, false, nil, []read.Container{{Name: "i", Init: true, Running: true}, {Name: "a", Waiting: true}}, "false 0 false"},
	} {
		p, pod := &read.Pod{Containers: test.containers}, &job.Pod{Phase: test.phase}
		if test.leaving {
			pod.Deletion = &job.PodDeletion{}
		}
		a := activityOf(p, pod, test.template, midnight)
		if got := fmt.Sprint(a.working, len(a.helpers), a.guessed); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestSorted: equal elements keep their order, and the given list is not changed.
func TestSorted(t *testing.T) {
	list := strings.Fields("b1 a1 b2 a2 a3")
	got := sortedStably(list, func(a, b *string) int { return strings.Compare((*a)[:1], (*b)[:1]) })
	if strings.Join(got, " ") != "a1 a2 a3 b1 b2" || strings.Join(list, " ") != "b1 a1 b2 a2 a3" {
		t.Errorf("%v of %v", got, list)
	}
	if a, b := midnight, midnight.Add(1); later(a, b) != b || later(b, a) != b {
		t.Error("the later of two times is the other")
	}
}

// TestLastWarnings: the latest warning of each reason has the count of all of them. Other events
// are left out.
func TestLastWarnings(t *testing.T) {
	event := func(kind, reason string, ago time.Duration) read.Event {
		return read.Event{Type: kind, Reason: reason, Last: midnight.Add(-ago), Count: 1}
	}
	var got []string
	for _, e := range lastWarnings([]read.Event{event("Warning", "A", 3), event("Normal", "B", 1), event("Warning", "C", 2),
		event("Warning", "A", 1), event("Normal", "C", 4)}) {
		got = append(got, fmt.Sprint(e.Reason, e.Count, midnight.Sub(e.Last)))
	}
	if want := "A2 1ns, C2 2ns"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// TestForecast_ChangesNoLook: a forecast works on copies, and does not change the look.
func TestForecast_ChangesNoLook(t *testing.T) {
	files, err := filepath.Glob("testdata/[cq]*/*.yaml")
	must.OK(t, err)
	for _, file := range files {
		data := testfile.Read(t, file)
		_, rest, _ := strings.Cut(data, "\n# at: ")
		at, err := time.Parse(time.RFC3339, strings.Fields(rest)[0])
		must.OK(t, err)
		objects := &read.Objects{}
		stream := objects.Stream(file)
		_, _ = stream.Write([]byte(data))
		_ = stream.Close()

		e := New(objects, Options{At: at, For: 48 * time.Hour})
		for _, c := range objects.CronJobs {
			if l, err := e.lookAtCron(c); err == nil {
				was := intact.Copy(l.children)
				if l.forecast(e.options.For); intact.Diff(l.children, was) != "" {
					t.Errorf("%s: %s", file, intact.Diff(l.children, was))
				}
			}
		}
		for _, j := range objects.Jobs {
			if l, err := e.lookAt(j); err == nil {
				was := intact.Copy(l.snapshot)
				if e.forecastJob(l); intact.Diff(l.snapshot, was) != "" {
					t.Errorf("%s: %s", file, intact.Diff(l.snapshot, was))
				}
			}
		}
	}
}

// TestGang_Size: the planner computes the size of a gang once for a Job, not for each pod that
// waits.
func TestGang_Size(t *testing.T) {
	objects := &read.Objects{}
	stream := objects.Stream("job.yaml")
	_, _ = stream.Write([]byte(testfile.Read(t, "testdata/corners/gang_waits.yaml")))
	_ = stream.Close()
	l, err := New(objects, Options{At: midnight}).lookAt(objects.Jobs[0])
	must.OK(t, err)

	waits := true
	if n := testing.AllocsPerRun(10, func() { waits = l.lacksGang(l.pods[0]) && waits }); n > 0 || !waits {
		t.Errorf("%v allocations for a pod, waits: %t", n, waits)
	}
}

// TestHostIn: the host of a message is the one that the error is about.
func TestHostIn(t *testing.T) {
	for message, want := range map[string]string{
		"dial tcp: lookup db.data on 10.96.0.10:53: no such host":                          "db.data 0",
		"System.Net.Sockets.SocketException: No such host is known. (db:5432)":             "db 5432",
		"Failed to connect to 10.1.1.1 port 443: No route to host; retrying later":         "10.1.1.1 443",
		"could not connect, connection refused errno:111":                                  " 0",
		"app.py:12: connection refused":                                                    " 0",
		"Failed to connect to db:5432: Connection refused. See https://docs.example.com/a": "db 5432",
		"postgres://u:p@db.prod:5432/x: connection refused":                                "db.prod 5432",
		`connection to server at "db" (10.0.0.5), port 5432 failed: Connection refused`:    "db 5432",
		`could not translate host name "db" to address: Name or service not known`:         "db 0",
		"Can't connect to MySQL server on 'db' (111) connection refused":                   "db 0",
		"HTTPConnectionPool(host='hub', port=80): Failed to resolve 'hub'":                 "hub 80",
		"read tcp 10.1.1.1:4000->10.2.2.2:5432: i/o timeout":                               "10.2.2.2 5432",
		"ssh: connect to host db port 22: Connection refused":                              "db 22",
		"ssh: Could not resolve hostname db: Name or service not known":                    "db 0",
		"ping: unknown host db":                                        "db 0",
		"curl: (6) Could not resolve host: api.example.com":            "api.example.com 0",
		"java.net.UnknownHostException: db: Name or service not known": "db 0",
		"connect ECONNREFUSED 10.0.0.1:6379":                           "10.0.0.1 6379",
	} {
		host, port := hostIn(message)
		if got := fmt.Sprint(host, " ", port); got != want {
			t.Errorf("%s: got %q, want %q", message, got, want)
		}
	}
}
