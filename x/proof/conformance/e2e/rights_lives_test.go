package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/batchplan/batchplan/internal/must"
)

const manifests = "../../../cmd/batchplan-controller/manifests/"

// manifestsOf decodes all manifests that hold roles.
func manifestsOf(t *testing.T) (objects []runtime.Object) {
	t.Helper()
	files := []string{manifests + "rbac.yaml"}
	more, err := filepath.Glob(manifests + "more/*.yaml")
	if err != nil || len(more) == 0 {
		t.Fatal("no further manifests", err)
	}
	for _, file := range append(files, more...) {
		data, err := os.ReadFile(file)
		must.OK(t, err)
		for _, document := range strings.Split(string(data), "\n---\n") {
			object, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(document), nil, nil)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			objects = append(objects, object)
		}
	}
	return objects
}

// rolesOf returns the rights of each role of the manifests.
func rolesOf(t *testing.T) map[string][]right {
	t.Helper()
	roles := map[string][]right{}
	for _, object := range manifestsOf(t) {
		switch o := object.(type) {
		case *rbacv1.ClusterRole:
			roles["ClusterRole/"+o.Name] = rightsOf(o.Rules)
		case *rbacv1.Role:
			roles["Role/"+o.Name] = rightsOf(o.Rules)
		}
	}
	return roles
}

func rightsOf(rules []rbacv1.PolicyRule) (rights []right) {
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					rights = append(rights, right{group, resource, verb, strings.Join(rule.ResourceNames, ",")})
				}
			}
		}
	}
	return rights
}

// liveOfJobs: pods are created, adopted, counted and deleted, and an event repeats.
func liveOfJobs(p *place, _ *process) {
	pod := jobOf("", "0", nil).Spec.Template
	p.createPod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"mine": "stray"}}, Spec: pod.Spec}, "stray")
	p.create(jobOf("adopts", "r", func(s *batchv1.JobSpec) {
		s.ManualSelector = pointTo(true)
		s.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"mine": "stray"}}
		s.Template.Labels = s.Selector.MatchLabels
	}))
	p.create(jobOf("suspended", "rr0", limit(0)))
	for range 2 {
		p.await("suspended", "a running pod", running(1))
		p.change("suspended", `{"spec":{"suspend":true}}`)
		p.await("suspended", "no pod", func(j *batchv1.Job) bool { return j.Status.Active == 0 && j.Status.StartTime == nil })
		p.change("suspended", `{"spec":{"suspend":false}}`)
	}
	p.awaitSuccess("suspended", 1, 0)
	p.awaitSuccess("adopts", 1, 0)
	if n := len(p.pods("")); n != 2 {
		p.Errorf("%d pods are left, want the adopted one and the last one", n)
	}
}

// finish ends a job as its controller would.
func (p *place) finish(name string, at metav1.Time) {
	p.Helper()
	p.until("finished: "+name, func() bool {
		j, err := p.BatchV1().Jobs(p.namespace).Get(p.Context(), name, metav1.GetOptions{})
		must.OK(p, err)
		now := metav1.Now()
		j.Status.StartTime, j.Status.CompletionTime, j.Status.Succeeded = &j.CreationTimestamp, &now, 1
		for _, c := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
			j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
				Type: c, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonCompletionsReached, LastTransitionTime: at,
			})
		}
		_, err = p.BatchV1().Jobs(p.namespace).UpdateStatus(p.Context(), j, metav1.UpdateOptions{})
		if err != nil && !apierrors.IsConflict(err) {
			p.Fatal(err)
		}
		return err == nil
	})
}

// liveOfTTL: one job expires. Another never expires, since nobody knows when it ended.
func liveOfTTL(p *place, r *process) {
	expires := func(s *batchv1.JobSpec) { s.TTLSecondsAfterFinished = pointTo(int32(0)) }
	p.create(jobOf("unknown", "", expires))
	p.finish("unknown", metav1.Time{})
	p.until("two failed rounds", func() bool { return r.log.count("round failed", "lastTransitionTime") >= 2 })
	p.create(jobOf("expires", "", expires))
	p.finish("expires", metav1.Now())
	p.until("deleted", func() bool {
		j, err := p.BatchV1().Jobs(p.namespace).Get(p.Context(), "expires", metav1.GetOptions{})
		return apierrors.IsNotFound(err) || err == nil && j.DeletionTimestamp != nil
	})
}

// liveOfCronJobs: a CronJob starts a missed run, finds a job that it has not started, finds that
// another job is gone, and deletes a job that exceeds its history limit.
func liveOfCronJobs(p *place, r *process) {
	c := p.createMissed("cron", 0, nil)
	stranger := jobOf("stranger", "", func(s *batchv1.JobSpec) { s.Suspend = pointTo(true) })
	stranger.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(c, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	p.create(stranger)
	var child string
	p.until("started", func() bool {
		active := p.active("cron")
		if len(active) != 1 || active[0].UID == "gone" {
			return false
		}
		child = active[0].Name
		return true
	})
	// The event about the stranger repeats with each round.
	for n := range 2 {
		p.changeCronJob("cron", fmt.Sprintf(`{"metadata":{"annotations":{"example.com/n":"%d"}}}`, n))
	}
	p.finish(child, metav1.Now())
	p.until("the old job is deleted", func() bool {
		_, err := p.BatchV1().Jobs(p.namespace).Get(p.Context(), child, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	p.until("nothing is active", func() bool { return len(p.active("cron")) == 0 })
}

// createMissed creates a CronJob that has missed the run of this year, and whose status names a
// job that is gone.
func (p *place) createMissed(name string, history int32, change func(*batchv1.CronJobSpec)) *batchv1.CronJob {
	p.Helper()
	c := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.CronJobSpec{
			Schedule: "0 0 1 1 *", SuccessfulJobsHistoryLimit: &history,
			JobTemplate: batchv1.JobTemplateSpec{Spec: jobOf("", "0", nil).Spec},
		},
	}
	if change != nil {
		change(&c.Spec)
	}

	c, err := p.BatchV1().CronJobs(p.namespace).Create(p.Context(), c, metav1.CreateOptions{})
	must.OK(p, err)

	p.until("a missed run", func() bool {
		c.Status.LastScheduleTime = &metav1.Time{Time: time.Now().AddDate(-1, 0, -1)}
		c.Status.Active = []corev1.ObjectReference{{APIVersion: "batch/v1", Kind: "Job", Namespace: p.namespace, Name: "gone", UID: "gone"}}
		out, err := p.BatchV1().CronJobs(p.namespace).UpdateStatus(p.Context(), c, metav1.UpdateOptions{})
		if err == nil {
			c = out
		}
		return err == nil
	})

	return c
}

func (p *place) cronJob(name string) *batchv1.CronJob {
	p.Helper()
	c, err := p.BatchV1().CronJobs(p.namespace).Get(p.Context(), name, metav1.GetOptions{})
	must.OK(p, err)
	return c
}

func (p *place) active(cronJob string) []corev1.ObjectReference {
	return p.cronJob(cronJob).Status.Active
}

func (p *place) changeCronJob(name, patch string) {
	p.Helper()
	_, err := p.BatchV1().CronJobs(p.namespace).Patch(p.Context(), name, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{})
	must.OK(p, err)
}

const memoryAnnotation = "example.com/memory"

// liveOfMemory: pods fail, and an annotation of the job keeps the memory.
func liveOfMemory(p *place, _ *process) {
	p.create(jobOf("job", "110", nil))
	if j := p.awaitSuccess("job", 1, 2); j.Annotations[memoryAnnotation] == "" {
		p.Errorf("the job has no memory: %v", j.Annotations)
	}
}

// liveOfLeader: the leader runs a job and gives its lease back.
func liveOfLeader(p *place, r *process) {
	p.create(jobOf("job", "10", nil))
	p.awaitSuccess("job", 1, 1)
	r.stop()
}
