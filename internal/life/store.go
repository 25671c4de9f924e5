package life

import (
	"fmt"

	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobcheck"
)

// Write is one write of a program, with its checks.
type Write struct {
	world.Write
	// Before returns the violations of the write if it takes effect; nil means none.
	Before func() []jobcheck.Violation
	Apply  func() error
	// After checks the store after a write that took effect.
	After func()
}

// Wrong returns a violation if the condition is true, and nothing otherwise.
func Wrong(is bool, rule, format string, args ...any) []jobcheck.Violation {
	if !is {
		return nil
	}
	return []jobcheck.Violation{{Rule: rule, Problem: fmt.Sprintf(format, args...)}}
}

// Do makes a write, which may have a fault. Just before the write it calls interfere, which may
// make something else happen. After the write it calls look, which compares the store with its
// contents before the write.
func (l *Life) Do(w Write, interfere func(), look func(lost bool, err error)) error {
	l.Writing.Lock()
	defer l.Writing.Unlock()
	if l.Injector.Crashed() {
		return world.ErrInjected
	}

	interfere()

	var wrong []jobcheck.Violation
	applied := false
	lost, err := l.Try(w.Write, func() error {
		if w.Before != nil {
			wrong = w.Before()
		}
		err := w.Apply()
		applied = err == nil
		return err
	})

	if applied {
		l.Writes++
		if w.Verb != world.WriteStatus {
			l.Done++
		}
		l.Note(wrong)
	}

	look(lost, err)

	if applied {
		w.After()
	}
	return err
}

// Kept checks that the store holds what it was given. Argument says describes the write.
func (l *Life) Kept(says string, want, is any) {
	if text := Difference(want, is); text != "" {
		l.Breaks("Store", "%s, and %s", says, text)
	}
}

// IsNew notes the UID of an object that the store has created. It must be new.
func (l *Life) IsNew(name string, uid job.UID) {
	if uid == "" || l.uids[uid] {
		l.Breaks("Store", "the UID of %s is %q, which is empty or belongs to an earlier object: "+
			"a UID must be new in the whole life, also after a start", name, uid)
	}
	if l.uids == nil {
		l.uids = make(map[job.UID]bool)
	}
	l.uids[uid] = true
}

// By names the write that has changed something; the zero value means that there was none.
func By(w world.Write) string {
	if w.Verb == "" {
		return ", and no write has gone through Env"
	}
	return " by " + w.String()
}
