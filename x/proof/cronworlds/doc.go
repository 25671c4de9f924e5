// Package cronworlds is a second opinion on the CronJob planner. It plays random worlds
// to their ends: CronJobs with all options, triggers and backfills, users who suspend,
// edit and delete, caches that are late, writes that fail or lose their reply, crashes
// between any two writes, with the memory kept or lost. It shares no code with the
// planner, with package cronjobcheck or with package world. A cron matcher of its own
// finds the runs, minute by minute. Each law is checked for the objects in the world,
// not for what the caches show of them.
//
// The laws, each after the numbers of its invariants or rules:
//
//   - CI1: the schedule starts no run twice, and no run that had a job.
//   - CI2, CI6, CI7, CI10: the schedule starts only runs that are due, within their deadline, and
//     not while it is suspended. It starts only the latest run, unless runs are caught up.
//   - CI8, CI15: Forbid, Replace and MaxActive hold for the jobs that really exist.
//   - C9: each run that was due has started, or is in Metrics.Unstarted of one round, as long
//     as the memory is kept. A run that has started is in no event about missed runs.
//   - C2, CI11: only the oldest finished jobs are deleted, and the limits hold as soon as
//     nothing else changes.
//   - CI4, CI5, CI12: no time in the status goes back, and the active list has only own jobs.
//   - CI9, M9: rounds that follow each other immediately change something.
//   - CL2, CL4: if the controller only wakes when it asked to, everything that is due still happens
//     in the end, and triggers and backfills complete.
//
// A world is a list of decisions, each a small number, where 0 is the dull choice. The
// test makes the list of a world that fails shorter and duller before it shows the
// world's history.
package cronworlds
