package jobmodel

import (
	"encoding/json"
	"regexp"
	"slices"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/explore"
)

type (
	// statusID is the number of a status without its uncounted lists.
	statusID uint32
	specID   uint8
)

type statusValues struct {
	values explore.Interned[string, job.Status]
}

// number returns the number of a status. It ignores the UIDs in the uncounted lists, and the names
// of pods in messages.
func (v *statusValues) number(s job.Status) statusID {
	if s.UncountedTerminatedPods != nil {
		s.UncountedTerminatedPods = &job.UncountedTerminatedPods{}
	}
	s.Conditions = slices.Clone(s.Conditions)
	for i := range s.Conditions {
		s.Conditions[i].Message = podInMessage.ReplaceAllString(s.Conditions[i].Message, "default/p")
	}
	return statusID(v.values.Number(explore.Text(s), func() job.Status { return s }))
}

// podInMessage matches the name of a pod in a message. It is removed, since pods have no names
// here.
var podInMessage = regexp.MustCompile(`\bdefault/p\d+`)

// with returns the status with its uncounted lists.
func (v *statusValues) with(id statusID, lists job.UncountedTerminatedPods) job.Status {
	s := v.values.Of(uint32(id))
	if s.UncountedTerminatedPods != nil || len(lists.Succeeded)+len(lists.Failed) > 0 {
		s.UncountedTerminatedPods = &lists
	}
	return s
}

// specValues holds the spec, and the specs that edits turn it into.
type specValues struct {
	values explore.Interned[string, job.Spec]
	edited explore.Cache[specEdit, specID]
}

type specEdit struct {
	spec  specID
	input string
}

func (v *specValues) number(s job.Spec) specID {
	return explore.Small[specID](v.values.Number(explore.Text(s), func() job.Spec { return s }))
}

func (v *specValues) of(id specID) job.Spec { return v.values.Of(uint32(id)) }

// edit returns the spec after an edit.
func (v *specValues) edit(id specID, input string) specID {
	return v.edited.Get(specEdit{id, input}, func() specID {
		var changed job.Spec
		for _, text := range []string{explore.Text(v.of(id)), input} {
			if err := json.Unmarshal([]byte(text), &changed); err != nil {
				panic(err)
			}
		}
		return v.number(changed)
	})
}
