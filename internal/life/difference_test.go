package life

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

func TestDifference(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	limit, none := int64(1<<62), int32(0)
	for _, c := range []struct {
		name     string
		want, is any
		text     string
	}{
		{"nothing", job.Status{}, job.Status{}, ""},
		{"an empty list", job.Spec{}, job.Spec{Template: job.Template{Containers: []string{}}}, ""},
		{"another zone and a part of a second", job.Status{StartTime: at}, job.Status{StartTime: at.Add(3e8).In(time.FixedZone("", 3600))}, ""},
		{"a time", job.Status{StartTime: at}, job.Status{StartTime: at.Add(time.Second)}, "startTime: got 2026-01-01T00:00:01Z, want 2026-01-01T00:00:00Z"},
		{"a forgotten field", job.Spec{ActiveDeadlineSeconds: &limit}, job.Spec{}, "activeDeadlineSeconds: got missing, want 4611686018427387904"},
		{"a zero is not nothing", job.Spec{}, job.Spec{Parallelism: &none}, "parallelism: got 0, want missing"},
		{"in a list", job.PodDetail{Containers: []jobpod.Container{{Name: "a", ExitCode: 1}}}, job.PodDetail{Containers: []jobpod.Container{{Name: "a"}}},
			"containers[0].exitCode: got missing, want 1"},
		{"a shorter list", job.PodDetail{Conditions: []job.PodCondition{{Type: "a"}}}, job.PodDetail{}, `conditions[0].type: got missing, want "a"`},
	} {
		if text := Difference(c.want, c.is); text != c.text {
			t.Errorf("%s: %q, want %q", c.name, text, c.text)
		}
	}
}
