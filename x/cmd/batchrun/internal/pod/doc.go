// Package pod runs one pod as processes of this machine.
//
// Each pod has a folder and a supervisor. The supervisor is a separate process in its own session.
// It starts the pod's containers, waits for them, and records what happens. It outlives the runner
// that started it. So a runner can be killed at any time, and the next one finds every exit code.
//
// Runner and supervisor communicate only through the folder:
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
// The records spec.json, guard.json, state.json and stop are replaced atomically and contain a
// checksum. A record that cannot be read is ignored and does not stop the runner. A pod without a
// readable state.json counts as lost once none of its processes runs. state.json has a copy of
// guard.json. A damaged stop still asks the pod to stop. spec.json is written again before each
// attempt to start the supervisor.
//
// Two rules make a pod run at most once. First, a supervisor starts nothing before it holds the
// lock, and nothing if state.json or guard.json exists. Second, it writes both files before it
// starts the first process. So it is harmless to start a supervisor twice. If a folder has neither
// these files nor a lock, no process has ever run in it. No decision depends on a process ID alone,
// because another process could have this ID by now.
//
// If the folder of a pod is removed, the supervisor ends the pod, because nothing could stop it any
// more.
//
// A third rule keeps a pod from running beside its replacement. A pod has ended only once its locks
// are free and nothing that guard.json names is left. A Containment makes all processes of a pod
// end with its supervisor.
package pod
