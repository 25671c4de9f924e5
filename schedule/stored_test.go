package schedule_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

// A schedule that is stored and read again is the same, with any options.
func TestSchedule_Stored(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	must.OK(t, err)
	troll, err := time.LoadLocation("Antarctica/Troll") // has one offset until 2005
	must.OK(t, err)
	anchor := time.Date(2026, 1, 1, 0, 0, 7, 0, time.UTC)

	for _, tc := range []struct {
		spec string
		opts []schedule.Option
		want string
	}{
		{"*/15 8-18 * * 1-5", nil, `{"spec":"*/15 8-18 * * 1-5"}`},
		{"TZ=Europe/Berlin 30 2 * * *", []schedule.Option{schedule.RunSkippedAtGapEnd(), schedule.RunRepeatedLast()},
			`{"spec":"30 2 * * *","timeZone":"Europe/Berlin","skipped":"atGapEnd","repeated":"last"}`},
		{"30 2 * * *", []schedule.Option{schedule.WithLocation(berlin), schedule.RunRepeatedFirst(), schedule.Also("0 4 1 * *"), schedule.Except("* * 25 12 *")},
			`{"spec":"30 2 * * *","also":["0 4 1 * *"],"except":["* * 25 12 *"],"timeZone":"Europe/Berlin","repeated":"first"}`},
		{"@every 90s", []schedule.Option{schedule.WithAnchor(anchor)}, `{"spec":"@every 90s","anchor":1767225607}`},
		{"*/20 0 9 * * *", []schedule.Option{schedule.WithSeconds(), schedule.NotBefore(anchor.Add(1)), schedule.NotAfter(anchor.AddDate(0, 3, 0))},
			`{"spec":"*/20 0 9 * * *","notBefore":1767225608,"notAfter":1775001607}`},
		{"0 0 L,15W * fri#2", []schedule.Option{schedule.WithSpecialDays(), schedule.Except("* * LW * *")},
			`{"spec":"0 0 L,15W * fri#2","except":["* * LW * *"]}`},
		{"@hourly", []schedule.Option{schedule.RunAfterAnchor(), schedule.WithAnchor(anchor.AddDate(0, 3, 0))},
			`{"spec":"@hourly","anchor":1775001607,"afterAnchor":true}`},
		{"@every 90s", []schedule.Option{schedule.RunAfterAnchor(), schedule.WithAnchor(anchor)}, `{"spec":"@every 90s","anchor":1767225607,"afterAnchor":true}`},
		{"@daily", []schedule.Option{schedule.NotAfter(anchor.AddDate(-3000, 0, 0))}, `{"spec":"@daily","notAfter":-62135596800}`},
		{"0 0 31 2 *", nil, `{"spec":"0 0 31 2 *"}`},
		{"30 2 * * *", []schedule.Option{schedule.Kubernetes(release.Newest()), schedule.WithTimeZone("Europe/Berlin")},
			`{"spec":"30 2 * * *","timeZone":"Europe/Berlin","kubernetes":true}`},
		{"0 9 * * *", []schedule.Option{schedule.WithLocation(troll)}, `{"spec":"0 9 * * *","timeZone":"Antarctica/Troll"}`},
		{"0 9 * * *", []schedule.Option{schedule.WithLocation(time.FixedZone("ship", -3*3600))}, `{"spec":"0 9 * * *","timeZone":"ship","offset":-10800}`},
		{"0 9 * * *", []schedule.Option{schedule.WithLocation(time.FixedZone("", 60))}, `{"spec":"0 9 * * *","offset":60}`},
		{"0 9 * * *", []schedule.Option{schedule.WithLocation(time.FixedZone("", 93600))}, `{"spec":"0 9 * * *","offset":93600}`},
		{"0 9 * * *", []schedule.Option{schedule.WithLocation(time.FixedZone("", -93600))}, `{"spec":"0 9 * * *","offset":-93600}`},
	} {
		s, err := schedule.Parse(tc.spec, tc.opts...)
		must.OK(t, err)

		data, err := json.Marshal(s)
		if err != nil || string(data) != tc.want {
			t.Errorf("%s: stored as %s, %v, want %s", tc.spec, data, err, tc.want)
		}

		var read schedule.Schedule
		if err := json.Unmarshal(data, &read); err != nil || !read.Equal(s) || read.String() != s.String() {
			t.Errorf("%s: read as %s, %v", data, read, err)
		}

		after := time.Date(2026, 3, 20, 0, 0, 0, 0, time.UTC)
		if want, got := slices.Collect(s.NextN(after, 50)), slices.Collect(read.NextN(after, 50)); !slices.EqualFunc(want, got, time.Time.Equal) {
			t.Errorf("%s: runs at %v, want %v", data, got, want)
		}
		if again, _ := json.Marshal(read); string(again) != tc.want {
			t.Errorf("stored again as %s, want %s", again, tc.want)
		}
	}
}

func TestSchedule_StoredZero(t *testing.T) {
	data, err := json.Marshal(schedule.Schedule{})
	if err != nil || string(data) != "null" {
		t.Fatalf("%s, %v", data, err)
	}
	s := mustParse(t, "@daily")
	if err := json.Unmarshal(data, &s); err != nil || !s.Equal(schedule.Schedule{}) {
		t.Errorf("read as %s, %v", s, err)
	}
}

func TestSchedule_StoredIsRefused(t *testing.T) {
	for data, want := range map[string]string{
		`{}`:                    `schedule "": fields "": want 5 fields`,
		`{"spec":"61 * * * *"}`: `minute "61"`,
		`{"spec":"@daily","timeZone":"Mars/Base"}`:         `zone "Mars/Base": unknown time zone Mars/Base`,
		`{"spec":"@daily","timeZone":"Local"}`:             `zone "Local": it means another zone on each machine`,
		`{"spec":"@daily","timeZone":"x","offset":93601}`:  `schedule "@daily": offset: 93601: is more than 93600 seconds from UTC`,
		`{"spec":"@daily","timeZone":"x","offset":-93601}`: `schedule "@daily": offset: -93601: is more than 93600 seconds from UTC`,
		`{"spec":"@daily","skipped":"x"}`:                  `schedule "@daily": skipped: "x": must be empty or "atGapEnd"`,
		`{"spec":"@daily","repeated":"both"}`:              `schedule "@daily": repeated: "both": must be empty, "first" or "last"`,
		`{"spec":"@daily","except":["@every 1h"]}`:         `"@every 1h"`,
		`{"spec":7}`: "schedule: json: cannot unmarshal number",
		`"@daily"`:   "schedule: json: cannot unmarshal string",
	} {
		s := mustParse(t, "@hourly")
		if err := json.Unmarshal([]byte(data), &s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", data, err, want)
		}
		if s.String() != "@hourly" {
			t.Errorf("%s changes the schedule to %s", data, s)
		}
	}

	s := mustParse(t, "@daily", schedule.WithLocation(namedZone(t, "Local", "XXX0YYY,J91/2,J300/3")))
	if data, err := json.Marshal(s); err == nil || !strings.Contains(err.Error(), `zone "Local" cannot be stored: it means another zone`) {
		t.Errorf("stored as %s, %v", data, err)
	}
}
