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

// KeptAs returns whose limits are about a child.
func (c *Child) KeptAs() Ending { return c.keptAs() }

// Basis returns what the status and the conclusion are made from.
func (p *Plan) Basis() *basis { return &p.basis }
