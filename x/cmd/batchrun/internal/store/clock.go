package store

import (
	"time"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
)

// Clock returns the clock of the state folder, and in seen the latest stored time of this clock.
// seen is zero if the folder has only used the machine's time.
func (s *Store) Clock() (c *clock.Clock, seen time.Time, err error) {
	rows, err := s.db.Query("SELECT real, virtual, speed, seen FROM clock ORDER BY real, rowid")
	if err != nil {
		return nil, time.Time{}, err
	}
	defer rows.Close()
	var spans []clock.Span
	for rows.Next() {
		var real, virtual, at int64
		var span clock.Span
		if err := rows.Scan(&real, &virtual, &span.Speed, &at); err != nil {
			return nil, time.Time{}, err
		}
		span.Real, span.Virtual, seen = fromNano(real), fromNano(virtual), fromNano(at)
		spans = append(spans, span)
	}
	return clock.New(spans), seen, rows.Err()
}

// AddSpan adds a span of the clock.
func (s *Store) AddSpan(span clock.Span) error {
	_, err := s.db.Exec("INSERT INTO clock (real, virtual, speed, seen) VALUES (?, ?, ?, ?)",
		span.Real.UnixNano(), span.Virtual.UnixNano(), span.Speed, span.Virtual.UnixNano())
	return err
}

// Saw stores the present time of the clock. It is called before any write uses this time. So the
// clock of the next runner is never behind a stored time.
func (s *Store) Saw(now time.Time) error {
	_, err := s.db.Exec("UPDATE clock SET seen = max(seen, ?) WHERE rowid = (SELECT max(rowid) FROM clock)",
		now.UnixNano())
	return err
}

// Version returns a number that changes whenever another process has written to the database.
func (s *Store) Version() (version int64, err error) {
	err = s.db.QueryRow("PRAGMA data_version").Scan(&version)
	return version, err
}
