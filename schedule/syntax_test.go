package schedule_test

import (
	"strings"
	"testing"

	"github.com/batchplan/batchplan/schedule"
)

// TestS1_ErrorsSayWhatToWrite: errors explain extensions of other programs, and what to write
// instead.
func TestS1_ErrorsSayWhatToWrite(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"0 0 L * *", `day-of-month "L": L, the last day of a month, is not standard; write 28-31 and let the job check that tomorrow is the 1st`},
		{"0 0 L-3 * *", `day-of-month "L-3": L, the last day`},
		{"0 0 LW * *", `day-of-month "LW": W, the working day`},
		{"0 0 15W * *", `day-of-month "15W": W, the working day next to a date, is not standard; write the day, or * and 1-5 as day-of-week`},
		{"0 0 * * 5#2", `day-of-week "5#2": #, the nth weekday of a month, is not standard; write 8-14 as day-of-month, * as day-of-week, and let the job check for weekday 5`},
		{"0 0 * * 5#1", `day-of-week "5#1": #, the nth weekday of a month, is not standard; write 1-7 as`},
		{"0 0 * * 5#5", `day-of-week "5#5": #, the nth weekday of a month, is not standard; write 29-31 as`},
		{"0 0 * * 5#0", `day-of-week "5#0": #, the nth weekday of a month, is not standard; write the days of that week as`},
		{"0 0 * * 5#6", `day-of-week "5#6": #, the nth weekday of a month, is not standard; write the days of that week as`},
		{"0 0 * * 5L", `day-of-week "5L": L, the last weekday of a month, is not standard; write 22-31`},
		{"0 0 * * L", `day-of-week "L": L is not supported; write 6 for Saturday`},
		{"L * * * *", `minute "L": must be a number`}, {"0 0 1 L *", `month "L": must be from 1 to 12`}, {"0 15W * * *", `hour "15W": must be a number`},
		{"0 0 5#2 * *", `day-of-month "5#2": must be a number`}, {"0 0 * 5L *", `month "5L": must be from 1 to 12`},
		{"H * * * *", `minute "H": H, a value chosen for the job, is not supported; write a value from 0 to 59`},
		{"H/15 * * * *", `minute "H/15": H, a value`}, {"0 H(0-7) * * *", `hour "H(0-7)": H, a value chosen for the job, is not supported; write a value from 0 to 23`},
		{"0 0 * * sunday", `day-of-week "sunday": names have three letters; write sun`},
		{"0 0 * * mon-Friday", `day-of-week "mon-Friday": names have three letters; write fri`},
		{"0 0 * june *", `month "june": names have three letters; write jun`},
		{"0 0 * january *", `month "january": names have three letters; write jan`},
		{"0 0 * * 7", `day-of-week "7": Sunday is 0; write 0 or sun`},
		{"0 0 * * 5-7", `day-of-week "5-7": Sunday is 0; write 5-6,0`},
		{"0 0 * * 3-7/2", `day-of-week "3-7/2": Sunday is 0; write 0 or sun`},
		{"0 0 * * 1,7", `day-of-week "1,7": "7": Sunday is 0; write 0 or sun`},
		{"0 0 * * fri-mon", `day-of-week "fri-mon": a range must not end before it begins; write 5-6,0-1`},
		{"60 * * * *", `minute "60": must be from 0 to 59`}, {"0 22-24 * * *", `hour "22-24": must be from 0 to 23`},
		{"0 0 0 * *", `day-of-month "0": must be from 1 to 31`}, {"0 0 1-32 * *", `day-of-month "1-32": must be from 1 to 31`},
		{"0 0 1 0 *", `month "0": must be from 1 to 12`}, {"0 0 1 13 *", `month "13": must be from 1 to 12`},
		{"0 24 * * *", `hour "24": must be from 0 to 23`}, {"0 0 * * 8", `day-of-week "8": must be from 0 to 6`},
		{"a * * * *", `minute "a": must be a number from 0 to 59`}, {"* * * * mo", `day-of-week "mo": must be from 0 to 6, or a name from sun to sat`},
		{"*/0 * * * *", `minute "*/0": the step after the slash must be a number from 1 on, not "0"`},
		{"?/0 * * * *", `minute "?/0": the step after the slash`},
		{"30-10/1 * * * *", `minute "30-10/1": a range must not end before it begins; write 30-59,0-10`},
		{"* * * *", `fields "* * * *": want 5 fields (minute hour day-of-month month day-of-week), found 4`},
		{"0 * * * * *", `fields "0 * * * * *": want 5 fields (minute hour day-of-month month day-of-week), found 6; fields for seconds`},
		{"0 0 * * * * 2026", `fields "0 0 * * * * 2026": want 5 fields (minute hour day-of-month month day-of-week), found 7; fields for seconds`},
		{"@every 5", `descriptor "@every 5": time: missing unit in duration "5"`}, {"@weekday", `descriptor "@weekday": want @yearly, `},
		{"*/x * * * *", `minute "*/x": the step after the slash must be a number from 1 on, not "x"`},
	} {
		_, err := schedule.Parse(c.spec)
		if err == nil || !strings.HasPrefix(err.Error(), "schedule \""+c.spec+"\": "+c.want) {
			t.Errorf("%q: got %v, want %s", c.spec, err, c.want)
		}
	}
}
