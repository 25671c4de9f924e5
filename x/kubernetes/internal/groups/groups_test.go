package groups_test

import (
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/x/kubernetes/internal/groups"
)

// TestRead: the planner's values of Workloads and PodGroups. A field that cannot be read counts as
// missing.
func TestRead(t *testing.T) {
	const mine = `"ownerReferences":[{"kind":"Job","name":"j","uid":"u","controller":true}]`
	const ref = `"controllerRef":{"apiGroup":"batch","kind":"Job","name":"j"}`

	for _, test := range []struct {
		name, metadata, spec string
		workload, podGroup   string
	}{
		{"a gang", mine, ref + `,"podGroupTemplates":[{"name":"a","schedulingPolicy":{"gang":{"minCount":2}}},{"name":"b","schedulingPolicy":{"basic":{}}}],
			"workloadRef":{"workloadName":"w"},"schedulingPolicy":{"gang":{"minCount":3}}`,
			`for Job.batch j: {{o uid-o} false [{a 2} {b 0}]}`, `{{o uid-o} false w 3}`},
		{"an owner that is no controller", `"ownerReferences":[{"kind":"Job","name":"j","uid":"u"}]`, ``, `for  : {{o uid-o} true []}`, `{{o uid-o} true  0}`},
		{"another controller", `"ownerReferences":[{"kind":"Job","name":"j","uid":"v","controller":true}]`, ``, `for  : {{o uid-o} true []}`, `{{o uid-o} true  0}`},
		{"nothing", ``, ``, `for  : {{o uid-o} true []}`, `{{o uid-o} true  0}`},
		{"the wrong types", mine, `"controllerRef":"j","podGroupTemplates":{},"workloadRef":7,"schedulingPolicy":[]`, `for  : {{o uid-o} false []}`, `{{o uid-o} false  0}`},
	} {
		metadata := `"name":"o","uid":"uid-o"`
		if test.metadata != "" {
			metadata += "," + test.metadata
		}
		o := new(unstructured.Unstructured)
		must.OK(t, json.Unmarshal([]byte(fmt.Sprintf(`{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"Workload","metadata":{%s},"spec":{%s}}`, metadata, test.spec)), o))

		before := o.DeepCopy()
		kind, name := groups.WorkloadFor(o)
		workload, podGroup := fmt.Sprintf("for %s %s: %v", kind.String(), name, groups.Workload(o, "u")), fmt.Sprint(groups.PodGroup(o, "u"))
		if workload != test.workload || podGroup != test.podGroup || groups.PodGroupFrom(o) != groups.PodGroup(o, "u").Workload {
			t.Errorf("%s: %s, %s, want %s, %s", test.name, workload, podGroup, test.workload, test.podGroup)
		}
		if d := intact.Diff(o, before); d != "" {
			t.Errorf("%s: the object of a cache is written to%s", test.name, d)
		}
	}
}

// TestNew: input from which no workload or no pod group can be made is an error. A group with the
// policy "basic" is written without a size.
func TestNew(t *testing.T) {
	write := &jobgroup.Write{Ref: jobgroup.Ref{Name: "w"}, Template: "t", Workload: jobgroup.Ref{Name: "w"}}
	owner := metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "u"}
	made, err := groups.NewWorkload("ns", owner, write, nil, "")
	must.OK(t, err)
	group, err := groups.NewPodGroup("ns", owner, write, made)
	must.OK(t, err)

	for _, test := range []struct {
		of   *unstructured.Unstructured
		want string
	}{
		{made, `{"controllerRef":{"apiGroup":"batch","kind":"Job","name":"j"},"podGroupTemplates":[{"name":"t","schedulingPolicy":{"basic":{}}}]}`},
		{group, `{"schedulingPolicy":{"basic":{}},"workloadRef":{"templateName":"t","workloadName":"w"}}`},
	} {
		if data, err := json.Marshal(test.of.Object["spec"]); err != nil || string(data) != test.want {
			t.Errorf("%s, %v, want %s", data, err, test.want)
		}
	}

	if _, err := groups.NewWorkload("ns", owner, write, &jobgroup.Scheduling{ResourceClaims: json.RawMessage(`[`)}, ""); err == nil {
		t.Error("claims that are no JSON make no error")
	}

	owner.APIVersion = "a/b/c"
	if _, err := groups.NewWorkload("ns", owner, write, nil, ""); err == nil {
		t.Error("an owner without a group makes no error")
	}

	for _, templates := range []any{"t", []any{"t"}, []any{}} {
		made.Object["spec"] = map[string]any{"podGroupTemplates": templates}
		if _, err := groups.NewPodGroup("ns", owner, write, made); err == nil {
			t.Errorf("a group is made from the templates %v", templates)
		}
	}
}

// TestJoin: a pod names its group if k8s.io/api has the field.
func TestJoin(t *testing.T) {
	var pod corev1.Pod
	template := &corev1.PodTemplateSpec{}
	if groups.NamesGroup(template) {
		t.Error("an empty template names a group")
	}
	groups.Join(&pod, jobgroup.Ref{Name: "g", UID: "uid-g"})
	data, err := json.Marshal(pod.Spec)
	must.OK(t, err)
	want := `{"containers":null}`
	if groups.Known() {
		want = `{"containers":null,"schedulingGroup":{"podGroupName":"g"}}`
	}
	if string(data) != want || len(pod.OwnerReferences) > 0 {
		t.Errorf("%s, owners %v, want %s", data, pod.OwnerReferences, want)
	}
	template.Spec = pod.Spec
	if groups.NamesGroup(template) != groups.Known() {
		t.Errorf("a template with a group: %t", groups.NamesGroup(template))
	}
}
