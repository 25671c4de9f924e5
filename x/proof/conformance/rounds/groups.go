package rounds

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/internal/specgen"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// groups draws the groups of the job, its spec.scheduling and failing writes of groups. Many of the
// jobs are new, since only these get groups.
func (d *draw) groups(s *Snapshot) {
	if d.chance(50) {
		d.beginning(s)
	}

	size := int32(d.IntN(4))
	s.Groups = jobgen.GroupsBefore(d.IntN(jobgen.GroupCases), size)
	g := &s.Groups
	if len(g.PodGroups) > 0 && d.chance(20) {
		g.PodGroups[0].MinCount = int32(d.IntN(4))
	}

	if len(g.PodGroups) > 0 && d.chance(10) {
		second := g.PodGroups[0]
		second.Name, second.UID = "second", "uid-second"
		g.PodGroups = append(g.PodGroups, second)
	}
	if len(g.Workloads) > 0 && !g.Controlled && d.chance(10) {
		second := g.Workloads[0]
		second.Name, second.UID = "other", "uid-other"
		g.Workloads = append(g.Workloads, second)
	}

	if g.Template != nil {
		g.Template = pointer(pick(d, "t", "t", "", "missing"))
		s.Job.Annotations = map[string]string{jobgroup.TemplateAnnotation: *g.Template}
		if d.chance(50) { // from an earlier round
			group := jobgroup.PodGroup{Ref: jobgroup.Ref{Name: "g", UID: "uid-g"}, Workload: "w"}
			group.MinCount = int32(d.IntN(4))
			g.PodGroups = []jobgroup.PodGroup{group}
		}
	}

	if g.Controlled {
		s.Job.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "jobset.x-k8s.io/v1alpha2",
			Kind:       "JobSet",
			Name:       "set",
			UID:        "uid-set",
			Controller: pointer(true),
		}}
	}

	spec := specgen.Decode[object](s.Job.Spec)
	if scheduling := d.scheduling(); scheduling != nil {
		spec["scheduling"] = scheduling
	}
	template := spec["template"].(object)["spec"].(object)
	if g.Preset {
		template["schedulingGroup"] = object{"podGroupName": "mine"}
	}
	if d.chance(10) {
		template["priorityClassName"] = "urgent"
	}
	s.Job.Spec = specgen.Decode[batchv1.JobSpec](spec)

	if d.chance(20) {
		write := pick(d, "create ", "create ", "resize ") + pick(d, "Workload", "PodGroup")
		s.Faults.Groups = map[string]string{write: pick(d, "error", "gone", "exists")}
	}
}

// beginning makes the job new, or almost new.
func (d *draw) beginning(s *Snapshot) {
	was := s.Job.Status
	s.Pods, s.Memory, s.Job.Status = nil, Memory{}, batchv1.JobStatus{}
	switch d.IntN(8) {
	case 0:
		s.Job.Status.StartTime = was.StartTime
	case 1:
		s.Job.Status.Failed = was.Failed
	case 2:
		s.Job.Status.Conditions = was.Conditions
	}
}

// scheduling draws a spec.scheduling, or none.
func (d *draw) scheduling() object {
	gang := object{}
	if d.chance(50) {
		gang["minCount"] = 1 + d.IntN(4)
	}
	out := object{}
	switch d.IntN(6) {
	case 0:
		return nil
	case 1:
		out["schedulingPolicy"] = object{"basic": object{}}
	case 2: // the policy is basic
	default:
		out["schedulingPolicy"] = object{"gang": gang}
		if d.chance(20) {
			out["disruptionMode"] = object{pick(d, "all", "single"): object{}}
		}
	}
	if d.chance(10) {
		out["schedulingConstraints"] = object{"topology": []any{object{"key": "rack"}}}
	}
	if d.chance(10) {
		out["resourceClaims"] = []any{object{"name": "c", "resourceClaimName": "r"}}
	}
	return out
}

// object is a part of an object of the API.
type object = map[string]any

// workloadObject returns a workload of the snapshot as the API has it.
func (s *Snapshot) workloadObject(w *jobgroup.Workload) object {
	ref := object{"apiGroup": "batch", "kind": "Job", "name": name}
	if s.Groups.Controlled {
		ref = object{"apiGroup": "jobset.x-k8s.io", "kind": "JobSet", "name": "set"}
	}
	var templates []any
	for _, t := range w.Templates {
		templates = append(templates, object{"name": t.Name, "schedulingPolicy": policyOf(t.MinCount)})
	}
	out := s.groupObject("Workload", w.Ref, w.Foreign)
	out["spec"] = object{"controllerRef": ref, "podGroupTemplates": templates}
	return out
}

func (s *Snapshot) groupObject(kind string, ref jobgroup.Ref, foreign bool) object {
	owner := metav1.NewControllerRef(s.Job, batchv1.SchemeGroupVersion.WithKind("Job"))
	if foreign {
		owner.UID = "uid-earlier"
	}
	return object{
		"apiVersion": "scheduling.k8s.io/v1beta1",
		"kind":       kind,
		"metadata": object{
			"namespace":       namespace,
			"name":            ref.Name,
			"uid":             string(ref.UID),
			"ownerReferences": []any{specgen.Decode[object](owner)},
		},
	}
}

func policyOf(size int32) object {
	if size == 0 {
		return object{"basic": object{}}
	}
	return object{"gang": object{"minCount": int64(size)}}
}

// createGroup answers the creation of a workload or a pod group, and gives it a UID.
func (s *server) createGroup(kind string, created any) (types.UID, error) {
	tree := specgen.Decode[object](created)
	meta := tree["metadata"].(object)
	made := meta["name"].(string)
	owners := meta["ownerReferences"]

	s.mu.Lock()
	defer s.mu.Unlock()
	fault := s.snapshot.Faults.Groups["create "+kind]
	what := fmt.Sprintf("create %s %s of %s: %s", kind, made, encode(owners), encode(withoutNulls(tree["spec"])))
	return types.UID("uid of " + made), s.wrote(what, fault, answer(fault, kind, made))
}

// withoutNulls drops the fields of a tree that are null.
func withoutNulls(tree any) any {
	switch of := tree.(type) {
	case object:
		maps.DeleteFunc(of, func(_ string, v any) bool { return v == nil })
		for _, v := range of {
			withoutNulls(v)
		}
	case []any:
		for _, v := range of {
			withoutNulls(v)
		}
	}
	return tree
}

// resizeGroup answers a patch of the size of a gang. The two sides send different kinds of patches.
func (s *server) resizeGroup(kind, resized string, patch []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fault := s.snapshot.Faults.Groups["resize "+kind]
	what := fmt.Sprintf("resize %s %s to %s", kind, resized, sizeIn(patch))
	return s.wrote(what, fault, answer(fault, kind, resized))
}

// sizeIn returns the last number of a patch, which is the size.
func sizeIn(patch []byte) string {
	digits := func(r byte) bool { return r >= '0' && r <= '9' }
	end := len(patch)
	for end > 0 && !digits(patch[end-1]) {
		end--
	}
	begin := end
	for begin > 0 && digits(patch[begin-1]) {
		begin--
	}
	return string(patch[begin:end])
}

// groupClient implements the part of a dynamic client that our backend uses.
type groupClient struct {
	dynamic.Interface
	server *server
}

func (c groupClient) Resource(r schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	kind := "PodGroup"
	if r.Resource == "workloads" {
		kind = "Workload"
	}
	return groupResource{server: c.server, kind: kind}
}

type groupResource struct {
	dynamic.NamespaceableResourceInterface
	server *server
	kind   string
}

func (r groupResource) Namespace(string) dynamic.ResourceInterface { return r }

func (r groupResource) Create(
	_ context.Context, o *unstructured.Unstructured, _ metav1.CreateOptions, _ ...string,
) (*unstructured.Unstructured, error) {
	uid, err := r.server.createGroup(r.kind, o.Object)
	if err != nil {
		return nil, err
	}
	made := o.DeepCopy()
	made.SetUID(uid)
	return made, nil
}

func (r groupResource) Patch(
	_ context.Context, resized string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string,
) (*unstructured.Unstructured, error) {
	return nil, r.server.resizeGroup(r.kind, resized, data)
}

func (r groupResource) Get(
	_ context.Context, workload string, _ metav1.GetOptions, _ ...string,
) (*unstructured.Unstructured, error) {
	s := r.server.snapshot
	i := slices.IndexFunc(s.Groups.Workloads, func(w jobgroup.Workload) bool { return w.Name == workload })
	if i < 0 {
		return nil, answer("gone", r.kind, workload)
	}
	return &unstructured.Unstructured{Object: s.workloadObject(&s.Groups.Workloads[i])}, nil
}

// createsResized reports whether both sides create a missing pod group for a workload that they
// resize, and differ only in when the group gets the new size. The real controller creates the
// group with the old size and then resizes it. If the workload cannot be resized, both rounds end.
// If the group cannot be resized, only the round of the real controller ends. Our round goes on:
// since the job is new, it can only create pods and write the status.
func createsResized(theirs, ours *Result) bool {
	has := func(r *Result, begin string) bool {
		return slices.ContainsFunc(r.Writes, func(w string) bool { return strings.HasPrefix(w, begin) })
	}
	if !has(theirs, "create PodGroup ") || !has(ours, "resize Workload ") || has(ours, "resize PodGroup ") {
		return false
	}

	failed := func(kind string) bool {
		return slices.ContainsFunc(theirs.Writes, func(w string) bool {
			return strings.HasPrefix(w, "resize "+kind) && !strings.HasSuffix(w, ": ok")
		})
	}
	a, b := withoutGroups(theirs), withoutGroups(ours)
	switch {
	case failed("Workload "):
		return slices.Equal(a.Writes, b.Writes)
	case failed("PodGroup "):
		n := len(a.Writes)
		return len(b.Writes) >= n && slices.Equal(a.Writes, b.Writes[:n]) &&
			!slices.ContainsFunc(b.Writes[n:], func(w string) bool {
				return !strings.HasPrefix(w, "create ") && !strings.HasPrefix(w, "status ")
			})
	}
	return len(compare(a, b)) == 0
}

// withoutGroups returns a result without the writes of workloads and pod groups.
func withoutGroups(r *Result) *Result {
	out := *r
	out.Writes = slices.DeleteFunc(slices.Clone(r.Writes), func(w string) bool {
		kind := strings.Fields(w)[1]
		return kind == "Workload" || kind == "PodGroup"
	})
	return &out
}
