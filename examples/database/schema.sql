-- One schema for SQLite and PostgreSQL. Times are milliseconds since 1970.

-- A worker is a process. Its lease covers all that it has taken: jobs to plan and pods to run.
CREATE TABLE IF NOT EXISTS workers (
	id    TEXT PRIMARY KEY,
	lease BIGINT NOT NULL
);

CREATE TABLE IF NOT EXISTS jobs (
	uid      TEXT PRIMARY KEY,
	job      TEXT NOT NULL,                  -- a job.Job as JSON; its version grows with each write
	payload  TEXT NOT NULL DEFAULT '',       -- what its pods work on
	memory   TEXT NOT NULL DEFAULT '',       -- a job.Memory as JSON
	failures BIGINT NOT NULL DEFAULT 0,      -- failed rounds in a row
	due      BIGINT NOT NULL DEFAULT 0,      -- when to plan it next
	woken    BOOLEAN NOT NULL DEFAULT FALSE, -- something has changed since the round began
	claim    TEXT NOT NULL DEFAULT ''        -- the worker whose round is under way
);
CREATE INDEX IF NOT EXISTS jobs_due ON jobs (claim, due);

CREATE TABLE IF NOT EXISTS pods (
	uid     TEXT PRIMARY KEY,
	job     TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE,
	pod     TEXT NOT NULL,                  -- a job.Pod as JSON; its version grows with each write
	created BIGINT NOT NULL,                -- the oldest runs first
	phase   TEXT NOT NULL,                  -- the pod's phase, to search by
	leaving BOOLEAN NOT NULL DEFAULT FALSE, -- the pod is being deleted, to search by
	worker  TEXT NOT NULL DEFAULT '',       -- the worker that runs it or has run it
	output  TEXT NOT NULL DEFAULT ''        -- what it has computed
);
CREATE INDEX IF NOT EXISTS pods_of_job ON pods (job);
CREATE INDEX IF NOT EXISTS pods_by_phase ON pods (phase, created);
