// Package jobadmit does to the spec of a Job what the API server of a given Kubernetes release does
// at admission. Defaults and the checks of a new spec are in [job.Default] and [job.Validate].
// [DropDisabled] clears the fields whose gates are off. [ValidateUpdate] and
// [ValidateTemplateUpdate] refuse changes.
//
// All functions are pure, like those of package job.
package jobadmit
