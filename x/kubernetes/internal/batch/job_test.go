package batch

import (
	"encoding/json"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/internal/must"
)

// TestScheduling: the field of 1.37 is read if k8s.io/api has it.
func TestScheduling(t *testing.T) {
	const text = `{"scheduling":{"schedulingPolicy":{"gang":{"minCount":2}},"disruptionMode":{"all":{}},"schedulingConstraints":{"topology":[{"key":"rack"}]},"resourceClaims":[{"name":"c"}]}}`
	var spec batchv1.JobSpec
	must.OK(t, json.Unmarshal([]byte(text), &spec))
	want := `{"scheduling":null}`
	if hasScheduling {
		want = text
	}
	got, err := json.Marshal(map[string]any{"scheduling": Spec(&spec).Scheduling})
	if err != nil || string(got) != want {
		t.Errorf("scheduling reads as %s, want %s, error %v", got, want, err)
	}
	if got := Spec(new(batchv1.JobSpec)).Scheduling; got != nil {
		t.Errorf("no scheduling reads as %v", got)
	}
}
