//go:build go1.25

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// film is a resource with the spec and status of a job.
type film struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              batchv1.JobSpec   `json:"spec"`
	Status            batchv1.JobStatus `json:"status"`
}

func (f *film) DeepCopyObject() runtime.Object {
	j := (&batchv1.Job{ObjectMeta: f.ObjectMeta, Spec: f.Spec, Status: f.Status}).DeepCopy()
	return &film{f.TypeMeta, j.ObjectMeta, j.Spec, j.Status}
}

func films() controller.Kind[*film] {
	return controller.Kind[*film]{
		GroupVersionKind: example.WithKind("Film"),
		Spec:             func(f *film) *batchv1.JobSpec { return &f.Spec },
		Status:           func(f *film) *batchv1.JobStatus { return &f.Status },
		Objects:          func(string) backend.OwnerClient[*film] { return nil },
	}
}

// studio has one film, its controller, and pods.
type studio struct {
	*cluster
	films *shelf[*film]
	jobs  *controller.Jobs
}

func inStudio(t *testing.T, kind controller.Kind[*film], o controller.JobOptions, f film, play func(s *studio)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &studio{cluster: newCluster(t), films: newShelf[*film](&film{})}
		kind.Objects = func(string) backend.OwnerClient[*film] { return s.films }
		o.Events = &s.events
		jobs, err := controller.NewJobReconciler(kindOf(kind, s, s.films.informer, s.podCache), o)
		must.OK(t, err)
		s.jobs = jobs
		s.start()
		f.Name, f.Namespace, f.UID, f.CreationTimestamp = "f", "ns", "uid-f", metav1.Now()
		_, err = s.films.put("create", &f)
		must.OK(t, err)
		synctest.Wait()
		play(s)
	})
}

// round runs a round after the caches show the writes of the one before.
func (s *studio) round() error {
	synctest.Wait()
	s.jobs.OwnerEvents(&asks{}).OnAdd(s.film(), false)
	for _, p := range s.pods() {
		s.jobs.PodEvents(&asks{}).OnAdd(&p, false)
	}
	_, err := s.jobs.Reconcile(logged(s.T, &s.log), types.NamespacedName{Namespace: "ns", Name: "f"})
	return err
}

func (s *studio) film() *film { return s.films.all()[0] }

// said returns the message of a condition.
func (s *studio) said(condition batchv1.JobConditionType) string {
	for _, c := range s.film().Status.Conditions {
		if c.Type == condition {
			return c.Message
		}
	}
	return ""
}

func scene(policy corev1.RestartPolicy) batchv1.JobSpec {
	return batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: policy, Containers: []corev1.Container{{Name: "main"}}}}}
}

// TestKind_Words: conditions and events name the kind, and conditions of other writers stay. A
// quirk rewrites a Suspended condition if its message differs. Even then the condition is written
// only once.
func TestKind_Words(t *testing.T) {
	for _, planner := range []job.Options{{}, job.Kubernetes(release.Newest())} {
		f := film{Spec: scene(corev1.RestartPolicyNever)}
		f.Spec.Suspend, f.Spec.BackoffLimit = pointTo(true), pointTo[int32](0)
		f.Status.Conditions = []batchv1.JobCondition{{Type: "example.com/Ticket", Status: corev1.ConditionTrue, Message: "Job ticket of Film f"}}
		inStudio(t, films(), controller.JobOptions{Planner: planner}, f, func(s *studio) {
			for range 3 {
				if err := s.round(); err != nil {
					t.Error(err)
				}
			}
			if got := s.said("Suspended"); got != "Film suspended" || len(s.films.writes) != 2 {
				t.Errorf("condition %q, writes %q", got, s.films.writes)
			}

			resumed := s.film().DeepCopyObject().(*film)
			resumed.Spec.Suspend = pointTo(false)
			s.films.put("edit", resumed)
			s.round()
			s.round()

			pod := s.pod("f-1")
			if owner := pod.OwnerReferences[0]; owner.Kind != "Film" || pod.Labels[batchv1.ControllerUidLabel] != "uid-f" {
				t.Errorf("owner %v, labels %v", owner, pod.Labels)
			}

			s.end(*pod, corev1.PodFailed)
			for range 3 {
				s.round()
			}

			want := "Film has reached the specified backoff limit"
			if s.said("Failed") != want || s.said("FailureTarget") != want || s.said("example.com/Ticket") != "Job ticket of Film f" {
				t.Errorf("conditions %v", s.film().Status.Conditions)
			}
			for _, line := range []string{
				`"level"=0 "msg"="warning" "object"={"name"="f" "namespace"="ns"} "reason"="BackoffLimitExceeded" "message"="` + want + `"`,
				`"level"=2 "msg"="Film has ended" "film"=`, `"condition"="Failed" "reason"="BackoffLimitExceeded" "succeeded"=0 "failed"=1`,
			} {
				if n := strings.Count(strings.Join(s.log, "\n"), line); n != 1 {
					t.Errorf("%d lines %s in the log:\n%s", n, line, strings.Join(s.log, "\n"))
				}
			}
			if lines := strings.Join(s.log, "\n"); !strings.Contains(lines, "the Film is suspended") || strings.Contains(lines, "the job ") || strings.Contains(lines, "Job ") {
				t.Errorf("log\n%s", lines)
			}
			for _, e := range []string{"Normal Suspended Film suspended", "Normal Resumed Film resumed", "Warning BackoffLimitExceeded " + want} {
				if !slices.Contains(s.events.all, e) {
					t.Errorf("no event %q in %q", e, s.events.all)
				}
			}
		})
	}
}

// TestKind_Invalid: a spec that a server would refuse for a job leads to an event of the kind.
func TestKind_Invalid(t *testing.T) {
	badLabels := scene(corev1.RestartPolicyNever)
	badLabels.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	refused := films()
	refused.Check = func(*film) error { return errors.New("film.spec.length: is too long") }

	for _, test := range []struct {
		kind controller.Kind[*film]
		spec batchv1.JobSpec
		want string
	}{
		{films(), scene(corev1.RestartPolicyAlways), `Warning InvalidFilm spec.template.spec.restartPolicy: "Always": must be Never or OnFailure`},
		{films(), badLabels, "Warning InvalidFilm job.spec.template.metadata.labels: map[]: do not match the selector"},
		{refused, scene(corev1.RestartPolicyNever), "Warning InvalidFilm film.spec.length: is too long"},
	} {
		inStudio(t, test.kind, controller.JobOptions{}, film{Spec: test.spec}, func(s *studio) {
			defer func() {
				if len(s.log) > 0 { // the caller logs the error
					t.Errorf("log %q", s.log)
				}
			}()
			if err := s.round(); err == nil || !strings.HasPrefix(err.Error(), "film ns/f: ") || !slices.Contains(s.events.all, test.want) {
				t.Errorf("%v, events %q, want %q", err, s.events.all, test.want)
			}
		})
	}
}

// TestKind_Strays: an object without a selector has only the pods with its UID, and adopts none.
func TestKind_Strays(t *testing.T) {
	spec := scene(corev1.RestartPolicyNever)
	spec.Template.Labels = map[string]string{"app": "a", batchv1.ControllerUidLabel: "of the template"}
	inStudio(t, films(), controller.JobOptions{}, film{Spec: spec}, func(s *studio) {
		stray := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "stray", Namespace: "ns", UID: "uid-of-stray", Labels: map[string]string{"app": "a"}}}
		must.OK(t, s.Tracker().Add(stray))
		for range 2 {
			must.OK(t, s.round())
		}
		if owners := s.pod("stray").OwnerReferences; len(owners) > 0 {
			t.Errorf("the pod of nobody is owned by %v", owners)
		}
		if own := s.pod("f-1"); own.Namespace != "ns" || own.Labels[batchv1.ControllerUidLabel] != "uid-f" || own.Labels["app"] != "a" {
			t.Errorf("the pod is %+v", own.ObjectMeta)
		}
	})
}

// TestKind_MemoryAnnotation: the backoff is kept in an annotation of the object.
func TestKind_MemoryAnnotation(t *testing.T) {
	inStudio(t, films(), controller.JobOptions{MemoryAnnotation: "example.com/memory"}, film{Spec: scene(corev1.RestartPolicyNever)}, func(s *studio) {
		s.round()
		s.round()
		s.end(*s.pod("f-1"), corev1.PodFailed)
		s.round()
		if text := s.film().Annotations["example.com/memory"]; !strings.Contains(text, "uid-f") || !strings.Contains(s.films.patch, `"uid":"uid-f"`) {
			t.Errorf("the annotation is %q, writes %q", text, s.films.writes)
		}
	})
}

// TestKind_TTL: an object of your own is deleted after its ttlSecondsAfterFinished.
func TestKind_TTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shelf, c := newShelf[*film](&film{}), newCluster(t)
		kind := films()
		kind.Objects = func(string) backend.OwnerClient[*film] { return shelf }
		ttl, err := controller.NewTTLReconciler(kindOf(kind, nil, shelf.informer, nil), controller.TTLOptions{Common: controller.Common{Events: &c.events}})
		must.OK(t, err)

		f := &film{ObjectMeta: metav1.ObjectMeta{Name: "f", Namespace: "ns", UID: "uid-f"}, Spec: scene(corev1.RestartPolicyNever)}
		f.Spec.TTLSecondsAfterFinished = pointTo[int32](60)
		queue, key := &asks{}, types.NamespacedName{Namespace: "ns", Name: "f"}
		ttl.OwnerEvents(queue).OnAdd(f, false)
		if got := queue.take(); got != "" {
			t.Errorf("one that runs: asked for %q", got)
		}

		f.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		shelf.put("create", f)
		ttl.OwnerEvents(queue).OnAdd(f, false)
		ttl.OwnerEvents(queue).OnUpdate(f, f)
		if got := queue.take(); got != "f 0s, f 0s" {
			t.Errorf("asked for %q", got)
		}

		next, err := ttl.Reconcile(t.Context(), key)
		if want := time.Now().Add(time.Minute); err != nil || !next.Equal(want) {
			t.Errorf("again at %s, want %s, %v", next, want, err)
		}

		time.Sleep(time.Minute)
		if _, err := ttl.Reconcile(logged(t, &c.log), key); err != nil || len(shelf.all()) != 0 {
			t.Errorf("%d are left, %v", len(shelf.all()), err)
		}
		if want := `"level"=2 "msg"="Film has expired and is deleted" "film"=`; len(c.log) != 1 || !strings.Contains(c.log[0], want) {
			t.Errorf("log %q, want %s", c.log, want)
		}

		f = f.DeepCopyObject().(*film)
		f.Status.Conditions[0].LastTransitionTime = metav1.Time{}
		shelf.put("create", f)
		if _, err := ttl.Reconcile(t.Context(), key); err == nil || len(shelf.all()) != 1 || c.events.take() != "Warning UnknownExpiry "+err.Error() {
			t.Errorf("without the time of its end: %d are left, %v", len(shelf.all()), err)
		}
	})
}

// TestKind_WhatIsRequired: a missing required field is an error that names it.
func TestKind_WhatIsRequired(t *testing.T) {
	const lossy = "controller of Film: Status does not return what SetStatus has set"
	type change struct {
		want string
		drop func(k *controller.Kind[*film])
	}
	stores := func(loses func(*batchv1.JobStatus)) change {
		return change{lossy, func(k *controller.Kind[*film]) {
			k.SetStatus = func(f *film, s batchv1.JobStatus) {
				f.Status = *s.DeepCopy()
				loses(&f.Status)
			}
		}}
	}

	drops := []change{
		{"Kind.Spec is required", func(k *controller.Kind[*film]) { k.Spec = nil }},
		{"Kind.Objects is required", func(k *controller.Kind[*film]) { k.Objects = nil }},
		{"Kind.GroupVersionKind is required", func(k *controller.Kind[*film]) { k.Kind = "" }},
		stores(func(s *batchv1.JobStatus) { s.Conditions[0].Status = "" }),
		stores(func(s *batchv1.JobStatus) { s.Conditions[0].Type = "" }),
		stores(func(s *batchv1.JobStatus) { s.UncountedTerminatedPods.Succeeded = nil }),
		stores(func(s *batchv1.JobStatus) { s.UncountedTerminatedPods.Failed = nil }),
		stores(func(s *batchv1.JobStatus) { s.Active, s.Succeeded = s.Succeeded, s.Active }),
		stores(func(s *batchv1.JobStatus) { s.Succeeded, s.Failed = s.Failed, s.Succeeded }),
		{lossy, func(k *controller.Kind[*film]) { k.Status = func(*film) *batchv1.JobStatus { return nil } }},
	}
	for i := range reflect.TypeFor[batchv1.JobStatus]().NumField() { // each field
		drops = append(drops, stores(func(s *batchv1.JobStatus) { reflect.ValueOf(s).Elem().Field(i).SetZero() }))
	}

	for _, test := range drops {
		k := films()
		test.drop(&k)
		c, objects := newCluster(t), newShelf[*film](&film{}).informer
		_, jobs := controller.NewJobReconciler(kindOf(k, c, objects, c.podCache), controller.JobOptions{})
		_, orphans := controller.NewOrphanReconciler(kindOf(k, c, objects, c.podCache), controller.OrphanOptions{})
		_, ttl := controller.NewTTLReconciler(kindOf(k, nil, objects, nil), controller.TTLOptions{})
		kind := strings.ToLower(k.Kind)
		for name, err := range map[string]error{kind: jobs, kind + "-orphan": orphans, kind + "-ttl": ttl} {
			if err == nil || !strings.HasPrefix(err.Error(), name+" controller: controller of ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		}
	}
}

// TestRecorder: events can be about a kind that only your own scheme knows.
func TestRecorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newCluster(t)
		scheme := runtime.NewScheme()
		scheme.AddKnownTypeWithName(example.WithKind("Film"), &film{})
		ctx, cancel := context.WithCancel(t.Context())
		recorder := controller.NewRecorder(ctx, client, scheme, "films")

		recorder.Event(&film{ObjectMeta: metav1.ObjectMeta{Name: "f", Namespace: "ns"}}, "Normal", "Completed", "Film completed")
		builtIn := controller.NewRecorder(ctx, client, nil, "jobs")
		builtIn.Event(newJob("j", nil), "Normal", "Completed", "Job completed")
		time.Sleep(time.Second)
		synctest.Wait()

		list, err := client.CoreV1().Events("ns").List(ctx, metav1.ListOptions{})
		must.OK(t, err)
		var got []string
		for _, e := range list.Items {
			got = append(got, fmt.Sprint(e.Source.Component, " ", e.InvolvedObject.Kind, " ", e.Message))
		}
		slices.Sort(got)
		if want := []string{"films Film Film completed", "jobs Job Job completed"}; !slices.Equal(got, want) {
			t.Errorf("events %q, want %q", got, want)
		}

		cancel()
		time.Sleep(time.Second)
	})
}
