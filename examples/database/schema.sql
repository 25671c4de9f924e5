CREATE TABLE IF NOT EXISTS jobs (
	uid    TEXT PRIMARY KEY,
	name   TEXT NOT NULL,
	spec   TEXT NOT NULL,
	status TEXT NOT NULL DEFAULT '{}',
	memory TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS pods (
	uid       TEXT PRIMARY KEY DEFAULT (lower(hex(randomblob(8)))),
	job       TEXT NOT NULL REFERENCES jobs (uid),
	name      TEXT NOT NULL,
	idx       INTEGER NOT NULL,
	phase     TEXT NOT NULL DEFAULT 'Pending',
	exit_code INTEGER NOT NULL DEFAULT 0,
	finished  INTEGER NOT NULL DEFAULT 0,
	untracked BOOLEAN NOT NULL DEFAULT false
);
CREATE INDEX IF NOT EXISTS pods_of_job ON pods (job);
