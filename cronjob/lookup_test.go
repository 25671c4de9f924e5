package cronjob

import (
	"testing"

	"github.com/batchplan/batchplan/job"
)

// C5: a list is asked by UID, and by name where no UID is known. A short list and a
// long one answer alike.
func TestC5_MembersByUIDOrByName(t *testing.T) {
	refs := []Reference{{Name: "a", UID: "1"}, {Name: "b", UID: "2"}}
	for _, times := range []int{1, few} {
		isMember := memberOf(refs, times)
		for _, tc := range []struct {
			uid  job.UID
			name string
			want bool
		}{
			{"2", "b", true}, {"2", "other", true}, {"3", "b", false}, {"", "b", true}, {"", "other", false}, {"3", "other", false},
		} {
			if got := isMember(tc.uid, tc.name); got != tc.want {
				t.Errorf("asked %d times, UID %q, name %q: %t", times, tc.uid, tc.name, got)
			}
		}
	}
}
