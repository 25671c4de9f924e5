package blackbox

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// The checks of parents that run children until enough of them have succeeded.
const (
	// NoMoreThanWanted: no more children run concurrently than AtOnce allows, or than are still
	// wanted.
	NoMoreThanWanted Check = "NoMoreThanWanted"
	// OneEach: no two children with the same index or node run concurrently.
	OneEach Check = "OneEach"
	// CountedOnce: the parent counts a child as succeeded only after it has succeeded, and as
	// failed only after it has failed. It counts no child twice, and forgets none.
	CountedOnce Check = "CountedOnce"
	// EndsOnce: a parent that has ended keeps its outcome and starts no more children.
	EndsOnce Check = "EndsOnce"
	// EndsRightly: the parent succeeds when as many children have succeeded as are wanted, and
	// fails when more children have failed than Retries allows.
	EndsRightly Check = "EndsRightly"
	// Ends: once there are no more faults and all children succeed, the parent ends within four hours.
	Ends Check = "Ends"
	// NothingLeft: no child runs after the parent has ended, and no object is left after the parent is deleted.
	NothingLeft Check = "NothingLeft"
	// NothingRuns: no child runs while the parent is suspended, except in the first five minutes.
	NothingRuns Check = "NothingRuns"
	// NothingStarts: no child starts while the parent is suspended, except in the first five
	// seconds after the program could see the suspension.
	NothingStarts Check = "NothingStarts"
)

// BatchSettings are the settings of a parent.
type BatchSettings struct {
	// Wanted is the number of children that must succeed, AtOnce the number that may run
	// concurrently, and Retries the number that may fail.
	Wanted, AtOnce, Retries int32
	// Indexed gives each child a different index.
	Indexed bool
	Suspend bool
}

// Tally is the result that a parent's status shows.
type Tally struct {
	// Succeeded and Failed are the numbers of children that the parent counts as such.
	Succeeded, Failed int32
	// Ended is true if the parent has ended, and Success if it has succeeded.
	Ended, Success bool
}

// Batch is a program that runs children until enough have succeeded.
type Batch struct {
	Program
	// New returns a parent with the settings. The kit sets its name and namespace.
	New func(BatchSettings) any
	// Edit applies settings to a parent. Only AtOnce and Suspend ever change.
	Edit func(parent Object, s BatchSettings)
	// Tally reads the status of a parent.
	Tally func(parent Object) Tally
	// Index returns the index or the node of a child, or "" if it has none. Nil means that no child has one.
	Index func(child Object) string
	// RandomNames means that the program cannot know the name of a child in advance. If the reply
	// to a creation is lost, or the cache of a new replica does not show the child, one more child
	// may run until the program sees the first.
	RandomNames bool
	// Kind describes how children run and end. Its zero value means Job for Jobs and Pod for pods.
	Kind ChildKind
	// Settings are the settings of random lives; nil means any settings with up to four children.
	Settings []BatchSettings
	// Known are the findings that are known.
	Known []Known[BatchSettings]
}

// Play plays a life. The caller must not be in a synctest bubble.
func (b *Batch) Play(t *testing.T, life BatchLife) Result {
	t.Helper()
	kind := b.Kind
	if kind.Begin == nil {
		kind = childKinds[b.Child]
	}
	if kind.Begin == nil {
		t.Fatalf("batch: kind: is required for children of kind %s", b.Child.Kind)
	}
	return play(t, &b.Program, life, func(f *family, s BatchSettings) script {
		return &batchScript{
			family:   f,
			batch:    b,
			kind:     kind,
			settings: s,
		}
	})
}

// String describes the settings.
func (s BatchSettings) String() string {
	text := fmt.Sprintf("of %d, %d at a time, %d may fail", s.Wanted, s.AtOnce, s.Retries)
	if s.Indexed {
		text += ", indexed"
	}
	if s.Suspend {
		text += ", suspended"
	}
	return text
}

func (b *Batch) random(r draw) BatchSettings {
	if b.Settings != nil {
		return pick(r, b.Settings)
	}
	return BatchSettings{
		Wanted:  1 + r.Int32N(4),
		AtOnce:  1 + r.Int32N(4),
		Retries: pick(r, []int32{0, 1, 2, 6}),
		Indexed: r.IntN(2) == 0,
		Suspend: r.IntN(6) == 0,
	}
}

func (b *Batch) edit(r draw) Step { return Step{Do: Edit, AtOnce: r.Int32N(4)} }

// plain returns lives without faults. In the first, the second child fails; in the second, the parent is suspended
// for a while. Then come lives of three parents: while the others do nothing, one ends, fails or is deleted. In the
// last one, what has ended expires.
func (b *Batch) plain() (lives []Life[BatchSettings]) {
	settings := BatchSettings{Wanted: 2, AtOnce: 2, Retries: 6}
	if b.Settings != nil {
		settings = b.Settings[0]
	}
	wait := Step{Do: Wait, For: 30 * time.Second}
	for _, steps := range [][]Step{
		{wait, {Do: Succeed}, wait, {Do: Fail}, wait, {Do: Succeed}, wait},
		{wait, {Do: Suspend}, wait, {Do: Resume}, wait, {Do: Succeed}, wait},
		{wait, {Do: Succeed}, {Do: Succeed}, wait, {Do: Succeed, Parent: 2}, wait},
		{wait, {Do: Fail}, {Do: Fail}, wait, {Do: Suspend, Parent: 2}, wait},
		{wait, {Do: Succeed}, {Do: Succeed}, wait, {Do: Delete}, wait, {Do: Succeed, Parent: 1}, wait},
		{{Do: Expire, For: 5 * time.Second}, wait, {Do: Succeed}, wait, wait, {Do: Fail}, wait, {Do: Succeed}, wait},
	} {
		life := BatchLife{Settings: settings}
		if slices.ContainsFunc(steps, func(s Step) bool { return s.Parent > 0 }) {
			life.Beside = []BatchSettings{settings, settings}
		}
		lacksParents := life.Beside != nil && !b.has(Several)
		lacksExpire := has(steps, Expire) && !b.has(Expire)
		if lacksParents || lacksExpire {
			continue
		}
		life.Steps = slices.DeleteFunc(steps, func(s Step) bool { return !b.has(s.Do) })
		lives = append(lives, life)
	}
	return lives
}

func (b *Batch) later() []Life[BatchSettings] { return nil }

func (b *Batch) adapt(_ draw, s Step) (Step, bool) { return s, true }

func (b *Batch) beside(r draw) BatchSettings { return b.random(r) }

func (b *Batch) program() *Program { return &b.Program }

func (b *Batch) known() []Known[BatchSettings] { return b.Known }

func (b *Batch) plainer() []func(*BatchSettings) {
	if b.Settings != nil {
		return nil
	}
	return []func(*BatchSettings){
		func(s *BatchSettings) { s.Suspend = false },
		func(s *BatchSettings) { s.Indexed = false },
		func(s *BatchSettings) { s.Retries = 6 },
		func(s *BatchSettings) { s.Wanted, s.AtOnce = 1, 1 },
		func(s *BatchSettings) { s.Wanted, s.AtOnce = 2, 2 },
	}
}
