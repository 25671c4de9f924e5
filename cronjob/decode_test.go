package cronjob_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

func TestDecode(t *testing.T) {
	const object = `{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"report","namespace":"ns","uid":"cj-1",
		"creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"schedule":"@hourly","timeZone":"Asia/Shanghai","concurrencyPolicy":"Forbid",
		"jobTemplate":{"metadata":{"labels":{"a":"b"},"annotations":{"c":"d"}},"spec":{"template":{}}}},"status":%STATUS%}`
	const status = `{"active":[{"kind":"Job","namespace":"ns","name":"report-1","uid":"u","apiVersion":"batch/v1","resourceVersion":"7"}],` +
		`"lastScheduleTime":"2026-01-01T01:00:00Z","lastSuccessfulTime":"2026-01-01T00:30:00Z"}`
	c, err := cronjob.DecodeCronJob([]byte(strings.Replace(object, "%STATUS%", status, 1)))
	must.OK(t, err)
	if got, _ := json.Marshal(c.Status); string(got) != status {
		t.Errorf("the status does not round-trip: %s", got)
	}
	if c.Spec.JobTemplate.Labels["a"] != "b" || c.Spec.JobTemplate.Annotations["c"] != "d" || c.Spec.ConcurrencyPolicy != cronjob.Forbid || !c.CreationTimestamp.Equal(at("2026-01-01T00:00:00Z")) || c.UID != "cj-1" {
		t.Errorf("%+v", c)
	}
	got, err := cronjob.DecodeChild(&c, []byte(`{"kind":"Job","metadata":{"name":"report-1","namespace":"ns","uid":"u",
		"creationTimestamp":"2026-01-01T01:00:00Z","deletionTimestamp":"2026-01-01T02:00:00Z",
		"annotations":{"batch.kubernetes.io/cronjob-scheduled-timestamp":"2026-01-01T09:00:00+08:00"},
		"ownerReferences":[{"name":"report","uid":"cj-1","controller":true}]},"status":{"startTime":"2026-01-01T01:00:01Z","completionTime":"2026-01-01T01:05:00Z",
		"conditions":[{"type":"Complete","status":"True","lastTransitionTime":"2026-01-01T01:05:00Z"}]}}`))
	must.OK(t, err)
	want := cronjob.Child{
		Name: "report-1", UID: "u", CreationTimestamp: at("2026-01-01T01:00:00Z"), DeletionTimestamp: at("2026-01-01T02:00:00Z"),
		StartTime: at("2026-01-01T01:00:01Z"), Finished: job.ConditionComplete,
		FinishTime: at("2026-01-01T01:05:00Z"), CompletionTime: at("2026-01-01T01:05:00Z"), ScheduledTime: at("2026-01-01T01:00:00Z"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// A typed client marshals an object without its type.
	if c, err := cronjob.DecodeCronJob([]byte(`{"metadata":{"name":"report","creationTimestamp":null},"spec":{"schedule":"@daily"}}`)); err != nil || c.Spec.Schedule != "@daily" {
		t.Errorf("%+v, error %v", c, err)
	}
}

// C1: the UID of a job's controller decides whose job it is; with the quirk, the controller's name
// decides.
func TestC1_QuirkByName(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", SuccessfulJobsHistoryLimit: ptr[int32](0)})
	c.Status.LastScheduleTime, c.Status.LastSuccessfulTime = hours(1), hours(9)

	for _, tc := range []struct {
		name, namespace, owners string
		deleted, withQuirk      int
	}{
		{"its own", c.Namespace, `{"name":"report","uid":"cj-1","controller":true}`, 1, 1},
		{"another kind of its name", c.Namespace, `{"kind":"Report","name":"report","uid":"r","controller":true}`, 0, 1},
		{"its own, and the reference has another name", c.Namespace, `{"name":"a","uid":"cj-1","controller":true}`, 1, 0},
		{"an owner that is no controller", c.Namespace, `{"name":"report","uid":"cj-1"}`, 0, 0},
		{"another controller", c.Namespace, `{"name":"report","uid":"cj-1"},{"name":"a","uid":"a","controller":true}`, 0, 0},
		{"another namespace", "another", `{"name":"report","uid":"r","controller":true}`, 0, 0},
	} {
		child, err := cronjob.DecodeChild(&c, fmt.Appendf(nil, `{"metadata":{"name":"x","namespace":%q,"uid":"u","ownerReferences":[%s]},
			"status":{"completionTime":"2026-01-01T01:05:00Z","conditions":[{"type":"Complete","status":"True"}]}}`, tc.namespace, tc.owners))
		must.OK(t, err)

		s := cronjob.Snapshot{CronJob: c, Children: []cronjob.Child{child}, Now: hours(1.5), Schedule: cronjob.Compile(&c)}
		for quirks, want := range map[cronjobquirk.Set]int{{}: tc.deleted, cronjobquirk.SetOf(cronjobquirk.ByName): tc.withQuirk} {
			s.Options.Quirks = quirks
			if plan, err := cronjob.Reconcile(s); err != nil || len(plan.Delete) != want {
				t.Errorf("%s, quirks %q: %s, error %v, want %d deletions", tc.name, quirks, plan.String(), err, want)
			}
		}
	}
}

// The error for an object that does not decode names the sort of object.
func TestC1_DecodeErrors(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	for _, bad := range []string{"", "{}", `{"apiVersion":"batch/v1","kind":"Job"}`, `{"kind":"CronJobList"}`} {
		if _, err := cronjob.DecodeCronJob([]byte(bad)); err == nil {
			t.Errorf("%q decodes", bad)
		}
	}
	for _, bad := range []string{"", "{}", `{"apiVersion":"batch/v1","kind":"CronJob"}`, `{"kind":"List"}`, `{"kind":"Pod"}`, `{"metadata":{"uid":1}}`} {
		if _, err := cronjob.DecodeChild(&c, []byte(bad)); err == nil || !strings.HasPrefix(err.Error(), "decode child: ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	var template cronjob.JobTemplate
	if err := json.Unmarshal([]byte(`{"metadata":{"labels":3}}`), &template); err == nil {
		t.Error("labels that are a number decode")
	}
	// An annotation that does not hold a time is ignored: the job counts as made by hand.
	child, err := cronjob.DecodeChild(&c, []byte(`{"metadata":{"name":"a","annotations":{"`+cronjob.TimestampAnnotation+`":"noon"}}}`))
	if err != nil || !child.ScheduledTime.IsZero() || !child.Foreign {
		t.Errorf("%+v, %v", child, err)
	}
}

// SpecChanged is the time of the last write in managedFields that is not a write of the status.
func TestDecodeCronJob_SpecChanged(t *testing.T) {
	c, err := cronjob.DecodeCronJob([]byte(`{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"a","managedFields":[
		{"manager":"kubectl","operation":"Update","time":"2026-01-01T02:00:00Z"},
		{"manager":"kubectl-edit","operation":"Update","time":"2026-01-01T03:00:00Z"},
		{"manager":"kube-controller-manager","operation":"Update","subresource":"status","time":"2026-01-01T04:00:00Z"}]}}`))
	if err != nil || !c.SpecChanged.Equal(hours(3)) {
		t.Errorf("%s, %v", c.SpecChanged, err)
	}
}
