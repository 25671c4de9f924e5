package cronjobtest

import (
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/cronjobgen"
)

// Specs generates specs with their defaults, in two zones.
func Specs() *rapid.Generator[cronjob.Spec] { return cronjobgen.Specs() }

// Options generates options: half of them are the zero value.
func Options() *rapid.Generator[cronjob.Options] { return cronjobgen.Options() }

// Statuses generates statuses that a CronJob can have.
func Statuses() *rapid.Generator[cronjob.Status] { return cronjobgen.Statuses() }

// Children generates the jobs that a CronJob can have at one time, some of other owners.
func Children() *rapid.Generator[[]cronjob.Child] { return cronjobgen.Children() }

// Snapshots generates snapshots that a controller can see in the life of a CronJob.
func Snapshots() *rapid.Generator[cronjob.Snapshot] { return cronjobgen.Snapshots() }

// Memories generates memories that a controller can have, as they are stored.
func Memories() *rapid.Generator[cronjob.Memory] { return cronjobgen.Memories() }
