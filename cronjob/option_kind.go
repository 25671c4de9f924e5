package cronjob

import (
	"strings"

	"github.com/batchplan/batchplan/job"
)

// Types of package job that the fields of a [Child] have, for programs whose children are not jobs.
type (
	// UID is the UID of an object.
	UID = job.UID
	// Ending is how a child ended: Complete, Failed, or another word of its kind.
	Ending = job.ConditionType
)

// The endings of jobs. A child that ends with any other word has neither succeeded nor failed.
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

// one returns the word with its article. A kind that begins with U gets "a", as in "a User".
func (k Kind) one() string {
	word := k.String()
	if strings.ContainsAny(word[:1], "AEIOaeio") {
		return "an " + word
	}
	return "a " + word
}

// isJob reports whether events call the children jobs.
func (k Kind) isJob() bool { return k.Kind == "" || k.Kind == "Job" }

func (k Kind) check() error {
	if (k.Kind == "") != (k.APIVersion == "") {
		return invalid("options.childKind", k.APIVersion+" "+k.Kind, "needs both kind and apiVersion, or neither")
	}
	return nil
}
