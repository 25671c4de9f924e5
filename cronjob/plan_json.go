package cronjob

import (
	"encoding/json"
	"fmt"

	"github.com/batchplan/batchplan/internal/stored"
)

const planVersion = 1

// openPlan is a Plan without its methods. planJSON is the JSON of a plan: a version, the fields,
// and a part that only this package reads.
type (
	openPlan Plan
	planJSON struct {
		FormatVersion int `json:"formatVersion"`
		openPlan
		Internal basis `json:"internal,omitzero"`
	}
)

// MarshalJSON writes the whole plan with the version of its format, so that a stored plan can be
// concluded. The member "internal" holds what Settle and Conclude need besides the fields; it is
// private to this package.
func (p Plan) MarshalJSON() ([]byte, error) {
	return json.Marshal(planJSON{planVersion, openPlan(p), p.basis})
}

// UnmarshalJSON reads what MarshalJSON writes. A plan of another version is an error that names
// both: make a new plan then, from a new snapshot.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var in planJSON
	if problem := stored.Read(data, planVersion, &in); problem != "" {
		return fmt.Errorf("plan: %s", problem)
	}
	*p = Plan(in.openPlan)
	p.basis = in.Internal
	return nil
}
