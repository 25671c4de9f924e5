package blackbox

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// The checks of things that run until they are done.
const (
	// NoMoreThanWanted: no more children run concurrently than may, or are still wanted.
	NoMoreThanWanted Check = "NoMoreThanWanted"
	// OneEach: no two children of one number or node run concurrently.
	OneEach Check = "OneEach"
	// CountedOnce: the parent counts only children that have ended that way, none twice, and forgets none.
	CountedOnce Check = "CountedOnce"
	// EndsOnce: what has ended stays so, as it ended, and starts nothing more.
	EndsOnce Check = "EndsOnce"
	// EndsRightly: the parent succeeds when as many children have succeeded as are wanted, and fails
	// when more have failed than may.
	EndsRightly Check = "EndsRightly"
	// Ends: once nothing goes wrong any more and all children succeed, the parent ends within four hours.
	Ends Check = "Ends"
	// NothingLeft: when the parent has ended nothing runs, and when it is deleted nothing of it stays.
	NothingLeft Check = "NothingLeft"
	// NothingRuns: while the parent is suspended nothing runs, from five minutes after it.
	NothingRuns Check = "NothingRuns"
	// NothingStarts: nothing is started from five seconds after the program can see that the parent is suspended.
	NothingStarts Check = "NothingStarts"
)

// BatchSettings are what a parent is made of.
type BatchSettings struct {
	// Wanted is how many children have to succeed, AtOnce how many may run concurrently, and Retries
	// how many may fail.
	Wanted, AtOnce, Retries int32
	// Indexed gives each child a number of its own.
	Indexed bool
	Suspend bool
}

// Tally is a parent's own account.
type Tally struct {
	// Succeeded and Failed are how many children it counts.
	Succeeded, Failed int32
	// Ended is true if it has ended, and Success if it has succeeded.
	Ended, Success bool
}

// Batch is a program that runs children until enough have succeeded.
type Batch struct {
	Program
	// New returns a parent with the settings. The kit sets its name and namespace.
	New func(BatchSettings) any
	// Edit changes a parent to settings: its AtOnce and Suspend are others.
	Edit func(parent Object, s BatchSettings)
	// Tally reads the status of a parent.
	Tally func(parent Object) Tally
	// Index is the number or node of a child; nil or "" is none.
	Index func(child Object) string
	// RandomNames means that the program does not know the names of children before. If the reply to
	// a creation is lost, or the cache of a new replica does not show it, one more child may run until
	// the program sees them.
	RandomNames bool
	// Kind is how children live; for Jobs and Pods the zero value means [Job] or [Pod].
	Kind ChildKind
	// Settings draws settings by choosing among these; nil means any of up to four children.
	Settings []BatchSettings
}

// Play plays a life. It is called outside of a bubble.
func (b *Batch) Play(t *testing.T, life BatchLife) Result {
	t.Helper()
	kind := b.Kind
	if kind.Begin == nil {
		kind = childKinds[b.Child]
	}
	if kind.Begin == nil {
		t.Fatalf("batch: kind: is required for children of kind %s", b.Child.Kind)
	}
	return play(t, &b.Program, life, func(p *player, _ Program) script {
		return &batchScript{
			player:   p,
			batch:    b,
			kind:     kind,
			settings: life.Settings,
			fates:    make(map[string]*fate),
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

func (s BatchSettings) source() string {
	text := fmt.Sprintf("blackbox.BatchSettings{Wanted: %d, AtOnce: %d, Retries: %d", s.Wanted, s.AtOnce, s.Retries)
	if s.Indexed {
		text += ", Indexed: true"
	}
	if s.Suspend {
		text += ", Suspend: true"
	}
	return text + "}"
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

// plain are a parent whose second child fails, and one that is suspended for a while.
func (b *Batch) plain() (lives []Life[BatchSettings]) {
	settings := BatchSettings{Wanted: 2, AtOnce: 2, Retries: 6}
	if b.Settings != nil {
		settings = b.Settings[0]
	}
	wait := Step{Do: Wait, For: 30 * time.Second}
	for _, steps := range [][]Step{
		{wait, {Do: Succeed}, wait, {Do: Fail}, wait, {Do: Succeed}, wait},
		{wait, {Do: Suspend}, wait, {Do: Resume}, wait, {Do: Succeed}, wait},
	} {
		isOut := func(s Step) bool { return !b.has(s.Do) }
		lives = append(lives, BatchLife{Settings: settings, Steps: slices.DeleteFunc(steps, isOut)})
	}
	return lives
}

func (b *Batch) adapt(_ draw, s Step) (Step, bool) { return s, s.Do != Delete }

func (b *Batch) program() *Program { return &b.Program }

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
