package cronmodel

// maxJobs is the greatest number of jobs in a scope: one for each run and each trigger.
const maxJobs = 6

type (
	// childID is the number of a job, 0 for none; statusID, memoryID and roundID number statuses,
	// memories and rounds.
	childID  uint16
	statusID uint32
	memoryID uint32
	roundID  uint32
)

// state is a state of the world.
type state struct {
	now    uint32 // seconds since the start
	status statusID
	// delayed is the status in a write that is on its way. The controller takes the write for a
	// failed one, but it may still take effect until the CronJob changes. 0 means none.
	delayed statusID
	spec    uint8 // the place of the spec in the scope
	// triggers has a bit for each waiting trigger, and asked counts all triggers so far.
	triggers, asked uint8
	// backfill is the progress of the requested backfill: its field After in seconds, plus 1. 0
	// means that no backfill is under way.
	backfill uint32
	// started has a bit for each job that was created so far.
	started uint8
	left    Budget
	jobs    [maxJobs]child
	control controller
}

// child is a job as it is, and as the controller sees it.
type child struct{ live, seen childID }

// controller is the state of the controller: what it has seen, its memory, and its round.
type controller struct {
	status statusID
	spec   uint8
	memory memoryID
	// round is the round under way, 0 for none; current is set if the CronJob has not changed since
	// that round began.
	round        roundID
	current      bool
	again        uint32 // the requeue in seconds plus 1, 0 for none
	retry, dirty bool
	// moved is set once the clock has gone back.
	moved bool
}

// view is all that a round depends on when it starts.
type view struct {
	now      uint32
	status   statusID
	spec     uint8
	triggers uint8
	backfill uint32
	memory   memoryID
	jobs     [maxJobs]childID
}

// verb is the kind of a read or write.
type verb uint8

const (
	verbGet verb = iota
	verbDelete
	verbCreate
	verbStatus
	verbStore
)

var verbs = [...]string{"get", "delete", "create", "status", "store the progress of the backfill"}

// writeStep is one read or write of a round.
type writeStep struct {
	verb verb
	job  uint8 // the place of the job
	// child is a job to create. creation is why the job is created; only the checks use it.
	child    childID
	creation creation
	status   statusID
	// foreground lets a deleted job stay until its pods are gone.
	foreground bool
}

// creation is the reason for which a job is created.
type creation uint8

const (
	ofSchedule creation = iota
	ofTrigger
	ofBackfill
)

// outcome is the result of an API call, as the controller sees it.
type outcome uint8

const (
	outcomeDone outcome = iota
	outcomeFailed
	outcomeGone
	outcomeExists
	outcomeForeign // another owner controls the job of that name
	outcomes
)

// ending is the result of a finished round.
type ending struct {
	memory    memoryID
	again     uint32
	retry     bool
	triggered uint8
	// stores is set if the progress of the backfill is to be stored. backfill is that progress.
	stores   bool
	backfill uint32
}
