package replica

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
	discovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

// emulating returns the version of a server of 1.36 that emulates 1.30. The oldest libraries do not
// know emulation.
func emulating(t *testing.T) (info version.Info) {
	must.OK(t, json.Unmarshal([]byte(`{"major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "30"}`), &info))
	if reflect.TypeOf(info).NumField() < 10 {
		info.Minor = "30"
	}
	return info
}

// TestAskServer: the result for each version, and for the fields that a server drops or refuses.
func TestAskServer(t *testing.T) {
	tests := []struct {
		name    string
		version version.Info
		drop    func(*batchv1.Job)
		refusal error
		want    Server
		err     string
	}{
		{name: "new", version: version.Info{Major: "1", Minor: "36"}, want: Server{ManagedBy: Yes, ReplacementPolicy: Yes}},
		{name: "of a provider", version: version.Info{Major: "1", Minor: "33+"}, want: Server{ManagedBy: Yes, ReplacementPolicy: Yes}},
		{name: "gates off", version: version.Info{Major: "1", Minor: "31"}, want: Server{ManagedBy: No, ReplacementPolicy: No},
			drop: func(j *batchv1.Job) { j.Spec.ManagedBy, j.Spec.PodReplacementPolicy = nil, nil }},
		{name: "one gate off", version: version.Info{Major: "1", Minor: "31"}, want: Server{ManagedBy: No, ReplacementPolicy: Yes},
			drop: func(j *batchv1.Job) { j.Spec.ManagedBy = nil }},
		{name: "no right to create", version: version.Info{Major: "1", Minor: "36"}, want: Server{},
			refusal: apierrors.NewForbidden(batchv1.Resource("jobs"), "j", nil)},
		{name: "down", version: version.Info{Major: "1", Minor: "36"}, refusal: apierrors.NewInternalError(errors.New("down")), err: "dry run of a job"},
		{name: "old", version: version.Info{Major: "1", Minor: "30"}, err: "the server is version 1.30, and the oldest that works is 1.31"},
		{name: "emulates an old one", version: emulating(t), err: "1.30"},
		{name: "odd", version: version.Info{Major: "1", Minor: "x", GitVersion: "v1.x"}, err: `minor "x" of "v1.x"`},
	}

	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client := fake.NewClientset()
			client.Discovery().(*discovery.FakeDiscovery).FakedServerVersion = &test.version
			client.PrependReactor("create", "jobs", func(a clienttesting.Action) (bool, runtime.Object, error) {
				j := a.(clienttesting.CreateAction).GetObject().(*batchv1.Job).DeepCopy()
				if j.GenerateName == "" || len(a.(clienttesting.CreateActionImpl).CreateOptions.DryRun) != 1 {
					t.Errorf("a server would refuse the question, or create it: %+v", a)
				}
				if test.drop != nil {
					test.drop(j)
				}
				return true, j, test.refusal
			})
			got, err := AskServer(t.Context(), client, "default")
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want one with %q", err, test.err)
				}
				return
			}
			if got.Version = ""; err != nil || got != test.want {
				t.Errorf("got %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
}

// TestServer_Adapt: a controller with a name of your own needs the field managedBy. If the server
// has neither managedBy nor podReplacementPolicy, the planner writes no SuccessCriteriaMet.
func TestServer_Adapt(t *testing.T) {
	tests := []struct {
		server    Server
		managedBy string
		noMet     bool
		err       string
	}{
		{Server{}, "a.b/c", false, ""},
		{Server{ManagedBy: Yes, ReplacementPolicy: Yes}, "a.b/c", false, ""},
		{Server{ManagedBy: No, ReplacementPolicy: Yes}, "a.b/c", false, `no job can name "a.b/c"`},
		{Server{ManagedBy: No, ReplacementPolicy: Yes}, job.ControllerName, false, ""},
		{Server{ManagedBy: No, ReplacementPolicy: No}, job.ControllerName, true, ""},
	}
	for _, test := range tests {
		var o job.Options
		err := test.server.adapt(test.managedBy, &o)
		if o.NoSuccessCriteriaMet != test.noMet || (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%+v, %s: no SuccessCriteriaMet %v, error %v", test.server, test.managedBy, o.NoSuccessCriteriaMet, err)
		}
	}
}

// TestServer_AskGroups: gangs are refused if the server lacks their resources, but not if it
// refuses to answer.
func TestServer_AskGroups(t *testing.T) {
	for _, test := range []struct {
		name    string
		serves  []string
		refusal error
		err     string
	}{
		{name: "gangs", serves: []string{"podgroups", "workloads", "workloads/status"}},
		{name: "half of gangs", serves: []string{"workloads"}, err: "job.gangs: the server v1.37.2 serves no workloads"},
		{name: "none", err: "--runtime-config=scheduling.k8s.io/v1beta1=true"},
		{name: "secret resources", refusal: apierrors.NewForbidden(batchv1.Resource("all"), "", nil)},
		{name: "down", refusal: apierrors.NewInternalError(errors.New("down")), err: "resources of the server"},
	} {
		client := fake.NewClientset()
		if test.serves != nil {
			list := &metav1.APIResourceList{GroupVersion: "scheduling.k8s.io/v1beta1"}
			for _, name := range test.serves {
				list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
			}
			client.Resources = append(client.Resources, list)
		}
		client.PrependReactor("get", "resource", func(clienttesting.Action) (bool, runtime.Object, error) {
			return test.refusal != nil, nil, test.refusal
		})
		err := (&Server{Version: "v1.37.2"}).askGroups(client)
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", test.name, err, test.err)
		}
	}
}
