package rounds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
	"github.com/batchplan/batchplan/x/proof/conformance/series"
)

func decodeCronJob(o *batchv1.CronJob) cronjob.CronJob {
	c, err := cronjob.DecodeCronJob(encode(o))
	must(err)
	return c
}

// cronPlanner keeps its buffers from round to round.
var cronPlanner cronjob.Planner

// playOursCron plays one round of the library's planner, as an adapter to Kubernetes does. It also
// plays the rounds that are requested immediately, and the round after an active job was found
// gone.
func playOursCron(s *CronSnapshot) (r Result) {
	decoded := decodeCronJob(s.CronJob)
	snapshot := cronjob.Snapshot{
		CronJob:  decoded,
		Now:      s.Now,
		Options:  cronjob.Kubernetes(played),
		Schedule: cronjob.Compile(&decoded, schedule.Kubernetes(played)),
	}

	for _, j := range s.Jobs {
		child, err := cronjob.DecodeChild(&decoded, encode(j))
		must(err)
		snapshot.Children = append(snapshot.Children, child)
	}

	b := &cronBackend{cronServer: newCronServer(s), object: s.CronJob, deleted: map[string]bool{}}
	r.Metrics = series.Counts{}
	for range 10 {
		end, err := b.round(&snapshot)
		r.Seen = append(r.Seen, b.seen...)
		for _, e := range end.Events {
			r.Events = append(r.Events, fmt.Sprintf("%s %s %s", e.Type, e.Reason, e.Message))
		}

		r.Metrics.Add(series.CronJob(&end.Metrics))
		r.Retry, r.Requeue = err != nil, ""
		if after, ok := end.Requeue.After(s.Now); ok && err == nil {
			r.Requeue = after.String()
		}

		again := !end.Requeue.At.IsZero() && !end.Requeue.At.After(s.Now) || b.missing
		if err != nil || b.written == nil || !again {
			break
		}

		b.object, snapshot.Memory = b.written, end.Memory
		snapshot.CronJob.Status, b.written = decodeCronJob(b.object).Status, nil
		snapshot.Children = slices.DeleteFunc(snapshot.Children,
			func(c cronjob.Child) bool { return b.deleted[c.Name] })
	}

	r.Events = withoutTexts(r.Events)
	r.Writes, r.Seen = b.writes(), slices.Compact(slices.Sorted(slices.Values(r.Seen)))
	return r
}

// withoutTexts returns the events, each once. It drops the texts of events about wrong schedules,
// whose wording differs.
func withoutTexts(events []string) []string {
	for i, e := range events {
		for _, reason := range [...]string{
			"UnknownTimeZone", "UnparseableSchedule", "InvalidSchedule", "UnsupportedSchedule",
		} {
			if strings.HasPrefix(e, "Warning "+reason) {
				events[i] = "Warning " + reason
			}
		}
	}
	slices.Sort(events)
	return slices.Compact(events)
}

// round plans and carries the plan out.
func (b *cronBackend) round(s *cronjob.Snapshot) (cronjob.Conclusion, error) {
	plan, err := cronPlanner.Reconcile(s)
	if err != nil {
		return cronjob.Conclusion{}, err
	}
	end, err := cronjobapply.Executor{Parallel: 1}.Apply(context.Background(), b, plan)
	isGone := func(r cronjob.Reply) bool { return r.Result == cronjobreason.ResultGone }
	b.missing = slices.ContainsFunc(end.Outcome.Verified, isGone) && len(plan.Create) == 0
	b.seen = seenInCron(plan, &end)
	if end.Retry {
		return end, errors.Join(err, errors.New("to be repeated"))
	}
	return end, nil
}

// cronBackend carries our plans out on the server.
type cronBackend struct {
	*cronServer
	object, written *batchv1.CronJob
	deleted         map[string]bool
	seen            []string
	missing         bool // an active job was found gone, and nothing was created
}

func (b *cronBackend) Get(_ context.Context, name string) (cronjobapply.Job, error) {
	j, err := b.readJob(name)
	switch {
	case apierrors.IsNotFound(err):
		return cronjobapply.Job{}, cronjobapply.ErrGone
	case err != nil:
		return cronjobapply.Job{}, err
	}
	return describeJob(j), nil
}

func describeJob(j *batchv1.Job) cronjobapply.Job {
	out := cronjobapply.Job{
		Reference: cronjob.Reference{
			Kind: "Job", APIVersion: "batch/v1",
			Namespace: j.Namespace, Name: j.Name, UID: job.UID(j.UID), ResourceVersion: j.ResourceVersion,
		},
		CreationTimestamp: j.CreationTimestamp.Time,
	}
	if ref := metav1.GetControllerOf(j); ref != nil {
		out.Controller = job.UID(ref.UID)
	}
	return out
}

func (b *cronBackend) Delete(_ context.Context, d cronjob.Deletion) error {
	policy := metav1.DeletePropagationBackground
	if d.Foreground {
		policy = metav1.DeletePropagationForeground
	}
	b.deleted[d.Name] = true
	return b.delete(d.Name, string(policy)) // theirs treats a missing job as a failure
}

func (b *cronBackend) Create(_ context.Context, c cronjob.Creation) (cronjobapply.Job, error) {
	out, err := b.create(&batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: c.Name, Namespace: namespace, Labels: c.Labels, Annotations: c.Annotations,
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(b.object, batchv1.SchemeGroupVersion.WithKind("CronJob")),
			},
		},
		Spec: b.object.Spec.JobTemplate.Spec,
	})
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return cronjobapply.Job{}, cronjobapply.ErrNamespaceTerminating
	case apierrors.IsAlreadyExists(err):
		return cronjobapply.Job{}, cronjobapply.ErrExists
	case err != nil:
		return cronjobapply.Job{}, err
	}
	return describeJob(out), nil
}

func (b *cronBackend) WriteStatus(_ context.Context, s cronjob.Status) error {
	object := b.object.DeepCopy()
	object.Status = batchv1.CronJobStatus{}
	must(json.Unmarshal(encode(s), &object.Status))
	out, err := b.writeStatus(object)
	if err == nil {
		b.written = out
	}
	return err
}
