package conformance

import (
	"encoding/json"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobadmit"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

// compareRefusal compares the library's defaults and validation with the server's.
// The server has either refused the script's objects or accepted them into the
// world w.
func compareRefusal(r release.Release, s *script.Script, refused error, w *script.World) string {
	mine := validate(r, s)
	if (mine == nil) != (refused == nil) {
		return fmt.Sprintf("validation:\ntheirs: %v\nours: %v", refused, mine)
	}
	if refused != nil || s.Job == nil {
		return ""
	}
	given := specOf[job.Spec](s.Job)
	stored := specOf[job.Spec](&server.Get[*batchv1.Job](w.Server, script.Namespace, "j").Spec)
	setDefaults(r, &given)
	given.Selector, given.Template = stored.Selector, stored.Template
	if a, b := text(stored), text(given); a != b {
		return fmt.Sprintf("defaults:\ntheirs: %s\nours: %s", a, b)
	}
	return ""
}

// setDefaults changes a spec as a server of the release does: it sets defaults, and drops fields
// whose gates are off.
func setDefaults(r release.Release, s *job.Spec) {
	job.Default(s)
	if len(jobadmit.DropDisabled(nil, s, r)) > 0 {
		job.Default(s)
	}
	if !r.Has(release.JobPodReplacementPolicy) {
		s.PodReplacementPolicy = "" // nor is its default set
	}
}

func validate(r release.Release, s *script.Script) error {
	if s.CronJob != nil {
		spec := specOf[cronjob.Spec](s.CronJob)
		cronjob.Default(&spec)
		if err := cronjob.Validate(spec); err != nil {
			return err
		}
		template := specOf[job.Spec](&s.CronJob.JobTemplate.Spec)
		setDefaults(r, &template)
		return job.Validate(template)
	}
	spec := specOf[job.Spec](s.Job)
	setDefaults(r, &spec)
	return job.Validate(spec)
}

// specOf converts a spec of Kubernetes to one of the library.
func specOf[T any](v any) (out T) {
	if err := json.Unmarshal([]byte(text(v)), &out); err != nil {
		panic(err)
	}
	return out
}
