package jobtest_test

import (
	"testing"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/kit/jobtest"
)

// openLate is the store behind a watch, with the loop of jobtest.
func openLate(env *jobtest.Env, s *store) jobtest.Subject {
	start, cache := jobtest.LateLoop(env, func(seen job.Job) jobapply.Backend { return &backend{s, int(seen.Version)} })
	return jobtest.Subject{Store: labelled{s}, Start: start, Cache: cache}
}

// TestBackend_Late finds nothing wrong with a program that sees its objects late and keeps its
// expectations.
func TestBackend_Late(t *testing.T) {
	jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject { return openLate(env, &store{env: env}) })
}
