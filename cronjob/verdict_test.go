package cronjob

import (
	"testing"
	"time"
)

// TestC12_Verdicts checks a table of verdicts. Each line has a child and what the round has noted
// about it. It also says whether the policy is Replace and whether the status stores an active
// list.
func TestC12_Verdicts(t *testing.T) {
	run := time.Unix(60*100, 0).UTC()
	ofRun := Child{Name: "report-100", UID: "u", ScheduledTime: run}
	byHand := Child{Name: "by-hand", UID: "u"}
	with := func(c Child, change func(*Child)) Child { change(&c); return c }
	ends := func(c *Child) { c.Finished = Complete }
	leaves := func(c *Child) { c.DeletionTimestamp = run }
	ofBackfill := func(c *Child) { c.Backfilled = true }

	replacing, unstored := family{replacing: true}, family{replacing: true, unstored: true}
	for _, tc := range []struct {
		name   string
		family family
		child  Child
		mark   mark
		want   verdict
	}{
		{"another owner's", replacing, with(ofRun, func(c *Child) { c.Foreign = true }), 0, childForeign},
		{"it has ended", replacing, with(ofRun, ends), 0, childEnded},
		{"it has ended, and the status names it", replacing, with(ofRun, ends), markNamed, childEndedNamed},
		{"the status names it", replacing, ofRun, markNamed, childActive},
		{"named and on its way out", replacing, with(ofRun, leaves), markNamed, childActiveLeaving},
		{"named and deleted, as the memory knows", replacing, ofRun, markNamed | markDeleted, childActiveLeaving},
		{"named and gone", replacing, ofRun, markNamed | markDeleted | markGone, childActiveKept},
		{"named, of a backfill", replacing, with(ofRun, ofBackfill), markNamed, childActiveKept},
		{"named, only marked as a backfill's", replacing, with(byHand, ofBackfill), markNamed, childActive},
		{"deleted, as the memory knows", replacing, byHand, markDeleted, childLeaving},
		{"on its way out, of a run", replacing, with(ofRun, leaves), 0, childLeaving},
		{"on its way out, of a trigger", replacing, with(Child{Name: "report-manual-x"}, leaves), 0, childLeaving},
		{"on its way out, made by hand", replacing, with(byHand, leaves), 0, childUnexpected},
		{"on its way out, and no run replaces", family{}, with(ofRun, leaves), 0, childUnexpected},
		{"gone", replacing, ofRun, markDeleted | markGone, childGone},
		{"no list: of a backfill, on its way out", unstored, with(with(ofRun, ofBackfill), leaves), 0, childLeavingKept},
		{"no list: made by hand, on its way out", unstored, with(byHand, leaves), 0, childLeavingOther},
		{"no list: gone, on its way out", unstored, with(ofRun, leaves), markDeleted | markGone, childLeavingOther},
		{"nothing names it, of a run", replacing, ofRun, 0, childForgotten},
		{"nothing names it, made by hand", replacing, byHand, 0, childUnexpected},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := census{family: tc.family, marks: []mark{tc.mark}}
			c.names.cronJob, c.children = "report", []Child{tc.child}
			if got := c.judge(0); got != tc.want {
				t.Errorf("got verdict %d, want %d", got, tc.want)
			}
		})
	}
}
