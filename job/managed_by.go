package job

import "cmp"

// managedElsewhere names the other controller that manages the job, if one does (J3).
// A job that names none is managed by the controller of Kubernetes.
func managedElsewhere(spec *Spec, o *Options) (by string, ok bool) {
	by = ControllerName
	if spec.ManagedBy != nil {
		by = *spec.ManagedBy
	}
	return by, by != cmp.Or(o.ControllerName, ControllerName)
}
