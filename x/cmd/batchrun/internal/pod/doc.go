// Package pod runs one pod as processes of this machine.
//
// Each pod has a folder and a supervisor: a separate process, in its own session,
// that starts the pod's containers, waits for them, and records what happens. The
// supervisor outlives the runner that started it, so a runner can be killed at any
// time and the next one finds every exit code.
//
// The folder is the whole interface between the two:
//
//	spec.json    what to run; written before the supervisor starts
//	lock         locked by the supervisor as long as it lives
//	watch        locked by the supervisor's watcher, if it has one, until nothing is left
//	guard.json   what must be gone before the pod counts as ended; written after the first state.json
//	state.json   what has happened so far
//	stop         present once the pod has to stop; contains the grace period
//	work/        the default working folder of the containers
//	volumes/     one folder for each emptyDir volume
//	logs/        stdout and stderr of each container
//
// The records, spec.json, guard.json, state.json and stop, are replaced atomically and contain
// a checksum. A record that cannot be read is ignored and does not stop the runner: a pod
// without a readable state.json counts as lost once none of its processes runs, state.json has a
// copy of guard.json, a damaged stop still asks the pod to stop, and spec.json is written again
// before each attempt to begin.
//
// Two rules make a pod run at most once. A supervisor starts nothing before it holds
// the lock, and nothing if state.json or guard.json exists; and it writes both before it
// starts the first process. So it is harmless to start a supervisor twice, and in a folder
// without these files and without a lock, no process has ever run. No decision depends on a
// process ID alone, which could belong to another process by now.
//
// A supervisor whose folder was removed ends its pod: nothing could stop it any more.
//
// A third rule keeps a pod from running beside its replacement: it has ended only
// once its locks are free and nothing that guard.json names is left. A Containment
// makes all processes of a pod end with its supervisor.
package pod
