// Package jobadmit is what an API server of a release does with the spec of a Job at admission,
// beside [job.Default] and [job.Validate]: [DropDisabled] clears the fields whose gates are off,
// [ValidateUpdate] and [ValidateTemplateUpdate] refuse changes.
//
// All functions are pure, as those of package job.
package jobadmit
