package cronjob_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

func ptr[T any](v T) *T { return &v }

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// start is the creation time of the tests' CronJobs.
var start = at("2026-01-01T00:00:00Z")

// newCronJob returns a CronJob with defaults.
func newCronJob(spec cronjob.Spec) cronjob.CronJob {
	cronjob.Default(&spec)
	return cronjob.CronJob{Namespace: "ns", Name: "report", UID: "cj-1", CreationTimestamp: start, Spec: spec}
}

// snapshot returns a snapshot with the compiled schedule.
func snapshot(c cronjob.CronJob, now time.Time, children ...cronjob.Child) cronjob.Snapshot {
	return cronjob.Snapshot{CronJob: c, Children: children, Now: now, Schedule: cronjob.Compile(&c)}
}

// kubernetes gives a snapshot the options with which the planner decides as Kubernetes does.
func kubernetes(s cronjob.Snapshot) cronjob.Snapshot {
	s.Options = cronjob.Kubernetes(release.V136())
	s.Schedule = cronjob.Compile(&s.CronJob, schedule.Kubernetes(release.Newest()))
	return s
}

// reconcile plans a snapshot that must be valid. Outside of rapid tests, it also checks that all
// other ways to plan give the same plan (B3).
func reconcile(t rapid.TB, s cronjob.Snapshot) cronjob.Plan {
	t.Helper()
	plan, err := cronjob.Reconcile(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, drawn := t.(*rapid.T); !drawn {
		checkOtherWays(t, s, &plan)
	}
	return plan
}

// busy is a planner that all tests share.
var busy struct {
	sync.Mutex
	cronjob.Planner
}

// checkOtherWays plans with a planner that was used for other CronJobs, without planQuiet, and with
// the children in reverse order.
func checkOtherWays(t rapid.TB, s cronjob.Snapshot, plan *cronjob.Plan) {
	t.Helper()
	before := intact.Copy(s)
	type fields cronjob.Plan // without its String
	want := fmt.Sprintf("%+v", fields(*plan))

	busy.Lock()
	got, err := busy.Reconcile(&s)
	if diff := cmp.Diff(want, fmt.Sprintf("%+v", fields(*got))); err != nil || diff != "" {
		t.Errorf("B3: a planner that is used again has another plan: %v %s", err, diff)
	}
	busy.Unlock()

	checkQuiet(t, s, plan)
	if d := intact.Diff(s, before); d != "" {
		t.Errorf("B3: the snapshot is written to: %s", d)
	}
	if len(s.CronJob.Status.Active) > 0 {
		roomy := intact.Copy(s)
		p, _ := new(cronjob.Planner).Reconcile(&roomy)
		_ = append(p.Settle(cronjob.Writes{}).Status.Active, cronjob.Reference{Name: "of the caller"})
		_ = append(p.Conclude(cronjob.Outcome{}).Status.Active, cronjob.Reference{Name: "of the caller"})
		if d := intact.Written(roomy, before); d != "" {
			t.Errorf("B3: who appends to the status of a round writes to the snapshot: %s", d)
		}
	}

	uids := map[job.UID]bool{}
	for _, c := range s.Children {
		uids[c.UID] = true
	}
	if len(uids) < len(s.Children) {
		return // of two children with the same UID, the first counts, so their order matters
	}
	s.Children = slices.Clone(s.Children)
	slices.Reverse(s.Children)
	reversed, err := cronjob.Reconcile(s)
	if diff := cmp.Diff(want, fmt.Sprintf("%+v", fields(reversed))); err != nil || diff != "" {
		t.Errorf("B3: the order of the children matters: %v %s", err, diff)
	}
}

// child returns the running job of a run.
func child(run time.Time) cronjob.Child {
	name := cronjob.Naming{}.JobName("report", run)
	return cronjob.Child{Name: name, UID: job.UID("uid-" + name), CreationTimestamp: run, StartTime: run, ScheduledTime: run}
}

// finished returns the job after its end.
func finished(c cronjob.Child, how job.ConditionType, when time.Time) cronjob.Child {
	c.Finished, c.FinishTime = how, when
	if how == job.ConditionComplete {
		c.CompletionTime = when
	}
	return c
}

func ref(c cronjob.Child) cronjob.Reference {
	return cronjob.Reference{Kind: "Job", APIVersion: "batch/v1", Namespace: "ns", Name: c.Name, UID: c.UID}
}

// created returns the only run that the plan starts, or the zero time.
func created(t testing.TB, p cronjob.Plan) time.Time {
	t.Helper()
	switch len(p.Create) {
	case 0:
		return time.Time{}
	case 1:
		return p.Create[0].ScheduledTime
	}
	t.Fatalf("creates %d jobs", len(p.Create))
	return time.Time{}
}

func reasons(events []job.Event) []string {
	var all []string
	for _, e := range events {
		all = append(all, e.Reason)
	}
	return all
}

// done returns the outcome in which all writes succeed and all looked up jobs are gone.
func done(p *cronjob.Plan) cronjob.Outcome {
	o := cronjob.Outcome{Settled: cronjob.Reply{Result: cronjobreason.ResultDone}}
	for range p.Verify {
		o.Verified = append(o.Verified, cronjob.Reply{Result: cronjobreason.ResultGone})
	}
	for range p.Delete {
		o.Deleted = append(o.Deleted, cronjob.Effect{Result: cronjobreason.ResultDone})
	}
	for _, c := range p.Create {
		o.Created = append(o.Created, cronjob.Effect{Result: cronjobreason.ResultDone, Job: cronjob.Reference{
			Kind: "Job", APIVersion: "batch/v1", Namespace: "ns", Name: c.Name, UID: job.UID("uid-" + c.Name),
		}})
	}
	return o
}

func kept(m cronjob.Memory) *cronjob.Remembered { return m.Kept() }

func hours(n float64) time.Time { return start.Add(time.Duration(n * float64(time.Hour))) }

// hourly returns a snapshot of a CronJob that runs each hour.
func hourly(spec cronjob.Spec, now time.Time, children ...cronjob.Child) cronjob.Snapshot {
	spec.Schedule = "@hourly"
	return snapshot(newCronJob(spec), now, children...)
}

// second returns an hourly CronJob at 2:00, whose active list has the job of 1:00.
func second(policy cronjob.ConcurrencyPolicy, children ...cronjob.Child) cronjob.Snapshot {
	s := hourly(cronjob.Spec{ConcurrencyPolicy: policy}, hours(2), children...)
	s.CronJob.Status = cronjob.Status{Active: []cronjob.Reference{ref(child(hours(1)))}, LastScheduleTime: hours(1)}
	return s
}

// foreign returns the child as a job of another owner.
func foreign(c cronjob.Child) cronjob.Child {
	c.Foreign = true
	return c
}

// backfilled returns the child as the job of a backfill.
func backfilled(c cronjob.Child) cronjob.Child {
	c.Backfilled = true
	return c
}

// play plans and concludes a round with outcome done.
func play(t rapid.TB, s cronjob.Snapshot) (cronjob.Plan, cronjob.Conclusion) {
	t.Helper()
	plan := reconcile(t, s)
	return plan, plan.Conclude(done(&plan))
}

// playUnwritten plays a round in which only the status write fails. The status does not change.
func playUnwritten(t rapid.TB, s cronjob.Snapshot) (cronjob.Plan, cronjob.Conclusion) {
	t.Helper()
	plan := reconcile(t, s)
	o := done(&plan)
	o.Settled = cronjob.Reply{Result: cronjobreason.ResultUnsuccessful}
	end := plan.Conclude(o)
	if diff := cmp.Diff(plan.Basis().Before, end.Status); diff != "" {
		t.Errorf("the status is not written, and the round ends with another:\n%s", diff)
	}
	return plan, end
}

// goOn calls play, and copies the memory and the status of the round into the snapshot.
func goOn(t rapid.TB, s *cronjob.Snapshot) (cronjob.Plan, cronjob.Conclusion) {
	t.Helper()
	plan, end := play(t, *s)
	s.Memory, s.CronJob.Status = end.Memory, end.Status
	return plan, end
}

// remember plans a round and stores its memory in the snapshot, as if nothing was written.
func remember(t rapid.TB, s *cronjob.Snapshot) cronjob.Plan {
	t.Helper()
	plan := reconcile(t, *s)
	s.Memory = plan.Conclude(cronjob.Outcome{}).Memory
	return plan
}

// found returns the outcome done with the given result of all look-ups.
func found(p *cronjob.Plan, result cronjobreason.Result) cronjob.Outcome {
	o := done(p)
	for i := range o.Verified {
		o.Verified[i] = cronjob.Reply{Result: result}
	}
	return o
}

// creation returns an outcome in which only the first creation was tried.
func creation(result cronjobreason.Result) cronjob.Outcome {
	return cronjob.Outcome{Writes: cronjob.Writes{Created: []cronjob.Effect{{Result: result}}}}
}

func names(refs []cronjob.Reference) (all []string) {
	for _, r := range refs {
		all = append(all, r.Name)
	}
	return all
}

func in(s cronjob.Snapshot, o cronjob.Options) cronjob.Snapshot {
	s.Options = o
	return s
}

// ended returns the job of an hour's run, which ended a minute after that hour.
func ended(hour float64, how job.ConditionType) cronjob.Child {
	return finished(child(hours(hour)), how, hours(hour).Add(time.Minute))
}
