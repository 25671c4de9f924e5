package schedule_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/schedule"
)

// TestS1_NothingIsShared: no function writes to its arguments, and the caller owns the results.
func TestS1_NothingIsShared(t *testing.T) {
	also, except := []string{"0 9 1 * *", "*/20 * * * 1"}, []string{"* * 13 * *"}
	public := intact.Functions{
		Of: []any{
			schedule.Parse, schedule.WithLocation, schedule.WithTimeZone, schedule.WithSeconds, schedule.WithSpecialDays, schedule.NotBefore, schedule.NotAfter,
			schedule.WithAnchor, schedule.RunAfterAnchor, schedule.RunSkippedAtGapEnd, schedule.RunRepeatedFirst, schedule.RunRepeatedLast,
			schedule.Also, schedule.Except, schedule.Kubernetes,
		},
	}
	var pool intact.Pool
	options := []schedule.Option{schedule.Also(also...), schedule.Except(except...), schedule.WithTimeZone("Europe/Berlin")}
	s, err := schedule.Parse("30 2 * * *", options...)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pool.Add(s, also, options, "30 2 * * *", now, schedule.Circumstances{}, 5, &schedule.ParseError{Spec: "x"}, time.UTC, schedule.Finding{})
	public.Check(t, &pool)
	public.AllCalled(t)

	// An option and a schedule do not change when their lists are modified later.
	also[0], except[0] = "0 0 1 1 *", "* * * * *"
	if again, err := schedule.Parse("30 2 * * *", options...); err != nil || !again.Equal(s) {
		t.Errorf("the option keeps the list of its caller: %v, %v", again, err)
	}
}
