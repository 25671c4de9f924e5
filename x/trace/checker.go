package trace

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/batchplan/batchplan/job"
)

// skew is the largest difference between the clocks of the controller and the API server. lag is
// the longest time until a controller sees a change by another client.
const (
	skew = 2 * time.Second
	lag  = 10 * time.Second
)

// checker has everything that the log has shown so far.
type checker struct {
	Summary
	options Options
	report  func(Finding)

	jobs     map[job.UID]*jobState
	pods     map[job.UID]*podState
	cronJobs map[job.UID]*cronState
	// epoch counts how often the watch of a kind has restarted. Objects that were not seen since
	// the last restart are uncertain. owner is the first log that has shown the kind.
	epoch [kinds]int
	owner [kinds]*source
	// held are findings about pods that are held back, because they are false if a watch has just
	// restarted. A restarted watch first shows all pods as added. The findings are reported if a
	// pod changes or is deleted before anything shows a restart.
	held []Finding
	// goneJobs are the last jobs that are gone.
	goneJobs []goneJob
	// ending has the namespaces in which the server refuses creations.
	ending map[string]bool
	// clock is the creation time of the newest object. Later events in the log do not precede this
	// time.
	clock time.Time
	// edited are the CronJobs whose editedBy is not known yet.
	edited []*cronState
}

func newChecker(o Options, report func(Finding)) *checker {
	return &checker{
		options:  o,
		report:   report,
		jobs:     map[job.UID]*jobState{},
		pods:     map[job.UID]*podState{},
		cronJobs: map[job.UID]*cronState{},
		ending:   map[string]bool{},
	}
}

// seen is what the log has shown of an object.
type seen struct {
	kind            kind
	namespace, name string
	uid             job.UID
	version         uint64
	epoch           int
	// isSure is true if the log certainly also shows the next version of the object.
	isSure bool
	// known is false for an owner that the log has not shown: only its dependents name it.
	known bool
}

// step is the relation of an event to the last version of the object that the log has shown before.
type step uint8

const (
	// isRepeated: nothing is new.
	isRepeated step = iota
	// isFirst: the object was not known.
	isFirst
	// isNext: no version is missing between the last one seen and this one.
	isNext
	// isLater: versions between the last one seen and this one may be missing.
	isLater
)

func (c *checker) event(e *event) {
	c.began(e)
	if e.change == isLost && e.meta.UID == "" {
		c.restartAll(e.source)
		return
	}

	changes := e.change == isModified || e.change == isDeleted
	if changes && e.kind == kindPod && !e.audited {
		c.confirm()
	}

	switch e.kind {
	case kindJob:
		c.jobEvent(e)
	case kindPod:
		c.podEvent(e)
	case kindCronJob:
		c.cronEvent(e)
	case kindNamespace:
		c.ending[e.meta.Name] = !e.meta.DeletionTimestamp.IsZero()
	}
}

// began notes that the log of an event shows the kind of its object. If another log has shown this
// kind before, the log is from another watch: a later one, or one of another namespace. Then all
// objects of the kind are uncertain, as after a restart.
func (c *checker) began(e *event) {
	e.source.has[e.kind] = true
	if c.owner[e.kind] == nil {
		c.owner[e.kind] = e.source
	}
	if e.source == c.owner[e.kind] || e.source.joined[e.kind] {
		return
	}
	e.source.joined[e.kind] = true
	c.restart(e.kind)
	c.Restarts++
}

// ended notes the end of a log. From then on all objects of the kinds in the log are uncertain,
// because the log does not show their later changes.
func (c *checker) ended(s *source) {
	for k := range kinds {
		if s.has[k] {
			c.epoch[k]++
		}
	}
}

// restartAll notes that the watches of a log have restarted. Objects of all kinds in the log are
// uncertain until the log shows them again.
func (c *checker) restartAll(s *source) {
	for k := range kinds {
		if s.has[k] {
			c.restart(k)
		}
	}
	c.Restarts++
}

// restart makes all objects of a kind uncertain: they may no longer exist.
func (c *checker) restart(k kind) {
	c.epoch[k]++
	if k == kindPod {
		c.Undecided += len(c.held)
		c.held = nil
	}
}

func (c *checker) confirm() {
	for _, f := range c.held {
		c.found(f)
	}
	c.held = nil
}

func (c *checker) found(f Finding) {
	c.Findings++
	c.report(f)
}

// advance compares an event with the last version of its object, and notes the event.
func (c *checker) advance(s *seen, e *event) step {
	was, wasEpoch, known := s.version, s.epoch, s.known
	if known && e.change != isDeleted {
		again := e.version != 0 && e.version <= was
		isListed := e.change == isAdded && !e.audited
		isSame := again && e.version == was && e.change == isThere
		if isListed || isSame {
			// Only a restarted watch shows an object again.
			if wasEpoch == c.epoch[e.kind] {
				c.restartAll(e.source)
			}
			s.epoch = c.epoch[e.kind]
			if again {
				return isRepeated
			}
			wasEpoch = -1
		} else if again {
			c.Repeated++
			s.epoch = c.epoch[e.kind]
			return isRepeated
		}
	}

	s.kind, s.namespace, s.name, s.uid = e.kind, e.meta.Namespace, e.meta.Name, job.UID(e.meta.UID)
	s.known, s.epoch = true, c.epoch[e.kind]
	s.version = max(s.version, e.version)

	how := isNext
	mayMiss := c.options.Incomplete || e.change == isThere
	mayFollowOther := e.audited && (e.replaced == 0 || e.replaced != was)
	isNewWatch := !e.audited && wasEpoch != s.epoch
	switch {
	case !known:
		how = isFirst
	case mayMiss || mayFollowOther || isNewWatch:
		how = isLater
		c.Gaps++
	}
	if known {
		c.Transitions++
	}
	isComplete := !e.audited || e.change == isAdded || how == isNext
	s.isSure = !mayMiss && isComplete
	return how
}

// isCertain reports whether the last version that was seen is the one that exists.
func (c *checker) isCertain(s *seen) bool { return s.known && s.isSure && s.epoch == c.epoch[s.kind] }

// isCertainPod is like isCertain, for a pod. It uses isShown instead of isSure, since in an audit
// log the writes of a pod's status do not name the version that they replace.
func (c *checker) isCertainPod(p *podState) bool {
	isCurrent := p.known && p.epoch == c.epoch[kindPod]
	return isCurrent && !c.options.Incomplete && p.isShown
}

// precedes reports whether the version that was seen is surely older than an event.
func (s *seen) precedes(e *event) bool {
	return s.version != 0 && e.version != 0 && s.version < e.version
}

// finding makes a finding about the object of an event.
func finding(e *event, rule, unless, format string, args ...any) Finding {
	f := Finding{
		Place:     e.Place,
		Kind:      e.kind.String(),
		Namespace: e.meta.Namespace,
		Name:      e.meta.Name,
		UID:       job.UID(e.meta.UID),
		Rule:      rule,
		Problem:   fmt.Sprintf(format, args...),
		Unless:    unless,
	}
	if e.version != 0 {
		f.ResourceVersion = strconv.FormatUint(e.version, 10)
	}
	return f
}

// tick notes the creation time of the event's object. All objects that were seen with lower
// versions were written before that time.
func (c *checker) tick(e *event) {
	created := e.meta.CreationTimestamp
	if created.After(c.clock) {
		c.clock = created
	}
	for i := range c.goneJobs {
		if g := &c.goneJobs[i]; g.by.IsZero() && g.precedes(e) {
			g.by = created.Add(skew)
		}
	}

	later := c.edited[:0]
	for _, s := range c.edited {
		if s.precedes(e) {
			s.editedBy = created.Add(skew)
		} else {
			later = append(later, s)
		}
	}
	c.edited = later
}

// ownerOf returns the UID of the controller of an object, if the controller is of this kind.
func ownerOf(e *event, k kind) job.UID {
	for _, o := range e.meta.OwnerReferences {
		if o.Controller && o.Kind == k.String() {
			return job.UID(o.UID)
		}
	}
	return ""
}

// isLast reports whether this version is the last of its object, even if the log never shows the
// deletion: the object is being deleted, without a finalizer or a grace period.
func isLast(e *event) bool {
	m := &e.meta
	isHeld := len(m.Finalizers) > 0 || m.DeletionGracePeriodSeconds > 0
	mayBeLast := e.audited || e.change == isThere
	return mayBeLast && !m.DeletionTimestamp.IsZero() && !isHeld
}

// judges reports whether a job with this spec belongs to a controller with the semantics of Jobs.
func (c *checker) judges(spec *job.Spec) bool {
	by, kubernetes := job.ManagerOf(*spec, job.Options{Without: c.options.Release.Off()})
	return kubernetes || slices.Contains(c.options.Controllers, by)
}
