package job

// isManagedElsewhere reports whether another controller manages the job (J3).
func isManagedElsewhere(spec *Spec) bool {
	return spec.ManagedBy != nil && *spec.ManagedBy != ControllerName
}
