package jobtest

import (
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/job"
)

// Specs generates specs that [job.Validate] accepts, with their defaults, of jobs with few pods.
func Specs() *rapid.Generator[job.Spec] { return jobgen.Specs() }

// Statuses generates statuses that a job can have.
func Statuses() *rapid.Generator[job.Status] { return jobgen.Statuses() }

// Pods generates the pods that a job can have at one time.
func Pods() *rapid.Generator[[]job.Pod] { return jobgen.Pods() }

// Snapshots generates snapshots that a controller can see in the life of a job.
func Snapshots() *rapid.Generator[job.Snapshot] { return jobgen.Snapshots() }

// Memories generates memories that a controller can have, as they are stored.
func Memories() *rapid.Generator[job.Memory] { return jobgen.Memories() }
