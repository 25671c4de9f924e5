package life

import (
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/kit/world"
)

// Kept checks that the store holds what it was given: says is what was done.
func (l *Life) Kept(says string, want, is any) {
	if text := Difference(want, is); text != "" {
		l.Breaks("Store", "%s, and %s", says, text)
	}
}

// IsNew notes the UID of an object that the store has made. It must be new.
func (l *Life) IsNew(name string, uid job.UID) {
	if uid == "" || l.uids[uid] {
		l.Breaks("Store", "the UID of %s is %q, which is empty or belongs to an earlier object: a UID must be new in the whole life, also after a start", name, uid)
	}
	if l.uids == nil {
		l.uids = make(map[job.UID]bool)
	}
	l.uids[uid] = true
}

// By says by which write something has changed; the zero value means that nobody has written.
func By(w world.Write) string {
	if w.Verb == "" {
		return ", and no write has gone through Env"
	}
	return " by " + w.String()
}
