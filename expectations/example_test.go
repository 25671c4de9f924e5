package expectations_test

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/expectations"
)

// An adapter records the writes that it is about to make and takes off those that failed. Its watch
// handlers take off the others.
func ExampleTracker() {
	var tracker expectations.Tracker[string]
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

	tracker.Expect("default/demo", 3, 0, now)                               // three pods are to be created
	tracker.Lower("default/demo", 1, 0)                                     // one of the writes failed
	tracker.Observe("default/demo", nil, &expectations.Sight{UID: "uid-1"}) // a notification arrives

	counts, _ := tracker.Snapshot("default/demo")
	fmt.Println(counts.Creations, "missing, satisfied:", tracker.Satisfied("default/demo", now))
	fmt.Println("at the latest:", counts.Expires().Format(time.TimeOnly))

	tracker.Observe("default/demo", nil, &expectations.Sight{UID: "uid-2"})
	fmt.Println("satisfied:", tracker.Satisfied("default/demo", now))
	// Output:
	// 1 missing, satisfied: false
	// at the latest: 12:05:00
	// satisfied: true
}

// The set is a value: deriving another set from it does not change it.
func ExampleUIDs() {
	inFlight := expectations.NewUIDs("uid-2", "uid-1")
	seen := inFlight.Without("uid-1")
	for uid := range inFlight.All() {
		fmt.Println(uid, seen.Has(uid))
	}
	// Output:
	// uid-1 false
	// uid-2 true
}
