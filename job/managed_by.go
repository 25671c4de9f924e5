package job

import (
	"cmp"

	"github.com/batchplan/batchplan/job/release"
)

// ManagerOf names the controller that manages a job of that spec, and reports whether that is
// the controller with these options (J3). Rounds of other jobs plan nothing. A job that names no
// controller is managed by the one of Kubernetes, and so is each job while the feature gate
// JobManagedBy is off (Options.Without).
//
// Whoever collects what a round needs asks here whether the job is ours: a job that the planner
// takes, and that comes without its pods, gets new ones in each round.
func ManagerOf(spec Spec, o Options) (name string, ours bool) { return managerOf(&spec, &o) }

func managerOf(spec *Spec, o *Options) (name string, ours bool) {
	name = ControllerName
	if spec.ManagedBy != nil && !o.Without.Has(release.JobManagedBy) {
		name = *spec.ManagedBy
	}
	return name, name == cmp.Or(o.ControllerName, ControllerName)
}
