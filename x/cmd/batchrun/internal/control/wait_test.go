package control

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/patience"
)

// After a temporary failure a loop warns, waits and tries again. Any other failure ends the loop.
func TestEndure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		warned := ""
		w := waiter{Patience: patience.Patience{Limit: time.Minute}, Warn: func(text string) { warned = text }}
		begin := time.Now()
		failed, err := w.endure(context.Background(), time.Now(), syscall.ENOSPC)
		if !failed || err != nil || time.Since(begin) <= 0 || !strings.Contains(warned, "no space left") {
			t.Errorf("%v, %v after %v: %s", failed, err, time.Since(begin), warned)
		}
		if failed, err := w.endure(context.Background(), time.Now(), nil); failed || err != nil {
			t.Errorf("%v, %v", failed, err)
		}
		// The limit counts from the beginning of the round.
		begin = time.Now()
		failed, err = w.endure(context.Background(), begin.Add(time.Second/2-time.Minute), syscall.ENOSPC)
		if took := time.Since(begin); !failed || err != nil || took != time.Second/2 {
			t.Errorf("%v, %v after %v: %s", failed, err, took, warned)
		}
		if failed, err := w.endure(context.Background(), time.Now(), nil); failed || err != nil {
			t.Errorf("%v, %v", failed, err)
		}
		other := errors.New("other")
		if failed, err := w.endure(context.Background(), time.Now(), other); failed || !errors.Is(err, other) {
			t.Errorf("%v, %v", failed, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if failed, err := w.endure(ctx, time.Now(), syscall.ENOSPC); !failed || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %v", failed, err)
		}
	})
}
