package jobtest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/kittest"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobtest"
)

// TestSteps: a kit prints the steps of a life in the language of stories, scripts and the page. The
// tests of these three paste the printed steps, and reach the same end.
func TestSteps(t *testing.T) {
	kittest.Set(t, map[string]string{
		"rapid.seed": "1", "rapid.nofailfile": "true", "rapid.checks": "1000", "rapid.shrinktime": "0s",
	})
	story := kittest.Story(t, func(tb testing.TB) {
		jobtest.TestBackend(tb, func(env *jobtest.Env) jobtest.Subject {
			s := newStore(env)
			start := jobtest.Loop(env, s.Look)
			return jobtest.Subject{Store: s, Start: func(forget bool) jobtest.Program {
				return breaksAtTheEnd(s, start(forget))
			}}
		})
	})

	kittest.CheckSteps(t, story, "../../internal/line/testdata/steps.txt", *update)
}

// breaksAtTheEnd makes a program fail once a job with failures has succeeded.
func breaksAtTheEnd(s *store, round jobtest.Program) jobtest.Program {
	return func(ctx context.Context) (time.Time, error) {
		again, err := round(ctx)
		j, read := s.Job()
		if read == nil && j.Status.Finished() == job.ConditionComplete && j.Status.Failed > 1 {
			err = errors.New("broken")
		}
		return again, err
	}
}
