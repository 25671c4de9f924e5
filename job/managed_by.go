package job

import (
	"cmp"

	"github.com/batchplan/batchplan/job/release"
)

// ManagerOf returns the name of the controller that manages a job with this spec. Result ours is
// true if that is the controller that plans with these options (J3). A round plans nothing for
// other jobs. A job that names no controller is managed by [ControllerName]. So is every job if the
// feature gate JobManagedBy is off (Options.Without).
//
// Call it to decide whether a snapshot needs the pods of a job. If the pods of a job that is ours
// are left out, each round creates new ones.
func ManagerOf(spec Spec, o Options) (name string, ours bool) { return managerOf(&spec, &o) }

func managerOf(spec *Spec, o *Options) (name string, ours bool) {
	name = ControllerName
	if spec.ManagedBy != nil && !o.Without.Has(release.JobManagedBy) {
		name = *spec.ManagedBy
	}
	return name, name == cmp.Or(o.ControllerName, ControllerName)
}
