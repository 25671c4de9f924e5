// Package jobadmit does to the spec of a Job what an API server of a release does at admission,
// apart from [job.Default] and [job.Validate]. [DropDisabled] clears the fields whose gates are
// off. [ValidateUpdate] and [ValidateTemplateUpdate] refuse changes.
//
// All functions are pure, like those of package job.
package jobadmit
