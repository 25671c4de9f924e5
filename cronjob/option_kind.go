package cronjob

import "github.com/batchplan/batchplan/job"

// The types of package job that this package uses, so that the children of a CronJob need not be
// jobs: a program that starts something else imports this package alone.
type (
	// UID is the UID of an object.
	UID = job.UID
	// Event is something to report to the people who watch a CronJob.
	Event = job.Event
	// Note is a contradiction in a snapshot.
	Note = job.Note
	// InputError says which field of the input cannot be planned with.
	InputError = job.InputError
	// Ending is how a child has ended: Complete, Failed, or a word of its own kind.
	Ending = job.ConditionType
)

// How children end. Any other word says that a child has ended in neither way.
const (
	Complete = job.ConditionComplete
	Failed   = job.ConditionFailed
)

// Kind is the kind of a CronJob's children.
type Kind struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
}

// orJob returns the kind, or Kubernetes' Job if there is none.
func (k Kind) orJob() Kind {
	if k == (Kind{}) {
		return Kind{Kind: "Job", APIVersion: "batch/v1"}
	}
	return k
}

// String is the word for a child in events.
func (k Kind) String() string {
	if k.isJob() {
		return "job"
	}
	return k.Kind
}

// isJob reports whether the kind has the word of a Job.
func (k Kind) isJob() bool { return k.Kind == "" || k.Kind == "Job" }

func (k Kind) check() error {
	if (k.Kind == "") != (k.APIVersion == "") {
		return invalid("options.child", k.APIVersion+" "+k.Kind, "needs both kind and apiVersion, or neither")
	}
	return nil
}
