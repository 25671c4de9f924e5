package backend_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
)

var ref = job.PodRef{Name: "p", UID: "pod-1"}

var seen = job.PodRef{Name: "p", UID: "pod-1", ResourceVersion: "8"} // as the plan saw it

func adopt(ctx context.Context, b *backend.Job) error { return b.Adopt(ctx, job.Claim{PodRef: seen}) }
func release(ctx context.Context, b *backend.Job) error {
	return b.Release(ctx, job.Claim{PodRef: ref})
}

func untrack(ctx context.Context, b *backend.Job) error {
	return b.Untrack(ctx, job.Untracking{PodRef: ref})
}

func remove(ctx context.Context, b *backend.Job) error {
	return b.Delete(ctx, job.Deletion{PodRef: seen})
}

func untrackAndRemove(ctx context.Context, b *backend.Job) error {
	return b.Delete(ctx, job.Deletion{PodRef: seen, UntrackFirst: true})
}

func create(ctx context.Context, b *backend.Job) error {
	got, err := b.Create(ctx, job.Creation{Index: job.NoIndex(), NamePrefix: "j-"})
	if err == nil && got != ref {
		err = errors.New("got the wrong pod")
	}
	return err
}

func writeStatus(ctx context.Context, b *backend.Job) error {
	return b.WriteStatus(ctx, job.Status{Active: 2})
}

// TestJob_Requests: the requests of each write, with their conditions.
func TestJob_Requests(t *testing.T) {
	pods, jobs := "/api/v1/namespaces/ns/pods", "/apis/batch/v1/namespaces/ns/jobs/j"
	const owner = `{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"job-1","controller":true,"blockOwnerDeletion":true}`
	untracked := `PATCH ` + pods + `/p {"metadata":{"uid":"pod-1",` +
		`"$deleteFromPrimitiveList/finalizers":["batch.kubernetes.io/job-tracking"]}}`
	deleted := `DELETE ` + pods + `/p {"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"pod-1"}}`

	tests := []struct {
		name string
		do   func(context.Context, *backend.Job) error
		want []string
	}{
		{"adopt", adopt, []string{"GET " + jobs, `PATCH ` + pods + `/p {"metadata":{"uid":"pod-1","resourceVersion":"8","ownerReferences":[` + owner + `],` +
			`"finalizers":["batch.kubernetes.io/job-tracking"]}}`}},
		{"release", release, []string{`PATCH ` + pods + `/p {"metadata":{"uid":"pod-1",` +
			`"ownerReferences":[{"$patch":"delete","uid":"job-1"}],` +
			`"$deleteFromPrimitiveList/finalizers":["batch.kubernetes.io/job-tracking"]}}`}},
		{"delete", remove, []string{deleted}},
		{"untrack and delete", untrackAndRemove, []string{
			strings.Replace(untracked, `"pod-1",`, `"pod-1","resourceVersion":"8",`, 1), deleted}},
		{"untrack", untrack, []string{untracked}},
		{"create", create, []string{`POST ` + pods + ` {"kind":"Pod","apiVersion":"v1","metadata":{"generateName":"j-","namespace":"ns",` +
			`"ownerReferences":[` + owner + `],"finalizers":["batch.kubernetes.io/job-tracking"]},` +
			`"spec":{"containers":null},"status":{}}`}},
		{"write status", writeStatus, []string{`PUT ` + jobs + `/status {"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"j",` +
			`"namespace":"ns","uid":"job-1","resourceVersion":"5"},` +
			`"spec":{"template":{"metadata":{},"spec":{"containers":null}}},"status":{"active":2}}`}},
	}

	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, client := newServer(t, map[string][]reply{
				"GET": ok(aJob()), "PUT": ok(aJob()), "PATCH": ok(aPod()), "POST": ok(aPod()), "DELETE": ok(aPod()),
			})
			cached := aJob()
			if err := test.do(t.Context(), backend.NewJob(client, cached)); err != nil {
				t.Error(err)
			}
			if d := intact.Diff(cached, aJob()); d != "" {
				t.Error("the object of a cache is written to", d)
			}
			if diff := cmp.Diff(test.want, s.requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestJob_Errors: the error that the executor gets for each refusal of the server. A pod that the
// server no longer accepts is not gone: it still has its finalizer.
func TestJob_Errors(t *testing.T) {
	var other error = errors.New("any other error")
	another, leaving := aJob(), aJob()
	another.UID = "job-2"
	leaving.DeletionTimestamp = &created

	tests := []struct {
		name     string
		do       func(context.Context, *backend.Job) error
		method   string
		answer   []reply
		want     error
		requests int
	}{
		{"adopt: gone", adopt, "PATCH", notFound, jobapply.ErrGone, 2},
		{"adopt: another pod", adopt, "PATCH", otherUID, jobapply.ErrGone, 2},
		{"adopt: it has a controller", adopt, "PATCH", invalid, other, 2},
		{"adopt: refused, and no details", adopt, "PATCH", bare, other, 2},
		{"adopt: a webhook does not like the UID", adopt, "PATCH", forbidden, other, 2},
		{"adopt: it must have no UID", adopt, "PATCH", noUID, other, 2},
		{"adopt: it has changed", adopt, "PATCH", conflict, other, 2},
		{"adopt: the job is gone", adopt, "GET", notFound, other, 1},
		{"adopt: another job", adopt, "GET", ok(another), other, 1},
		{"adopt: the job is being deleted", adopt, "GET", ok(leaving), other, 1},
		{"release: gone", release, "PATCH", notFound, jobapply.ErrGone, 1},
		{"release: another pod", release, "PATCH", otherUID, jobapply.ErrGone, 1},
		{"release: refused", release, "PATCH", invalid, other, 1},
		{"delete: gone", remove, "DELETE", notFound, jobapply.ErrGone, 1},
		{"delete: another pod", remove, "DELETE", replaced, jobapply.ErrGone, 1},
		{"delete: another pod by the time of the write", remove, "DELETE", replaced2, jobapply.ErrGone, 1},
		{"delete: a conflict of another kind", remove, "DELETE", conflict, other, 1},
		{"delete: down", remove, "DELETE", down, other, 1},
		{"untrack and delete: gone", untrackAndRemove, "PATCH", notFound, jobapply.ErrGone, 1},
		{"untrack and delete: it has changed", untrackAndRemove, "PATCH", conflict, jobapply.ErrStillTracked, 1},
		{"untrack and delete: refused", untrackAndRemove, "PATCH", invalid, jobapply.ErrStillTracked, 1},
		{"untrack and delete: down", untrackAndRemove, "DELETE", down, other, 2},
		{"untrack: gone", untrack, "PATCH", notFound, jobapply.ErrGone, 1},
		{"untrack: another pod", untrack, "PATCH", otherUID, jobapply.ErrGone, 1},
		{"untrack: refused", untrack, "PATCH", invalid, other, 1},
		{"create: terminating", create, "POST", terminating, jobapply.ErrNamespaceTerminating, 1},
		{"create: refused", create, "POST", invalid, other, 1},
		{"write status: it has changed", writeStatus, "PUT", conflict, other, 1},
		{"write status: gone", writeStatus, "PUT", notFound, other, 1},
	}

	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			replies := map[string][]reply{
				"GET": ok(aJob()), "PUT": ok(aJob()), "PATCH": ok(aPod()), "POST": ok(aPod()), "DELETE": ok(aPod()),
			}
			replies[test.method] = test.answer
			s, client := newServer(t, replies)
			b := backend.NewJob(client, aJob())
			b.WroteJob = func(*batchv1.Job) { t.Error("a status that was not written is reported") }

			err := test.do(t.Context(), b)
			if err == nil {
				t.Errorf("no error, want %v", test.want)
			}
			for _, known := range []error{jobapply.ErrGone, jobapply.ErrStillTracked, jobapply.ErrNamespaceTerminating} {
				if errors.Is(err, known) != (known == test.want) {
					t.Errorf("got %v, want %v", err, test.want)
				}
			}
			if len(s.requests) != test.requests {
				t.Errorf("requests %q, want %d", s.requests, test.requests)
			}
		})
	}
}

// TestJob_ErrorsSay: an error gives the reason why a write was not made.
func TestJob_ErrorsSay(t *testing.T) {
	another, leaving := aJob(), aJob()
	another.UID, leaving.DeletionTimestamp = "job-2", &created
	for _, test := range []struct {
		do     func(context.Context, *backend.Job) error
		method string
		answer []reply
		want   string
	}{
		{adopt, "GET", notFound, `Job "j": refused`},
		{adopt, "GET", ok(another), `Job "j" has UID "job-2" instead of "job-1"`},
		{adopt, "GET", ok(leaving), `Job "j" is being deleted`},
		{untrackAndRemove, "PATCH", conflict, "the finalizer is still there: refused"},
	} {
		_, client := newServer(t, map[string][]reply{test.method: test.answer})
		if err := test.do(t.Context(), backend.NewJob(client, aJob())); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

// TestJob_AdoptLooksOnce: the job is read once for all adoptions of a round.
func TestJob_AdoptLooksOnce(t *testing.T) {
	s, client := newServer(t, map[string][]reply{"GET": ok(aJob()), "PATCH": ok(aPod())})
	b := backend.NewJob(client, aJob())
	for range 3 {
		must.OK(t, adopt(t.Context(), b))
	}
	if len(s.requests) != 4 {
		t.Errorf("requests %q", s.requests)
	}
}

// TestJob_Versions: each write reports its version. The second write of the status requires the
// version that the first one has returned. The given object stays unchanged.
func TestJob_Versions(t *testing.T) {
	first, second := aJob(), aJob()
	first.ResourceVersion, second.ResourceVersion = "6", "7"
	s, client := newServer(t, map[string][]reply{
		"PUT": {ok(first)[0], ok(second)[0]}, "PATCH": ok(aPod()), "POST": ok(aPod()),
	})

	object := aJob()
	b := backend.NewJob(client, object)
	var told []string
	b.WroteJob = func(o *batchv1.Job) { told = append(told, "job "+o.ResourceVersion) }
	b.Wrote = func(o *corev1.Pod) { told = append(told, "pod "+o.ResourceVersion) }

	for _, do := range []func(context.Context, *backend.Job) error{create, writeStatus, untrack, writeStatus} {
		must.OK(t, do(t.Context(), b))
	}

	if diff := cmp.Diff([]string{"pod 9", "job 6", "pod 9", "job 7"}, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if !strings.Contains(s.requests[3], `"resourceVersion":"6"`) {
		t.Errorf("the second status was written on another version: %s", s.requests[3])
	}
	if diff := cmp.Diff(aJob(), object); diff != "" {
		t.Errorf("the object was written to (-before +after):\n%s", diff)
	}
}

// TestJob_ErrorsOfTheServer: a conflict remains recognizable for callers.
func TestJob_ErrorsOfTheServer(t *testing.T) {
	_, client := newServer(t, map[string][]reply{"PUT": conflict, "POST": conflict})
	b := backend.NewJob(client, aJob())
	if err := writeStatus(t.Context(), b); !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	if _, err := b.Create(t.Context(), job.Creation{}); !apierrors.IsConflict(err) {
		t.Errorf("a creation: got %v", err)
	}
}
