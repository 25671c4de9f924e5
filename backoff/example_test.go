package backoff_test

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/backoff"
)

// Two pods failed after the last success: the next attempt is due 20 s after the second failure.
func ExampleRecord_Observe() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	succeeded := []time.Time{noon}
	failed := []time.Time{noon.Add(-time.Second), noon.Add(4 * time.Second), noon.Add(2 * time.Second)}

	var policy backoff.Policy // 10 s, doubled by each failure, at most 10 min
	record := backoff.Record{}.Observe(succeeded, failed)
	fmt.Println(record.Failures, "failures")
	fmt.Println("due at", record.Due(policy).Format(time.TimeOnly))
	fmt.Println("remaining:", record.Remaining(policy, noon.Add(9*time.Second)))
	// Output:
	// 2 failures
	// due at 12:00:24
	// remaining: 15s
}

func ExamplePolicy_Delay() {
	for failures := range 8 {
		fmt.Print(backoff.Retry().Delay(failures), " ")
	}
	// Output: 0s 1s 2s 4s 8s 16s 32s 1m0s
}
