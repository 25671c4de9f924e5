package cronjobtest_test

import (
	"context"
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobtest"
	"github.com/batchplan/batchplan/internal/kittest"
)

var update = flag.Bool("update", false, "rewrite the steps that the kit has printed")

// TestSteps: the kit prints the steps of a life in the language of stories, scripts and the page.
func TestSteps(t *testing.T) {
	kittest.PlayUntilFailure(t, 2)
	test := cronjobtest.Test{Options: rapid.Just(cronjob.Options{})}
	story := kittest.Story(t, func(tb testing.TB) {
		test.Run(tb, func(env *cronjobtest.Env) cronjobtest.Subject {
			p := &program{store: &store{env: env}}
			return cronjobtest.Subject{Store: struct{ cronjobtest.Store }{p.store}, Start: func(forget bool) cronjobtest.Program {
				return breaksLate(env, p, p.start(forget))
			}}
		})
	})
	kittest.CheckSteps(t, story, "../../internal/line/testdata/cronjob_steps.txt", *update)
}

// breaksLate makes a program fail once a job has succeeded, another has failed, and ten hours have
// passed.
func breaksLate(env *cronjobtest.Env, p *program, round cronjobtest.Program) cronjobtest.Program {
	return func(ctx context.Context) (time.Time, error) {
		again, err := round(ctx)
		c, _ := p.CronJob()
		children, _ := p.Children()
		failed := 0
		for _, child := range children {
			if child.Finished == cronjob.Failed {
				failed++
			}
		}
		late := env.Now().Sub(c.CreationTimestamp) > 10*time.Hour
		if late && failed > 0 && !c.Status.LastSuccessfulTime.IsZero() {
			err = errors.New("broken")
		}
		return again, err
	}
}

// TestSteps_Last: the last step is the one at which a store has panicked.
func TestSteps_Last(t *testing.T) {
	kittest.PlayUntilFailure(t, 1)
	test := cronjobtest.Test{Options: rapid.Just(cronjob.Options{})}
	story := kittest.Story(t, func(tb testing.TB) {
		test.Run(tb, func(env *cronjobtest.Env) cronjobtest.Subject {
			s := panics{&store{env: env}}
			return cronjobtest.Subject{Store: struct{ cronjobtest.Store }{s}, Start: cronjobtest.Loop(env, s.Look)}
		})
	})
	if !strings.Contains(story, "\n    fail 20") {
		t.Errorf("there is no failure among the steps:\n%s", story)
	}
}

// panics is a store that panics when it is to store a job that has failed.
type panics struct{ *store }

func (s panics) UpdateChild(c cronjob.Child) error {
	if c.Finished == cronjob.Failed {
		panic("a failure")
	}
	return s.store.UpdateChild(c)
}
