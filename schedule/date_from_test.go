package schedule

import "testing"

// TestDateFrom compares the jump to the next matching month with the search, for each
// day of 400 years and of the last supported ones.
func TestDateFrom(t *testing.T) {
	for _, spec := range []string{
		"0 0 1 * *", "0 0 28 * *", "0 0 29 * *", "0 0 30 * *", "0 0 31 * *", "0 0 1,31 * *", "0 0 27-29 2 *",
		"0 0 29 2 *", "0 0 31 1,3 *", "0 0 1 1 *", "0 0 31 12 *", "0 0 1 3 *", "0 0 * 2 *", "0 0 29 2 6", "0 0 * 4 1",
		"0 0 1-7 6-8 ?", "0 0 30 2,4 *",
	} {
		s, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		p := &s.plan.table.pattern
		if p.weekly {
			t.Fatalf("%q does not depend on the date", spec)
		}
		check := func(from, until int64) {
			for day := from; day < until; day++ {
				if got, want := p.dateFrom(day), p.searchFrom(day); got != want {
					t.Fatalf("%q: dateFrom(%d) = %d, want %d", spec, day, got, want)
				}
			}
		}
		check(newYear(1), newYear(402))
		check(newYear(9990), newYear(10000))
	}
}
