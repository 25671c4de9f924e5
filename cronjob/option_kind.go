package cronjob

import "github.com/batchplan/batchplan/job"

// The types of package job that this package uses, so that the children of a CronJob need not be
// jobs: a program that starts something else imports this package alone.
type (
	// UID is the UID of an object.
	UID = job.UID
	// Event is an event about a CronJob, to be reported to its users.
	Event = job.Event
	// Note is a contradiction in a snapshot.
	Note = job.Note
	// InputError is the error for an invalid field of the input.
	InputError = job.InputError
	// Ending is how a child ended: Complete, Failed, or another word of its kind.
	Ending = job.ConditionType
)

// The endings of jobs. Any other word means that a child has neither succeeded nor failed.
const (
	Complete = job.ConditionComplete
	Failed   = job.ConditionFailed
)

// Kind is the kind of a CronJob's children. Kinds can be compared with ==.
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

// String returns the word for a child in events.
func (k Kind) String() string {
	if k.isJob() {
		return "job"
	}
	return k.Kind
}

// isJob reports whether events call the children jobs.
func (k Kind) isJob() bool { return k.Kind == "" || k.Kind == "Job" }

func (k Kind) check() error {
	if (k.Kind == "") != (k.APIVersion == "") {
		return invalid("options.child", k.APIVersion+" "+k.Kind, "needs both kind and apiVersion, or neither")
	}
	return nil
}
