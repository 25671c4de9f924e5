package backend_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
)

// TestGroups_Requests: the requests of each write. A pod group reads its workload from the server
// unless the same round has created it.
func TestGroups_Requests(t *testing.T) {
	const (
		workloads = "/apis/scheduling.k8s.io/v1beta1/namespaces/ns/workloads"
		podGroups = "/apis/scheduling.k8s.io/v1beta1/namespaces/ns/podgroups"
		owner     = `{"apiVersion":"batch/v1","blockOwnerDeletion":true,"controller":true,"kind":"Job","name":"j","uid":"job-1"}`
		policy    = `"schedulingPolicy":{"gang":{"minCount":2}}`
		others    = `"resourceClaims":[{"name":"c"}],"schedulingConstraints":{"topology":[{"key":"rack"}]}`
		stored    = `{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"Workload","metadata":{"name":"w","namespace":"ns","uid":"uid-w"},"spec":{"podGroupTemplates":[` +
			`{"name":"other"},{"disruptionMode":{"all":{}},"name":"t","priorityClassName":"urgent","schedulingPolicy":{"gang":{"minCount":1}},` + others + `}]}}`
		created = `POST ` + podGroups + ` {"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g","namespace":"ns","ownerReferences":[` + owner + `%s]},` +
			`"spec":{"disruptionMode":{"all":{}},"priorityClassName":"urgent","resourceClaims":[{"name":"c"}],"schedulingConstraints":{"topology":[{"key":"rack"}]},` + policy + `,"workloadRef":{"templateName":"t","workloadName":"w"}}}`
	)

	newWorkload := jobgroup.Write{Kind: jobgroup.KindWorkload, Ref: jobgroup.Ref{Name: "w"}, Template: "t", MinCount: 2}
	newGroup := jobgroup.Write{Kind: jobgroup.KindPodGroup, Ref: jobgroup.Ref{Name: "g"}, Template: "t", MinCount: 2, Workload: jobgroup.Ref{Name: "w", UID: "uid-w"}}
	lent := newGroup
	lent.Workload.UID = ""
	unknown := newGroup
	unknown.Template = "v"

	size := func(kind jobgroup.Kind) jobgroup.Write {
		return jobgroup.Write{Kind: kind, Ref: jobgroup.Ref{Name: "o", UID: "uid-o"}, MinCount: 3}
	}
	with := func(owners string) string { return fmt.Sprintf(created, owners) }
	const asOwner = `,{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"Workload","name":"w","uid":"uid-w"}`

	for _, test := range []struct {
		name   string
		writes []jobgroup.Write
		want   []string
		fails  bool
	}{
		{"a workload and its group", []jobgroup.Write{newWorkload, newGroup}, []string{
			`POST ` + workloads + ` {"apiVersion":"scheduling.k8s.io/v1beta1","kind":"Workload","metadata":{"name":"w","namespace":"ns","ownerReferences":[` + owner + `]},` +
				`"spec":{"controllerRef":{"apiGroup":"batch","kind":"Job","name":"j"},"podGroupTemplates":[{"disruptionMode":{"all":{}},"name":"t","priorityClassName":"urgent","resourceClaims":[{"name":"c"}],` +
				`"schedulingConstraints":{"topology":[{"key":"rack"}]},` + policy + `}]}}`,
			with(asOwner)}, false},
		{"the group of a workload that there is", []jobgroup.Write{newGroup}, []string{"GET " + workloads + "/w", with(asOwner)}, false},
		{"the group of another's workload", []jobgroup.Write{lent}, []string{"GET " + workloads + "/w", with("")}, false},
		{"a template that is gone", []jobgroup.Write{unknown}, []string{"GET " + workloads + "/w"}, true},
		{"the size of a workload", []jobgroup.Write{size(jobgroup.KindWorkload)}, []string{
			`PATCH ` + workloads + `/o [{"op":"test","path":"/metadata/uid","value":"uid-o"},{"op":"replace","path":"/spec/podGroupTemplates/0/schedulingPolicy/gang/minCount","value":3}]`}, false},
		{"the size of a group", []jobgroup.Write{size(jobgroup.KindPodGroup)}, []string{
			`PATCH ` + podGroups + `/o [{"op":"test","path":"/metadata/uid","value":"uid-o"},{"op":"replace","path":"/spec/schedulingPolicy/gang/minCount","value":3}]`}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := ok(json.RawMessage(stored))
			s, _ := newServer(t, map[string][]reply{"GET": answer, "POST": answer, "PATCH": answer})
			client, err := dynamic.NewForConfig(&rest.Config{Host: s.url, QPS: -1})
			must.OK(t, err)
			j := aJob()
			b := &backend.Groups{
				Client: client, Namespace: "ns", Owner: *metav1.NewControllerRef(j, batchv1.SchemeGroupVersion.WithKind("Job")), PriorityClass: "urgent",
				Scheduling: &jobgroup.Scheduling{
					DisruptionMode:        &jobgroup.DisruptionMode{All: new(struct{})},
					SchedulingConstraints: json.RawMessage(`{"topology":[{"key":"rack"}]}`), ResourceClaims: json.RawMessage(`[{"name":"c"}]`),
				},
			}

			for _, w := range test.writes {
				uid, err := b.WriteGroup(t.Context(), w)
				if (err != nil) != test.fails || err == nil && w.UID == "" && uid != "uid-w" {
					t.Errorf("UID %q, error %v", uid, err)
				}
			}
			if diff := cmp.Diff(test.want, s.requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}

	// If the server refuses a write, WriteGroup returns the refusal as its error.
	for _, w := range []jobgroup.Write{newWorkload, newGroup, size(jobgroup.KindPodGroup)} {
		s, _ := newServer(t, map[string][]reply{"GET": conflict, "POST": conflict, "PATCH": conflict})
		client, err := dynamic.NewForConfig(&rest.Config{Host: s.url, QPS: -1})
		must.OK(t, err)
		if _, err := (&backend.Groups{Client: client, Namespace: "ns"}).WriteGroup(t.Context(), w); !apierrors.IsConflict(err) || len(s.requests) != 1 {
			t.Errorf("%s: error %v, requests %q", w.Kind, err, s.requests)
		}
	}
}
