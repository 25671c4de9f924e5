// Package store keeps the results of sweeps in SQLite files.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	_ "modernc.org/sqlite" // the driver

	"github.com/batchplan/batchplan/x/sim"
)

// Store is one file with results. Many goroutines may use it.
type Store struct {
	db   *sql.DB
	file string
}

// Key is one run of a sweep: the number of a point of the grid, and the seed.
type Key struct {
	Point int
	Seed  uint64
}

const schema = `
create table if not exists sweep (id integer primary key check (id = 1),
	definition text not null, runs integer not null);
create table if not exists points (point integer primary key, settings text not null);
create table if not exists results (point integer not null, seed integer not null,
	metric text not null, unit text not null, value real not null, primary key (point, seed, metric)) without rowid;
`

// Open opens or creates the file of a sweep. The argument runs is the number of runs of the sweep.
// The definition is a text that contains everything on which the results depend. Open refuses a
// file with another definition.
func Open(file, definition string, runs int) (*Store, error) {
	db, err := sql.Open("sqlite",
		"file:"+file+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_pragma=synchronous(normal)")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	db.SetMaxOpenConns(1)
	s := &Store{db, file}
	if err := s.begin(definition, runs); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", file, err), db.Close())
	}
	return s, nil
}

func (s *Store) begin(definition string, runs int) error {
	if _, err := s.db.Exec(schema); err != nil {
		return err
	}
	if _, err := s.db.Exec(`insert or ignore into sweep values (1, ?, ?)`, definition, runs); err != nil {
		return err
	}
	var found string
	if err := s.db.QueryRow(`select definition from sweep`).Scan(&found); err != nil {
		return err
	}
	if found != definition {
		return fmt.Errorf("holds the results of another sweep: files, settings or grid have changed; use another file")
	}
	return nil
}

// Close closes the file. If the file has all runs, Close rewrites it first, so that its bytes do
// not depend on the order in which the runs were added.
func (s *Store) Close() error {
	missing, err := s.Missing()
	if err != nil || missing > 0 {
		return errors.Join(err, s.db.Close())
	}
	whole := s.file + ".whole"
	if err := os.Remove(whole); err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Join(err, s.db.Close())
	}
	_, err = s.db.Exec(`vacuum into ?`, whole)
	if err := errors.Join(err, s.db.Close()); err != nil {
		return err
	}
	return os.Rename(whole, s.file)
}

// Done returns the runs that have results.
func (s *Store) Done() (map[Key]bool, error) {
	rows, err := s.db.Query(`select distinct point, seed from results`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	done := map[Key]bool{}
	for rows.Next() {
		var k Key
		var seed int64
		if err := rows.Scan(&k.Point, &seed); err != nil {
			return nil, err
		}
		k.Seed = uint64(seed)
		done[k] = true
	}
	return done, rows.Err()
}

// Add stores all figures of a run, or none of them.
func (s *Store) Add(ctx context.Context, k Key, settings string, metrics []sim.Metric) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // has no effect after Commit
	if _, err := tx.Exec(`insert or ignore into points values (?, ?)`, k.Point, settings); err != nil {
		return err
	}
	insert, err := tx.Prepare(`insert or replace into results values (?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, m := range metrics {
		if _, err := insert.Exec(k.Point, int64(k.Seed), m.Name, m.Unit, m.Value); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Point is a point of the grid with its figures, by metric.
type Point struct {
	Number   int
	Settings string
	Values   map[string][]float64
}

// Points returns all figures, in the order of the grid and of the seeds.
func (s *Store) Points() (out []Point, err error) {
	rows, err := s.db.Query(
		`select point, settings, metric, value from results join points using (point) order by point, seed, metric`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var number int
		var settings, metric string
		var value float64
		if err := rows.Scan(&number, &settings, &metric, &value); err != nil {
			return nil, err
		}
		if n := len(out); n == 0 || out[n-1].Number != number {
			out = append(out, Point{number, settings, map[string][]float64{}})
		}
		p := &out[len(out)-1]
		p.Values[metric] = append(p.Values[metric], value)
	}
	return out, rows.Err()
}

// Missing returns how many runs of the sweep have no results yet.
func (s *Store) Missing() (int, error) {
	var runs int
	if err := s.db.QueryRow(`select runs from sweep`).Scan(&runs); err != nil {
		return 0, err
	}
	done, err := s.Done()
	return runs - len(done), err
}

// Merge joins the results of parts of one sweep into a file. It returns how many runs still have no
// results.
func Merge(file string, parts []string) (missing int, err error) {
	for _, part := range parts {
		if _, err := os.Stat(part); err != nil {
			return 0, err
		}
	}

	var into *Store
	var whole string // the definition of the first part
	for _, part := range parts {
		from, err := sql.Open("sqlite", "file:"+part+"?mode=ro&_pragma=busy_timeout(10000)")
		if err != nil {
			return 0, fmt.Errorf("%s: %w", part, err)
		}

		var definition string
		var runs int
		err = from.QueryRow(`select definition, runs from sweep`).Scan(&definition, &runs)
		if err = errors.Join(err, from.Close()); err != nil {
			return 0, fmt.Errorf("%s: is not the result of a sweep: %w", part, err)
		}

		if into == nil {
			if into, err = Open(file, definition, runs); err != nil {
				return 0, err
			}
			defer into.Close()
			whole = definition
		}

		if err := into.copy(part, whole); err != nil {
			return 0, fmt.Errorf("%s: %w", part, err)
		}
	}
	return into.Missing()
}

// copy adds the results of another file.
func (s *Store) copy(part, definition string) error {
	if _, err := s.db.Exec(`attach ? as part`, part); err != nil {
		return err
	}
	var same int
	err := s.db.QueryRow(`select count(*) from part.sweep where definition = ?`, definition).Scan(&same)
	if err == nil && same == 0 {
		err = fmt.Errorf("is part of another sweep than %s", s.file)
	}
	if err == nil {
		_, err = s.db.Exec(
			`insert or ignore into points select * from part.points;
	insert or replace into results select * from part.results`,
		)
	}
	_, detached := s.db.Exec(`detach part`)
	return errors.Join(err, detached)
}
