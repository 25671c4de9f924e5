package world

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/job"
)

// TestIndex adds and removes pods, and finds each where it is.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pods []*job.Pod
		var x index
		want := map[job.UID]*job.Pod{}
		for n := range rapid.IntRange(1, 200).Draw(t, "steps") {
			if len(pods) > 0 && rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
				p := rapid.SampledFrom(pods).Draw(t, "pod")
				delete(want, p.UID)
				pods = x.remove(pods, p)
				pods = x.remove(pods, p) // it is not there any more
			} else {
				p := &job.Pod{UID: job.UID(fmt.Sprint("u", n))}
				want[p.UID] = p
				pods = append(pods, p)
				x.added(pods)
			}
			if len(pods) != len(want) || x.of(pods, "none") >= 0 {
				t.Fatalf("%d pods, want %d", len(pods), len(want))
			}
			for uid, p := range want {
				if i := x.of(pods, uid); i < 0 || pods[i] != p || slices.Index(pods, p) != i {
					t.Fatalf("%s is at %d", uid, i)
				}
			}
		}
	})
}
