package script

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/internal/line"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

// worldSteps are the steps about jobs, CronJobs, controllers and the server. The step "tick" is not
// among them: time passes for all worlds together.
var worldSteps = map[string]func(*World, *Script, Step) error{
	"edit":        edit,
	"suspend":     editJob(func(s *batchv1.JobSpec, arg string) { on := arg == "on"; s.Suspend = &on }),
	"parallelism": editJob(func(s *batchv1.JobSpec, arg string) { s.Parallelism = int32Of(arg) }),
	"completions": editJob(func(s *batchv1.JobSpec, arg string) { s.Completions = int32Of(arg) }),
	"resize": editJob(
		func(s *batchv1.JobSpec, arg string) { s.Parallelism, s.Completions = int32Of(arg), int32Of(arg) }),
	"minCount":   editJob(setMinCount),
	"ungroup":    func(w *World, _ *Script, s Step) error { return w.Ungroup(s.Arg(0)) },
	"limit":      editJob(func(s *batchv1.JobSpec, arg string) { s.BackoffLimit = int32Of(arg) }),
	"ttl":        editJob(func(s *batchv1.JobSpec, arg string) { s.TTLSecondsAfterFinished = int32Of(arg) }),
	"deadline":   editJob(func(s *batchv1.JobSpec, arg string) { s.ActiveDeadlineSeconds = int64Of(arg) }),
	"delete-job": deleteJob,
	"recreate":   recreate,
	"stray":      stray,
	"complete":   finish, // and fail, in a script without the controller of jobs

	"cronsuspend": editCronJob(func(s *batchv1.CronJobSpec, arg string) { on := arg == "on"; s.Suspend = &on }),
	"schedule":    editCronJob(func(s *batchv1.CronJobSpec, arg string) { s.Schedule = arg }),
	"zone":        editCronJob(func(s *batchv1.CronJobSpec, arg string) { s.TimeZone = stringOf(arg) }),
	"concurrency": editCronJob(
		func(s *batchv1.CronJobSpec, arg string) { s.ConcurrencyPolicy = batchv1.ConcurrencyPolicy(arg) }),
	"starting": editCronJob(func(s *batchv1.CronJobSpec, arg string) { s.StartingDeadlineSeconds = int64Of(arg) }),
	"successful": editCronJob(
		func(s *batchv1.CronJobSpec, arg string) { s.SuccessfulJobsHistoryLimit = int32Of(arg) }),
	"failed":     editCronJob(func(s *batchv1.CronJobSpec, arg string) { s.FailedJobsHistoryLimit = int32Of(arg) }),
	"deletecron": deleteCronJob,
	"squat":      squat,
	"cronmanual": cronManual,

	"closing": func(w *World, _ *Script, _ Step) error { w.CloseNamespace(Namespace); return nil },
	"hold":    func(w *World, _ *Script, s Step) error { w.Hold(s.Arg(0)); return nil },
	"release": func(w *World, _ *Script, s Step) error { w.Release(s.Arg(0)); return nil },
	"skew":    func(w *World, _ *Script, s Step) error { w.Skew = duration(s.Arg(0)); return nil },
	"fault":   addFault,

	"restart-controllers": func(w *World, _ *Script, _ Step) error { w.stop(); w.start(); return nil },
	"stop-controllers":    func(w *World, _ *Script, _ Step) error { w.stop(); w.stop = func() {}; return nil },

	"touch":     touch,
	"mergejob":  mergeJob,
	"old":       old,
	"condition": editCondition,
	"counter":   editCounter,
}

// editJob changes the spec of the job "j", or of the first job.
func editJob(how func(*batchv1.JobSpec, string)) func(*World, *Script, Step) error {
	return func(w *World, _ *Script, s Step) error {
		for _, j := range server.List[*batchv1.Job](w.Server) {
			return server.Change(w.Server, j.Namespace, j.Name, func(j *batchv1.Job) { how(&j.Spec, s.Arg(0)) })
		}
		return nil
	}
}

// edit changes the fields of the spec that are given as JSON.
func edit(w *World, script *Script, s Step) error {
	if script.Job == nil {
		return editCronJob(func(c *batchv1.CronJobSpec, fields string) { decode(fields, c) })(w, script, s)
	}
	return editJob(func(j *batchv1.JobSpec, fields string) { decode(fields, j) })(w, script, s)
}

func decode(fields string, into any) {
	if err := line.Decode(fields, into); err != nil {
		panic(fmt.Sprintf("edit %s: %v", fields, err))
	}
}

func editCronJob(how func(*batchv1.CronJobSpec, string)) func(*World, *Script, Step) error {
	return func(w *World, _ *Script, s Step) error {
		if server.Get[*batchv1.CronJob](w.Server, Namespace, "c") == nil {
			return nil
		}
		return server.Change(w.Server, Namespace, "c", func(c *batchv1.CronJob) { how(&c.Spec, s.Arg(0)) })
	}
}

func int32Of(arg string) *int32 {
	if arg == "none" {
		return nil
	}
	n := int32(number(arg))
	return &n
}

func int64Of(arg string) *int64 {
	if arg == "none" {
		return nil
	}
	n := int64(number(arg))
	return &n
}

func stringOf(arg string) *string {
	if arg == "none" {
		return nil
	}
	return &arg
}

// touch changes an annotation of the job, which has no effect.
func touch(w *World, _ *Script, s Step) error {
	for _, j := range server.List[*batchv1.Job](w.Server) {
		return server.Change(w.Server, j.Namespace, j.Name, func(j *batchv1.Job) {
			annotations := maps.Clone(j.Annotations)
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations["touched"] += "."
			j.Annotations = annotations
		})
	}
	return nil
}

func deleteJob(w *World, _ *Script, s Step) error {
	for _, j := range server.List[*batchv1.Job](w.Server) {
		policy := metav1.DeletionPropagation(cmp.Or(s.Arg(0), "Foreground"))
		return w.Delete(server.Jobs, j.Namespace, j.Name, metav1.DeleteOptions{PropagationPolicy: &policy})
	}
	return nil
}

// recreate creates the job "j" again if it is gone.
func recreate(w *World, script *Script, _ Step) error {
	if script.Job == nil || server.Get[*batchv1.Job](w.Server, Namespace, "j") != nil {
		return nil
	}
	return w.createJob(script.Job)
}

// stray creates a pod that the job has not requested. The arguments choose its owner and its
// namespace, and whether it has the job's labels, the finalizer or an index.
func stray(w *World, script *Script, s Step) error {
	j := server.Get[*batchv1.Job](w.Server, Namespace, "j")
	if j == nil {
		return nil
	}
	w.strays++
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:      fmt.Sprintf("s-%05d", w.strays),
			Namespace: Namespace,
			Labels:    maps.Clone(j.Spec.Template.Labels),
		},
		Spec: *j.Spec.Template.Spec.DeepCopy(),
	}
	for _, arg := range s.Args {
		switch arg {
		case "tracked":
			p.Finalizers = []string{job.Finalizer}
		case "owned":
			p.OwnerReferences = []metav1.OwnerReference{
				*metav1.NewControllerRef(j, batchv1.SchemeGroupVersion.WithKind("Job")),
			}
		case "foreign":
			p.OwnerReferences = []metav1.OwnerReference{somebody()}
		case "unlabeled":
			p.Labels = map[string]string{}
		case elsewhere:
			p.Namespace, p.Finalizers = elsewhere, append(p.Finalizers, keep)
		default:
			p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: arg}
			p.Labels[job.IndexLabel] = arg
		}
	}
	return w.Create(p)
}

// finish completes or fails a job whose controller does not run.
func finish(w *World, script *Script, s Step) error {
	j := w.jobNamed(s.Arg(0))
	if j == nil || !script.Manual || len(j.Status.Conditions) > 0 {
		return nil
	}
	return server.ChangeStatus(w.Server, j.Namespace, j.Name, func(j *batchv1.Job) {
		now := w.now()
		kinds, none := []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete}, int32(0)

		if j.Status.StartTime == nil {
			j.Status.StartTime = &now
		}
		if s.Op == "fail" {
			kinds = []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed}
		} else {
			j.Status.CompletionTime = &now
			j.Status.Succeeded = 1
		}

		j.Status.Terminating, j.Status.Ready = &none, &none
		j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
		for _, kind := range kinds {
			j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
				Type: kind, Status: corev1.ConditionTrue, LastProbeTime: now, LastTransitionTime: now, Reason: "Script",
			})
		}
	})
}

func deleteCronJob(w *World, _ *Script, s Step) error {
	if server.Get[*batchv1.CronJob](w.Server, Namespace, "c") == nil {
		return nil
	}
	policy := metav1.DeletionPropagation(s.Arg(0))
	return w.Delete(server.CronJobs, Namespace, "c", metav1.DeleteOptions{PropagationPolicy: &policy})
}

// keep is a finalizer for objects whose owner is in another namespace. To the garbage collector
// such an owner does not exist, so it would remove the objects.
const keep = "example.com/keep"

// squat creates a job under the name of a run's job. The first argument chooses the run, in minutes
// from now. The second argument chooses the job's controller. "owned": it is the CronJob.
// "restored": it is an earlier CronJob of the same name. "report": it has the same name, but
// another kind. "elsewhere": the job is in the namespace of another tenant, and claims to be that
// run.
func squat(w *World, script *Script, s Step) error {
	c := server.Get[*batchv1.CronJob](w.Server, Namespace, "c")
	if c == nil {
		return nil
	}
	minute := time.Now().Unix()/60 + int64(number(s.Arg(0)))
	j := w.jobOf(c, fmt.Sprintf("c-%d", minute), s.Arg(1) != "")
	switch s.Arg(1) {
	case "restored":
		j.OwnerReferences[0].UID = "uid-before"
	case "report":
		owner := &j.OwnerReferences[0]
		owner.APIVersion, owner.Kind, owner.UID = "example.com/v1", "Report", "uid-r"
	case elsewhere:
		j.Namespace, j.Finalizers = elsewhere, []string{keep}
		j.Annotations = map[string]string{
			batchv1.CronJobScheduledTimestampAnnotation: time.Unix(minute*60, 0).UTC().Format(time.RFC3339),
		}
	}
	return w.Create(j)
}

// cronManual creates a job as "kubectl create job --from" does.
func cronManual(w *World, script *Script, _ Step) error {
	c := server.Get[*batchv1.CronJob](w.Server, Namespace, "c")
	if c == nil {
		return nil
	}
	w.strays++
	j := w.jobOf(c, fmt.Sprintf("m-%d", w.strays), true)
	j.Annotations = map[string]string{"cronjob.kubernetes.io/instantiate": "manual"}
	return w.Create(j)
}

func (w *World) jobOf(c *batchv1.CronJob, name string, owned bool) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: Namespace},
		Spec:       *c.Spec.JobTemplate.Spec.DeepCopy(),
	}
	if owned {
		j.OwnerReferences = []metav1.OwnerReference{
			*metav1.NewControllerRef(c, batchv1.SchemeGroupVersion.WithKind("CronJob")),
		}
	}
	return j
}

// old turns the job or the CronJob into one that an older release, or this one with other feature
// gates, has stored. This release would refuse or change such an object.
func old(w *World, _ *Script, s Step) error {
	switch s.Arg(0) {
	case "mode":
		server.Overwrite(w.Server, Namespace, "j", func(j *batchv1.Job) {
			mode := batchv1.CompletionMode(s.Arg(1))
			j.Spec.CompletionMode, j.Generation = &mode, j.Generation+1
		})
	case "managedBy":
		server.Overwrite(w.Server, Namespace, "j", func(j *batchv1.Job) {
			j.Spec.ManagedBy, j.Generation = stringOf(s.Arg(1)), j.Generation+1
		})
	case "schedule":
		server.Overwrite(w.Server, Namespace, "c", func(c *batchv1.CronJob) {
			c.Spec.Schedule, c.Generation = s.Arg(1), c.Generation+1
		})
	case "zone":
		server.Overwrite(w.Server, Namespace, "c", func(c *batchv1.CronJob) {
			c.Spec.TimeZone, c.Generation = stringOf(s.Arg(1)), c.Generation+1
		})
	}
	return nil
}
