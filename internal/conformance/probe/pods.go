package probe

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var podCreate = []Probe{
	{"pod create: as the job controller does", func(s *script) {
		j := s.jobs.create(newJob("j"))
		s.pods.create(newPod("", ownedBy(j), finalizers(tracking), func(o *corev1.Pod) {
			o.GenerateName = "j-"
			o.Labels = j.Spec.Template.Labels
			o.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": "0"}
		}))
	}},
	{"pod create: generated names", func(s *script) {
		from := func(prefix string) *corev1.Pod {
			return newPod("", func(o *corev1.Pod) { o.GenerateName = prefix })
		}
		a, b := s.pods.create(from("p-")), s.pods.create(from("p-"))
		s.say("the names differ: %t", a.Name != b.Name)
		s.pods.try("with a name and a prefix", newPod("named", func(o *corev1.Pod) { o.GenerateName = "p-" }))
		s.pods.refuses("from a prefix that is not a name", from("P_"))
		s.pods.refuses("without a name", from(""))
	}},
	{"pod create: from a long prefix", func(s *script) {
		long := s.pods.try("from a prefix of 70 letters", newPod("", func(o *corev1.Pod) { o.GenerateName = strings.Repeat("x", 70) }))
		s.say("the name has %d letters", len(long.Name))
	}},
	{"pod create: the name is taken", func(s *script) {
		s.pods.create(newPod("p"))
		s.pods.create(newPod("p"))
		s.pods.try("p, another one", newPod("p", finalizers(tracking)))
	}},
	{"pod create: what the server sets itself", func(s *script) {
		s.pods.try("with a status", newPod("status", phase(corev1.PodRunning), podCondition(corev1.PodReady, "")))
		s.pods.try("with a UID", newPod("uid", func(o *corev1.Pod) { o.UID = strange }))
		s.pods.try("with a creation time", newPod("created", func(o *corev1.Pod) { o.CreationTimestamp = *at(0) }))
		s.pods.try("with a generation", newPod("generation", func(o *corev1.Pod) { o.Generation = 7 }))
		s.pods.try("with the namespace", newPod("namespace", func(o *corev1.Pod) { o.Namespace = s.namespace }))
		s.pods.try("with another namespace", newPod("elsewhere", func(o *corev1.Pod) { o.Namespace = "elsewhere" }))
	}},
	{"pod create: with a deletion time", func(s *script) {
		s.pods.create(newPod("p", func(o *corev1.Pod) { o.DeletionTimestamp, o.DeletionGracePeriodSeconds = at(0), p(int64(30)) }))
	}},
	{"pod create: with a resource version", func(s *script) {
		s.pods.refuses("with a resource version", newPod("p", func(o *corev1.Pod) { o.ResourceVersion = "1" }))
	}},
	{"pod create: empty is nothing", func(s *script) {
		o := s.pods.create(newPod("p", finalizers(), func(o *corev1.Pod) {
			o.Labels, o.Annotations = map[string]string{}, map[string]string{}
			o.OwnerReferences = []metav1.OwnerReference{}
		}))
		s.say("nil: labels %t, annotations %t, finalizers %t, owners %t",
			o.Labels == nil, o.Annotations == nil, o.Finalizers == nil, o.OwnerReferences == nil)
	}},
	{"pod create: invalid", func(s *script) {
		s.deaf = true
		for _, c := range invalidPods {
			s.pods.refuses(c.what, newPod(c.name, c.how))
		}
	}},
	{"pod create: same finalizer twice", func(s *script) {
		s.pods.create(newPod("p", finalizers(tracking, tracking)))
	}},
	{"pod create: same owner twice", func(s *script) {
		j := s.jobs.create(newJob("j"))
		s.pods.create(newPod("p", ownedBy(j), ownedBy(j)))
	}},
	{"pod create: default and given grace", func(s *script) {
		s.pods.create(newPod("default"))
		s.pods.create(newPod("zero", func(o *corev1.Pod) { o.Spec.TerminationGracePeriodSeconds = p(int64(0)) }))
		s.pods.create(newPod("negative", func(o *corev1.Pod) { o.Spec.TerminationGracePeriodSeconds = p(int64(-5)) }))
		s.pods.create(newPod("long", func(o *corev1.Pod) { o.Spec.TerminationGracePeriodSeconds = p(int64(600)) }))
	}},
}

var invalidPods = []struct {
	what, name string
	how        func(*corev1.Pod)
}{
	{"no containers", "p", func(o *corev1.Pod) { o.Spec.Containers = nil }},
	{"name in capitals", "P", func(*corev1.Pod) {}},
	{"name of 253 letters", strings.Repeat("x", 253), func(*corev1.Pod) {}},
	{"name of 254 letters", strings.Repeat("x", 254), func(*corev1.Pod) {}},
	{"finalizer without a domain", "p", finalizers("tracking")},
	{"finalizer that is not a name", "p", finalizers("a b/c")},
	{"label value of 64 letters", "p", func(o *corev1.Pod) { o.Labels = map[string]string{"a": strings.Repeat("x", 64)} }},
	{"unknown restart policy", "p", func(o *corev1.Pod) { o.Spec.RestartPolicy = "Sometimes" }},
	{"deadline of zero seconds", "p", func(o *corev1.Pod) { o.Spec.ActiveDeadlineSeconds = p(int64(0)) }},
	{"two controllers", "p", func(o *corev1.Pod) {
		a, b := newJob("a"), newJob("b")
		a.UID, b.UID = strange, "00000000-0000-4000-8000-000000000001"
		o.OwnerReferences = []metav1.OwnerReference{controllerRef("Job", a), controllerRef("Job", b)}
	}},
	{"owner without a UID", "p", ownedBy(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j"}})},
	{"hostname of 64 letters", "p", func(o *corev1.Pod) { o.Spec.Hostname = strings.Repeat("x", 64) }},
	{"subdomain with a dot", "p", func(o *corev1.Pod) { o.Spec.Subdomain = "a.b" }},
	{"same container twice", "p", func(o *corev1.Pod) { o.Spec.Containers = append(o.Spec.Containers, o.Spec.Containers[0]) }},
}

var podList = []Probe{
	{"pod list: order and selectors", func(s *script) {
		for i, name := range []string{"c", "a", "b", "a-1"} {
			s.pods.create(newPod(name, onNode, func(o *corev1.Pod) { o.Labels = map[string]string{"n": fmt.Sprint(i)} }))
		}
		for _, selector := range []string{"", "n=1", "n in (0,2)", "!n", "n!=1"} {
			s.listPods(metav1.ListOptions{LabelSelector: selector})
		}
	}},
	{"pod list: field selectors", func(s *script) {
		for _, name := range []string{"a", "b"} {
			s.pods.create(newPod(name, onNode))
		}
		s.pods.report("b", "b runs", phase(corev1.PodRunning))
		for _, selector := range []string{
			"metadata.name=a", "status.phase=Running", "status.phase!=Running", "spec.nodeName=node", "spec.nodeName=", "spec.image=x",
		} {
			s.listPods(metav1.ListOptions{FieldSelector: selector})
		}
	}},
	{"pod list: broken selector", func(s *script) {
		s.listPods(metav1.ListOptions{LabelSelector: "n=("})
	}},
	{"pod list: nothing there", func(s *script) {
		s.pods.get("p")
		s.listPods(metav1.ListOptions{})
	}},
}

func (s *script) listPods(opts metav1.ListOptions) {
	list, err := s.client().CoreV1().Pods(s.namespace).List(s.ctx, opts)
	what := strings.TrimSpace(fmt.Sprintf("list pods %s%s", opts.LabelSelector, opts.FieldSelector))
	if err != nil {
		s.say("%s -> %s", what, s.rec.failure(err))
		return
	}
	names := []string{}
	for _, o := range list.Items {
		names = append(names, s.rec.text(o.Name))
	}
	s.say("%s -> %v, with a version: %t", what, names, list.ResourceVersion != "")
}

var podUpdate = []Probe{
	{"pod update: version", func(s *script) {
		first := s.pods.create(newPod("p"))
		s.pods.change("p", "label", func(o *corev1.Pod) { o.Labels = map[string]string{"a": "1"} })
		first.Labels = map[string]string{"a": "2"}
		s.pods.update("from a stale version", first)
		first.ResourceVersion = ""
		s.pods.update("without a version", first)
		s.pods.change("p", "nothing", func(*corev1.Pod) {})
		s.pods.change("p", "version of the future", func(o *corev1.Pod) { o.ResourceVersion += "000" })
		first.Name = "missing"
		s.pods.update("missing", first)
	}},
	{"pod update: version that is not a number", func(s *script) {
		s.pods.create(newPod("p"))
		s.pods.change("p", "version x", func(o *corev1.Pod) { o.ResourceVersion = "x" })
	}},
	{"pod update: nothing, on a new one", func(s *script) {
		s.pods.create(newPod("a"))
		s.pods.change("a", "nothing", func(*corev1.Pod) {})
		s.pods.create(newPod("b"))
		s.pods.report("b", "nothing", func(*corev1.Pod) {})
		s.pods.create(newPod("c"))
		s.pods.strategic("c", "nothing", "{}")
	}},
	{"pod update: UID", func(s *script) {
		s.pods.create(newPod("p"))
		s.pods.change("p", "another UID", func(o *corev1.Pod) { o.UID = strange })
		s.pods.change("p", "no UID", func(o *corev1.Pod) { o.UID = "" })
		s.pods.change("p", "another UID, no version", func(o *corev1.Pod) { o.UID, o.ResourceVersion = strange, "" })
	}},
	{"pod update: metadata", func(s *script) {
		s.pods.create(newPod("p", onNode, finalizers(tracking, other)))
		s.pods.change("p", "labels and annotations", func(o *corev1.Pod) {
			o.Labels, o.Annotations = map[string]string{"a": "1"}, map[string]string{"b": "2"}
		})
		s.pods.change("p", "a finalizer less", finalizers(other))
		s.pods.change("p", "a finalizer more", finalizers(other, tracking))
		s.pods.change("p", "generation", func(o *corev1.Pod) { o.Generation = 9 })
		s.pods.change("p", "creation time", func(o *corev1.Pod) { o.CreationTimestamp = *at(0) })
		s.pods.change("p", "deletion time", func(o *corev1.Pod) { o.DeletionTimestamp, o.DeletionGracePeriodSeconds = at(0), p(int64(1)) })
		s.pods.change("p", "owner without a UID", ownedBy(newJob("j")))
		s.pods.change("p", "no labels", func(o *corev1.Pod) { o.Labels = nil })
	}},
	{"pod update: spec", func(s *script) {
		s.pods.create(newPod("p"))
		s.pods.change("p", "image", func(o *corev1.Pod) { o.Spec.Containers[0].Image = "example.com/next" })
		s.pods.change("p", "deadline", func(o *corev1.Pod) { o.Spec.ActiveDeadlineSeconds = p(int64(60)) })
		s.pods.change("p", "longer deadline", func(o *corev1.Pod) { o.Spec.ActiveDeadlineSeconds = p(int64(90)) })
		s.pods.change("p", "node", onNode)
		s.pods.change("p", "restart policy", func(o *corev1.Pod) { o.Spec.RestartPolicy = corev1.RestartPolicyAlways })
		s.pods.change("p", "grace", func(o *corev1.Pod) { o.Spec.TerminationGracePeriodSeconds = p(int64(5)) })
		s.pods.change("p", "status", phase(corev1.PodRunning))
	}},
	{"pod update: bind", func(s *script) {
		s.pods.create(newPod("p", finalizers(tracking)))
		for range 2 {
			err := s.client().CoreV1().Pods(s.namespace).Bind(s.ctx, &corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Kind: "Node", Name: "node"},
			}, metav1.CreateOptions{})
			if err != nil {
				s.say("bind -> %s", s.rec.failure(err))
			}
			s.pods.get("p")
		}
	}},
}
