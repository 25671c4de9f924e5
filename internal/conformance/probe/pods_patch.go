package probe

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// adopt is the patch by which the job controller claims a pod.
func adopt(pod types.UID, j *batchv1.Job) string {
	return fmt.Sprintf(`{"metadata":{"uid":%q,"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":%q,"uid":%q,`+
		`"controller":true,"blockOwnerDeletion":true}],"finalizers":[%q]}}`, pod, j.Name, j.UID, tracking)
}

// release is the patch by which it lets go of one.
func release(pod, owner types.UID) string {
	return fmt.Sprintf(`{"metadata":{"uid":%q,"ownerReferences":[{"$patch":"delete","uid":%q}],`+
		`"$deleteFromPrimitiveList/finalizers":[%q]}}`, pod, owner, tracking)
}

// untrack is the patch that takes the finalizer off a pod that was counted.
const untrack = `{"metadata":{"$deleteFromPrimitiveList/finalizers":["` + tracking + `"]}}`

var podPatch = []Probe{
	{"pod patch: adopt", func(s *script) {
		j, pod := s.jobs.create(newJob("j")), s.pods.create(newPod("p", finalizers(other)))
		s.pods.strategic("p", "adopt with another UID", adopt(strange, j))
		s.pods.strategic("p", "adopt", adopt(pod.UID, j))
		s.pods.strategic("p", "adopt again", adopt(pod.UID, j))
		s.pods.strategic("missing", "adopt one that is missing", adopt(pod.UID, j))
	}},
	{"pod patch: adopt what has an owner", func(s *script) {
		a, b := s.jobs.create(newJob("a")), s.jobs.create(newJob("b"))
		owned := s.pods.create(newPod("owned", ownedBy(a)))
		s.pods.strategic("owned", "adopt", adopt(owned.UID, b))
		watched := s.pods.create(newPod("watched", func(o *corev1.Pod) {
			ref := controllerRef("Job", a)
			ref.Controller = nil
			o.OwnerReferences = []metav1.OwnerReference{ref}
		}))
		s.pods.strategic("watched", "adopt", adopt(watched.UID, b))
		s.pods.strategic("watched", "release", release(watched.UID, b.UID))
	}},
	{"pod patch: release", func(s *script) {
		j := s.jobs.create(newJob("j"))
		pod := s.pods.create(newPod("p", ownedBy(j), finalizers(tracking, other)))
		s.pods.strategic("p", "release with another UID", release(strange, j.UID))
		s.pods.strategic("p", "release from another owner", release(pod.UID, strange))
		s.pods.strategic("p", "release", release(pod.UID, j.UID))
		s.pods.strategic("p", "release again", release(pod.UID, j.UID))
		s.pods.strategic("missing", "release one that is missing", release(pod.UID, j.UID))
	}},
	{"pod patch: release the last finalizer and the last owner", func(s *script) {
		j := s.jobs.create(newJob("j"))
		pod := s.pods.create(newPod("p", ownedBy(j), finalizers(tracking)))
		o := s.pods.strategic("p", "release", release(pod.UID, j.UID))
		s.say("nil: owners %t, finalizers %t", o.OwnerReferences == nil, o.Finalizers == nil)
	}},
	{"pod patch: untrack", func(s *script) {
		s.pods.create(newPod("p", finalizers(other, tracking)))
		s.pods.strategic("p", "untrack", untrack)
		s.pods.strategic("p", "untrack again", untrack)
		s.pods.strategic("missing", "untrack one that is missing", untrack)
		s.pods.create(newPod("none"))
		s.pods.strategic("none", "untrack one without finalizers", untrack)
	}},
	{"pod patch: versions", func(s *script) {
		pod := s.pods.create(newPod("p"))
		s.pods.strategic("p", "label", `{"metadata":{"labels":{"a":"1"}}}`)
		s.pods.strategic("p", "label at a stale version", fmt.Sprintf(`{"metadata":{"resourceVersion":%q,"labels":{"a":"2"}}}`, pod.ResourceVersion))
		s.pods.strategic("p", "nothing", `{}`)
		s.pods.strategic("p", "the same label", `{"metadata":{"labels":{"a":"1"}}}`)
		s.pods.strategic("p", "no label", `{"metadata":{"labels":{"a":null}}}`)
	}},
	{"pod patch: what it cannot change", func(s *script) {
		s.pods.create(newPod("p"))
		s.pods.strategic("p", "node", `{"spec":{"nodeName":"node"}}`)
		s.pods.strategic("p", "creation time", `{"metadata":{"creationTimestamp":"2020-01-01T00:00:00Z"}}`)
		s.pods.strategic("p", "deletion time", `{"metadata":{"deletionTimestamp":"2020-01-01T00:00:00Z"}}`)
	}},
	{"pod patch: malformed", func(s *script) {
		s.pods.create(newPod("p"))
		s.pods.strategic("p", "name", `{"metadata":{"name":"q"}}`)
		s.pods.strategic("p", "namespace", `{"metadata":{"namespace":"q"}}`)
		s.pods.strategic("p", "no JSON", `{`)
		s.pods.strategic("p", "wrong type", `{"metadata":{"labels":"a"}}`)
		s.pods.strategic("p", "unknown field", `{"metadata":{"colour":"red"}}`)
	}},
	{"pod patch: merge", func(s *script) {
		s.pods.create(newPod("p", finalizers(tracking, other)))
		s.pods.patch("p", "finalizers", types.MergePatchType, `{"metadata":{"finalizers":["`+other+`"]}}`)
		s.pods.patch("p", "finalizers, none", types.MergePatchType, `{"metadata":{"finalizers":null}}`)
		s.pods.patch("p", "another UID", types.MergePatchType, fmt.Sprintf(`{"metadata":{"uid":%q,"labels":{"a":"1"}}}`, strange))
	}},
	{"pod patch: JSON", func(s *script) {
		s.pods.create(newPod("p", finalizers(tracking, other)))
		s.pods.patch("p", "test and remove", types.JSONPatchType,
			`[{"op":"test","path":"/metadata/finalizers/0","value":"`+tracking+`"},{"op":"remove","path":"/metadata/finalizers/0"}]`)
		s.pods.patch("p", "a test that fails", types.JSONPatchType,
			`[{"op":"test","path":"/metadata/finalizers/0","value":"`+tracking+`"},{"op":"remove","path":"/metadata/finalizers/0"}]`)
	}},
}
