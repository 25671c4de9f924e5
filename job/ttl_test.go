package job

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func finishedAt(t ConditionType, at time.Time) Status {
	return Status{Conditions: []Condition{{Type: t, Status: ConditionTrue, LastTransitionTime: at}}}
}

func TestT1_T2_T3_Expire(t *testing.T) {
	ttl := func(n int32) Spec { return Spec{TTLSecondsAfterFinished: &n} }
	complete := finishedAt(ConditionComplete, second(10))
	complete.CompletionTime = second(3) // for example because the clock has gone back

	for _, test := range []struct {
		name    string
		job     Job
		expired bool
		at      time.Time
		err     string
	}{
		{"T1: no TTL: never", Job{Status: complete}, false, time.Time{}, ""},
		{"T1: not finished: never", Job{Spec: ttl(5)}, false, time.Time{}, ""},
		{"T1: about to end is not finished", Job{Spec: ttl(5), Status: finishedAt(ConditionFailureTarget, second(1))}, false, time.Time{}, ""},
		{"T1: being deleted already", Job{Spec: ttl(5), Status: complete, DeletionTimestamp: second(11)}, false, time.Time{}, ""},
		{"T2: before it is due", Job{Spec: ttl(21), Status: complete}, false, second(31), ""},
		{"T2: at the very time", Job{Spec: ttl(20), Status: complete}, true, second(30), ""},
		{"T2: by the condition, not by the completion time", Job{Spec: ttl(25), Status: complete}, false, second(35), ""},
		{"T2: long after", Job{Spec: ttl(1), Status: complete}, true, second(11), ""},
		{"T2: a failed job", Job{Spec: ttl(20), Status: finishedAt(ConditionFailed, second(10))}, true, second(30), ""},
		{"T2: a TTL of zero", Job{Spec: ttl(0), Status: finishedAt(ConditionFailed, second(30))}, true, second(30), ""},
		{"T2: a negative TTL counts as zero", Job{Spec: ttl(-1), Status: finishedAt(ConditionFailed, second(30))}, true, second(30), ""},
		{"T2: the longest TTL", Job{Spec: ttl(1<<31 - 1), Status: complete}, false, second(10).Add((1<<31 - 1) * time.Second), ""},
		{"T3: an unknown finish time", Job{Spec: ttl(5), Status: finishedAt(ConditionFailed, time.Time{})}, false, time.Time{},
			`status.conditions[Failed].lastTransitionTime: "": is required to expire the job`},
		{"T3: a finish time in the future waits", Job{Spec: ttl(5), Status: finishedAt(ConditionComplete, second(50))}, false, second(55), ""},
	} {
		expired, at, err := Expire(&test.job, Options{}, second(30))
		if expired != test.expired || !at.Equal(test.at) {
			t.Errorf("%s: got %v, %v; want %v, %v", test.name, expired, at, test.expired, test.at)
		}

		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != test.err {
			t.Errorf("%s: got error %q, want %q", test.name, text, test.err)
		}
	}
}

// TestT4_PlanningAgainAgrees: Expire returns the time at which a job expires. If it is called again
// at that time, it reports that the job has expired. A moment earlier it does not (TI1).
func TestT4_PlanningAgainAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int32Range(0, 100).Draw(t, "ttl")
		j := Job{Spec: Spec{TTLSecondsAfterFinished: &n},
			Status: finishedAt(ConditionComplete, second(rapid.IntRange(0, 200).Draw(t, "finished")))}
		now := second(rapid.IntRange(0, 300).Draw(t, "now"))
		expired, at, err := Expire(&j, Options{}, now)
		if err != nil || at.IsZero() || expired != !at.After(now) {
			t.Fatalf("got %v, %v, %v", expired, at, err)
		}
		if early, _, _ := Expire(&j, Options{}, at.Add(-1)); early {
			t.Fatal("it expires before the time that was named")
		}
		if due, _, _ := Expire(&j, Options{}, at); !due {
			t.Fatal("it does not expire at the time that was named")
		}
	})
}

// TestTI2_TI3_ExpireConverges raises the TTL, moves the finish into the future, and follows the
// wake-ups: the job is deleted exactly when it expires, and not before (TI2, TI3).
func TestTI2_TI3_ExpireConverges(t *testing.T) {
	ttl, finish := int32(60), second(3600) // set by another machine's clock, which is ahead
	j := Job{Spec: Spec{TTLSecondsAfterFinished: &ttl}, Status: finishedAt(ConditionComplete, finish)}
	now := second(0)
	for round := 0; ; round++ {
		expired, at, err := Expire(&j, Options{}, now)
		if err != nil || round > 2 {
			t.Fatal(round, err)
		}
		if expired {
			break
		}
		if !at.After(now) {
			t.Fatalf("again at %v, it is %v", at, now)
		}
		now, ttl = at, 120
	}
	if want := finish.Add(120 * time.Second); !now.Equal(want) {
		t.Errorf("expired at %v, want %v", now, want)
	}
}
