package backend_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
)

func get(ctx context.Context, b *backend.CronJob) error {
	got, err := b.Get(ctx, "j")
	want := cronjobapply.Job{
		Reference: cronjob.Reference{
			Kind: "Job", APIVersion: "batch/v1", Namespace: "ns", Name: "j", UID: "job-1", ResourceVersion: "5",
		},
		Controller: "cron-1", CreationTimestamp: created.Time,
	}
	if diff := cmp.Diff(want, got); err == nil && diff != "" {
		err = errors.New(diff)
	}
	return err
}

func deleteJob(ctx context.Context, b *backend.CronJob) error {
	return b.Delete(ctx, cronjob.Deletion{Reference: cronjob.Reference{Name: "j", UID: "job-1"}})
}

func deleteInForeground(ctx context.Context, b *backend.CronJob) error {
	return b.Delete(ctx, cronjob.Deletion{Reference: cronjob.Reference{Name: "j", UID: "job-1"}, Foreground: true})
}

func createJob(ctx context.Context, b *backend.CronJob) error {
	got, err := b.Create(ctx, cronjob.Creation{Name: "j", Annotations: map[string]string{"a": "1"}})
	if err == nil && got.UID != "job-1" {
		err = errors.New("got the wrong job")
	}
	return err
}

func writeCronJobStatus(ctx context.Context, b *backend.CronJob) error {
	return b.WriteStatus(ctx, cronjob.Status{Active: []cronjob.Reference{{Name: "j"}}})
}

var created = metav1.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func ownedJob() *batchv1.Job {
	o := aJob()
	o.CreationTimestamp = created
	o.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(aCronJob(), batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	return o
}

// TestCronJob_Requests: the requests of each write, with their conditions.
func TestCronJob_Requests(t *testing.T) {
	const jobs, cronJob = "/apis/batch/v1/namespaces/ns/jobs", "/apis/batch/v1/namespaces/ns/cronjobs/c"
	const options = `{"kind":"DeleteOptions","apiVersion":"batch/v1","preconditions":{"uid":"job-1"},"propagationPolicy":`

	tests := []struct {
		name string
		do   func(context.Context, *backend.CronJob) error
		want string
	}{
		{"get", get, "GET " + jobs + "/j"},
		{"delete", deleteJob, "DELETE " + jobs + "/j " + options + `"Background"}`},
		{"delete in the foreground", deleteInForeground, "DELETE " + jobs + "/j " + options + `"Foreground"}`},
		{"create", createJob, `POST ` + jobs + ` {"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"j","namespace":"ns",` +
			`"annotations":{"a":"1"},"ownerReferences":[{"apiVersion":"batch/v1","kind":"CronJob","name":"c","uid":"cron-1",` +
			`"controller":true,"blockOwnerDeletion":true}]},` +
			`"spec":{"template":{"metadata":{},"spec":{"containers":null}}},"status":{}}`},
		{"write status", writeCronJobStatus, `PUT ` + cronJob + `/status {"kind":"CronJob","apiVersion":"batch/v1","metadata":{"name":"c",` +
			`"namespace":"ns","uid":"cron-1","resourceVersion":"5"},"spec":{"schedule":"","jobTemplate":{"metadata":{},` +
			`"spec":{"template":{"metadata":{},"spec":{"containers":null}}}}},"status":{"active":[{"name":"j"}]}}`},
	}

	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, client := newServer(t, map[string][]reply{
				"GET": ok(ownedJob()), "POST": ok(ownedJob()), "DELETE": ok(ownedJob()), "PUT": ok(aCronJob()),
			})
			cached := aCronJob()
			if err := test.do(t.Context(), backend.NewCronJob(client, cached)); err != nil {
				t.Error(err)
			}
			if d := intact.Diff(cached, aCronJob()); d != "" {
				t.Error("the object of a cache is written to", d)
			}
			if diff := cmp.Diff([]string{test.want}, s.requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCronJob_Errors: the error that the executor gets for each refusal of the server.
func TestCronJob_Errors(t *testing.T) {
	var other error = errors.New("any other error")

	tests := []struct {
		name   string
		do     func(context.Context, *backend.CronJob) error
		method string
		answer []reply
		want   error
	}{
		{"get: gone", get, "GET", notFound, cronjobapply.ErrGone},
		{"get: down", get, "GET", down, other},
		{"get: no name", func(ctx context.Context, b *backend.CronJob) error { _, err := b.Get(ctx, ""); return err }, "GET", down, cronjobapply.ErrGone},
		{"delete: gone", deleteJob, "DELETE", notFound, cronjobapply.ErrGone},
		{"delete: another job", deleteJob, "DELETE", replaced, cronjobapply.ErrGone},
		{"delete: a conflict of another kind", deleteJob, "DELETE", conflict, other},
		{"delete: down", deleteJob, "DELETE", down, other},
		{"create: it exists", createJob, "POST", exists, cronjobapply.ErrExists},
		{"create: terminating", createJob, "POST", terminating, cronjobapply.ErrNamespaceTerminating},
		{"create: refused", createJob, "POST", invalid, other},
		{"write status: it has changed", writeCronJobStatus, "PUT", conflict, other},
	}

	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, client := newServer(t, map[string][]reply{test.method: test.answer})
			b := backend.NewCronJob(client, aCronJob())
			b.Wrote = func(*batchv1.CronJob) { t.Error("a status that was not written is reported") }

			err := test.do(t.Context(), b)
			is := func(target error) bool { return errors.Is(err, target) }
			if test.want != other && !is(test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if test.want == other && (apierrors.ReasonForError(err) == metav1.StatusReasonUnknown || is(cronjobapply.ErrGone) || is(cronjobapply.ErrExists) || is(cronjobapply.ErrNamespaceTerminating)) {
				t.Errorf("got %v, want the error of the server, and none that the executor knows", err)
			}
		})
	}
}

// TestCronJob_Versions: a write reports its version, and the later writes of the round require it.
func TestCronJob_Versions(t *testing.T) {
	written := aCronJob()
	written.ResourceVersion = "6"
	_, client := newServer(t, map[string][]reply{"PUT": ok(written)})
	b := backend.NewCronJob(client, aCronJob())
	var told string
	b.Wrote = func(o *batchv1.CronJob) { told = o.ResourceVersion }
	must.OK(t, writeCronJobStatus(t.Context(), b))
	if told != "6" || b.Object.ResourceVersion != "6" {
		t.Errorf("told of version %q, object of version %q", told, b.Object.ResourceVersion)
	}
}
