// Package storetest changes the database of a state folder behind the store, as damage and other
// processes do.
package storetest

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	_ "modernc.org/sqlite" // the driver, also for tests of the store itself

	"github.com/batchplan/batchplan/internal/must"
)

// Open opens the database of a state folder until the end of the test. It creates a missing
// database.
func Open(t testing.TB, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "state.db"))
	must.OK(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// Exec executes statements, and leaves no connection open.
func Exec(t testing.TB, dir, text string) {
	t.Helper()
	db := Open(t, dir)
	_, err := db.Exec(text)
	must.OK(t, errors.Join(err, db.Close()))
}

// Refuse returns the statement that makes a kind of write fail with the error "fault", for example
// "DELETE ON jobs". The statement "DROP TRIGGER fault" ends that.
func Refuse(write string) string {
	return "CREATE TRIGGER fault BEFORE " + write + " BEGIN SELECT RAISE(ABORT, 'fault'); END"
}

// Block writes to the database, as another process may. Other writes then have to wait. It returns
// the function that ends this.
func Block(t testing.TB, dir string) (end func()) {
	t.Helper()
	other, err := Open(t, dir).Conn(t.Context())
	must.OK(t, err)
	_, err = other.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	must.OK(t, err)
	end = sync.OnceFunc(func() {
		_, err := other.ExecContext(context.Background(), "ROLLBACK")
		if err = errors.Join(err, other.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return end
}
