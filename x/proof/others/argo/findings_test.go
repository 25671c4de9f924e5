package argo

// The findings of docs/blackbox.md without the kit: the controller of CronWorkflows on fake
// clients. Each test passes while its finding exists.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned/fake"
	jsonpatch "github.com/evanphx/json-patch"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	ktesting "k8s.io/client-go/testing"
)

var (
	crons     = v1alpha1.SchemeGroupVersion.WithResource("cronworkflows")
	workflows = v1alpha1.SchemeGroupVersion.WithResource("workflows")
)

// plain is a fake server with one CronWorkflow.
type plain struct {
	objects *dynamicfake.FakeDynamicClient
	client  *fake.Clientset
	created []string // the names of the Workflows that were created
	refuse  bool     // whether the next patch of the CronWorkflow is refused
}

// with returns a server at two minutes and ten seconds past ten.
func with(t *testing.T, spec v1alpha1.CronWorkflowSpec) *plain {
	time.Sleep(10*time.Hour + 2*time.Minute + 10*time.Second)
	spec.WorkflowSpec = v1alpha1.WorkflowSpec{Entrypoint: "main", Templates: []v1alpha1.Template{{Name: "main", Container: &corev1.Container{Image: "true"}}}}
	cron := &v1alpha1.CronWorkflow{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "CronWorkflow"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cron", UID: "cron", CreationTimestamp: metav1.Now()},
		Spec:       spec,
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cron)
	if err != nil {
		t.Fatal(err)
	}
	lists := map[schema.GroupVersionResource]string{
		crons: "CronWorkflowList", workflows: "WorkflowList",
		v1alpha1.SchemeGroupVersion.WithResource("workflowtemplates"):        "WorkflowTemplateList",
		v1alpha1.SchemeGroupVersion.WithResource("clusterworkflowtemplates"): "ClusterWorkflowTemplateList",
	}
	p := &plain{client: fake.NewSimpleClientset()}
	p.objects = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, &unstructured.Unstructured{Object: content})
	p.client.PrependReactor("*", "*", p.answer)
	return p
}

// answer answers a request of the typed client with the objects of the dynamic client.
func (p *plain) answer(action ktesting.Action) (bool, runtime.Object, error) {
	of := p.objects.Resource(action.GetResource()).Namespace(action.GetNamespace())
	var result *unstructured.Unstructured
	var err error
	switch a := action.(type) {
	case ktesting.CreateAction:
		var content map[string]any
		if content, err = runtime.DefaultUnstructuredConverter.ToUnstructured(a.GetObject()); err != nil {
			return true, nil, err
		}
		o := &unstructured.Unstructured{Object: content}
		o.SetUID(types.UID(o.GetName()))
		if result, err = of.Create(context.Background(), o, metav1.CreateOptions{}); err == nil {
			p.created = append(p.created, o.GetName())
		}
	case ktesting.PatchAction:
		if p.refuse && action.GetResource() == crons {
			p.refuse = false
			return true, nil, errors.New("the test refuses this write")
		}
		result, err = p.patch(of, a.GetName(), a.GetPatch())
	case ktesting.DeleteAction:
		return true, nil, of.Delete(context.Background(), a.GetName(), metav1.DeleteOptions{})
	case ktesting.GetAction:
		result, err = of.Get(context.Background(), a.GetName(), metav1.GetOptions{})
	default:
		return false, nil, nil
	}
	if err != nil {
		return true, nil, err
	}
	var typed runtime.Object = &v1alpha1.Workflow{}
	if action.GetResource() == crons {
		typed = &v1alpha1.CronWorkflow{}
	}
	return true, typed, runtime.DefaultUnstructuredConverter.FromUnstructured(result.Object, typed)
}

// patch applies a merge patch. A patch that changes nothing is not a write, as for a real server.
func (p *plain) patch(of dynamic.ResourceInterface, name string, patch []byte) (*unstructured.Unstructured, error) {
	before, err := of.Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(before)
	if err == nil {
		data, err = jsonpatch.MergePatch(data, patch)
	}
	after := new(unstructured.Unstructured)
	if err == nil {
		err = json.Unmarshal(data, after)
	}
	if err != nil || reflect.DeepEqual(before.Object, after.Object) {
		return before, err
	}
	return of.Update(context.Background(), after, metav1.UpdateOptions{})
}

// slow is a client whose lists take some time, as with a real server.
type slow struct{ dynamic.Interface }

func (s slow) Resource(r schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return slowResources{s.Interface.Resource(r)}
}

type slowResources struct {
	dynamic.NamespaceableResourceInterface
}

func (s slowResources) Namespace(ns string) dynamic.ResourceInterface {
	return slowList{s.NamespaceableResourceInterface.Namespace(ns)}
}

type slowList struct{ dynamic.ResourceInterface }

func (s slowList) List(ctx context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	time.Sleep(100 * time.Millisecond)
	return s.ResourceInterface.List(ctx, o)
}

func (p *plain) run(t *testing.T, d time.Duration, during func()) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- run(ctx, p.client, slow{p.objects}, nil) }()
	if during != nil {
		during()
	}
	time.Sleep(d)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// end makes a Workflow succeed.
func (p *plain) end(t *testing.T, name string) {
	of := p.objects.Resource(workflows).Namespace("default")
	_, err := p.patch(of, name, fmt.Appendf(nil, `{"status": {"phase": "Succeeded", "finishedAt": %q}}`, time.Now().UTC().Format(time.RFC3339)))
	if err != nil {
		t.Fatal(err)
	}
}

// at returns the name of the Workflow of a run.
func at(hour, minute int) string {
	return fmt.Sprintf("cron-%d", time.Date(2000, 1, 1, hour, minute, 0, 0, time.UTC).Unix())
}

// The write that records a run is refused. The Workflow succeeds and, with
// successfulJobsHistoryLimit 0, is deleted. That wakes the controller: the run is within
// startingDeadlineSeconds, and according to the status it has not started. A right controller
// repeats the write of the status before it deletes the Workflow.
func TestFindingRunTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := with(t, v1alpha1.CronWorkflowSpec{Schedules: []string{"0 * * * *"}, StartingDeadlineSeconds: new(int64(3600)), SuccessfulJobsHistoryLimit: new(int32(0))})
		p.run(t, time.Minute, func() {
			time.Sleep(58 * time.Minute) // 11:00:10
			p.end(t, at(11, 0))
			time.Sleep(59*time.Minute + 30*time.Second)
			p.refuse = true
			time.Sleep(time.Minute) // 12:00:40
			p.end(t, at(12, 0))
		})
		if want := []string{at(11, 0), at(12, 0), at(12, 0)}; !slices.Equal(p.created, want) {
			t.Errorf("created %q, with v3.7.2 %q: strike Argo's row NoRunTwice in docs/blackbox.md", p.created, want)
		}
		time.Sleep(time.Minute)
	})
}

// The program ends after it has created a Workflow and before it records the run, as if the write
// were refused. After the restart the run counts as missed, but its Workflow exists already. The
// controller takes the Workflow for a run that it has just started, and sets no schedule. Nothing
// starts until all objects are listed again after twenty minutes. A right controller sets its
// schedule.
func TestFindingStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := with(t, v1alpha1.CronWorkflowSpec{Schedules: []string{"* * * * *"}, StartingDeadlineSeconds: new(int64(600))})
		p.run(t, time.Second, func() {
			time.Sleep(time.Minute) // 10:03:10
			p.refuse = true
			time.Sleep(50 * time.Second) // 10:04:00
		})
		p.run(t, 19*time.Minute, nil)
		if want := []string{at(10, 3), at(10, 4)}; !slices.Equal(p.created, want) {
			t.Errorf("created %q, with v3.7.2 %q: strike Argo's row Starts in docs/blackbox.md", p.created, want)
		}
		time.Sleep(time.Minute)
	})
}

// As in TestFindingStarts, the program ends before it records the run. It is back two seconds
// before the next run. The controller learns what runs only from the status, which is corrected
// after ten seconds. So with Forbid the next run starts beside the first. A right controller looks
// for the Workflows before it starts one.
func TestFindingForbids(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := with(t, v1alpha1.CronWorkflowSpec{Schedules: []string{"* * * * *"}, ConcurrencyPolicy: v1alpha1.ForbidConcurrent})
		p.refuse = true
		p.run(t, 50*time.Second+200*time.Millisecond, nil) // 10:03:00.2
		time.Sleep(57*time.Second + 800*time.Millisecond)
		p.run(t, 5*time.Second, nil)
		if want := []string{at(10, 3), at(10, 4)}; !slices.Equal(p.created, want) {
			t.Errorf("created %q, with v3.7.2 %q: strike Argo's row Forbids in docs/blackbox.md", p.created, want)
		}
		time.Sleep(time.Minute)
	})
}
