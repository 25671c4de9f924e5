package job

import (
	"fmt"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestJ33_NamePrefix(t *testing.T) {
	for _, test := range []struct {
		name, job, index, want string
	}{
		{"a short name", "pi", "0", "pi-0-"},
		{"a name that just fits", strings.Repeat("j", 55), "7", strings.Repeat("j", 55) + "-7-"},
		{"a name that is cut by one", strings.Repeat("j", 56), "7", strings.Repeat("j", 55) + "-7-"},
		{"a longer index leaves less of the name", strings.Repeat("j", 63), "2147483646", strings.Repeat("j", 46) + "-2147483646-"},
	} {
		got := indexedPrefix(test.job, test.index)
		if got != test.want || len(got) > 58 {
			t.Errorf("%s: got %q (%d characters), want %q", test.name, got, len(got), test.want)
		}
	}
}

func TestJ33_IndexedCreation(t *testing.T) {
	plan := PlanOf(t, snapshotOf(t, `{"completions": 3, "parallelism": 2, "completionMode": "Indexed"}`))
	want := []Creation{
		{Index: IndexAt(0), NamePrefix: "j-0-", Hostname: "j-0", Reason: jobreason.CreateNew},
		{Index: IndexAt(1), NamePrefix: "j-1-", Hostname: "j-1", Reason: jobreason.CreateNew},
	}
	Same(t, "creations", want, plan.Create)
	key := "batch.kubernetes.io/job-completion-index"
	Same(t, "labels", map[string]string{key: "1"}, plan.Create[1].Labels())
	Same(t, "annotations", map[string]string{key: "1"}, plan.Create[1].Annotations())
}

func TestJ33_NonIndexedCreation(t *testing.T) {
	plan := PlanOf(t, snapshotOf(t, `{}`))
	want := []Creation{{Index: NoIndex(), NamePrefix: "j-", Reason: jobreason.CreateNew}}
	Same(t, "creations", want, plan.Create)
	if labels, annotations := want[0].Labels(), want[0].Annotations(); labels != nil || annotations != nil {
		t.Errorf("labels %v and annotations %v, want none", labels, annotations)
	}
}

// TestJ33_LowestPendingIndexes compares the indexes that a plan creates with the lowest indexes
// that are not taken.
func TestJ33_LowestPendingIndexes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		completions, parallelism := rapid.Int32Range(1, 12).Draw(t, "completions"),
			rapid.Int32Range(0, 12).Draw(t, "parallelism")
		s := snapshotOf(t, fmt.Sprintf(`{"completionMode": "Indexed", "completions": %d, "parallelism": %d, "podReplacementPolicy": "Failed"}`, completions, parallelism))
		taken := map[int32]bool{}
		busy := int32(0) // active or terminating
		for i := range completions {
			pod := Pod{UID: UID(rune('a' + i)), Index: IndexAt(i)}
			switch rapid.SampledFrom([]string{"none", "active", "succeeded", "leaving"}).Draw(t, "index") {
			case "none":
				continue
			case "succeeded":
				pod.Phase = PodSucceeded
			case "leaving":
				pod.Deletion = &PodDeletion{Timestamp: second(40)}
				busy++
			default:
				busy++
			}
			taken[i] = true
			s.Pods = append(s.Pods, pod)
		}

		var want []int32
		succeeded := int32(len(taken)) - busy
		for i := range completions {
			if !taken[i] && int32(len(want)) < min(parallelism, completions-succeeded)-busy {
				want = append(want, i)
			}
		}

		plan := PlanOf(t, s)
		var got []int32
		for _, c := range plan.Create {
			got = append(got, c.Index.Int32())
		}

		if len(plan.Delete) == 0 && !cmp.Equal(want, got) {
			t.Fatalf("created %v, want %v\n%s", got, want, plan.String())
		}
	})
}

// TestJ18_PodOfACreation: the pod has the index and the failure counts of its creation.
func TestJ18_PodOfACreation(t *testing.T) {
	c := Creation{Index: IndexAt(3), FailureCount: 2, IgnoredFailureCount: 1}
	want := Pod{Name: "n", UID: "u", Index: IndexAt(3), Detail: &PodDetail{
		CreationTimestamp: second(9), FailureCount: 2, IgnoredFailureCount: 1,
	}}
	Same(t, "pod", want, c.Pod("n", "u", second(9)))
	if sight := want.Sight(); sight.UID != "u" || sight.Foreign || sight.Deleting || sight.Untracked {
		t.Errorf("sight %+v", sight)
	}
}
