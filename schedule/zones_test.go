package schedule_test

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/schedule"
)

// testZone is a zone of the database with its compiled option.
type testZone struct {
	name   string
	loc    *time.Location
	option schedule.Option
}

// allZones returns the zones listed in testdata/zones.txt: all names of the zone database.
var allZones = sync.OnceValues(func() ([]testZone, error) {
	text, err := os.ReadFile("testdata/zones.txt")
	if err != nil {
		return nil, err
	}
	var zones []testZone
	for _, name := range strings.Fields(string(text)) {
		loc, err := time.LoadLocation(name)
		if err != nil {
			return nil, err
		}
		zones = append(zones, testZone{name, loc, schedule.WithLocation(loc)})
	}
	return zones, nil
})

func zonesOf(t testing.TB) []testZone {
	t.Helper()
	zones, err := allZones()
	must.OK(t, err)
	if len(zones) < 500 {
		t.Fatalf("testdata/zones.txt lists %d zones, want the whole database", len(zones))
	}
	return zones
}

func locationOf(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	must.OK(t, err)
	return loc
}

func mustParse(t interface {
	Helper()
	Fatal(...any)
}, spec string, opts ...schedule.Option) schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(spec, opts...)
	must.OK(t, err)
	return s
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04Z07:00", text)
	if err != nil {
		at, err = time.Parse(time.RFC3339Nano, text)
	}
	must.OK(t, err)
	return at
}
