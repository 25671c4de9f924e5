package life

import (
	"github.com/batchplan/batchplan/kit/jobcheck"
	"github.com/batchplan/batchplan/kit/world"
)

// Write is one write of a program, and what is checked of it.
type Write struct {
	world.Write
	// Before is what is wrong with the write if it takes effect; nil stands for nothing.
	Before func() []jobcheck.Violation
	Apply  func() error
	// After checks what a write that took effect has made of the store.
	After func()
}

// Do makes a write: something may happen just before it, and it may go wrong. Then the kit looks at the store.
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
		l.Note(wrong)
	}
	look(lost, err)
	if applied {
		w.After()
	}
	return err
}
