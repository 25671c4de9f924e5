package expectations_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/intact"
)

// TestE4_NothingIsShared: no function writes to its arguments, and the caller owns the results.
func TestE4_NothingIsShared(t *testing.T) {
	public := intact.Functions{Of: []any{expectations.NewUIDs}, Skip: []string{"Tracker", "Writer"}}
	var pool intact.Pool
	pool.Add([]expectations.UID{"c", "a", "b"}, expectations.NewUIDs("d", "a"), expectations.Sight{UID: "a"}, expectations.Counts{Creations: 2}, time.Unix(0, 0))
	public.Check(t, &pool)
	public.AllCalled(t)
}
