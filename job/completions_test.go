package job

import (
	"testing"

	"github.com/batchplan/batchplan/internal/value"
)

// TestJ26_CompletionsReached: without completions the first success suffices, and
// completions of 0 are reached from the start.
func TestJ26_CompletionsReached(t *testing.T) {
	for _, c := range []struct {
		completions *int32
		succeeded   int64
		want        bool
	}{
		{nil, 0, false},
		{nil, 1, true},
		{value.To[int32](0), 0, true},
		{value.To[int32](3), 2, false},
		{value.To[int32](3), 3, true},
		{value.To[int32](3), 1 << 40, true},
	} {
		if got := completionsReached(c.completions, c.succeeded); got != c.want {
			t.Errorf("completions %v, %d succeeded: %v", value.Of(c.completions), c.succeeded, got)
		}
	}
}
