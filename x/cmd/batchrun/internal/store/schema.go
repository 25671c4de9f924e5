package store

import (
	"database/sql"
	"fmt"
)

// schemas has what each version of the database adds to the version before. If a database has an
// unknown version, it is refused and not changed.
var schemas = [...]string{firstSchema, cronSchema}

func (s *Store) migrate() error {
	return s.write(func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if version > len(schemas) {
			return fmt.Errorf("state.db has schema version %d, this program knows versions up to %d", version,
				len(schemas))
		}
		if version == 0 {
			// If the folder has pods, it is not new, and the database was lost.
			if err := checkPods(s.Dir, nil); err != nil {
				return err
			}
		}
		for ; version < len(schemas); version++ {
			if _, err := tx.Exec(schemas[version] + fmt.Sprintf("PRAGMA user_version = %d", version+1)); err != nil {
				return err
			}
		}
		return nil
	})
}

// isOpen selects the pods that still need work, because they have not finished, are not accounted
// for, or are being deleted. The number of pods that need no work grows over the life of a job, so
// they are not in the index pods_open.
const isOpen = "gone = 0 AND (tracked <> 0 OR deleted <> 0 OR phase NOT IN ('Succeeded', 'Failed'))"

// Times are nanoseconds since 1970 in UTC; 0 means none.
const firstSchema = `
CREATE TABLE jobs (
	uid       TEXT PRIMARY KEY,
	namespace TEXT NOT NULL,
	name      TEXT NOT NULL,
	created   INTEGER NOT NULL,
	manifest  TEXT NOT NULL,             -- the Job object as JSON
	status    TEXT NOT NULL DEFAULT '{}',
	memory    TEXT NOT NULL DEFAULT '{}',
	held      INTEGER NOT NULL DEFAULT 0, -- suspended by Ctrl-C until the next run
	UNIQUE (namespace, name)
);
CREATE TABLE pods (
	uid      TEXT PRIMARY KEY,
	job      TEXT NOT NULL REFERENCES jobs(uid) ON DELETE CASCADE,
	name     TEXT NOT NULL,
	created  INTEGER NOT NULL,
	spec     TEXT NOT NULL,              -- what the supervisor runs, as JSON
	idx      INTEGER NOT NULL,
	failures INTEGER NOT NULL,
	ignored  INTEGER NOT NULL,
	tracked  INTEGER NOT NULL,           -- the finalizer
	deleted  INTEGER NOT NULL DEFAULT 0, -- the deletion timestamp
	grace    INTEGER NOT NULL DEFAULT 0, -- its grace period in seconds
	phase    TEXT NOT NULL,
	state    TEXT NOT NULL,              -- the supervisor's record, as JSON
	gone     INTEGER NOT NULL DEFAULT 0  -- deleted for the controller; kept for its logs
);
CREATE INDEX pods_of_job ON pods (job);
CREATE INDEX pods_open ON pods (job) WHERE ` + isOpen + `;
CREATE TABLE events (
	job     TEXT NOT NULL REFERENCES jobs(uid) ON DELETE CASCADE,
	at      INTEGER NOT NULL,
	type    TEXT NOT NULL,
	reason  TEXT NOT NULL,
	message TEXT NOT NULL
);
CREATE INDEX events_of_job ON events (job);
`

// The column cronjob is set for a job of a CronJob. The name of such a job is the lock of its run:
// the UNIQUE constraint of jobs keeps the run from starting twice.
const cronSchema = `
CREATE TABLE cronjobs (
	uid       TEXT PRIMARY KEY,
	namespace TEXT NOT NULL,
	name      TEXT NOT NULL,
	created   INTEGER NOT NULL,
	deleted   INTEGER NOT NULL DEFAULT 0, -- the deletion timestamp
	manifest  TEXT NOT NULL,              -- the CronJob object as JSON
	status    TEXT NOT NULL DEFAULT '{}',
	memory    TEXT NOT NULL DEFAULT '{}',
	UNIQUE (namespace, name)
);
ALTER TABLE jobs ADD COLUMN cronjob TEXT REFERENCES cronjobs(uid); -- its controller
ALTER TABLE jobs ADD COLUMN scheduled INTEGER NOT NULL DEFAULT 0;  -- the run that it is for
ALTER TABLE jobs ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;    -- the deletion timestamp
CREATE INDEX jobs_of_cronjob ON jobs (cronjob);
CREATE TABLE triggers (
	id      INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: it is part of a job's name
	cronjob TEXT NOT NULL REFERENCES cronjobs(uid) ON DELETE CASCADE
);
CREATE TABLE cronjob_events (
	cronjob TEXT NOT NULL REFERENCES cronjobs(uid) ON DELETE CASCADE,
	at      INTEGER NOT NULL,
	type    TEXT NOT NULL,
	reason  TEXT NOT NULL,
	message TEXT NOT NULL
);
CREATE INDEX events_of_cronjob ON cronjob_events (cronjob);
-- The spans of a virtual clock, and the last time that it has reached.
CREATE TABLE clock (
	real    INTEGER NOT NULL,
	virtual INTEGER NOT NULL,
	speed   REAL NOT NULL,
	seen    INTEGER NOT NULL
);
`
