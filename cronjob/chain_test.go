package cronjob_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// drawResults draws an outcome of a plan with arbitrary results.
func drawResults(t *rapid.T, p *cronjob.Plan) (o cronjob.Outcome) {
	result := rapid.Custom(func(t *rapid.T) cronjobreason.Result {
		return cronjobreason.Result(rapid.IntRange(int(cronjobreason.ResultNotTried), int(cronjobreason.ResultRefused)).Draw(t, "result"))
	})
	for range p.Verify {
		o.Verified = append(o.Verified, cronjob.Reply{Result: result.Draw(t, "verified")})
	}
	for range p.Delete {
		o.Deleted = append(o.Deleted, cronjob.Effect{Result: result.Draw(t, "deleted")})
	}
	for _, c := range p.Create {
		o.Created = append(o.Created, cronjob.Effect{
			Result: result.Draw(t, "created"), Job: cronjob.Reference{Name: c.Name, UID: job.UID("uid-of-" + c.Name)}, CreationTimestamp: hours(9),
		})
	}
	o.Settled = cronjob.Reply{Result: result.Draw(t, "settled")}
	return o
}

// checkStored stores a plan and an outcome, and reads them again. The conclusion must be the same.
// It must also be the same for the outcome that is part of the conclusion.
func checkStored(t *rapid.T, p *cronjob.Plan) {
	o := drawResults(t, p)
	end := p.Conclude(o)
	if again := p.Conclude(end.Outcome); !reflect.DeepEqual(end, again) {
		t.Fatalf("the outcome of the conclusion leads to another one:\n%s", cmp.Diff(end, again))
	}
	plan, outcome := restored(t, p), restored(t, &o)
	if got, want := encode(t, plan.Conclude(*outcome)), encode(t, end); got != want {
		t.Fatalf("the stored plan leads to another conclusion:\n%s", cmp.Diff(want, got))
	}
}

// restored stores a value and reads it again.
func restored[T any](t *rapid.T, v *T) *T {
	out := new(T)
	if err := json.Unmarshal([]byte(encode(t, v)), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Results are stored as words, and zero values are left out.
func TestOutcome_JSON(t *testing.T) {
	o := cronjob.Outcome{Writes: cronjob.Writes{
		Verified: []cronjob.Reply{{Result: cronjobreason.ResultGone}},
		Created: []cronjob.Effect{
			{Result: cronjobreason.ResultDone, Job: cronjob.Reference{Name: "a", UID: "u"}}, {Result: cronjobreason.ResultUnsuccessful, Error: "quota"}},
	}}
	const want = `{"verified":["Gone"],"created":[{"result":"Done","job":{"name":"a","uid":"u"}},{"result":"Unsuccessful","error":"quota"}]}`
	data, err := json.Marshal(o)
	if err != nil || string(data) != want {
		t.Errorf("got %s, error %v\nwant %s", data, err, want)
	}
	if err := json.Unmarshal([]byte(`{"settled":"perhaps"}`), &o); err == nil {
		t.Error("an unknown result is accepted")
	}
}

// The values of options are stored as words.
func TestOptions_JSON(t *testing.T) {
	o := cronjob.Options{CatchUp: cronjob.CatchUpAll, Naming: cronjob.Naming{Form: cronjob.NameSeconds}, Marks: cronjob.Marks{TimeIn: cronjob.InName}}
	const want = `{"catchUp":"All","naming":{"form":"Seconds"},"marks":{"timeIn":"Name"}}`
	data, err := json.Marshal(o)
	if err != nil || string(data) != want {
		t.Errorf("got %s, error %v\nwant %s", data, err, want)
	}
	var read cronjob.Options
	if err := json.Unmarshal(data, &read); err != nil || read != o {
		t.Errorf("read again: %+v, error %v", read, err)
	}
	for _, wrong := range []string{`{"catchUp":"some"}`, `{"naming":{"form":"hours"}}`, `{"marks":{"timeIn":"spec"}}`} {
		if err := json.Unmarshal([]byte(wrong), &read); err == nil {
			t.Errorf("%s is accepted", wrong)
		}
	}
}

// The zero Settlement writes nothing and remembers nothing.
func TestChain_ZeroValues(t *testing.T) {
	var s cronjob.Settlement
	if end := s.Conclude(cronjob.Reply{Result: cronjobreason.ResultDone}); !reflect.DeepEqual(end, cronjob.Conclusion{}) {
		t.Errorf("%+v", end)
	}
}

// If there is no status to write, the result of writing it is ignored. Otherwise the conclusion has
// the status that is stored after the write.
func TestC15_TheStatusInForce(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(0.5))
	plan := reconcile(t, s)
	settlement := plan.Settle(cronjob.Writes{})
	if end := settlement.Conclude(cronjob.Reply{Result: cronjobreason.ResultUnsuccessful}); settlement.Write || end.Retry || end.Outcome.Settled.Result != cronjobreason.ResultNotTried {
		t.Errorf("write %t, conclusion %+v", settlement.Write, end)
	}
	s.Now = hours(1)
	if _, end := play(t, s); !end.Status.LastScheduleTime.Equal(hours(1)) || end.Retry {
		t.Errorf("written: %s", end.Status)
	}
	if _, end := playUnwritten(t, s); !end.Status.LastScheduleTime.IsZero() || !end.Retry {
		t.Errorf("not written: %s", end.Status)
	}
}
