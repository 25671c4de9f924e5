package sim

import (
	"context"
	"iter"
	"slices"
	"time"
)

type eventKind uint8

const (
	evArrive      eventKind = iota // the next job is submitted
	evJob                          // a job must be planned
	evEdit                         // an edit of a job
	evExpire                       // the TTL of a finished job
	evCronArrive                   // a CronJob is created
	evCron                         // a CronJob must be planned
	evSuspend                      // a CronJob is suspended or resumed
	evQueue                        // a pod comes to the scheduler
	evStart                        // the containers of a pod start
	evReady                        // a pod becomes ready
	evEnd                          // a container ends
	evDisrupt                      // a disruption begins
	evUnreachable                  // the pods of a lost node become unready
	evEvict                        // the pods of a lost node are deleted
	evRemoved                      // the object of a lost node is deleted
	evBack                         // a node takes pods again
	evPodGC                        // the oldest ended pods are deleted
	evDeliver                      // caches see a change
	evResume                       // a round continues
	evDown                         // controllers stop
	evUp                           // controllers start
	evAdmit                        // jobs may be admitted
	evFate                         // a random disruption of a node
	evGang                         // the scheduler sees the size of a gang
	evScale                        // an autoscaler looks at the pods that wait
	evNodeUp                       // a node that was added accepts pods
	evIdle                         // an autoscaler looks at the idle nodes of a group
)

// engine runs one simulation.
type engine struct {
	world *World
	ctx   context.Context
	// now is the present, in nanoseconds since start.
	now   int64
	until int64
	start time.Time
	order uint64
	queue heap
	// idle counts the events in the queue that do not keep the simulation going. given is the
	// number of disruptions of the World. They come first, and random disruptions follow.
	idle, given int
	// soon holds the events of the present, in their order.
	soon fifo[event]

	pods     podStore
	jobs     []*jobState
	freeJobs []int32
	newJobs  []jobState // memory for more jobs
	crons    []*cronState
	// children has the jobs of CronJobs, by name.
	children map[string]*jobState
	compiled schedules

	nodes     nodes
	scheduler scheduler
	scaler    scaler
	admission admission
	plane     plane
	gc        podGC
	chance    *chance
	view      views

	jobController, cronController controller

	arrivals func() (Job, error, bool)
	stop     func()
	next     Job
	arrived  int32 // jobs submitted so far
	born     uint64

	result *Result
	record recorder
	err    error
}

// Run plays the world to its end and returns the result. An error means that the world or a job of
// its stream is not valid. A cancelled context ends the simulation early, which Result.Stopped
// records.
func Run(ctx context.Context, w World) (*Result, error) {
	if err := w.check(); err != nil {
		return nil, err
	}

	e := newEngine(ctx, &w)
	defer e.close()
	if err := e.begin(); err != nil {
		return nil, err
	}

	e.loop()
	if e.err != nil {
		return nil, e.err
	}

	e.conclude()
	return e.result, nil
}

func newEngine(ctx context.Context, w *World) *engine {
	start := w.Start
	if start.IsZero() {
		start = defaultStart
	}
	e := &engine{
		world:    w,
		ctx:      ctx,
		start:    start.UTC().Truncate(time.Second),
		until:    int64(w.end()),
		chance:   newChance(w.Seed),
		children: map[string]*jobState{},
		result:   &Result{},
	}

	e.record.e = e
	e.record.init(w, e.result)
	e.view.lag, e.view.immediate = w.ControlPlane.WatchLag, w.ControlPlane.WatchLag.IsZero()
	e.plane.init(w)
	e.gc.init(w.ControlPlane.PodGC)

	e.jobController = controller{engine: e, round: e.jobRound, limit: e.plane.workers}
	e.cronController = controller{engine: e, round: e.cronRound, limit: e.plane.workers}

	e.given = len(w.Disruptions)
	w.Disruptions = slices.Clip(w.Disruptions) // random disruptions are not added to the caller's
	e.nodes.init(w.Nodes, len(w.Disruptions) > 0 || w.Scheduler != nil || hasRates(w.Nodes))
	e.scheduler.init(e)
	e.scaler.init(e)
	e.admission.init(e)

	return e
}

func (e *engine) close() {
	if e.stop != nil {
		e.stop()
	}
	e.jobController.abort()
	e.cronController.abort()
}

// begin schedules the events of the world.
func (e *engine) begin() error {
	for i := range e.world.CronJobs {
		c := &e.world.CronJobs[i]
		if err := e.addCron(c); err != nil {
			return err
		}
	}

	for i, d := range e.world.Disruptions {
		e.at(int64(d.At), evDisrupt, int32(i), 0)
	}
	for i := range e.nodes.all {
		e.drawFate(int32(i))
	}

	e.plane.schedule(e)
	if e.world.Jobs != nil {
		next, stop := iter.Pull2(e.world.Jobs)
		e.stop = stop
		e.arrivals = next
		return e.pull()
	}
	return nil
}

// loop plays events until nothing is left to happen, or until the end.
func (e *engine) loop() {
	const look = 1 << 14 // events between two looks at the context
	for e.err == nil {
		if e.result.Events++; e.result.Events%look == 0 && e.ctx.Err() != nil {
			e.result.Stopped = "interrupted"
			return
		}
		switch {
		case e.world.MaxEvents > 0 && e.result.Events > e.world.MaxEvents:
			e.result.Stopped = "after " + itoa(int(e.world.MaxEvents)) + " events"
			return
		case e.soon.len() > 0:
			ev := e.soon.pop()
			e.handle(&ev)
		case e.cronController.work(), e.jobController.work():
		case len(e.queue.events) > e.idle, len(e.queue.events) > 0 && e.hasWork():
			ev := e.queue.pop()
			e.now = ev.at
			e.handle(&ev)
		default:
			return
		}
	}
}

// handle plays one event.
func (e *engine) handle(ev *event) {
	switch ev.kind() {
	case evArrive:
		e.arrive()
	case evJob:
		e.jobDue(ev)
	case evEdit:
		e.edit(ev)
	case evExpire:
		e.expire(ev)
	case evCronArrive:
		e.startCron(e.crons[ev.id])
	case evCron:
		e.cronDue(ev)
	case evSuspend:
		e.suspendCron(e.crons[ev.id])
	case evQueue, evStart, evReady, evEnd:
		e.podEvent(ev)
	case evDisrupt:
		e.disrupt(ev.id)
	case evUnreachable:
		e.unreachable(&e.world.Disruptions[ev.id])
	case evEvict:
		e.evictLost(&e.world.Disruptions[ev.id])
	case evRemoved:
		e.removeNode(&e.world.Disruptions[ev.id])
	case evBack:
		e.nodeBack(&e.world.Disruptions[ev.id], int(ev.id) >= e.given)
	case evFate:
		e.meetFate(ev.id)
	case evPodGC:
		e.collectEnded()
	case evDeliver:
		e.view.deliver()
	case evResume:
		e.goOn(ev)
	case evDown:
		e.plane.down(e)
	case evUp:
		e.plane.up(e)
	case evAdmit:
		e.admission.decide()
	case evGang:
		e.resizeGang(ev)
	case evScale:
		e.scaler.look()
	case evNodeUp:
		e.scaler.started(ev.id)
	case evIdle:
		e.scaler.removeIdle(e.scaler.groups[ev.id])
	}
}

// goOn continues a round, unless its controller has stopped meanwhile.
func (e *engine) goOn(ev *event) {
	switch ev.gen {
	case e.jobController.number():
		e.jobController.resume(ev.id)
	case e.cronController.number():
		e.cronController.resume(ev.id)
	}
}
