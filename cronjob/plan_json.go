package cronjob

import "encoding/json"

// openPlan is a Plan without its methods, planJSON its JSON: what is closed to others
// comes along.
type (
	openPlan Plan
	planJSON struct {
		openPlan
		Basis basis `json:"basis,omitzero"`
	}
)

// MarshalJSON writes the whole plan, so that it can be concluded after it was stored.
func (p Plan) MarshalJSON() ([]byte, error) { return json.Marshal(planJSON{openPlan(p), p.basis}) }

// UnmarshalJSON reads what MarshalJSON has written.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var in planJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*p = Plan(in.openPlan)
	p.basis = in.Basis
	return nil
}
