package calendar

import (
	"archive/zip"
	"encoding/json"
	"flag"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // zones do not depend on the machine

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
)

var update = flag.Bool("update", false, "rewrite the stored calendars: check each changed time")

var from = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)

func look(t *testing.T, spec, zone string) *Calendar {
	t.Helper()
	c, err := Look(spec, zone, -1, from)
	must.OK(t, err)
	return c
}

func TestRuns(t *testing.T) {
	c := look(t, "30 2 * * *", "Europe/Berlin")
	if want := (Run{"Thu 2026-10-01 02:30:00 CEST", "Thu 2026-10-01 00:30:00 UTC", "in 30m"}); c.Runs[0] != want ||
		len(c.Runs) != 10 {
		t.Errorf("got %v", c.Runs)
	}
	if c.PerYear != 365 { // one day in October has two runs, and one day in March has none
		t.Errorf("%d runs a year", c.PerYear)
	}
}

func TestShifts(t *testing.T) {
	c := look(t, "30 2 * * *", "Europe/Berlin")
	if len(c.Shifts) != 6 {
		t.Fatalf("%d shifts in three years", len(c.Shifts))
	}
	back, forward := c.Shifts[0], c.Shifts[1]
	if back.Gap || back.Minutes != -60 || back.Before != "03:00" || back.After != "02:00" || len(back.Runs) != 2 {
		t.Errorf("back: %+v", back)
	}
	if !forward.Gap || forward.Minutes != 60 || len(forward.Runs) != 0 {
		t.Errorf("forward: %+v", forward)
	}
	if n := len(look(t, "30 2 * * *", "").Shifts); n != 0 {
		t.Errorf("UTC has %d shifts", n)
	}
}

func TestDifferences(t *testing.T) {
	if n := len(look(t, "0 9 * * 1-5", "Europe/Berlin").Differences); n != 0 {
		t.Errorf("%d differences", n)
	}
	// On a Sunday without a midnight, Kubernetes starts a run of a schedule for Saturdays (D5).
	from = time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	defer func() { from = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC) }()
	if c := look(t, "0 9 * * 6", "America/Santiago"); len(c.Differences) == 0 {
		t.Errorf("no differences")
	}
}

func TestErrors(t *testing.T) {
	for spec, want := range map[string]string{"0 9 * *": "fields", "99 * * * *": "minute"} {
		if _, err := Look(spec, "UTC", -1, from); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
	if _, err := Look("@daily", "Mars/Base", -1, from); err == nil {
		t.Error("no error for an unknown zone")
	}
	if c := look(t, "0 0 31 2 *", ""); len(c.Findings) == 0 || c.Findings[0].Kind != "NeverRuns" || len(c.Runs) != 0 {
		t.Errorf("got %+v", c.Findings)
	}
}

// TestDense: a schedule that runs every minute does not take long.
func TestDense(t *testing.T) {
	if c := look(t, "* * * * *", "Europe/Berlin"); c.PerYear != 525600 || len(c.Shifts[0].Runs) != 360 {
		t.Errorf("%d runs a year, %d around a shift", c.PerYear, len(c.Shifts[0].Runs))
	}
}

// TestShortZoneFiles: the zone files of the page list no future transitions. They give the same
// shifts as other zone files.
func TestShortZoneFiles(t *testing.T) {
	want := look(t, "30 2 * * *", "Europe/Berlin").Shifts
	loc, err := time.LoadLocationFromTZData("Europe/Berlin", embedded(t, "Europe/Berlin"))
	must.OK(t, err)
	n := 0
	for at := range shifts(loc, from, from.AddDate(3, 0, 0)) {
		if n >= len(want) || !at.Equal(want[n].At) {
			t.Fatalf("shift %d is at %s", n, at)
		}
		n++
	}
	if n != len(want) {
		t.Errorf("%d shifts, want %d", n, len(want))
	}
}

// embedded reads a file of the zone database that comes with Go.
func embedded(t *testing.T, name string) []byte {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	must.OK(t, err)
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	must.OK(t, err)
	defer archive.Close()
	f, err := archive.Open(name)
	must.OK(t, err)
	defer f.Close()
	data, err := io.ReadAll(f)
	must.OK(t, err)
	return data
}

// TestStored compares the descriptions of some schedules with stored ones.
func TestStored(t *testing.T) {
	var got strings.Builder
	for _, s := range [][2]string{{"30 2 * * *", "Europe/Berlin"}, {"*/20 1-3 * * 0", "America/New_York"}, {"0 9 * * 6", "America/Santiago"}, {"0 12 29 2 *", ""}} {
		data, err := json.Marshal(look(t, s[0], s[1]))
		must.OK(t, err)
		got.WriteString(strings.ReplaceAll(string(data), "},{", "},\n{") + "\n")
	}
	const file = "testdata/calendars.json"
	if *update {
		testfile.Write(t, got.String(), file)
	}
	if got.String() != testfile.Read(t, file) {
		t.Errorf("%s is not what is said (-update writes it):\n%s", file, got.String())
	}
}
