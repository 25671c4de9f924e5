package cronjob

// What is closed to others, for the tests of this folder.

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

// Kept returns what the memory holds.
func (m *Memory) Kept() *Remembered { return &m.kept }

// Remember returns the memory that holds m.
func Remember(m Remembered) Memory { return Memory{kept: m} }

// WhoseLimits returns whose limits are about a child.
func (c *Child) WhoseLimits() Ending { return c.keptAs() }

// Basis returns what the status and the conclusion are made from.
func (p *Plan) Basis() *basis { return &p.basis }

// PlanRound plans a round of any kind, also where it is quiet.
func PlanRound(s Snapshot) (Plan, error) {
	var p Planner
	plan, err := p.planRound(&s)
	if err != nil {
		return Plan{}, err
	}
	return *plan, nil
}

// IsQuiet reports whether a round has nothing to do, by a look at the snapshot.
func IsQuiet(s Snapshot) bool {
	var p Planner
	_, ok := p.planQuiet(&s)
	return ok
}

// Spread is the number that a CronJob's delay is made of.
func Spread(uid UID) uint64 { return spread(uid) }
