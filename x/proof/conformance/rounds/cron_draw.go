package rounds

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/specgen"
	"github.com/batchplan/batchplan/schedule"
)

const cronUID = "cron-uid"

// wrongSchedules are schedules that an API server refuses.
var wrongSchedules = []string{"61 * * * *", "* * * * * *", "", "@every x", "0 0 * * 8"}

func drawCronJob(seed uint64, number int) *CronSnapshot {
	d := newDraw(seed, number)
	d.now = d.now.Add(time.Duration(d.IntN(25*365*24*3600)) * time.Second)
	s := &CronSnapshot{Number: number, CronJob: &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: cronUID, ResourceVersion: "10"},
		Spec:       d.cronSpec(),
	}}

	runs := d.runs(s.CronJob)
	s.Now = d.now
	s.CronJob.CreationTimestamp = d.ago(pick(d, 0, 30, 100, 1000, 100000, 10000000))

	if d.chance(4) {
		s.CronJob.DeletionTimestamp = pointer(d.ago(1))
	}
	if len(runs) > 0 && d.chance(70) {
		s.CronJob.Status.LastScheduleTime = pointer(metav1.NewTime(pick(d, runs...)))
	}
	if d.chance(40) {
		s.CronJob.Status.LastSuccessfulTime = pointer(d.ago(d.age()))
	}

	for i := range pick(d, 0, 1, 2, 3, 5, 8) {
		d.child(s, runs, i)
	}
	for i := range pick(d, 0, 0, 0, 1) { // active and gone from the cache
		j := d.job(s, runs, 100+i)
		s.CronJob.Status.Active = append(s.CronJob.Status.Active, jobReference(j))
		if d.chance(40) {
			s.Hidden = append(s.Hidden, j)
		}
	}

	d.cronFaults(s)
	return s
}

func (d *draw) cronSpec() batchv1.CronJobSpec {
	s := specgen.Decode[batchv1.CronJobSpec](specgen.Generator{Source: d, Range: specgen.Wild}.CronJob())
	s.ConcurrencyPolicy = cmp.Or(s.ConcurrencyPolicy, batchv1.AllowConcurrent)
	if d.chance(4) {
		s.Schedule = pick(d, wrongSchedules...)
	}
	if d.chance(3) {
		s.TimeZone = pointer("Mars/Base")
	}
	return s
}

// runs returns runs of the schedule before the round, and moves the round close to one of them.
func (d *draw) runs(c *batchv1.CronJob) (out []time.Time) {
	decoded := decodeCronJob(c)
	compiled := cronjob.Compile(&decoded, schedule.Kubernetes(played))
	if compiled.Problem != 0 {
		return nil
	}

	at := d.now.Add(-pick(d, time.Minute, time.Hour, 24*time.Hour, 40*24*time.Hour))
	for range 20 {
		at = compiled.Schedule.Next(at)
		if at.IsZero() || at.After(d.now) {
			break
		}
		out = append(out, at)
	}

	if len(out) > 0 && d.chance(50) {
		after := pick(d, 0, 0, time.Millisecond, time.Second, 10*time.Second, 30*time.Second, 5*time.Minute)
		near := out[len(out)-1].Add(after).UTC()
		if near.After(begin) {
			d.now = near
		}
	}
	return slices.DeleteFunc(out, func(t time.Time) bool { return t.After(d.now) })
}

// child draws a job in the cache.
func (d *draw) child(s *CronSnapshot, runs []time.Time, i int) {
	j := d.job(s, runs, i)
	if slices.ContainsFunc(s.Jobs, func(o *batchv1.Job) bool { return o.Name == j.Name }) {
		return
	}
	s.Jobs = append(s.Jobs, j)
	active := !isFinished(j) && d.chance(85) || d.chance(15)
	owner := metav1.GetControllerOf(j)
	isOwned := owner != nil && (owner.UID == cronUID || owner.Name == name)
	if active && isOwned {
		s.CronJob.Status.Active = append(s.CronJob.Status.Active, jobReference(j))
	}
	if d.chance(3) {
		s.Gone = append(s.Gone, j.Name)
	}
}

// job draws a job of a run, or one that a user has created.
func (d *draw) job(s *CronSnapshot, runs []time.Time, i int) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: fmt.Sprintf("%s-manual-%d", name, i),
		UID: types.UID(fmt.Sprintf("job%03d", i)), ResourceVersion: "1",
		CreationTimestamp: d.ago(i*20 + d.age()),
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(s.CronJob, batchv1.SchemeGroupVersion.WithKind("CronJob")),
		},
	}}

	if len(runs) > 0 && d.chance(85) {
		run := pick(d, runs...)
		if d.chance(40) {
			run = runs[len(runs)-1]
		}
		j.Name = fmt.Sprintf("%s-%d", name, run.Unix()/60)
		if d.chance(5) { // edited
			run = pick(d, runs...)
		}
		if d.chance(95) {
			j.Annotations = map[string]string{
				"batch.kubernetes.io/cronjob-scheduled-timestamp": run.Format(time.RFC3339),
			}
		}
	}

	if d.chance(15) {
		j.OwnerReferences = pick(d, foreigners...)(j.OwnerReferences[0])
	}
	if d.chance(85) {
		j.Status.StartTime = pointer(d.ago(i*20 + d.age() + 1))
	}
	if d.chance(5) {
		j.DeletionTimestamp = pointer(d.ago(1))
	}

	if d.chance(60) {
		at := d.ago(d.age())
		end := batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: at}
		if d.chance(60) {
			end.Type, j.Status.CompletionTime = batchv1.JobComplete, &at
		}
		j.Status.Conditions = append(j.Status.Conditions, end)
	}
	return j
}

// foreigners replace the reference to the CronJob by none, by a changed one, or by several.
var foreigners = []func(metav1.OwnerReference) []metav1.OwnerReference{
	func(metav1.OwnerReference) []metav1.OwnerReference { return nil },
	func(r metav1.OwnerReference) []metav1.OwnerReference { // another CronJob
		r.UID, r.Name = "another", "another"
		return []metav1.OwnerReference{r}
	},
	func(r metav1.OwnerReference) []metav1.OwnerReference { // an earlier CronJob of that name
		r.UID = "another"
		return []metav1.OwnerReference{r}
	},
	func(r metav1.OwnerReference) []metav1.OwnerReference { // another kind
		r.APIVersion, r.Kind, r.UID = "example.com/v1", "Report", "another"
		return []metav1.OwnerReference{r}
	},
	func(r metav1.OwnerReference) []metav1.OwnerReference { // an edited name
		r.Name = "another"
		return []metav1.OwnerReference{r}
	},
	func(r metav1.OwnerReference) []metav1.OwnerReference { // no controller
		r.Controller = nil
		return []metav1.OwnerReference{r}
	},
	func(r metav1.OwnerReference) []metav1.OwnerReference { // several owners
		other := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Report", Name: r.Name, UID: "another"}
		return []metav1.OwnerReference{other, r}
	},
}

func jobReference(j *batchv1.Job) corev1.ObjectReference {
	return corev1.ObjectReference{
		Kind:            "Job",
		APIVersion:      "batch/v1",
		Namespace:       j.Namespace,
		Name:            j.Name,
		UID:             j.UID,
		ResourceVersion: "1",
	}
}

// cronFaults draws failing answers. A read fails only where both sides read.
func (d *draw) cronFaults(s *CronSnapshot) {
	if !d.chance(25) {
		return
	}

	s.Delete, s.Look = map[string]string{}, map[string]string{}
	if d.chance(40) {
		s.Create = pick(d, "error", "closing", "quota")
	}
	if d.chance(30) {
		s.Status = pick(d, "error", "conflict")
	}

	remove, look := d.chance(40), d.chance(30) && s.CronJob.Spec.ConcurrencyPolicy != batchv1.ReplaceConcurrent
	for _, j := range s.Jobs {
		if remove && d.chance(50) {
			s.Delete[j.Name] = pick(d, "error", "gone")
		}
	}
	for _, j := range s.Hidden {
		if look && d.chance(50) {
			s.Look[j.Name] = "error"
		}
	}
}
