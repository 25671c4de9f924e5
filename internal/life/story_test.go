package life

import (
	"fmt"
	"strings"
	"testing"
)

// TestStory: a short story is printed whole. Far from the violation, a long story leaves out
// routine and events about other objects.
func TestStory(t *testing.T) {
	tell := func(rounds int) string {
		l := New(nil)
		l.Tell("a user creates job a")
		for i := range rounds {
			l.Names(fmt.Sprint("pod-", i))
			l.TellPlan("", fmt.Sprintf("create pod-%d: needed\nwait: %d active", i, i))
			l.tell(routine, "status: done")
			l.Tell("pod-%d runs", i)
		}
		l.Tell("a user edits the job")
		l.TellPlan("", "wait: nothing")
		for range 30 {
			l.TellPlan("", "wait: nothing")
		}
		l.Breaks("JI1", "pod-3 is counted twice")
		l.Tell("status: done")
		return l.Story()
	}
	if short := tell(2); strings.Contains(short, "left out") || strings.Count(short, "\n") != 1+2*5+2+31+1 {
		t.Errorf("a short story:\n%s", short)
	}
	long := tell(40)
	for _, want := range []string{
		"a user creates job a\n          (15 lines left out)\n", "plan, in part:\n    create pod-3: needed\n", "pod-3 runs\n",
		"a user edits the job\n", "JI1: pod-3 is counted twice\n", "status: done",
	} {
		if !strings.Contains(long, want) {
			t.Errorf("%q is missing in a long story:\n%s", want, long)
		}
	}
	if strings.Contains(long, "pod-30 ") || strings.Contains(long, "3 active") || strings.Count(long, "\n") > 45 {
		t.Errorf("a long story:\n%s", long)
	}
}
