package cronjob

// Unexported identifiers for the external tests of this package.

type (
	StartedJob = startedJob
	LeavingJob = leavingJob
	Remembered = memory
)

const (
	TimestampAnnotation   = timestampAnnotation
	InstantiateAnnotation = instantiateAnnotation
	MaxMissedRuns         = maxMissedRuns
)

// Kept returns the content of the memory.
func (m *Memory) Kept() *Remembered { return &m.kept }

// Remember returns the memory with the content m.
func Remember(m Remembered) Memory { return Memory{kept: m} }

// WhoseLimits returns which history limit applies to a child.
func (c *Child) WhoseLimits() Ending { return c.keptAs() }

// Basis returns the basis of the plan.
func (p *Plan) Basis() *basis { return &p.basis }

// PlanRound plans a full round, even if there is nothing to do.
func PlanRound(s Snapshot) (Plan, error) {
	var p Planner
	plan, err := p.planRound(&s)
	if err != nil {
		return Plan{}, err
	}
	return *plan, nil
}

// IsQuiet reports whether planQuiet plans the round.
func IsQuiet(s Snapshot) bool {
	var p Planner
	_, ok := p.planQuiet(&s)
	return ok
}

// Spread returns the hash from which a CronJob's delay is computed.
func Spread(uid UID) uint64 { return spread(uid) }
