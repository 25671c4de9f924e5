package jobadmit

import (
	"encoding/json"

	"github.com/batchplan/batchplan/internal/problems"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/release"
)

// checkSchedulingUpdate finds what must not change of spec.scheduling in a release that has it
// (J46).
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

// fixedScheduling is what must not change of spec.scheduling, as JSON: everything except
// minCount, unless the gate is off.
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
	data, _ = json.Marshal(tree) // what was JSON can be JSON again, with sorted keys
	return string(data)
}
