package jobadmit

import (
	"encoding/json"

	"github.com/batchplan/batchplan/internal/problems"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/release"
)

// checkSchedulingUpdate reports forbidden changes of spec.scheduling in a release that has the
// field (J46).
func checkSchedulingUpdate(old, next *jobgroup.Scheduling, r release.Release) (found problems.List) {
	resizable := r.Has(release.WorkloadWithJob)
	was, is := fixedScheduling(old, !resizable), fixedScheduling(next, !resizable)
	if was == is {
		return nil
	}

	problem := "must not change from " + value.Short(was)
	if resizable {
		problem += ", except for gang.minCount"
	} else {
		problem += " without WorkloadWithJob"
	}
	found.Add("scheduling", value.Short(is), problem)
	return found
}

// fixedScheduling returns the part of spec.scheduling that must not change, as JSON: everything
// except minCount, which is included only if sizeToo is true.
func fixedScheduling(s *jobgroup.Scheduling, sizeToo bool) string {
	data, err := json.Marshal(s)
	if err != nil {
		return err.Error() // a raw part that is not JSON
	}

	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil || tree == nil {
		return "null"
	}

	policy, _ := tree["schedulingPolicy"].(map[string]any)
	if gang, ok := policy["gang"].(map[string]any); ok && !sizeToo {
		delete(gang, "minCount")
	}
	data, _ = json.Marshal(tree) // JSON again, with sorted keys
	return string(data)
}
