package rounds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobreason"
	kubernetes "github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/proof/conformance/series"
)

// decode returns our snapshot. It decodes JSON, as an adapter without typed clients does.
func decode(s *Snapshot) job.Snapshot {
	object := *s.Job
	object.APIVersion, object.Kind = "batch/v1", "Job"
	j, err := job.DecodeJob(encode(&object))
	must(err)

	out := job.Snapshot{Job: j, Groups: s.Groups, Now: s.Now, Options: job.Kubernetes(played), Memory: job.Memory{
		JobUID:     j.UID,
		Backoff:    backoff.Record{Failures: s.Failures, LastFailure: s.LastFailure},
		Untracking: expectations.NewUIDs(s.Untracking...),
		Finished:   s.Finished,
	}}

	if s.Creations+s.Deletions > 0 {
		out.Memory.Expectations = expectations.Counts{
			Creations: s.Creations,
			Deletions: s.Deletions,
			At:        s.Now.Add(-s.Age),
		}
	}

	for _, object := range s.Pods {
		p, err := job.DecodePod(&j, encode(object))
		must(err)
		out.Pods = append(out.Pods, p)
	}
	return out
}

func encode(v any) []byte {
	data, err := json.Marshal(v)
	must(err)
	return data
}

// planner keeps its buffers from round to round, as a controller's does.
var planner job.Planner

// playOurs plays one round of the library's planner.
func playOurs(s *Snapshot) (r Result) {
	snapshot := decode(s)
	b := newBackend(s)
	var plan *job.Plan
	var end job.Conclusion

	for again := true; again; again = b.gone != "" {
		// If an orphan that was to be adopted is gone, the plan was wrong to count on that pod.
		snapshot.Pods = slices.DeleteFunc(snapshot.Pods, func(p job.Pod) bool { return p.Name == b.gone })
		b.gone = ""
		var err error
		if plan, err = planner.Reconcile(&snapshot); err != nil {
			return Result{Panic: err.Error()}
		}
		end, _ = jobapply.Executor{Parallel: 1}.Apply(context.Background(), b, plan)
	}

	r = Result{
		Writes:  b.writes(),
		Metrics: addedBy(&end.Metrics),
		Memory:  memoryOf(&end.Memory, s, b.server),
		Retry:   end.Retry,
	}
	r.Seen = seenIn(plan, &end)
	for _, e := range end.Events {
		r.Events = append(r.Events, fmt.Sprintf("%s %s %s", e.Type, e.Reason, e.Message))
	}

	slices.Sort(r.Events)
	claimed := len(plan.Adopt)+len(plan.Release) == 0 || end.Outcome.Claimed.Result == jobreason.ResultDone
	refused := func(e jobgroup.Effect) bool { return e.Result != jobreason.ResultDone }
	grouped := !slices.ContainsFunc(end.Outcome.Grouped, refused)
	if after, ok := plan.Requeue.After(s.Now); ok && claimed && grouped {
		r.Requeue = after.String()
	}
	return r
}

// addedBy returns what our metrics add to the counters. For a job of another controller that is
// nothing: the round of the real controller does not begin.
func addedBy(m *job.Metrics) series.Counts {
	if m.Action == "" || m.External {
		return nil
	}
	return series.Job(m)
}

// backend carries our plans out on the server.
type backend struct {
	*server
	*kubernetes.Groups
	read    bool
	readErr error
	gone    string // the name of an orphan that was gone when it was to be adopted
}

func newBackend(s *Snapshot) *backend {
	server := newServer(s)
	planned, err := job.DecodeJob(encode(s.Job))
	must(err)
	return &backend{server: server, Groups: &kubernetes.Groups{
		Client:        groupClient{server: server},
		Namespace:     namespace,
		Owner:         *metav1.NewControllerRef(s.Job, batchv1.SchemeGroupVersion.WithKind("Job")),
		Scheduling:    planned.Spec.Scheduling,
		PriorityClass: s.Job.Spec.Template.Spec.PriorityClassName,
	}}
}

func (b *backend) Adopt(_ context.Context, pod job.Claim) error {
	if !b.read {
		b.read, b.readErr = true, b.look()
	}
	if b.readErr != nil {
		return b.readErr
	}
	err := gone(b.patch("adopt", pod.Name))
	if errors.Is(err, jobapply.ErrGone) {
		b.gone = pod.Name
	}
	return err
}

func (b *backend) look() error {
	fresh, err := b.readJob()
	switch {
	case err != nil:
		return err
	case fresh.UID != jobUID || fresh.DeletionTimestamp != nil:
		return errors.New("the job has changed")
	}
	return nil
}

func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return jobapply.ErrGone
	}
	return err
}

func (b *backend) Release(_ context.Context, pod job.Claim) error {
	err := gone(b.patch("release", pod.Name))
	if apierrors.IsInvalid(err) { // by now the name belongs to another pod
		return nil
	}
	return err
}

func (b *backend) Delete(_ context.Context, d job.Deletion) error {
	if d.UntrackFirst {
		if err := gone(b.patch("untrack", d.Name)); errors.Is(err, jobapply.ErrGone) {
			return err
		} else if err != nil {
			return fmt.Errorf("%w: %w", jobapply.ErrStillTracked, err)
		}
	}
	return gone(b.delete(d.Name))
}

func (b *backend) Untrack(_ context.Context, u job.Untracking) error {
	return gone(b.patch("untrack", u.Name))
}

func (b *backend) WriteStatus(_ context.Context, s job.Status) error {
	var status batchv1.JobStatus
	must(json.Unmarshal(encode(s), &status))
	return b.writeStatus(&status)
}

func (b *backend) Create(_ context.Context, c job.Creation) (job.PodRef, error) {
	out, err := b.create(build(b.snapshot.Job, &c))
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return job.PodRef{}, jobapply.ErrNamespaceTerminating
	case err != nil:
		return job.PodRef{}, err
	}
	return job.PodRef{Name: out.Name, UID: job.UID(out.UID)}, nil
}

// build makes the pod of a creation from the template.
func build(of *batchv1.Job, c *job.Creation) *corev1.Pod {
	template := of.Spec.Template.DeepCopy()
	pod := &corev1.Pod{Spec: template.Spec}
	setGroup(pod, c.Group.Name)
	pod.GenerateName = c.NamePrefix
	pod.Labels, pod.Annotations = joined(template.Labels, c.Labels()), joined(template.Annotations, c.Annotations())
	pod.Finalizers = append(slices.Clone(template.Finalizers), job.Finalizer)
	pod.OwnerReferences = []metav1.OwnerReference{
		*metav1.NewControllerRef(of, batchv1.SchemeGroupVersion.WithKind("Job")),
	}
	if c.Index == job.NoIndex() {
		return pod
	}
	pod.Spec.Hostname = c.Hostname
	for _, containers := range [...][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			addIndexVariable(&containers[i], c.IndexPath())
		}
	}
	return pod
}

func joined(a, b map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

func addIndexVariable(c *corev1.Container, path string) {
	if slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == job.IndexVariable }) {
		return
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: job.IndexVariable, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: path},
	}})
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
