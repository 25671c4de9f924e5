package cronjob

import "github.com/batchplan/batchplan/job"

// forbids applies Forbid: a run does not start while a job is active (C11). The run is not recorded
// as started, so it can start later, as long as it is the latest run that is due. With
// Options.SkipHeld the run is given up, but only if the active jobs certainly exist.
func forbids(c *census, skipHeld bool) obstacle {
	active := len(c.active)
	switch {
	case active == 0:
		return obstacle{standing: isFree}
	case skipHeld && len(c.verify)+len(c.doubtful) == 0:
		return obstacle{standing: isSkipped, jobs: active}
	}
	return obstacle{standing: isForbidden, jobs: active}
}

func sayForbidden(k Kind) moves {
	return says(job.EventNormal, "JobAlreadyActive",
		"Not starting "+k.String()+" because prior execution is running and concurrency policy is Forbid")
}
