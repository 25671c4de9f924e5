package jobtest_test

import (
	"testing"

	"github.com/batchplan/batchplan/job/jobtest"
)

// TestBackend_Right finds nothing wrong with a backend that is right.
func TestBackend_Right(t *testing.T) {
	jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject {
		s := &store{env: env}
		return jobtest.Subject{Store: orphaning{labelled{s}}, Start: jobtest.Loop(env, s.Look)}
	})
}
