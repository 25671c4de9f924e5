package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/replica"
)

// TestTenants: jobs and pods of a tenant name the CronJob and the job of another namespace as their
// controllers. That changes nothing in the other namespace (C1, J6). The replica serves all
// namespaces.
func TestTenants(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a real API server")
	}

	logErrors()
	c := newCluster(t)
	victim, tenant := c.newPlace(t), c.newPlace(t)

	scheduled := victim.createCronJob("backup")
	for i := range 3 {
		tenant.claimRun(scheduled, time.Now().Truncate(time.Minute).Add(time.Duration(i)*time.Minute), i == 2)
	}

	config := victim.config()
	config.Namespaces, config.Controllers = nil, []string{replica.Jobs, replica.Orphans, replica.CronJobs}

	j := victim.create(jobOf("job", "r", func(s *batchv1.JobSpec) { s.BackoffLimit = pointTo(int32(0)) }))
	tenant.createPod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Labels: j.Spec.Template.Labels, OwnerReferences: []metav1.OwnerReference{controlledBy("Job", j.Name, j.UID)}, Finalizers: []string{job.Finalizer},
		Annotations: map[string]string{exitsAnnotation: "1"},
	}, Spec: jobOf("", "1", nil).Spec.Template.Spec}, "pod")

	victim.start(config)

	var o *batchv1.CronJob
	victim.until("a run of the CronJob, and its status", func() bool {
		list, err := victim.BatchV1().Jobs(victim.namespace).List(t.Context(), metav1.ListOptions{})
		if err == nil {
			o, err = victim.BatchV1().CronJobs(victim.namespace).Get(t.Context(), "backup", metav1.GetOptions{})
		}
		must.OK(t, err)
		started := slices.ContainsFunc(list.Items, func(j batchv1.Job) bool { return strings.HasPrefix(j.Name, "backup-") })
		return started && o.Status.LastScheduleTime != nil
	})

	if o.Status.LastSuccessfulTime != nil || time.Until(o.Status.LastScheduleTime.Time) > 0 {
		t.Errorf("status %+v", o.Status)
	}
	if victim.reports("backup", "UnexpectedJob") {
		t.Error("the tenant's jobs are unexpected")
	}
	tenant.until("an end of the tenant's pod", func() bool { return tenant.pod("pod").Status.Phase == corev1.PodFailed })

	running := victim.await("job", "a pod that runs", running(1))
	if running.Status.Failed > 0 || len(victim.pods("job-name=job")) != 1 {
		t.Errorf("status %+v", running.Status)
	}
}

func controlledBy(kind, name string, uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "batch/v1", Kind: kind, Name: name, UID: uid, Controller: pointTo(true)}
}

func (p *place) createCronJob(name string) *batchv1.CronJob {
	p.Helper()
	j := jobOf("", "r", nil)
	out, err := p.BatchV1().CronJobs(p.namespace).Create(p.Context(), &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.CronJobSpec{
			Schedule: "* * * * *", ConcurrencyPolicy: batchv1.ForbidConcurrent, JobTemplate: batchv1.JobTemplateSpec{Spec: j.Spec},
		},
	}, metav1.CreateOptions{})
	must.OK(p, err)
	return out
}

// claimRun creates a job that claims to be a run of the CronJob. If ended is set, the job also
// claims to have ended years from now.
func (p *place) claimRun(of *batchv1.CronJob, run time.Time, ended bool) {
	p.Helper()
	j := jobOf(fmt.Sprintf("%s-%d", of.Name, run.Unix()/60), "r", nil)
	j.Spec.ManagedBy = pointTo("example.com/nobody")
	j.OwnerReferences = []metav1.OwnerReference{controlledBy("CronJob", of.Name, of.UID)}
	j.Annotations = map[string]string{batchv1.CronJobScheduledTimestampAnnotation: run.UTC().Format(time.RFC3339)}
	j = p.create(j)
	if !ended {
		return
	}
	at := metav1.NewTime(run.Add(50_000 * time.Hour))
	j.Status.StartTime, j.Status.CompletionTime = &at, &at
	for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: at})
	}
	if _, err := p.BatchV1().Jobs(p.namespace).UpdateStatus(p.Context(), j, metav1.UpdateOptions{}); err != nil {
		p.Fatal(err)
	}
}
