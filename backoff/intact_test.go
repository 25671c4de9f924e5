package backoff_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/internal/intact"
)

// TestB1_NothingIsShared: no function writes to its arguments, which include times in any order.
func TestB1_NothingIsShared(t *testing.T) {
	public := intact.Functions{Of: []any{backoff.Retry}}
	var pool intact.Pool
	pool.Add([]time.Time{time.Unix(3, 0), time.Unix(1, 0), time.Unix(2, 0)}, backoff.Record{Failures: 1}, backoff.Retry(), 3)
	public.Check(t, &pool)
	public.AllCalled(t)
}
