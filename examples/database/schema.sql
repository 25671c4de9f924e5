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
	claim    TEXT NOT NULL DEFAULT '',       -- the worker whose round is under way
	schedule TEXT NOT NULL DEFAULT '',       -- the schedule whose run it is
	name     TEXT NOT NULL DEFAULT '',       -- the job's name, if it has a schedule
	marks    TEXT NOT NULL DEFAULT '{}'      -- the annotations of the run as JSON
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

-- A schedule creates jobs. The rows of its runs are in jobs: the name is the lock of a run.
CREATE TABLE IF NOT EXISTS schedules (
	uid     TEXT PRIMARY KEY,
	name    TEXT NOT NULL UNIQUE,
	cron    TEXT NOT NULL,             -- a cronjob.CronJob as JSON, with its status
	job     TEXT NOT NULL,             -- the job.Spec of its runs as JSON
	payload TEXT NOT NULL,             -- what their pods work on
	memory  TEXT NOT NULL DEFAULT '',  -- a cronjob.Memory as JSON
	planned BIGINT NOT NULL DEFAULT 0, -- when it was planned last
	due     BIGINT NOT NULL DEFAULT 0  -- when to plan it next
);
CREATE UNIQUE INDEX IF NOT EXISTS runs ON jobs (schedule, name) WHERE schedule <> '';

-- A row makes a schedule due: one of its jobs has ended or is gone.
CREATE TABLE IF NOT EXISTS news (schedule TEXT NOT NULL);

-- What users ask for beside the schedule.
CREATE TABLE IF NOT EXISTS requests (
	schedule TEXT NOT NULL,
	id       TEXT NOT NULL,
	kind     TEXT NOT NULL, -- trigger or backfill
	request  TEXT NOT NULL, -- a cronjob.Trigger or a cronjob.Backfill as JSON
	PRIMARY KEY (schedule, kind, id)
);

-- Runs that have not started, and will not.
CREATE TABLE IF NOT EXISTS missed (
	schedule TEXT NOT NULL,
	reason   TEXT NOT NULL,
	runs     BIGINT NOT NULL, -- how many
	latest   BIGINT NOT NULL  -- the latest of them
);
CREATE INDEX IF NOT EXISTS missed_of_schedule ON missed (schedule, latest);
