package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

func TestJobInADatabase(t *testing.T) {
	if err := run(filepath.Join(t.TempDir(), "state.db")); err != nil {
		t.Fatal(err)
	}
}

// A service that dies before any of its writes, and begins anew with what is in the database,
// comes to the same end.
func TestCrashBeforeEachWrite(t *testing.T) {
	const want = "Complete: 3 succeeded (0-2), 1 failed"
	for n := 0; ; n++ {
		status, crashed := play(t, n)
		if status != want {
			t.Fatalf("crash before write %d: %s, want %s", n, status, want)
		}
		if !crashed {
			if n < 10 {
				t.Errorf("the job took only %d writes", n)
			}
			return
		}
	}
}

// crashing is a backend of a service that dies before a write.
type crashing struct {
	jobapply.Backend
	left *int // writes before it dies
}

var errCrash = errors.New("crash")

func (c crashing) count() {
	if *c.left--; *c.left == -1 {
		panic(errCrash)
	}
}

func (c crashing) Create(ctx context.Context, creation job.Creation) (job.PodRef, error) {
	c.count()
	return c.Backend.Create(ctx, creation)
}

func (c crashing) Untrack(ctx context.Context, pod job.PodRef) error {
	c.count()
	return c.Backend.Untrack(ctx, pod)
}

func (c crashing) WriteStatus(ctx context.Context, status job.Status) error {
	c.count()
	return c.Backend.WriteStatus(ctx, status)
}

// play plays the job to its end. The service dies once, before a write.
func play(t *testing.T, before int) (status string, crashed bool) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "state.db")
	s := reopen(t, nil, file)
	defer func() { s.db.Close() }()
	if err := s.add("u", "render", threeIndexes()); err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1e9, 0).UTC()
	for range 100 {
		end, err := roundOrCrash(s, now, &before)
		if errors.Is(err, errCrash) {
			crashed, s = true, reopen(t, s, file)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if end.Status.Finished() != "" {
			return fmt.Sprintf("%s: %d succeeded (%s), %d failed",
				end.Status.Finished(), end.Status.Succeeded, end.Status.CompletedIndexes, end.Status.Failed), crashed
		}
		now = later(now, end.Requeue)
		if err := s.work(now); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the job does not end")
	return "", false
}

// roundOrCrash is a round of the store whose service may die in it.
func roundOrCrash(s *store, now time.Time, left *int) (end job.Conclusion, err error) {
	defer func() {
		if cause := recover(); cause == errCrash {
			err = errCrash
		} else if cause != nil {
			panic(cause)
		}
	}()
	snapshot, err := s.snapshot("u", now)
	if err != nil {
		return end, err
	}
	return s.carryOut(context.Background(), crashing{writer{s.db, "u"}, left}, snapshot)
}

func reopen(t *testing.T, old *store, file string) *store {
	t.Helper()
	if old != nil {
		old.db.Close()
	}
	s, err := open(file, "synchronous(off)") // the machine does not die
	if err != nil {
		t.Fatal(err)
	}
	return s
}
